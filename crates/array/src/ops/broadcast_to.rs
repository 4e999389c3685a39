//! `broadcast_to(x, shape)`: axes of one element, and axes that are missing in front, repeated; no memory is used for it.

use smallvec::smallvec;

use crate::array::{Array, Data, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Key, Lowering, Op, Place, Sizes, Specs, View, expect_inputs};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::shape::{self, Layout, Shape, Spec};
use crate::transforms::tracing;

/// The array with axes of one element repeated to a shape.
pub fn broadcast_to(x: &Array, shape: &[i32]) -> Result<Array> {
    if x.shape() == shape && !tracing::depends_on_sizes(x) {
        return Ok(x.clone());
    }
    let op = BroadcastTo { shape: Shape::from_slice(shape), beside: false };
    // Of what is known already, so is the view of it: plain numbers beside arrays make no calls.
    if let Some(data) = x.data().filter(|_| !x.is_tracer()) {
        let spec = op.infer(&[x.spec()])?.remove(0);
        let layout = data.layout.broadcast_to(shape);
        return Ok(Array::evaluated(spec, Data { source: data.source, layout }));
    }
    call_one(op, [x.clone()])
}

/// The arrays broadcast to the one shape they all fit.
pub(crate) fn broadcast_together(op: &str, arrays: &[Array]) -> Result<Vec<Array>> {
    if arrays.windows(2).all(|pair| pair[0].shape() == pair[1].shape()) {
        return Ok(arrays.to_vec());
    }
    let mut shape = Shape::new();
    for array in arrays {
        shape = shape::broadcast(op, &shape, array.shape())?;
    }
    let beside = arrays.iter().find(|array| tracing::shapeless() && array.is_tracer());
    let broadcast = |array: &Array| match beside {
        _ if array.shape() == shape.as_slice() => Ok(array.clone()),
        Some(beside) => call_one(BroadcastTo { shape: shape.clone(), beside: true }, [array.clone(), beside.clone()]),
        None => broadcast_to(array, &shape),
    };
    arrays.iter().map(broadcast).collect()
}

#[derive(Debug)]
struct BroadcastTo {
    shape: Shape,
    /// Whether it is broadcast to the shape of arrays beside it, in a function that is compiled for all shapes. One of these is a second
    /// input then, so that the call is one of the function's even where the first is not.
    beside: bool,
}

impl Op for BroadcastTo {
    fn name(&self) -> &'static str {
        "broadcast_to"
    }

    fn key(&self, key: &mut Key) {
        key.ints(&self.shape);
        key.word(self.beside as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), &inputs[..inputs.len() - self.beside as usize])?;
        if self.shape.iter().any(|&n| n < 0) {
            let shape = shape::display(&self.shape);
            return Err(Error::Value(format!(
                "[broadcast_to] the sizes of a shape must not be negative but are {shape}."
            )));
        }
        let fits = shape::broadcast(self.name(), &x.shape, &self.shape).is_ok_and(|shape| shape == self.shape);
        if !fits {
            let [from, to] = [&x.shape, &self.shape].map(|s| shape::display(s));
            return Err(Error::Value(format!("[broadcast_to] x must broadcast to shape {to} but has shape {from}.")));
        }
        Ok(smallvec![Spec::new(self.shape.clone(), x.dtype)])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let mut all = vec![None; at.inputs.len()];
        all[0] = Some(crate::transforms::sum_to(&cotangents[0], at.inputs[0].shape())?);
        Ok(all)
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        match &tangents[0] {
            Some(tangent) => Ok(vec![broadcast_to(tangent, &self.shape)?]),
            None => Ok(vec![zeros_like(&at.outputs[0])?]),
        }
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let Some(axis) = axes[0] else { return Ok(vec![(broadcast_to(&inputs[0], &self.shape)?, None)]) };
        // The mapped axis goes to the front, followed by axes of one element for those that are missing.
        let x = crate::ops::views::moveaxis(&inputs[0], axis as i32, 0)?;
        let mut padded: Shape = smallvec![x.shape()[0]];
        padded.extend(std::iter::repeat_n(1, self.shape.len() + 1 - x.ndim()));
        padded.extend_from_slice(&x.shape()[1..]);
        let mut shape: Shape = smallvec![x.shape()[0]];
        shape.extend_from_slice(&self.shape);
        Ok(vec![(broadcast_to(&crate::ops::views::reshape(&x, &padded)?, &shape)?, Some(0))])
    }

    fn sizes(&self) -> Sizes {
        if self.beside { Sizes::Beside } else { Sizes::Fixed }
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::View(self)
    }
}

impl View for BroadcastTo {
    fn view(&self, input: &Layout, output: &Spec) -> Option<Layout> {
        Some(input.broadcast_to(&output.shape))
    }
}

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry { name: "broadcast_to", doc: "Repeats axes of one element to fill a shape.", cases: cases() }]
}

fn cases() -> Vec<Case> {
    let case = |name: &str, from: &[i32], to: &'static [i32]| Case {
        name: name.into(),
        inputs: vec![Sample::new(from)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![broadcast_to(&x[0], to)?])),
        differentiable: true,
    };
    vec![
        case("rows", &[1, 4], &[3, 4]),
        case("new axis", &[4], &[2, 4]),
        case("scalar", &[], &[2, 3]),
        case("empty", &[1, 0], &[5, 0]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_must_fit() {
        let x = Array::from_slice(&[1f32, 2.0], &[2]).expect("two values");
        let error = broadcast_to(&x, &[3]).expect_err("two do not fit three");
        assert_eq!(error.to_string(), "[broadcast_to] x must broadcast to shape (3,) but has shape (2,).");
    }
}
