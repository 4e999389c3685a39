//! `mx.random`.

use pumice::Dtype;
use pumice::random::{self as numbers, Samples};
use pumice::scalar::Operand;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::array::{Given, PyArray};
use crate::convert::Value;
use crate::device::{On, array_on};
use crate::dtype::PyDtype;
use crate::error::{Answer, value_error};
use crate::ops::{IntList, functions};

/// The calling thread's key, in trees of state that compiled functions capture.
#[pyclass(name = "_RandomState", module = "mlx.core.random", frozen)]
pub struct RandomState;

#[pymethods]
impl RandomState {
    fn __len__(&self) -> usize {
        1
    }

    fn __getitem__(&self, index: i64) -> Answer<PyArray> {
        match index {
            0 | -1 => Ok(numbers::state()?.into()),
            _ => Err(PyIndexError::new_err("random state index out of range").into()),
        }
    }

    fn __setitem__(&self, index: i64, key: Given) -> Answer<()> {
        match index {
            0 | -1 => Ok(numbers::set_state(&key.0)?),
            _ => Err(PyIndexError::new_err("random state index out of range").into()),
        }
    }
}

fn or(dtype: Option<PyDtype>, default: Dtype) -> Dtype {
    dtype.map_or(default, |dtype| dtype.0)
}

fn shape_or_none(shape: &Option<IntList>) -> &[i32] {
    shape.as_ref().map_or(&[], |shape| &shape.0)
}

fn key_of(key: &Option<Given>) -> Option<&pumice::Array> {
    key.as_ref().map(|key| &key.0)
}

fn operand(value: &Option<Value>) -> Option<&dyn Operand> {
    value.as_ref().map(|value| value as &dyn Operand)
}

fn zero() -> Value {
    Value::Number(crate::number::Number::Int(0))
}

fn one() -> Value {
    Value::Number(crate::number::Number::Int(1))
}

fn half() -> Value {
    Value::Number(crate::number::Number::Float(0.5))
}

mod table {
    use super::*;
    functions! {
        /// Evenly distributed numbers from `low` to before `high`.
        uniform [low=zero(), high=one(), shape=None, dtype=None, key=None]
            (low: Value, high: Value, shape: Option<IntList>, dtype: Option<PyDtype>, key: Option<Given>) =>
            numbers::uniform(low, high, shape_or_none(&shape), or(dtype, Dtype::F32), key_of(&key));
        /// Normally distributed numbers.
        normal [shape=None, dtype=None, loc=None, scale=None, key=None]
            (shape: Option<IntList>, dtype: Option<PyDtype>, loc: Option<Value>, scale: Option<Value>, key: Option<Given>) =>
            numbers::normal(shape_or_none(&shape), or(dtype, Dtype::F32), operand(&loc), operand(&scale), key_of(&key));
        /// Whole numbers from `low` to before `high`.
        randint [low, high, shape=None, dtype=None, key=None]
            (low: Value, high: Value, shape: Option<IntList>, dtype: Option<PyDtype>, key: Option<Given>) =>
            numbers::randint(low, high, shape_or_none(&shape), or(dtype, Dtype::I32), key_of(&key));
        /// True with a chance of `p`.
        bernoulli [p=half(), shape=None, key=None] (p: Value, shape: Option<IntList>, key: Option<Given>) =>
            numbers::bernoulli(p, shape.as_ref().map(|shape| shape.0.as_slice()), key_of(&key));
        /// Normally distributed numbers between bounds.
        truncated_normal [lower, upper, shape=None, dtype=None, key=None]
            (lower: Value, upper: Value, shape: Option<IntList>, dtype: Option<PyDtype>, key: Option<Given>) =>
            numbers::truncated_normal(lower, upper, shape.as_ref().map(|shape| shape.0.as_slice()), or(dtype, Dtype::F32), key_of(&key));
        /// Numbers of the standard Gumbel distribution.
        gumbel [shape=None, dtype=None, key=None] (shape: Option<IntList>, dtype: Option<PyDtype>, key: Option<Given>) =>
            numbers::gumbel(shape_or_none(&shape), or(dtype, Dtype::F32), key_of(&key));
        /// Numbers of a Laplace distribution.
        laplace [shape=None, dtype=None, loc=None, scale=None, key=None]
            (shape: Option<IntList>, dtype: Option<PyDtype>, loc: Option<Value>, scale: Option<Value>, key: Option<Given>) =>
            numbers::laplace(shape_or_none(&shape), or(dtype, Dtype::F32), operand(&loc), operand(&scale), key_of(&key));
        /// New keys made from one.
        split [key, num=2] (key: Given, num: i32) => numbers::split(&key.0, num);
    }
}

/// The key of a seed.
#[pyfunction]
fn key(seed: &Bound<'_, PyAny>) -> Answer<PyArray> {
    Ok(numbers::key(whole(seed)?)?.into())
}

/// Seeds the calling thread's numbers.
#[pyfunction]
fn seed(seed: &Bound<'_, PyAny>) -> Answer<()> {
    Ok(numbers::seed(whole(seed)?)?)
}

fn whole(seed: &Bound<'_, PyAny>) -> Answer<u64> {
    seed.extract().map_err(|_| crate::error::type_error("[random] a seed must be an int of 64 bits without sign."))
}

/// Categories drawn by their unnormalised logarithms of chances.
#[pyfunction]
#[pyo3(signature = (logits, axis=-1, shape=None, num_samples=None, key=None, stream=None))]
fn categorical(
    logits: Given,
    axis: i32,
    shape: Option<IntList>,
    num_samples: Option<i32>,
    key: Option<Given>,
    stream: Option<On>,
) -> Answer<PyArray> {
    let samples = match (&shape, num_samples) {
        (Some(_), Some(_)) => {
            return Err(value_error("[categorical] one of shape and num_samples must be given but both are."));
        }
        (Some(shape), None) => Samples::Shape(&shape.0),
        (None, Some(number)) => Samples::Number(number),
        (None, None) => Samples::One,
    };
    array_on(stream, || numbers::categorical(&logits.0, axis, samples, key_of(&key)))
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    table::add_to(module)?;
    module.add_class::<RandomState>()?;
    module.add("state", Py::new(module.py(), RandomState)?)?;
    module.add_function(wrap_pyfunction!(key, module)?)?;
    module.add_function(wrap_pyfunction!(seed, module)?)?;
    module.add_function(wrap_pyfunction!(categorical, module)?)
}
