//! `categorical`: numbers of categories, drawn by their logits.

use super::continuous::{gumbel, uniform};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::arg_reduce::argmax;
use crate::ops::astype::astype;
use crate::ops::binary::{add, less_equal, multiply, subtract};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::gather::take_one;
use crate::ops::reduce::{max, sum};
use crate::ops::running_sum::running_sum;
use crate::ops::unary::exp;
use crate::ops::views::{expand_dims, reshape};
use crate::shape::{Shape, broadcast, display, normalize_axis};

/// How many are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samples<'a> {
    /// One from each distribution.
    One,
    /// So many from each; they are the last axis of the result.
    Number(i32),
    /// As many as a shape has, which the distributions broadcast to.
    Shape(&'a [i32]),
}

/// Categories drawn from the distributions that unnormalised logarithms of chances along an axis stand for.
pub fn categorical(logits: &Array, axis: i32, samples: Samples<'_>, key: Option<&Array>) -> Result<Array> {
    let axis = normalize_axis("categorical", axis, logits.ndim())?;
    let mut own = Shape::from_slice(logits.shape());
    let n = own.remove(axis);
    // The axis counted from the end, where the shapes of logits and results meet.
    let behind = logits.ndim() - axis;
    let (shape, logits, behind) = match samples {
        Samples::One => (own, logits.clone(), behind),
        Samples::Number(number) => {
            own.push(number);
            (own, expand_dims(logits, &[-1])?, behind + 1)
        }
        Samples::Shape(shape) => {
            if broadcast("categorical", shape, &own)?.as_slice() != shape {
                let [shape, own] = [shape, &own].map(display);
                return Err(Error::Value(format!(
                    "[categorical] {own} must broadcast to the shape {shape} but does not."
                )));
            }
            (Shape::from_slice(shape), logits.clone(), behind)
        }
    };
    if logits.size() == n as usize && !shape.is_empty() {
        return by_chances(&reshape(&logits, &[n])?, &shape, key);
    }
    let mut noisy = shape.clone();
    noisy.insert(shape.len() + 1 - behind, n);
    let noisy = add(&logits, gumbel(&noisy, Dtype::F32, key)?)?;
    argmax(&noisy, Some(-(behind as i32)), false)
}

/// Draws from one distribution: where a part of the sum of all chances falls among their running sums.
fn by_chances(logits: &Array, shape: &[i32], key: Option<&Array>) -> Result<Array> {
    let logits = astype(logits, Dtype::F32)?;
    let chances = exp(&subtract(&logits, max(&logits, None, true)?)?)?;
    let before = running_sum(&chances)?;
    let whole = add(take_one(&before, -1, Some(0))?, take_one(&chances, -1, Some(0))?)?;
    let drawn = multiply(uniform(0, 1, shape, Dtype::F32, key)?, whole)?;
    let passed = less_equal(before, expand_dims(&drawn, &[-1])?)?;
    astype(&subtract(sum(&passed, Some(&[-1]), false)?, 1)?, Dtype::U32)
}

pub(super) fn entries(key: impl Fn() -> Sample) -> Vec<Entry> {
    let case = |name: &str, shape: &[i32], axis: i32, samples: Samples<'static>| Case {
        name: name.into(),
        inputs: vec![Sample::new(shape), key()],
        dtypes: &[Dtype::F16, Dtype::F32, Dtype::BF16],
        call: Box::new(move |x| Ok(vec![categorical(&x[0], axis, samples, Some(&x[1]))?])),
        differentiable: false,
    };
    let cases = vec![
        case("rows", &[3, 5], -1, Samples::One),
        case("columns", &[3, 5], 0, Samples::Number(4)),
        case("shape", &[3, 5], -1, Samples::Shape(&[2, 3])),
        case("one row", &[1, 5], -1, Samples::Number(4)),
    ];
    vec![Entry { name: "categorical", doc: "Categories drawn by their logits.", cases }]
}
