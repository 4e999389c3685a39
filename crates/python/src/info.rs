//! What is known of types: `finfo`, `iinfo`, categories, and the functions that ask about them.

use pumice::{Dtype, broadcast};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};

use crate::array::PyArray;
use crate::device::enumeration;
use crate::dtype::{self, PyDtype};
use crate::error::{Answer, type_error, value_error};
use crate::ops::IntList;

/// What a type of inexact numbers can hold.
#[pyclass(name = "finfo", module = "mlx.core", frozen)]
struct FloatInfo {
    of: Dtype,
    #[pyo3(get)]
    bits: u32,
    #[pyo3(get)]
    max: f64,
    #[pyo3(get)]
    eps: f64,
    #[pyo3(get)]
    smallest_normal: f64,
}

#[pymethods]
impl FloatInfo {
    #[new]
    fn new(arg: PyDtype) -> Answer<FloatInfo> {
        let of = if arg.0 == Dtype::C64 { Dtype::F32 } else { arg.0 };
        let (bits, max, eps, smallest_normal) = match of {
            Dtype::F16 => (16, 65504.0, 2f64.powi(-10), 2f64.powi(-14)),
            Dtype::BF16 => (16, half::bf16::MAX.to_f64(), 2f64.powi(-7), f32::MIN_POSITIVE as f64),
            Dtype::F32 => (32, f32::MAX as f64, f32::EPSILON as f64, f32::MIN_POSITIVE as f64),
            Dtype::F64 => (64, f64::MAX, f64::EPSILON, f64::MIN_POSITIVE),
            other => return Err(value_error(format!("[finfo] dtype {other} is not inexact."))),
        };
        Ok(FloatInfo { of, bits, max, eps, smallest_normal })
    }

    #[getter]
    fn min(&self) -> f64 {
        -self.max
    }

    #[getter]
    fn dtype(&self, py: Python<'_>) -> Py<PyDtype> {
        dtype::object(py, self.of)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let max: String = self.max.into_pyobject(py)?.call_method1("__format__", ("g",))?.extract()?;
        Ok(format!("finfo(min=-{max}, max={max}, dtype={})", self.of))
    }
}

/// What a type of integers can hold.
#[pyclass(name = "iinfo", module = "mlx.core", frozen)]
struct IntInfo(Dtype);

#[pymethods]
impl IntInfo {
    #[new]
    fn new(arg: PyDtype) -> Answer<IntInfo> {
        match arg.0.is_integer() {
            true => Ok(IntInfo(arg.0)),
            false => Err(value_error(format!("[iinfo] dtype {} is no integer.", arg.0))),
        }
    }

    #[getter]
    fn min(&self) -> i64 {
        if self.0.is_signed() { i64::MIN >> (64 - 8 * self.0.size()) } else { 0 }
    }

    #[getter]
    fn max(&self) -> u64 {
        let whole = u64::MAX >> (64 - 8 * self.0.size());
        if self.0.is_signed() { whole >> 1 } else { whole }
    }

    #[getter]
    fn dtype(&self, py: Python<'_>) -> Py<PyDtype> {
        dtype::object(py, self.0)
    }

    fn __repr__(&self) -> String {
        format!("iinfo(min={}, max={}, dtype={})", self.min(), self.max(), self.0)
    }
}

/// The categories, each with the one it is part of.
const CATEGORIES: [(&str, Option<usize>); 8] = [
    ("complexfloating", Some(2)),
    ("floating", Some(2)),
    ("inexact", Some(6)),
    ("signedinteger", Some(5)),
    ("unsignedinteger", Some(5)),
    ("integer", Some(6)),
    ("number", Some(7)),
    ("generic", None),
];

static MEMBERS: PyOnceLock<Vec<Py<PyAny>>> = PyOnceLock::new();

fn category_of(dtype: Dtype) -> usize {
    match dtype {
        Dtype::C64 => 0,
        dtype if dtype.is_floating() => 1,
        dtype if dtype.is_signed() => 3,
        dtype if dtype.is_unsigned() => 4,
        _ => 7,
    }
}

fn category(object: &Bound<'_, PyAny>) -> Option<usize> {
    MEMBERS.get(object.py())?.iter().position(|member| object.is(member))
}

fn is_within(mut category: usize, whole: usize) -> bool {
    while category != whole {
        match CATEGORIES[category].1 {
            Some(wider) => category = wider,
            None => return false,
        }
    }
    true
}

/// Whether a type or category is another or part of it.
#[pyfunction]
fn issubdtype(arg1: &Bound<'_, PyAny>, arg2: &Bound<'_, PyAny>) -> Answer<bool> {
    let unknown = || value_error("[issubdtype] a Dtype or DtypeCategory is expected.");
    if let Ok(b) = arg2.extract::<PyDtype>() {
        return Ok(arg1.extract::<PyDtype>().is_ok_and(|a| a.0 == b.0));
    }
    let whole = category(arg2).ok_or_else(unknown)?;
    match arg1.extract::<PyDtype>() {
        Ok(a) => Ok(is_within(category_of(a.0), whole)),
        Err(_) => Ok(is_within(category(arg1).ok_or_else(unknown)?, whole)),
    }
}

/// Whether a type is of a kind that the array API names.
#[pyfunction]
fn isdtype(dtype: PyDtype, kind: &Bound<'_, PyAny>) -> Answer<bool> {
    is_kind(dtype, kind)
}

/// Whether a type is another, of a kind that the array API names, or one of several.
pub fn is_kind(dtype: PyDtype, kind: &Bound<'_, PyAny>) -> Answer<bool> {
    if let Ok(other) = kind.extract::<PyDtype>() {
        return Ok(other.0 == dtype.0);
    }
    if let Ok(kinds) = kind.cast::<PyTuple>() {
        return kinds.iter().try_fold(false, |found, kind| Ok(found | is_kind(PyDtype(dtype.0), &kind)?));
    }
    let name: String = kind.cast::<PyString>()?.extract()?;
    let dtype = dtype.0;
    match name.as_str() {
        "bool" => Ok(dtype == Dtype::Bool),
        "signed integer" => Ok(dtype.is_signed()),
        "unsigned integer" => Ok(dtype.is_unsigned()),
        "integral" => Ok(dtype.is_integer()),
        "real floating" => Ok(dtype.is_floating()),
        "complex floating" => Ok(dtype == Dtype::C64),
        "numeric" => Ok(dtype != Dtype::Bool),
        _ => Err(value_error(format!("[isdtype] the kind must be one of the array API's but is '{name}'."))),
    }
}

/// The type of an array or a type.
fn type_of(object: &Bound<'_, PyAny>) -> Option<Dtype> {
    match object.cast::<PyArray>() {
        Ok(array) => Some(array.get().array().dtype()),
        Err(_) => object.extract::<PyDtype>().ok().map(|dtype| dtype.0),
    }
}

/// The type that an operation on all computes in.
#[pyfunction]
#[pyo3(signature = (*arrays_and_dtypes))]
fn result_type(arrays_and_dtypes: &Bound<'_, PyTuple>) -> Answer<Py<PyDtype>> {
    let mut result: Option<Dtype> = None;
    for object in arrays_and_dtypes.iter() {
        let dtype = type_of(&object).ok_or_else(|| value_error("[result_type] Inputs must be arrays or dtypes."))?;
        result = Some(result.map_or(dtype, |result| result.promote(dtype)));
    }
    let result = result.ok_or_else(|| value_error("[result_type] at least one input must be given."))?;
    Ok(dtype::object(arrays_and_dtypes.py(), result))
}

/// Whether promotion leads from one type to another.
#[pyfunction]
fn can_cast(from_: &Bound<'_, PyAny>, to: PyDtype) -> Answer<bool> {
    let from = type_of(from_).ok_or_else(|| value_error("[can_cast] from_ must be an array or a dtype."))?;
    Ok(from.promote(to.0) == to.0)
}

/// The shape that shapes broadcast to.
#[pyfunction]
#[pyo3(signature = (*shapes))]
fn broadcast_shapes<'py>(shapes: &Bound<'py, PyTuple>) -> Answer<Bound<'py, PyTuple>> {
    if shapes.is_empty() {
        return Err(value_error("[broadcast_shapes] at least one shape must be given but none is."));
    }
    let mut whole = pumice::Shape::new();
    for shape in shapes.iter() {
        if shape.is_instance_of::<PyInt>() {
            return Err(type_error("[broadcast_shapes] a shape must be a sequence of ints."));
        }
        whole = broadcast("broadcast_shapes", &whole, &shape.extract::<IntList>()?.0)?;
    }
    Ok(PyTuple::new(shapes.py(), whole.iter())?)
}

/// Adds the classes, categories and functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let members = PyDict::new(py);
    for (i, (name, _)) in CATEGORIES.iter().enumerate() {
        members.set_item(name, i)?;
    }
    let categories = enumeration(module, "DtypeCategory", &members)?;
    let mut made = Vec::new();
    for (name, _) in CATEGORIES {
        let member = categories.getattr(name)?;
        module.add(name, &member)?;
        made.push(member.unbind());
    }
    // A module imported twice keeps the members of the first.
    let _ = MEMBERS.set(py, made);
    module.add_class::<FloatInfo>()?;
    module.add_class::<IntInfo>()?;
    module.add_function(wrap_pyfunction!(issubdtype, module)?)?;
    module.add_function(wrap_pyfunction!(isdtype, module)?)?;
    module.add_function(wrap_pyfunction!(result_type, module)?)?;
    module.add_function(wrap_pyfunction!(can_cast, module)?)?;
    module.add_function(wrap_pyfunction!(broadcast_shapes, module)?)
}
