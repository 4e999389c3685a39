//! Ops of two operands, `where` and `clip`.

use pumice::ops::binary::{self, Close};
use pumice::ops::select;
use pumice::scalar::Operand;
use pyo3::prelude::*;

use super::functions;
use crate::array::{Given, PyArray};
use crate::convert::{Value, pair};
use crate::device::{On, on};
use crate::error::Answer;

/// Functions of two numbers or arrays, by the op of the same name.
macro_rules! by_name {
    ($($name:ident $doc:literal;)*) => {
        mod by_name {
            use super::*;
            functions! {$(
                #[doc = $doc]
                $name [a, b, /, *] (a: Value, b: Value) => {
                    let (a, b) = pair(a, b)?;
                    binary::$name(a, b)
                };
            )*}
        }
    };
}

by_name! {
    add "The sum.";
    arctan2 "The angle of the point with the second number along and the first one up.";
    bitwise_and "The bits that are set in both.";
    bitwise_or "The bits that are set in one or both.";
    bitwise_xor "The bits that are set in one of them.";
    divide "The quotient; integers become float32 first.";
    equal "Whether they are equal; NaN equals nothing.";
    floor_divide "The quotient rounded down.";
    greater "Whether the first is greater.";
    greater_equal "Whether the first is greater or equal.";
    left_shift "The first number's bits moved up by the second.";
    less "Whether the first is less.";
    less_equal "Whether the first is less or equal.";
    logaddexp "The logarithm of the sum of exponentials.";
    logical_and "Whether both differ from zero.";
    logical_or "Whether one differs from zero.";
    logical_xor "Whether one of them differs from zero, and the other does not.";
    maximum "The larger; NaN if either is.";
    minimum "The smaller; NaN if either is.";
    multiply "The product.";
    not_equal "Whether they differ.";
    power "The first number to the power of the second.";
    remainder "What floor division leaves, with the sign of the divisor.";
    right_shift "The first number's bits moved down by the second.";
    subtract "The difference.";
}

mod others {
    use super::*;
    functions! {
        /// Whether two arrays have one shape and equal numbers.
        array_equal [a, b, equal_nan=false, *] (a: Value, b: Value, equal_nan: bool) => {
            let (a, b) = pair(a, b)?;
            binary::array_equal(a, b, equal_nan)
        };
        /// Whether all numbers are within `atol + rtol * abs(b)` of each other.
        allclose [a, b, /, rtol=1e-5, atol=1e-8, *, equal_nan=false]
            (a: Given, b: Given, rtol: f64, atol: f64, equal_nan: bool) =>
            binary::allclose(&a.0, &b.0, Close { rtol, atol, equal_nan });
        /// Whether the numbers are within `atol + rtol * abs(b)` of each other.
        isclose [a, b, /, rtol=1e-5, atol=1e-8, *, equal_nan=false]
            (a: Given, b: Given, rtol: f64, atol: f64, equal_nan: bool) =>
            binary::isclose(&a.0, &b.0, Close { rtol, atol, equal_nan });
        /// Differences of neighbours along an axis, taken `n` times.
        diff [a, /, n=1, axis=-1, *] (a: Given, n: i32, axis: i32) => pumice::ops::diff::diff(&a.0, n, axis);
        /// The number, or the bound that it is beyond.
        clip [a, /, a_min, a_max, *] (a: Given, a_min: Option<Value>, a_max: Option<Value>) => {
            let bound = |value: &Option<Value>| value.as_ref().map(|value| value.beside(&a.0)).transpose();
            let (low, high) = (bound(&a_min)?, bound(&a_max)?);
            select::clip(&a.0, low.as_ref().map(|x| x as &dyn Operand), high.as_ref().map(|x| x as &dyn Operand))
        };
    }
}

/// Numbers of `x` where the condition holds, of `y` elsewhere.
#[pyfunction]
#[pyo3(name = "where", signature = (condition, x, y, /, *, stream=None))]
fn where_(condition: Value, x: Value, y: Value, stream: Option<On>) -> Answer<PyArray> {
    let chosen = on(stream, || {
        let (x, y) = pair(x, y)?;
        select::where_(condition.to_array()?, x, y)
    })?;
    Ok(chosen.into())
}

/// Quotient and remainder.
#[pyfunction]
#[pyo3(signature = (a, b, *, stream=None))]
fn divmod(a: Value, b: Value, stream: Option<On>) -> Answer<Vec<PyArray>> {
    let (quotient, remainder) = on(stream, || {
        let (a, b) = pair(a, b)?;
        binary::divmod(a, b)
    })?;
    Ok(vec![quotient.into(), remainder.into()])
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    by_name::add_to(module)?;
    others::add_to(module)?;
    module.add_function(wrap_pyfunction!(where_, module)?)?;
    module.add_function(wrap_pyfunction!(divmod, module)?)
}
