//! A row of the table as the GPU's kernels combine elements by it.

use pumice_kernel::{Builder, Val};
use smallvec::{SmallVec, smallvec};

use super::gpu::combiner::{Combiner, Parts};
use super::table::Row;
use crate::dtype::Dtype;
use crate::op::Key;
use crate::typed::Typed;

/// A row of the table for elements of a type.
pub(crate) struct RowCombiner {
    pub row: &'static Row,
    pub dtype: Dtype,
}

impl Combiner for RowCombiner {
    fn name(&self) -> &'static str {
        self.row.name
    }

    fn key(&self, key: &mut Key) {
        key.word(self.dtype as u64);
        key.word((self.row.gives)(self.dtype) as u64);
    }

    fn types(&self) -> SmallVec<[Dtype; 2]> {
        smallvec![(self.row.computes)(self.dtype)]
    }

    fn identity<'k>(&self, k: &'k Builder) -> Parts<'k> {
        smallvec![(self.row.identity)(k, self.types()[0])]
    }

    fn lift<'k>(&self, x: Typed<'k>, _: Val<'k>) -> Parts<'k> {
        smallvec![x.to(self.types()[0])]
    }

    fn combine<'k>(&self, a: &[Typed<'k>], b: &[Typed<'k>]) -> Parts<'k> {
        smallvec![(self.row.combine)(a[0], b[0])]
    }

    fn finish<'k>(&self, parts: &[Typed<'k>]) -> Typed<'k> {
        parts[0].to((self.row.gives)(self.dtype))
    }
}
