//! What the array API asks of a namespace, and the type of what can become an array.

use pumice::{Dtype, default_device};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::device::{PyDevice, Which};
use crate::dtype::{self, PyDtype};
use crate::error::Answer;
use crate::info::is_kind;

/// An object with a method `__mlx_array__` that gives an array.
#[pyclass(module = "mlx.core", frozen)]
struct ArrayLike {
    #[allow(dead_code)] // it only says what the object is
    object: Py<PyAny>,
}

#[pymethods]
impl ArrayLike {
    #[new]
    #[pyo3(signature = (arg, /))]
    fn new(arg: Py<PyAny>) -> ArrayLike {
        ArrayLike { object: arg }
    }
}

/// The types that the array API has, in its order.
const DTYPES: [Dtype; 12] = [
    Dtype::Bool,
    Dtype::I8,
    Dtype::I16,
    Dtype::I32,
    Dtype::I64,
    Dtype::U8,
    Dtype::U16,
    Dtype::U32,
    Dtype::U64,
    Dtype::F32,
    Dtype::C64,
    Dtype::F64,
];

/// What the array API asks about devices, types and capabilities.
#[pyclass(module = "mlx.core", frozen)]
struct ArrayNamespaceInfo;

#[pymethods]
impl ArrayNamespaceInfo {
    /// What the namespace can do.
    fn capabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        found.set_item("boolean indexing", false)?;
        found.set_item("data-dependent shapes", false)?;
        found.set_item("max dimensions", 10)?;
        Ok(found)
    }

    /// The device that work goes to.
    fn default_device(&self) -> PyDevice {
        default_device().into()
    }

    /// The types that numbers become.
    #[pyo3(signature = (*, device=None))]
    fn default_dtypes<'py>(&self, py: Python<'py>, device: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyDict>> {
        let _ = device;
        let found = PyDict::new(py);
        let kinds = [("real floating", Dtype::F32), ("complex floating", Dtype::C64)];
        for (kind, dtype) in kinds.into_iter().chain([("integral", Dtype::I32), ("indexing", Dtype::I32)]) {
            found.set_item(kind, dtype::object(py, dtype))?;
        }
        Ok(found)
    }

    /// The devices there are.
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = [pumice::Device::CPU, pumice::Device::GPU].into_iter().filter(|device| device.is_available());
        PyTuple::new(py, all.map(|device| Py::new(py, PyDevice::from(device))).collect::<PyResult<Vec<_>>>()?)
    }

    /// The types that a device has, of one kind or several, by their names.
    #[pyo3(signature = (*, device=None, kind=None))]
    fn dtypes<'py>(
        &self,
        py: Python<'py>,
        device: Option<&Bound<'py, PyAny>>,
        kind: Option<&Bound<'py, PyAny>>,
    ) -> Answer<Bound<'py, PyDict>> {
        let on_gpu = match device {
            None => default_device() == pumice::Device::GPU,
            Some(device) if !device.is_instance_of::<PyDevice>() => {
                return Err(PyTypeError::new_err("[dtypes] device must be a Device.").into());
            }
            Some(device) => device.extract::<Which>()?.0 == pumice::Device::GPU,
        };
        let found = PyDict::new(py);
        for dtype in DTYPES.into_iter().filter(|&dtype| dtype != Dtype::F64 || !on_gpu) {
            if kind.map_or(Ok(true), |kind| is_of(dtype, kind))? {
                found.set_item(dtype.name(), dtype::object(py, dtype))?;
            }
        }
        Ok(found)
    }
}

/// Whether a type is of a kind, or of one of several.
fn is_of(dtype: Dtype, kind: &Bound<'_, PyAny>) -> Answer<bool> {
    if !kind.is_instance_of::<PyString>() && !kind.is_instance_of::<PyTuple>() {
        return Err(
            PyValueError::new_err(format!("[dtypes] kind must be a str or a tuple of them but is {kind}.")).into()
        );
    }
    is_kind(PyDtype(dtype), kind)
}

/// What the array API asks about.
#[pyfunction]
fn __array_namespace_info__() -> ArrayNamespaceInfo {
    ArrayNamespaceInfo
}

/// Adds the classes and the function.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrayLike>()?;
    module.add_function(wrap_pyfunction!(__array_namespace_info__, module)?)
}
