//! Arrays put together and repeated.

use pumice::ops::{joins, views};
use pumice::{Array, Result};
use pyo3::prelude::*;

use super::arguments::{Arrays, Ints};
use super::functions;
use crate::array::Given;

fn rolled(a: &Array, shift: &Ints, axis: Option<Ints>) -> Result<Array> {
    match axis {
        Some(axis) => joins::roll(a, &each(&shift.0, axis.0.len()), &axis.0),
        None => joins::roll_flat(a, shift.0.iter().fold(0, |sum: i32, &n| sum.wrapping_add(n))),
    }
}

/// One number for all axes, or the numbers themselves.
fn each(numbers: &[i32], axes: usize) -> Vec<i32> {
    if numbers.len() == 1 { vec![numbers[0]; axes] } else { numbers.to_vec() }
}

fn concatenated(arrays: &[Array], axis: i32) -> Result<Array> {
    match arrays {
        // Nothing is put together, so that the axis does not matter.
        [one] => Ok(one.clone()),
        _ => joins::concatenate(arrays, axis),
    }
}

fn flat_or(axis: Option<i32>, arrays: &[Array], join: fn(&[Array], i32) -> Result<Array>) -> Result<Array> {
    match axis {
        Some(axis) => join(arrays, axis),
        None => {
            let flat = arrays.iter().map(|a| views::flatten(a, 0, -1)).collect::<Result<Vec<_>>>()?;
            joins::concatenate(&flat, 0)
        }
    }
}

functions! {
    /// Arrays one after the other along an axis.
    concatenate [arrays, axis=Some(0), *] (arrays: Arrays, axis: Option<i32>) =>
        flat_or(axis, &arrays.0, concatenated);
    /// Arrays side by side along a new axis.
    stack [arrays, axis=Some(0), *] (arrays: Arrays, axis: Option<i32>) => flat_or(axis, &arrays.0, joins::stack);
    /// Every element so many times, one after the other.
    repeat [array, repeats, axis=None, *] (array: Given, repeats: i32, axis: Option<i32>) =>
        joins::repeat(&array.0, repeats, axis);
    /// The array so many times along each axis.
    tile [a, reps, /, *] (a: Given, reps: Ints) => joins::tile(&a.0, &reps.0);
    /// The elements moved along axes; those that leave come back at the other end.
    roll [a, shift, axis=None, /, *] (a: Given, shift: Ints, axis: Option<Ints>) => rolled(&a.0, &shift, axis);
}
