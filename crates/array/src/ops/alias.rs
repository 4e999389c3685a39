//! The same array under another name: what transforms trace a function with. It costs nothing when it is evaluated.

use smallvec::smallvec;

use crate::array::{Array, call_shared};
use crate::device::current_stream;
use crate::error::Result;
use crate::op::{At, Key, Op, OpRef, Sizes, Specs, expect_inputs};
use crate::shape::Spec;

/// Gives what it is given.
#[derive(Debug)]
struct Alias;

/// The op.
pub(crate) fn op() -> OpRef {
    OpRef::Static(&Alias)
}

impl Op for Alias {
    fn name(&self) -> &'static str {
        "alias"
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![x])
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        Ok(Some(inputs.to_vec()))
    }

    fn vjp(&self, _: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![Some(cotangents[0].clone())])
    }

    fn jvp(&self, _: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        Ok(tangents.iter().flatten().cloned().collect())
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let mapped = call_shared(op(), smallvec![inputs[0].clone()], current_stream()?)?;
        Ok(vec![(mapped[0].clone(), axes[0])])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }
}
