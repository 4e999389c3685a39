//! The search on the GPU: a reduction of pairs, a value and where it was found.

use pumice_kernel::{Builder, Scalar, Val};
use smallvec::{SmallVec, smallvec};

use super::Wanted;
use crate::dtype::Dtype;
use crate::op::Key;
use crate::ops::reduce::gpu::combiner::{Combiner, Parts};
use crate::ops::reduce::{order, precise};
use crate::typed::Typed;

pub(super) struct Finder {
    pub wanted: Wanted,
    pub dtype: Dtype,
}

impl Finder {
    fn first<'k>(&self, a: Typed<'k>, b: Typed<'k>) -> Val<'k> {
        match self.wanted {
            Wanted::Least => order::below(a, b),
            Wanted::Greatest => order::above(a, b),
        }
    }
}

impl Combiner for Finder {
    fn name(&self) -> &'static str {
        match self.wanted {
            Wanted::Least => "argmin",
            Wanted::Greatest => "argmax",
        }
    }

    fn key(&self, key: &mut Key) {
        key.word(self.dtype as u64);
    }

    fn types(&self) -> SmallVec<[Dtype; 2]> {
        smallvec![precise(self.dtype), Dtype::U32]
    }

    fn numbers(&self) -> bool {
        true
    }

    fn identity<'k>(&self, k: &'k Builder) -> Parts<'k> {
        let last = match self.wanted {
            Wanted::Least => order::highest(k, precise(self.dtype)),
            Wanted::Greatest => order::lowest(k, precise(self.dtype)),
        };
        smallvec![last, Typed::new(k.i32(-1), Dtype::U32)]
    }

    fn lift<'k>(&self, x: Typed<'k>, number: Val<'k>) -> Parts<'k> {
        let number = if number.ty() == pumice_kernel::Type::I32 { number } else { number.to(Scalar::I32) };
        smallvec![x.to(precise(self.dtype)), Typed::new(number, Dtype::U32)]
    }

    fn combine<'k>(&self, a: &[Typed<'k>], b: &[Typed<'k>]) -> Parts<'k> {
        // Of equal ones the first: partial results come in any order.
        let other = self.first(b[0], a[0]) | !self.first(a[0], b[0]) & b[1].val.lt_u(a[1].val);
        (0..2).map(|i| Typed::new(other.select(b[i].val, a[i].val), a[i].dtype)).collect()
    }

    fn finish<'k>(&self, parts: &[Typed<'k>]) -> Typed<'k> {
        parts[1]
    }
}
