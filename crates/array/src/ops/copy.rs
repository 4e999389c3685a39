//! The same elements in memory of their own: what evaluation uses where a layout does not do.

use smallvec::smallvec;

use crate::array::Array;
use crate::error::Result;
use crate::op::{At, Element, Key, Lowering, Map, Op, OpRef, Place, Sizes, Specs, expect_inputs};
use crate::shape::Spec;
use crate::typed::Typed;

/// Copies elements.
#[derive(Debug)]
pub(crate) struct Copy;

/// The op.
pub(crate) fn op() -> OpRef {
    OpRef::Static(&Copy)
}

impl Op for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [input] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![input])
    }

    fn vjp(&self, _: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![Some(cotangents[0].clone())])
    }

    fn jvp(&self, _: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        Ok(tangents.iter().flatten().cloned().collect())
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        Ok(vec![(crate::array::call_one(Copy, [inputs[0].clone()])?, axes[0])])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Map(self)
    }
}

impl Map for Copy {
    fn map<'k>(&self, _: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        inputs[0]
    }
}
