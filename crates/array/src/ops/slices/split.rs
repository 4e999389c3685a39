//! `split(x, sections, axis)` and `split_at(x, indices, axis)`: an array in parts along an axis, without copying.

use super::range::Ranges;
use super::slice::slice_ranges;
use crate::array::{Array, call};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Key, Op, Specs, expect_inputs};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::joins::concatenate;
use crate::ops::views::moveaxis;
use crate::shape::{self, Spec, normalize_axis};

/// An array each: more would not come to an end.
const MOST_PARTS: i32 = 1 << 20;

/// The array in so many equal parts along an axis.
pub fn split(x: &Array, sections: i32, axis: i32) -> Result<Vec<Array>> {
    let axis = normalize_axis("split", axis, x.ndim())?;
    let n = x.shape()[axis];
    if sections < 1 {
        return Err(Error::Value(format!("[split] the number of parts must be positive but is {sections}.")));
    }
    if sections > MOST_PARTS {
        return Err(Error::Value(format!(
            "[split] there must be at most {MOST_PARTS} parts but {sections} are asked for."
        )));
    }
    if n % sections != 0 {
        let shape = shape::display(x.shape());
        return Err(Error::Value(format!(
            "[split] {sections} parts must be equal but axis {axis} of shape {shape} has {n} elements."
        )));
    }
    let part = n / sections;
    parts(x, axis, (0..sections).map(|i| [i * part, (i + 1) * part]).collect())
}

/// The array in parts along an axis: up to each of the indices, and the rest. Negative ones count from the end; where
/// one is less than the one before it, the part is empty.
pub fn split_at(x: &Array, indices: &[i32], axis: i32) -> Result<Vec<Array>> {
    let axis = normalize_axis("split", axis, x.ndim())?;
    let n = x.shape()[axis];
    let place = |&index: &i32| if index < 0 { index.saturating_add(n).max(0) } else { index.min(n) };
    let places: Vec<i32> = std::iter::once(0).chain(indices.iter().map(place)).chain([n]).collect();
    parts(x, axis, places.windows(2).map(|pair| [pair[0], pair[1].max(pair[0])]).collect())
}

fn parts(x: &Array, axis: usize, bounds: Vec<[i32; 2]>) -> Result<Vec<Array>> {
    let op = Split { axis, bounds };
    match x.is_evaluated() && !x.is_tracer() {
        true => op.slices(x),
        false => Ok(call(op, [x.clone()])?.into_vec()),
    }
}

#[derive(Debug)]
struct Split {
    axis: usize,
    /// Where each part begins, and where it ends.
    bounds: Vec<[i32; 2]>,
}

impl Split {
    fn slices(&self, x: &Array) -> Result<Vec<Array>> {
        let part = |&[start, stop]: &[i32; 2]| slice_ranges(x, Ranges::along(x.shape(), self.axis, start, stop));
        self.bounds.iter().map(part).collect()
    }

    /// Whether the parts are the array, each element once and in order.
    fn covers(&self, n: i32) -> bool {
        let ends = self.bounds.first().map(|b| b[0]) == Some(0) && self.bounds.last().map(|b| b[1]) == Some(n);
        ends && self.bounds.windows(2).all(|pair| pair[0][1] == pair[1][0])
    }
}

impl Op for Split {
    fn name(&self) -> &'static str {
        "split"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.axis as u64);
        key.word(self.bounds.len() as u64);
        self.bounds.iter().for_each(|pair| key.ints(pair));
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        let part = |[start, stop]: &[i32; 2]| {
            let mut spec = x.clone();
            spec.shape[self.axis] = stop - start;
            spec
        };
        Ok(self.bounds.iter().map(part).collect())
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        Ok(Some(self.slices(&inputs[0])?))
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        match self.covers(at.inputs[0].shape()[self.axis]) {
            true => Ok(vec![Some(concatenate(cotangents, self.axis as i32)?)]),
            false => {
                let meaning = |inputs: &[Array]| self.decompose(inputs);
                crate::transforms::vjp_of_meaning(self.name(), at, cotangents, &meaning)
            }
        }
    }

    fn jvp(&self, _: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        self.slices(tangents[0].as_ref().expect("the input has a tangent"))
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let x = moveaxis(&inputs[0], axes[0].expect("an input is mapped") as i32, 0)?;
        let parts = parts(&x, self.axis + 1, self.bounds.clone())?;
        Ok(parts.into_iter().map(|part| (part, Some(0))).collect())
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, shape: &[i32], call: fn(&Array) -> Result<Vec<Array>>| Case {
        name: name.into(),
        inputs: vec![Sample::new(shape)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| call(&x[0])),
        differentiable: true,
    };
    let cases = vec![
        case("equal parts", &[2, 6], |x| split(x, 3, 1)),
        case("at indices", &[5, 2], |x| split_at(x, &[1, -2], 0)),
        case("with an empty part", &[2, 3], |x| split_at(x, &[2, 1], 1)),
        case("empty", &[0, 2], |x| split(x, 2, 0)),
    ];
    vec![Entry { name: "split", doc: "An array in parts along an axis.", cases }]
}
