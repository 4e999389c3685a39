//! What other libraries see of an array: its memory as a buffer, NumPy arrays, pickles.
//!
//! Whoever asks for the memory may write it; arrays see that, as in MLX.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;

use pumice::{Array, Dtype, SharedMemory};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::array::PyArray;
use crate::convert::array_from;
use crate::dtype::PyDtype;
use crate::error::{Answer, Failure, value_error};

/// How the `struct` module of Python writes a type.
fn format(dtype: Dtype) -> &'static CStr {
    match dtype {
        Dtype::Bool => c"?",
        Dtype::U8 => c"B",
        Dtype::U16 => c"H",
        Dtype::U32 => c"I",
        Dtype::U64 => c"Q",
        Dtype::I8 => c"b",
        Dtype::I16 => c"h",
        Dtype::I32 => c"i",
        Dtype::I64 => c"q",
        Dtype::F16 => c"e",
        Dtype::F32 => c"f",
        Dtype::F64 => c"d",
        Dtype::BF16 => c"bfloat16",
        Dtype::C64 => c"Zf",
    }
}

/// What a buffer that was handed out needs: the memory, and sizes and strides in bytes.
struct Exported {
    _memory: SharedMemory,
    shape: Vec<isize>,
    strides: Vec<isize>,
}

#[pymethods]
impl PyArray {
    // SAFETY: Python calls it with a buffer description to fill in, and as `__releasebuffer__` asks.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("a buffer must have a place to be described in."));
        }
        let array = slf.get().array();
        let memory = slf.py().detach(|| array.shared_memory()).map_err(Failure::from)?;
        let size = array.dtype().size() as isize;
        let exported = Box::new(Exported {
            shape: array.shape().iter().map(|&n| n as isize).collect(),
            strides: memory.strides().iter().map(|&n| n as isize * size).collect(),
            _memory: memory,
        });
        let strided = flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES;
        if !strided && exported.strides != contiguous(&exported.shape, size) {
            return Err(PyBufferError::new_err("the array is not contiguous, as the buffer was asked to be."));
        }
        let address = exported._memory.address() as *mut c_void;
        let exported = Box::into_raw(exported);
        // SAFETY: Python gave a description to fill in, and `exported` was just made. The memory, the sizes and the
        // strides live in it until `__releasebuffer__` takes it back; the owner is held by a reference.
        unsafe {
            (*view).obj = slf.into_any().into_ptr();
            (*view).buf = address;
            (*view).len = array.nbytes() as isize;
            (*view).readonly = 0;
            (*view).itemsize = size;
            (*view).format = match flags & ffi::PyBUF_FORMAT {
                0 => null_mut(),
                _ => format(array.dtype()).as_ptr().cast_mut(),
            };
            (*view).ndim = array.ndim() as c_int;
            (*view).shape = match flags & ffi::PyBUF_ND {
                0 => null_mut(),
                _ => (*exported).shape.as_mut_ptr(),
            };
            (*view).strides = if strided { (*exported).strides.as_mut_ptr() } else { null_mut() };
            (*view).suboffsets = null_mut();
            (*view).internal = exported.cast();
        }
        Ok(())
    }

    // SAFETY: Python calls it once for each description that `__getbuffer__` filled in.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `internal` is what `__getbuffer__` put there, and is taken back once.
        drop(unsafe { Box::from_raw((*view).internal.cast::<Exported>()) });
    }

    /// The array as NumPy's; they share memory unless a copy is asked for.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<&Bound<'py, PyAny>>,
    ) -> Answer<Bound<'py, PyAny>> {
        let _ = dtype;
        if slf.get().array().dtype() == Dtype::BF16 {
            return Err(PyTypeError::new_err("[array] NumPy has no bfloat16.").into());
        }
        let numpy = slf.py().import("numpy")?;
        let copied = match copy {
            Some(copy) => copy.is_truthy()?,
            None => false,
        };
        let memory = slf.py().import("builtins")?.getattr("memoryview")?.call1((slf,))?;
        Ok(numpy.getattr(if copied { "array" } else { "asarray" })?.call1((memory,))?)
    }

    /// The module that has the functions of the array API.
    #[pyo3(signature = (api_version=None))]
    fn __array_namespace__(slf: &Bound<'_, Self>, api_version: Option<&str>) -> PyResult<Py<PyAny>> {
        if api_version.is_some() {
            return Err(PyValueError::new_err("Explicitly specifying api_version is not yet implemented."));
        }
        Ok(slf.py().import("mlx.core")?.into_any().unbind())
    }

    /// What pickles of MLX hold: a NumPy array and the number of the type.
    fn __getstate__<'py>(slf: &Bound<'py, Self>) -> Answer<Bound<'py, PyTuple>> {
        let py = slf.py();
        let array = slf.get().array();
        let bits = match array.dtype() {
            Dtype::BF16 => Bound::new(py, PyArray::from(pumice::ops::bitcast::view(&array, Dtype::U16)?))?,
            _ => slf.clone(),
        };
        let values = py.import("numpy")?.getattr("array")?.call1((bits,))?;
        Ok(PyTuple::new(py, [values, (array.dtype() as u8).into_pyobject(py)?.into_any()])?)
    }

    fn __setstate__(&self, state: &Bound<'_, PyTuple>) -> Answer<()> {
        let number: usize = state.get_item(1)?.extract()?;
        let dtype = *Dtype::ALL.get(number).ok_or_else(|| value_error("[array] a pickle has an unknown type."))?;
        let values = array_from(&state.get_item(0)?, None)?;
        self.replace(match dtype {
            Dtype::BF16 => pumice::ops::bitcast::view(&values, dtype)?,
            _ => pumice::ops::astype::astype(&values, dtype)?,
        });
        Ok(())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyTuple>> {
        let array = self.array();
        let bytes = PyBytes::new(py, &self.bytes(py)?).into_any();
        let shape = PyTuple::new(py, array.shape())?.into_any();
        let dtype = crate::dtype::object(py, array.dtype()).into_bound(py).into_any();
        let made_by = py.import("mlx.core")?.getattr("_array_of_bytes")?;
        Ok(PyTuple::new(py, [made_by, PyTuple::new(py, [bytes, shape, dtype])?.into_any()])?)
    }
}

/// The strides in bytes of elements without gaps, the last axis fastest.
fn contiguous(shape: &[isize], size: isize) -> Vec<isize> {
    let mut strides = vec![size; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i];
    }
    strides
}

/// The array that these bytes are: how pickles are read.
#[pyfunction]
fn _array_of_bytes(bytes: &[u8], shape: Vec<i32>, dtype: PyDtype) -> Answer<PyArray> {
    Ok(Array::from_bytes(bytes, &shape, dtype.0)?.into())
}

/// Adds what pickles are read by.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_array_of_bytes, module)?)
}
