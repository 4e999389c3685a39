//! `mx.Dtype`, `mx.float32` and the others, their categories, `finfo` and `iinfo`.

use pumice::Dtype;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::error::{Answer, type_error};

/// The type of an array's elements.
#[pyclass(name = "Dtype", module = "mlx.core", frozen)]
pub struct PyDtype(pub Dtype);

#[pymethods]
impl PyDtype {
    /// Bytes of one element.
    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    fn __repr__(&self) -> String {
        format!("mlx.core.{}", self.0)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> Answer<bool> {
        if other.is_none() {
            return Err(type_error("a Dtype must be compared with an object but is with None."));
        }
        Ok(other.cast::<PyDtype>().is_ok_and(|other| other.get().0 == self.0))
    }

    fn __hash__(&self) -> usize {
        self.0 as usize
    }

    /// Pickled by name.
    fn __reduce__(&self) -> String {
        attribute(self.0)
    }
}

/// The name it has in the module: Python has a `bool` of its own.
fn attribute(dtype: Dtype) -> String {
    if dtype == Dtype::Bool { "bool_".into() } else { dtype.name().into() }
}

/// The one object of each type.
pub fn object(py: Python<'_>, dtype: Dtype) -> Py<PyDtype> {
    static OBJECTS: PyOnceLock<Vec<Py<PyDtype>>> = PyOnceLock::new();
    let made = OBJECTS.get_or_try_init(py, || Dtype::ALL.iter().map(|&d| Py::new(py, PyDtype(d))).collect());
    match made {
        Ok(objects) => objects[dtype as usize].clone_ref(py),
        Err::<_, PyErr>(_) => Py::new(py, PyDtype(dtype)).expect("a small object can be made"),
    }
}

impl<'py> FromPyObject<'_, 'py> for PyDtype {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<PyDtype> {
        Ok(PyDtype(object.cast::<PyDtype>()?.get().0))
    }
}

/// Adds the types and what tells about them.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<PyDtype>()?;
    for dtype in Dtype::ALL {
        module.add(attribute(dtype).as_str(), object(py, dtype))?;
    }
    Ok(())
}
