//! Python's values as arrays: numbers, nested lists, NumPy arrays and other buffers, objects with `__mlx_array__`.

use pumice::ops::astype::astype;
use pumice::ops::joins::stack;
use pumice::scalar::{Operand, Weak};
use pumice::{Array, Complex64, Dtype, Result};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyFloat, PyInt, PyList, PyMemoryView, PyTuple};
use smallvec::SmallVec;

use crate::array::PyArray;
use crate::dlpack;
use crate::error::{Answer, Failure, type_error, value_error};
use crate::number::{Number, bytes_of};

/// What an op takes as an operand.
pub enum Value {
    /// An array.
    Array(Array),
    /// What NumPy or somebody else has made an array of: it takes the type of an array beside it.
    Foreign(Array),
    /// A number of Python's.
    Number(Number),
}

impl Operand for Value {
    fn operand(&self) -> Weak<'_> {
        match self {
            Value::Array(array) | Value::Foreign(array) => Weak::Array(array),
            Value::Number(number) => number.weak(),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Value {
    type Error = Failure;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Answer<Value> {
        match value(&object)? {
            Some(value) => Ok(value),
            None if object.is_none() => Err(type_error("an array or a number is expected but None was given.")),
            None => Err(invalid(&object)),
        }
    }
}

impl Value {
    /// The array, or an array of no axes with the number.
    pub fn to_array(&self) -> Result<Array> {
        self.operand().to_array("array", None)
    }

    /// The array, what is foreign or a number in the type of an array beside it.
    pub fn beside(&self, other: &Array) -> Result<Array> {
        match self {
            Value::Foreign(array) => astype(array, other.dtype()),
            _ => self.operand().to_array("array", Some(other.dtype())),
        }
    }
}

/// Two operands: what is foreign takes the type of an array beside it.
pub fn pair(a: Value, b: Value) -> Result<(Value, Value)> {
    Ok(match (a, b) {
        (Value::Array(a), Value::Foreign(b)) => {
            let b = astype(&b, a.dtype())?;
            (Value::Array(a), Value::Array(b))
        }
        (Value::Foreign(a), Value::Array(b)) => (Value::Array(astype(&a, b.dtype())?), Value::Array(b)),
        both => both,
    })
}

/// The operand that a Python object is; none if it is no operand.
pub fn value(object: &Bound<'_, PyAny>) -> Answer<Option<Value>> {
    if let Ok(array) = object.cast::<PyArray>() {
        return Ok(Some(Value::Array(array.get().array())));
    }
    if let Some(number) = number(object)? {
        return Ok(Some(Value::Number(number)));
    }
    Ok(foreign(object)?.map(Value::Foreign))
}

/// A number of Python's own types, or of a type made of them: enumerations, NumPy's float64.
fn number(object: &Bound<'_, PyAny>) -> Answer<Option<Number>> {
    if let Ok(x) = object.cast_exact::<PyFloat>() {
        return Ok(Some(Number::Float(x.value())));
    }
    if let Ok(n) = object.cast_exact::<PyInt>() {
        return int(n).map(Some);
    }
    if let Ok(b) = object.cast_exact::<PyBool>() {
        return Ok(Some(Number::Bool(b.is_true())));
    }
    if let Ok(x) = object.cast::<PyFloat>() {
        return Ok(Some(Number::Float(x.value())));
    }
    if let Ok(n) = object.cast::<PyInt>() {
        return int(n).map(Some);
    }
    Ok(object.cast::<PyComplex>().ok().map(complex))
}

fn int(n: &Bound<'_, PyInt>) -> Answer<Number> {
    match n.extract::<i64>() {
        Ok(n) => Ok(Number::Int(n)),
        Err(_) => {
            let text = format!("[array] an int must fit 64 bits but is {n}.");
            Err(PyRuntimeError::new_err(text).into())
        }
    }
}

fn complex(z: &Bound<'_, PyComplex>) -> Number {
    Number::Complex(Complex64 { re: z.real() as f32, im: z.imag() as f32 })
}

/// The array that an object of another library stands for; none if it is none.
fn foreign(object: &Bound<'_, PyAny>) -> Answer<Option<Array>> {
    let py = object.py();
    if object.is_none() || object.is_instance_of::<PyList>() || object.is_instance_of::<pyo3::types::PyString>() {
        return Ok(None);
    }
    if let Ok(method) = object.getattr(intern!(py, "__mlx_array__")) {
        let array = method.call0()?;
        return Ok(Some(array.cast::<PyArray>()?.get().array()));
    }
    if let Some(array) = from_buffer(object)? {
        return Ok(Some(array));
    }
    if object.hasattr(intern!(py, "__dlpack__"))? {
        return dlpack::import(object).map(Some);
    }
    Ok(None)
}

/// The array that a buffer holds, copied; float64 becomes float32 and complex128 complex64.
fn from_buffer(object: &Bound<'_, PyAny>) -> Answer<Option<Array>> {
    let py = object.py();
    let Ok(memory) = PyMemoryView::from(object) else { return from_extended_numpy(object) };
    let format: String = memory.getattr(intern!(py, "format"))?.extract()?;
    let size: usize = memory.getattr(intern!(py, "itemsize"))?.extract()?;
    let shape: SmallVec<[i32; 4]> = shape_of(&memory.getattr(intern!(py, "shape"))?)?;
    let bytes = memory.call_method0(intern!(py, "tobytes"))?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes();
    let (kind, last) = (format.trim_start_matches(['@', '=', '<']), format.chars().last());
    let dtype = match (kind.starts_with('Z'), last, size) {
        (true, Some('d'), 16) => return narrowed(bytes, &shape, Dtype::C64).map(Some),
        (true, Some('f'), 8) => Dtype::C64,
        (_, Some('d'), 8) => return narrowed(bytes, &shape, Dtype::F32).map(Some),
        (_, Some('?'), 1) => Dtype::Bool,
        (_, Some('e'), 2) => Dtype::F16,
        (_, Some('f'), 4) => Dtype::F32,
        (_, Some('b' | 'h' | 'i' | 'l' | 'q' | 'n'), _) => [Dtype::I8, Dtype::I16, Dtype::I32, Dtype::I64][log2(size)],
        (_, Some('B' | 'H' | 'I' | 'L' | 'Q' | 'N'), _) => [Dtype::U8, Dtype::U16, Dtype::U32, Dtype::U64][log2(size)],
        _ => return Err(value_error(format!("[array] a buffer's format must be a number's but is {format:?}."))),
    };
    if format.starts_with(['>', '!']) && size > 1 {
        return Err(value_error("[array] a buffer's numbers must be little-endian but are not."));
    }
    Ok(Some(Array::from_bytes(bytes, &shape, dtype)?))
}

fn log2(size: usize) -> usize {
    size.trailing_zeros().min(3) as usize
}

/// bfloat16 arrays of `ml_dtypes` have no buffers, but their bits have.
fn from_extended_numpy(object: &Bound<'_, PyAny>) -> Answer<Option<Array>> {
    let py = object.py();
    let Ok(dtype) = object.getattr(intern!(py, "dtype")) else { return Ok(None) };
    let Ok(name) = dtype.getattr(intern!(py, "name")) else { return Ok(None) };
    if !name.eq("bfloat16")? {
        return Ok(None);
    }
    let bits = object.call_method1(intern!(py, "view"), ("uint16",))?;
    let bits = from_buffer(&bits)?.ok_or_else(|| invalid(object))?;
    Ok(Some(pumice::ops::bitcast::view(&bits, Dtype::BF16)?))
}

/// Numbers of two f64 or one as those of half the size.
fn narrowed(bytes: &[u8], shape: &[i32], dtype: Dtype) -> Answer<Array> {
    let values: Vec<f32> = bytemuck::pod_collect_to_vec::<u8, f64>(bytes).into_iter().map(|x| x as f32).collect();
    Ok(Array::from_bytes(bytemuck::cast_slice(&values), shape, dtype)?)
}

/// The array of `mx.array(object, dtype)`.
pub fn array_from(object: &Bound<'_, PyAny>, dtype: Option<Dtype>) -> Answer<Array> {
    if let Ok(array) = object.cast::<PyArray>() {
        return in_type(array.get().array(), dtype);
    }
    if object.is_none() {
        return Err(type_error("[array] a value is expected but None was given."));
    }
    if let Some(number) = number(object)? {
        return from_numbers(&[number], &[], dtype);
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return from_sequence(object, dtype);
    }
    match foreign(object)? {
        Some(array) => in_type(array, dtype),
        None => Err(invalid(object)),
    }
}

fn in_type(array: Array, dtype: Option<Dtype>) -> Answer<Array> {
    match dtype {
        Some(dtype) if dtype != array.dtype() => Ok(astype(&array, dtype)?),
        _ => Ok(array),
    }
}

fn from_numbers(numbers: &[Number], shape: &[i32], dtype: Option<Dtype>) -> Answer<Array> {
    let dtype = dtype.unwrap_or_else(|| Number::dtype_of(numbers));
    Ok(Array::from_bytes(&bytes_of(numbers, dtype), shape, dtype)?)
}

/// The leaves of nested lists and tuples.
#[derive(Default)]
struct Leaves {
    numbers: Vec<Number>,
    holds_arrays: bool,
}

fn from_sequence(object: &Bound<'_, PyAny>, dtype: Option<Dtype>) -> Answer<Array> {
    let mut shape = SmallVec::<[i32; 4]>::new();
    let mut leaves = Leaves::default();
    leaves.collect(object, 0, &mut shape)?;
    if leaves.holds_arrays {
        return in_type(stacked(object)?, dtype);
    }
    from_numbers(&leaves.numbers, &shape, dtype)
}

impl Leaves {
    fn collect(&mut self, object: &Bound<'_, PyAny>, depth: usize, shape: &mut SmallVec<[i32; 4]>) -> Answer<()> {
        let items = items(object);
        let Some(items) = items else { return self.leaf(object, depth, shape) };
        let n = items.len() as i32;
        match shape.get(depth) {
            // A number has come before, at a lesser depth.
            None if depth > 0 && !self.numbers.is_empty() => return Err(ragged()),
            None => shape.push(n),
            Some(&known) if known != n => return Err(ragged()),
            Some(_) => {}
        }
        for item in items {
            if self.holds_arrays {
                return Ok(());
            }
            self.collect(&item, depth + 1, shape)?;
        }
        Ok(())
    }

    fn leaf(&mut self, object: &Bound<'_, PyAny>, depth: usize, shape: &[i32]) -> Answer<()> {
        if let Some(number) = number(object)? {
            if shape.len() != depth {
                return Err(ragged());
            }
            self.numbers.push(number);
            return Ok(());
        }
        self.holds_arrays =
            object.is_instance_of::<PyArray>() || object.hasattr(intern!(object.py(), "__mlx_array__"))?;
        if self.holds_arrays { Ok(()) } else { Err(invalid(object)) }
    }
}

fn items<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = object.cast::<PyList>() {
        return Some(list.iter().collect());
    }
    object.cast::<PyTuple>().ok().map(|tuple| tuple.iter().collect())
}

/// Lists with arrays in them: the arrays, stacked.
fn stacked(object: &Bound<'_, PyAny>) -> Answer<Array> {
    let Some(items) = items(object) else { return array_from(object, None) };
    let arrays = items.iter().map(stacked).collect::<Answer<Vec<_>>>()?;
    if arrays.windows(2).any(|two| two[0].shape() != two[1].shape()) {
        return Err(ragged());
    }
    Ok(stack(&arrays, 0)?)
}

fn ragged() -> Failure {
    value_error("[array] lists must have one length at each depth but have several.")
}

fn invalid(object: &Bound<'_, PyAny>) -> Failure {
    let name = object.get_type().name().map_or_else(|_| "object".to_string(), |name| name.to_string());
    value_error(format!("[array] a value must be a number, a list, a buffer or an array but is {name}."))
}

/// The sizes that a sequence of ints is.
pub fn shape_of(object: &Bound<'_, PyAny>) -> PyResult<SmallVec<[i32; 4]>> {
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return tuple.iter().map(|n| int_of(&n)).collect();
    }
    object.try_iter()?.map(|n| int_of(&n?)).collect()
}

/// A size or an axis.
pub fn int_of(object: &Bound<'_, PyAny>) -> PyResult<i32> {
    object.extract().map_err(|error: PyErr| match error.is_instance_of::<PyOverflowError>(object.py()) {
        true => PyOverflowError::new_err(format!("[shape] sizes and axes must fit 32 bits but one is {object}.")),
        false => error,
    })
}
