//! `where_` and `clip`: one of two values, element by element.

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Element, Key, Lowering, Map, Op, Place, Sizes, Specs, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::binary::{maximum, minimum};
use crate::ops::broadcast_to::broadcast_together;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::scalar::{Operand, pair};
use crate::shape::{Spec, display};
use crate::typed::Typed;

/// The elements of `a` where the condition differs from zero, those of `b` elsewhere.
pub fn where_(condition: impl Operand, a: impl Operand, b: impl Operand) -> Result<Array> {
    let condition = condition.operand().to_array("where", None)?;
    let (a, b) = pair("where", &a, &b)?;
    let dtype = a.dtype().promote(b.dtype());
    let all = [astype(&condition, Dtype::Bool)?, astype(&a, dtype)?, astype(&b, dtype)?];
    call_one(Select, broadcast_together("where", &all)?)
}

/// The elements, or the bound they are beyond; of crossed bounds the upper one.
pub fn clip(x: &Array, low: Option<&dyn Operand>, high: Option<&dyn Operand>) -> Result<Array> {
    let clipped = match (low, high) {
        (None, None) => return Err(Error::Value("[clip] at least one bound must be given but none is.".into())),
        (Some(low), _) => maximum(x, low)?,
        (None, _) => x.clone(),
    };
    high.map_or(Ok(clipped.clone()), |high| minimum(&clipped, high))
}

#[derive(Debug)]
struct Select;

impl Op for Select {
    fn name(&self) -> &'static str {
        "where"
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [condition, a, b] = expect_inputs(self.name(), inputs)?;
        if a != b || condition.shape != a.shape || condition.dtype != Dtype::Bool {
            let [condition, a, b] = [&condition, &a, &b].map(|spec| display(&spec.shape));
            return Err(Error::Value(format!(
                "[where] condition, a and b must have one shape, and a and b one type, but are {condition}, {a} and {b}."
            )));
        }
        Ok(smallvec![a])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let (condition, g) = (&at.inputs[0], &cotangents[0]);
        let of_a = at.wanted[1].then(|| where_(condition, g, 0)).transpose()?;
        let of_b = at.wanted[2].then(|| where_(condition, 0, g)).transpose()?;
        Ok(vec![None, of_a, of_b])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        let tangent = match (&tangents[1], &tangents[2]) {
            (None, None) => zeros_like(&at.outputs[0])?,
            (Some(a), None) => where_(&at.inputs[0], a, 0)?,
            (None, Some(b)) => where_(&at.inputs[0], 0, b)?,
            (Some(a), Some(b)) => where_(&at.inputs[0], a, b)?,
        };
        Ok(vec![tangent])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (inputs, axis) = crate::transforms::align_mapped(inputs, axes)?;
        Ok(vec![(call_one(Select, inputs)?, axis)])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Together
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Map(self)
    }
}

impl Map for Select {
    fn map<'k>(&self, _: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        Typed::new(inputs[0].val.select(inputs[1].val, inputs[2].val), inputs[1].dtype)
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, shapes: [&[i32]; 3]| Case {
        name: name.into(),
        inputs: vec![
            Sample::within(shapes[0], 0.0, 1.99).of(Dtype::Bool),
            Sample::new(shapes[1]),
            Sample::new(shapes[2]),
        ],
        dtypes: &Dtype::ALL,
        call: Box::new(|x| Ok(vec![where_(&x[0], &x[1], &x[2])?])),
        differentiable: true,
    };
    let clipped = |shape: &[i32]| Case {
        name: format!("{} axes", shape.len()),
        inputs: vec![Sample::new(shape), Sample::within(&[], -1.0, 0.0), Sample::within(&[], 0.1, 1.0)],
        dtypes: &Dtype::ALL,
        call: Box::new(|x| Ok(vec![clip(&x[0], Some(&x[1]), Some(&x[2]))?])),
        differentiable: false,
    };
    let cases = vec![
        case("same shape", [&[3, 5]; 3]),
        case("broadcast", [&[3, 1], &[5], &[]]),
        case("scalars", [&[]; 3]),
        case("empty", [&[0, 2], &[2], &[]]),
    ];
    vec![
        Entry { name: "where", doc: "One of two values, by a condition.", cases },
        Entry {
            name: "clip",
            doc: "Values within bounds.",
            cases: vec![clipped(&[3, 5]), clipped(&[]), clipped(&[0, 2])],
        },
    ]
}

/// Expected values from the wheel.
#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Array {
        Array::from_slice(values, &[values.len() as i32]).expect("as many")
    }

    #[test]
    fn nan_is_true_and_the_numbers_take_each_others_type() {
        let y = where_(floats(&[f32::NAN, 0.0, -0.0, 2.0]), 1, 0).expect("they broadcast");
        assert_eq!(y.to_vec::<i32>().expect("ints"), [1, 0, 0, 1]);
        let halves = astype(&floats(&[1.0]), Dtype::F16).expect("it converts");
        assert_eq!(where_(true, 1, &halves).expect("they broadcast").dtype(), Dtype::F16);
        assert_eq!(where_(true, 1.0, 2).expect("they broadcast").dtype(), Dtype::F32);
        let error = where_(floats(&[1.0, 2.0]), floats(&[1.0, 2.0, 3.0]), 0).expect_err("two and three");
        assert!(matches!(error, Error::Value(_)), "{error}");
    }

    #[test]
    fn nan_stays_and_crossed_bounds_give_the_upper_one() {
        let clipped = |x: &[f32], low: f64, high: f64| {
            clip(&floats(x), Some(&low), Some(&high)).expect("bounds are given").to_vec::<f32>().expect("floats")
        };
        let found = clipped(&[f32::NAN, 1.0, 5.0, -3.0], 0.0, 2.0);
        assert!(found[0].is_nan() && found[1..] == [1.0, 2.0, 0.0], "{found:?}");
        assert_eq!(clipped(&[1.0, 2.0], 3.0, 0.0), [0.0, 0.0]);
        let error = clip(&floats(&[1.0]), None, None).expect_err("no bounds");
        assert_eq!(error.to_string(), "[clip] at least one bound must be given but none is.");
    }
}
