//! `diag` and `diagonal`: a diagonal as a vector, and a vector as a diagonal.

use super::arange;
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros;
use crate::ops::gather::gather;
use crate::ops::scatter::scatter;
use crate::ops::views::{moveaxis, reshape};
use crate::shape::{Shape, normalize_axis};

/// The matrix that has a vector on its `k`-th diagonal, or the vector on a matrix's.
pub fn diag(x: &Array, k: i32) -> Result<Array> {
    match x.ndim() {
        1 => matrix_of(x, k),
        2 => diagonal(x, k, 0, 1),
        n => Err(Error::Value(format!("[diag] the array must have 1 or 2 axes but has {n}."))),
    }
}

fn matrix_of(x: &Array, k: i32) -> Result<Array> {
    let n = x.shape()[0];
    let size = n as i64 + (k as i64).abs();
    if size * size > i32::MAX as i64 {
        return Err(Error::Value(format!("[diag] the matrix must have at most {} elements.", i32::MAX)));
    }
    let first = if k >= 0 { k as i64 } else { -(k as i64) * size };
    let places = arange(first, first + n as i64 * (size + 1), size + 1, Some(Dtype::I32))?;
    let flat = scatter(&zeros(&[(size * size) as i32], x.dtype())?, &[places], &reshape(x, &[n, 1])?, &[0])?;
    reshape(&flat, &[size as i32, size as i32])
}

/// The `offset`-th diagonal of two axes, as the last axis of the result.
pub fn diagonal(x: &Array, offset: i32, axis1: i32, axis2: i32) -> Result<Array> {
    if x.ndim() < 2 {
        return Err(Error::Value(format!("[diagonal] the array must have at least 2 axes but has {}.", x.ndim())));
    }
    let first = normalize_axis("diagonal", axis1, x.ndim())?;
    let second = normalize_axis("diagonal", axis2, x.ndim())?;
    if first == second {
        return Err(Error::Value(format!("[diagonal] axis1 and axis2 must differ but both are {axis1}.")));
    }
    let (rows, columns) = (x.shape()[first] as i64, x.shape()[second] as i64);
    let (down, right) = ((-(offset as i64)).max(0), (offset as i64).max(0));
    let n = (rows - down).min(columns - right).max(0);
    let along = |start: i64| arange(start, start + n, 1, Some(Dtype::I32));
    let mut sizes = Shape::from_slice(x.shape());
    [first, second].into_iter().for_each(|axis| sizes[axis] = sizes[axis].min(1));
    let parts = gather(x, &[along(down)?, along(right)?], &[first as i32, second as i32], &sizes)?;
    let mut shape = Shape::from_slice(&[n as i32]);
    shape.extend((0..x.ndim()).filter(|&axis| axis != first && axis != second).map(|axis| x.shape()[axis]));
    moveaxis(&reshape(&parts, &shape)?, 0, -1)
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, shape: &[i32], call: fn(&Array) -> Result<Array>| Case {
        name: name.into(),
        inputs: vec![Sample::new(shape)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![call(&x[0])?])),
        differentiable: true,
    };
    let diag_cases = vec![
        case("vector", &[3], |x| diag(x, 0)),
        case("vector above", &[3], |x| diag(x, 2)),
        case("vector below", &[2], |x| diag(x, -1)),
        case("matrix", &[3, 4], |x| diag(x, 1)),
        case("empty", &[0], |x| diag(x, 0)),
    ];
    let diagonal_cases = vec![
        case("matrix", &[3, 4], |x| diagonal(x, 0, 0, 1)),
        case("outer axes", &[2, 3, 4], |x| diagonal(x, 1, 0, 2)),
        case("backwards", &[4, 3], |x| diagonal(x, -2, 1, 0)),
        case("outside", &[3, 3], |x| diagonal(x, 5, 0, 1)),
    ];
    vec![
        Entry { name: "diag", doc: "A vector as a diagonal, or a diagonal as a vector.", cases: diag_cases },
        Entry { name: "diagonal", doc: "The diagonal of two axes.", cases: diagonal_cases },
    ]
}
