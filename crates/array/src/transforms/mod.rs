//! Transforms: functions of functions.
//!
//! A function is whatever makes arrays of arrays: `Fn(&[Array]) -> Result<Vec<Array>>`. A transform gives it inputs that it follows
//! ([`tracing`]), finds the calls that lead from them to the results ([`tape`]), and asks each call's op for its rule: [`vjp`] walks
//! backwards, [`jvp`] and [`vmap`] forwards, [`compile`] keeps the tape. Rules make arrays and never look at values, so transforms of
//! transforms need nothing more. An op without a rule of its own is transformed by what it means.

mod checkpoint;
mod compile;
mod custom;
#[cfg(test)]
mod first_look;
mod grad;
mod jvp;
pub(crate) mod program;
pub(crate) mod tape;
pub(crate) mod tracing;
mod vjp;
mod vmap;

pub use checkpoint::checkpoint;
pub use compile::{Programs, compile, compile_shapeless};
pub use custom::CustomFunction;
pub use grad::{grad, value_and_grad};
pub use jvp::jvp;
pub use program::Program;
pub use vjp::vjp;
pub use vmap::{Axes, Mapping, vmap};

pub(crate) use jvp::jvp_of_meaning;
pub(crate) use vjp::vjp_of_meaning;
pub(crate) use vmap::vmap_of_meaning;

use crate::array::Array;
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::reduce::sum;
use crate::ops::views::{moveaxis, reshape};
use crate::shape::Shape;

/// What an op means, applied to arrays.
pub(crate) type Meaning<'a> = &'a dyn Fn(&[Array]) -> Result<Option<Vec<Array>>>;

fn missing(op: &str, rule: &str) -> Error {
    Error::Value(format!("[{rule}] {op} must have a rule for it but has none."))
}

/// Sums an array over what broadcasting repeated, back to the shape it came from.
pub(crate) fn sum_to(x: &Array, shape: &[i32]) -> Result<Array> {
    let new = x.ndim() - shape.len();
    let repeated = |axis: usize| axis < new || (shape[axis - new] == 1 && x.shape()[axis] != 1);
    let axes: Vec<i32> = (0..x.ndim()).filter(|&axis| repeated(axis)).map(|axis| axis as i32).collect();
    let summed = if axes.is_empty() { x.clone() } else { sum(x, Some(&axes), false)? };
    // The sum of small integers is of a wider type than they are.
    reshape(&astype(&summed, x.dtype())?, shape)
}

/// Mapped inputs of an element-wise op with their extra axis in one place, and that place. Without it they have one shape.
pub(crate) fn align_mapped(inputs: &[Array], axes: &[Option<usize>]) -> Result<(Vec<Array>, Option<usize>)> {
    if axes.iter().all(|axis| *axis == axes[0]) {
        return Ok((inputs.to_vec(), axes[0]));
    }
    let mapped = inputs.iter().zip(axes).find_map(|(x, &axis)| Some((x, axis?)));
    let Some((x, axis)) = mapped else { return Ok((inputs.to_vec(), None)) };
    let size = x.shape()[axis];
    let align = |(x, axis): (&Array, &Option<usize>)| match axis {
        Some(axis) => moveaxis(x, *axis as i32, 0),
        None => {
            let mut shape = Shape::from_elem(size, 1);
            shape.extend_from_slice(x.shape());
            broadcast_to(x, &shape)
        }
    };
    Ok((inputs.iter().zip(axes).map(align).collect::<Result<_>>()?, Some(0)))
}
