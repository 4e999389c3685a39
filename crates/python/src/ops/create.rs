//! Arrays made from rules.

use pumice::Dtype;
use pumice::ops::create::{self, Indexing};
use pumice::ops::full as filled;
use pumice::ops::windows;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::arguments::{Arrays, Ints};
use super::{functions, methods};
use crate::array::{Given, PyArray};
use crate::convert::{Value, array_from};
use crate::device::{On, array_on, on};
use crate::dtype::PyDtype;
use crate::error::{Answer, type_error, value_error};

/// The type that is given, or float32.
fn or_f32(dtype: Option<PyDtype>) -> Dtype {
    dtype.map_or(Dtype::F32, |dtype| dtype.0)
}

fn kind(dtype: Option<PyDtype>) -> Option<Dtype> {
    dtype.map(|dtype| dtype.0)
}

mod table {
    use super::*;
    functions! {
        /// Zeros.
        zeros [shape, dtype=None, *] (shape: Ints, dtype: Option<PyDtype>) => filled::zeros(&shape.0, or_f32(dtype));
        /// Ones.
        ones [shape, dtype=None, *] (shape: Ints, dtype: Option<PyDtype>) => filled::ones(&shape.0, or_f32(dtype));
        /// Values broadcast to a shape.
        full [shape, vals, dtype=None, *] (shape: Ints, vals: Value, dtype: Option<PyDtype>) =>
            filled::full(&shape.0, vals, kind(dtype));
        /// Zeros in the shape of an array.
        zeros_like [a, /, dtype=None, *] (a: Given, dtype: Option<PyDtype>) =>
            filled::full_like(&a.0, 0, Some(dtype.map_or(a.0.dtype(), |dtype| dtype.0)));
        /// Ones in the shape of an array.
        ones_like [a, /, dtype=None, *] (a: Given, dtype: Option<PyDtype>) =>
            filled::full_like(&a.0, 1, Some(dtype.map_or(a.0.dtype(), |dtype| dtype.0)));
        /// Values broadcast to the shape of an array.
        full_like [a, vals, dtype=None, *] (a: Given, vals: Value, dtype: Option<PyDtype>) =>
            filled::full_like(&a.0, vals, kind(dtype));
        /// Ones on a diagonal.
        eye [n, m=None, k=0, dtype=None, *] (n: i32, m: Option<i32>, k: i32, dtype: Option<PyDtype>) =>
            create::eye(n, m, k, or_f32(dtype));
        /// Ones on the diagonal of a square.
        identity [n, dtype=None, *] (n: i32, dtype: Option<PyDtype>) => create::identity(n, or_f32(dtype));
        /// Ones on and below a diagonal.
        tri [n, m=None, k=0, dtype=None, *] (n: i32, m: Option<i32>, k: i32, dtype: Option<PyDtype>) =>
            create::tri(n, m, k, or_f32(dtype));
        /// Zeros above a diagonal.
        tril [x, k=0, *] (x: Given, k: i32) => create::tril(&x.0, k);
        /// Zeros below a diagonal.
        triu [x, k=0, *] (x: Given, k: i32) => create::triu(&x.0, k);
        /// A diagonal of a matrix, or a matrix with a diagonal.
        diag [a, /, k=0, *] (a: Given, k: i32) => create::diag(&a.0, k);
        /// Diagonals along two axes.
        diagonal [a, offset=0, axis1=0, axis2=1] (a: Given, offset: i32, axis1: i32, axis2: i32) =>
            create::diagonal(&a.0, offset, axis1, axis2);
        /// A window that is a triangle.
        bartlett [m, *] (m: i32) => windows::bartlett(m);
        /// A window of three terms of cosines.
        blackman [m, *] (m: i32) => windows::blackman(m);
        /// A window that is a raised cosine and does not end in zero.
        hamming [m, *] (m: i32) => windows::hamming(m);
        /// A window that is a raised cosine.
        hanning [m, *] (m: i32) => windows::hanning(m);
        /// Numbers at even distances.
        linspace [start, stop, num=Some(50), endpoint=true, dtype=None]
            (start: Value, stop: Value, num: Option<i32>, endpoint: bool, dtype: Option<PyDtype>) =>
            create::linspace(start, stop, num.unwrap_or(50), endpoint, or_f32(dtype));
    }
}

methods! {
    /// See `mx.diag`.
    diag |a| [k=0, *,] (k: i32) => create::diag(a, k);
    /// See `mx.diagonal`.
    diagonal |a| [offset=0, axis1=0, axis2=1,] (offset: i32, axis1: i32, axis2: i32) =>
        create::diagonal(a, offset, axis1, axis2);
}

/// The numbers `start, start + step, …` before `stop`: `arange(stop)`, `arange(start, stop)`, `arange(start, stop, step)`.
#[pyfunction]
#[pyo3(signature = (start=None, stop=None, step=None, dtype=None, *, stream=None))]
fn arange(
    start: Option<Value>,
    stop: Option<Value>,
    step: Option<Value>,
    dtype: Option<PyDtype>,
    stream: Option<On>,
) -> Answer<PyArray> {
    let zero = || Value::Number(crate::number::Number::Int(0));
    let (start, stop) = match (start, stop) {
        (Some(start), Some(stop)) => (start, stop),
        (Some(only), None) | (None, Some(only)) => (zero(), only),
        (None, None) => return Err(type_error("[arange] stop must be given.")),
    };
    let step = step.unwrap_or(Value::Number(crate::number::Number::Int(1)));
    if [&start, &stop, &step].iter().any(|value| !matches!(value, Value::Number(_))) {
        return Err(type_error("[arange] start, stop and step must be numbers but one is an array."));
    }
    array_on(stream, || create::arange(start, stop, step, kind(dtype)))
}

/// Arrays that hold the coordinates of a grid.
#[pyfunction]
#[pyo3(signature = (*arrays, sparse=false, indexing="xy", stream=None))]
fn meshgrid<'py>(
    py: Python<'py>,
    arrays: &Bound<'py, PyTuple>,
    sparse: Option<bool>,
    indexing: Option<&str>,
    stream: Option<On>,
) -> Answer<Bound<'py, PyTuple>> {
    let order = match indexing.unwrap_or("xy") {
        "xy" => Indexing::Cartesian,
        "ij" => Indexing::Matrix,
        other => return Err(value_error(format!("[meshgrid] indexing must be 'xy' or 'ij' but is '{other}'."))),
    };
    let arrays: Arrays = arrays.extract()?;
    let made = on(stream, || create::meshgrid(&arrays.0, sparse.unwrap_or(false), order))?;
    let made = made.into_iter().map(|array| Py::new(py, PyArray::from(array))).collect::<PyResult<Vec<_>>>()?;
    Ok(PyTuple::new(py, made)?)
}

/// The object as an array; an array of the type stays itself.
#[pyfunction]
#[pyo3(signature = (a, dtype=None, *, copy=None))]
fn asarray(a: Bound<'_, PyAny>, dtype: Option<PyDtype>, copy: Option<bool>) -> Answer<Py<PyAny>> {
    let wanted = kind(dtype);
    if let Ok(array) = a.cast::<PyArray>() {
        let same = wanted.is_none_or(|dtype| dtype == array.get().array().dtype());
        if same && copy != Some(true) {
            return Ok(a.unbind());
        }
    }
    if copy == Some(false) {
        return Err(value_error("[asarray] the memory must be shared but cannot be."));
    }
    Ok(Py::new(a.py(), PyArray::from(array_from(&a, wanted)?))?.into_any())
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    table::add_to(module)?;
    module.add_function(wrap_pyfunction!(arange, module)?)?;
    module.add_function(wrap_pyfunction!(meshgrid, module)?)?;
    module.add_function(wrap_pyfunction!(asarray, module)?)
}
