//! `tril` and `triu`: the part of a matrix below or above a diagonal, zeros elsewhere.

use smallvec::smallvec;

use super::grid::choose;
use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Element, Key, Lowering, Map, Op, Place, Specs, expect_inputs};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::ops::views::moveaxis;
use crate::shape::Spec;
use crate::typed::Typed;

/// The elements on and below the `k`-th diagonal of the last two axes, zeros above.
pub fn tril(x: &Array, k: i32) -> Result<Array> {
    triangle("tril", Keep::Below, x, k)
}

/// The elements on and above the `k`-th diagonal of the last two axes, zeros below.
pub fn triu(x: &Array, k: i32) -> Result<Array> {
    triangle("triu", Keep::Above, x, k)
}

fn triangle(op: &str, keep: Keep, x: &Array, k: i32) -> Result<Array> {
    if x.ndim() < 2 {
        return Err(Error::Value(format!("[{op}] the array must have at least 2 axes but has {}.", x.ndim())));
    }
    call_one(Triangle { keep, k }, inputs_of(x, k)?)
}

fn inputs_of(x: &Array, k: i32) -> Result<[Array; 4]> {
    let shape = x.shape();
    let numbers = [shape[shape.len() - 2], shape[shape.len() - 1], k];
    let [rows, columns, diagonal] = numbers.map(|number| broadcast_to(&Array::scalar(number as i64), shape));
    Ok([x.clone(), rows?, columns?, diagonal?])
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keep {
    Below,
    Above,
}

/// The kept elements of an array, of its numbers of rows and columns and the diagonal repeated over it.
#[derive(Debug)]
struct Triangle {
    keep: Keep,
    k: i32,
}

impl Triangle {
    fn of(&self, x: &Array) -> Result<Array> {
        call_one(Triangle { keep: self.keep, k: self.k }, inputs_of(x, self.k)?)
    }
}

impl Op for Triangle {
    fn name(&self) -> &'static str {
        match self.keep {
            Keep::Below => "tril",
            Keep::Above => "triu",
        }
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x, _rows, _columns, _diagonal] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![x])
    }

    fn vjp(&self, _: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![Some(self.of(&cotangents[0])?), None, None, None])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        match &tangents[0] {
            Some(tangent) => Ok(vec![self.of(tangent)?]),
            None => Ok(vec![zeros_like(&at.outputs[0])?]),
        }
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let x = match axes[0] {
            Some(axis) => moveaxis(&inputs[0], axis as i32, 0)?,
            None => inputs[0].clone(),
        };
        Ok(vec![(self.of(&x)?, axes[0].map(|_| 0))])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Map(self)
    }
}

impl Map for Triangle {
    fn map<'k>(&self, at: &Element<'k>, inputs: &[Typed<'k>]) -> Typed<'k> {
        let [rows, columns, diagonal] = [inputs[1].val, inputs[2].val, inputs[3].val];
        let right = at.index.rem_u(columns) - at.index.div_u(columns).rem_u(rows);
        let kept = match self.keep {
            Keep::Below => right.le(diagonal),
            Keep::Above => right.ge(diagonal),
        };
        Typed::new(choose(kept, inputs[0].val, inputs[0].like(0.0).val), at.dtype)
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let cases = |make: fn(&Array, i32) -> Result<Array>| {
        let shapes: [(&str, &[i32], i32); 4] =
            [("square", &[4, 4], 0), ("batch", &[2, 3, 5], 1), ("tall", &[5, 2], -1), ("empty", &[0, 3], 0)];
        let cases = shapes.into_iter().map(move |(name, shape, k)| Case {
            name: name.into(),
            inputs: vec![Sample::new(shape)],
            dtypes: &Dtype::ALL,
            call: Box::new(move |x| Ok(vec![make(&x[0], k)?])),
            differentiable: true,
        });
        cases.collect()
    };
    vec![
        Entry { name: "tril", doc: "What lies on and below a diagonal.", cases: cases(tril) },
        Entry { name: "triu", doc: "What lies on and above a diagonal.", cases: cases(triu) },
    ]
}
