//! Arrays to and from other libraries by DLPack, the description of tensors in memory that they all read.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use pumice::{Array, Dtype, SharedMemory};
use pyo3::exceptions::{PyBufferError, PyRuntimeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;

use crate::array::PyArray;
use crate::error::{Answer, Failure, value_error};

const NAME: &CStr = c"dltensor";
const CPU: i32 = 1;

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: (i32, i32),
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// A tensor that was handed out, and what it needs.
#[repr(C)]
struct Exported {
    managed: Managed,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _memory: SharedMemory,
}

/// DLPack's numbers of kinds of types.
fn code(dtype: Dtype) -> u8 {
    match dtype {
        Dtype::Bool => 6,
        Dtype::BF16 => 4,
        Dtype::C64 => 5,
        Dtype::F16 | Dtype::F32 | Dtype::F64 => 2,
        dtype if dtype.is_signed() => 0,
        _ => 1,
    }
}

#[pymethods]
impl PyArray {
    /// The array's memory, described for other libraries.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__(
        &self,
        py: Python<'_>,
        stream: Option<Py<PyAny>>,
        max_version: Option<Py<PyAny>>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> Answer<Py<PyAny>> {
        let _ = (stream, max_version);
        if dl_device.is_some_and(|device| device != (CPU, 0)) {
            return Err(PyBufferError::new_err("[dlpack] the device must be the CPU but is another.").into());
        }
        let array = match copy {
            Some(true) => Array::from_bytes(&self.bytes(py)?, self.array().shape(), self.array().dtype())?,
            _ => self.array(),
        };
        let memory = py.detach(|| array.shared_memory())?;
        if memory.strides().iter().any(|&stride| stride < 0) {
            return Err(PyBufferError::new_err("[dlpack] strides must not be negative but one is.").into());
        }
        capsule(py, &array, memory)
    }

    /// Where the memory is: on the CPU.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (CPU, 0)
    }
}

fn capsule(py: Python<'_>, array: &Array, memory: SharedMemory) -> Answer<Py<PyAny>> {
    let mut exported = Box::new(Exported {
        managed: Managed {
            tensor: Tensor {
                data: memory.address() as *mut c_void,
                device: (CPU, 0),
                ndim: array.ndim() as i32,
                code: code(array.dtype()),
                bits: 8 * array.dtype().size() as u8,
                lanes: 1,
                shape: null_mut(),
                strides: null_mut(),
                byte_offset: 0,
            },
            context: null_mut(),
            deleter: Some(delete),
        },
        shape: array.shape().iter().map(|&n| n.into()).collect(),
        strides: memory.strides().to_vec(),
        _memory: memory,
    });
    exported.managed.tensor.shape = exported.shape.as_mut_ptr();
    exported.managed.tensor.strides = exported.strides.as_mut_ptr();
    let exported = Box::into_raw(exported);
    // SAFETY: the name lives forever, and `exported` until its deleter is called: by who takes the tensor, or when the
    // capsule goes. `Managed` is the first field, so the addresses are the same.
    let capsule = unsafe { ffi::PyCapsule_New(exported.cast(), NAME.as_ptr(), Some(forget)) };
    if capsule.is_null() {
        // SAFETY: nobody else got hold of it.
        drop(unsafe { Box::from_raw(exported) });
        return Err(PyErr::fetch(py).into());
    }
    // SAFETY: it is a new reference to an object.
    Ok(unsafe { Bound::from_owned_ptr(py, capsule) }.unbind())
}

/// Frees a tensor that was handed out.
// SAFETY: it is called once, with what `capsule` made.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: as above; `Managed` is the first field of `Exported`.
    drop(unsafe { Box::from_raw(managed.cast::<Exported>()) });
}

/// Frees the tensor of a capsule that nobody took: takers give it another name.
// SAFETY: Python calls it with the capsule that goes.
unsafe extern "C" fn forget(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule is alive, and under its first name it holds what `capsule` made.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) != 0 {
            delete(ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        }
    }
}

/// The array that an object with `__dlpack__` holds, copied.
pub fn import(object: &Bound<'_, PyAny>) -> Answer<Array> {
    let py = object.py();
    if let Ok(device) = object.call_method0(intern!(py, "__dlpack_device__")) {
        let (kind, _): (i32, i32) = device.extract()?;
        if kind != CPU {
            return Err(value_error(format!("[from_dlpack] the memory must be the CPU's but is of device {kind}.")));
        }
    }
    let capsule = object.call_method0(intern!(py, "__dlpack__"))?;
    // SAFETY: the capsule is alive; a wrong name gives null and an exception.
    let managed = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), NAME.as_ptr()) }.cast::<Managed>();
    if managed.is_null() {
        return Err(PyErr::fetch(py).into());
    }
    // SAFETY: a capsule of this name holds a tensor, which lives as long as the capsule, and so until this returns.
    let tensor = unsafe { &(*managed).tensor };
    let dtype = dtype_of(tensor)?;
    let n = tensor.ndim as usize;
    // SAFETY: a tensor has as many sizes as axes, and as many strides unless they are null.
    let (shape, strides) = unsafe { (list(tensor.shape, n), list(tensor.strides, n)) };
    let mut sizes = Vec::with_capacity(n);
    for &size in shape.as_deref().unwrap_or(&[]) {
        sizes.push(i32::try_from(size).map_err(|_| value_error("[from_dlpack] sizes must fit 32 bits."))?);
    }
    let strides = strides.unwrap_or_else(|| contiguous(&sizes));
    let start = tensor.data as usize + tensor.byte_offset as usize;
    // SAFETY: a tensor's elements are where its address, sizes and strides say.
    let bytes = unsafe { gathered(start, &sizes, &strides, dtype.size()) };
    Ok(Array::from_bytes(&bytes, &sizes, dtype)?)
}

// SAFETY: the caller says that there are `n` numbers at the address unless it is null.
unsafe fn list(address: *const i64, n: usize) -> Option<Vec<i64>> {
    match address.is_null() || n == 0 {
        true => None,
        // SAFETY: the caller says so.
        false => Some(unsafe { std::slice::from_raw_parts(address, n) }.to_vec()),
    }
}

fn contiguous(shape: &[i32]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * i64::from(shape[i]);
    }
    strides
}

/// The bytes of the elements in order.
// SAFETY: the caller says that the elements are there.
unsafe fn gathered(start: usize, shape: &[i32], strides: &[i64], size: usize) -> Vec<u8> {
    let count: usize = shape.iter().map(|&n| n as usize).product();
    let mut bytes = Vec::with_capacity(count * size);
    let mut at = vec![0i32; shape.len()];
    for _ in 0..count {
        let offset: i64 = at.iter().zip(strides).map(|(&i, &stride)| i64::from(i) * stride).sum();
        let address = start.wrapping_add_signed(offset as isize * size as isize);
        // SAFETY: the caller says that an element is there.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(address as *const u8, size) });
        for axis in (0..shape.len()).rev() {
            at[axis] += 1;
            if at[axis] < shape[axis] {
                break;
            }
            at[axis] = 0;
        }
    }
    bytes
}

fn dtype_of(tensor: &Tensor) -> Answer<Dtype> {
    let found =
        Dtype::ALL.into_iter().find(|&dtype| code(dtype) == tensor.code && 8 * dtype.size() == tensor.bits as usize);
    match found {
        Some(dtype) if tensor.lanes == 1 => Ok(dtype),
        _ => Err(PyRuntimeError::new_err("[from_dlpack] the elements must be of one of our types but are not.").into()),
    }
}

/// The array that another library's object holds, copied.
#[pyfunction]
#[pyo3(signature = (x, /, *, copy=None))]
fn from_dlpack(x: &Bound<'_, PyAny>, copy: Option<bool>) -> Answer<PyArray> {
    if copy == Some(false) {
        return Err(value_error("[from_dlpack] the memory must be shared but cannot be."));
    }
    let array: Result<Array, Failure> = import(x);
    Ok(array?.into())
}

/// Adds the function.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(from_dlpack, module)?)
}
