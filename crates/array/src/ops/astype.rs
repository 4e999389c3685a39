//! `astype(x, dtype)`: the elements as another type.

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::op::{At, Element, Key, Lowering, Map, Op, Place, Sizes, Specs, expect_inputs};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::shape::Spec;
use crate::typed::Typed;

/// The array with its elements as another type.
pub fn astype(x: &Array, dtype: Dtype) -> Result<Array> {
    if x.dtype() == dtype {
        return Ok(x.clone());
    }
    call_one(AsType { dtype }, [x.clone()])
}

#[derive(Debug)]
struct AsType {
    dtype: Dtype,
}

impl Op for AsType {
    fn name(&self) -> &'static str {
        "astype"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.dtype as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![x.with_dtype(self.dtype)])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![Some(astype(&cotangents[0], at.inputs[0].dtype())?)])
    }

    fn jvp(&self, _: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        tangents.iter().flatten().map(|tangent| astype(tangent, self.dtype)).collect()
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        Ok(vec![(astype(&inputs[0], self.dtype)?, axes[0])])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Map(self)
    }
}

impl Map for AsType {
    fn map<'k>(&self, _: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        inputs[0].to(self.dtype)
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let cases = Dtype::ALL.into_iter().map(|dtype| Case {
        name: format!("to {dtype}"),
        inputs: vec![Sample::within(&[3, 4], 0.0, 100.0)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![astype(&x[0], dtype)?])),
        differentiable: false,
    });
    vec![Entry { name: "astype", doc: "The elements as another type.", cases: cases.collect() }]
}
