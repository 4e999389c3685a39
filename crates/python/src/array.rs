//! `mx.array`: the object, what it is made of, and what Python asks of it. Its operators are in `operators`, indexing in
//! `index`, what other libraries see of it in `export`, and methods that are ops beside the functions in `ops`.

use std::sync::{Mutex, PoisonError};

use pumice::{Array, Dtype};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::convert::array_from;
use crate::dtype::{self, PyDtype};
use crate::error::{Answer, type_error, value_error};
use crate::number::element;

/// An N-dimensional array object.
///
/// Operations in place (`a += b`, `a[i] = b`) give the object another array; whoever holds the object sees it.
#[pyclass(name = "array", module = "mlx.core", frozen, weakref)]
pub struct PyArray {
    held: Mutex<Array>,
}

impl From<Array> for PyArray {
    fn from(array: Array) -> PyArray {
        PyArray { held: Mutex::new(array) }
    }
}

impl PyArray {
    /// The array that the object is now.
    pub fn array(&self) -> Array {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the object another array.
    pub fn replace(&self, array: Array) {
        let old = std::mem::replace(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner), array);
        drop(old);
    }

    /// Looks at the array that the object is now.
    fn look<R>(&self, look: impl FnOnce(&Array) -> R) -> R {
        look(&self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The bytes of the elements in order, computed without holding up other threads of Python.
    pub fn bytes(&self, py: Python<'_>) -> Answer<Vec<u8>> {
        let array = self.array();
        Ok(py.detach(|| array.to_bytes())?)
    }

    /// The one element.
    fn one(&self, py: Python<'_>) -> Answer<Py<PyAny>> {
        if self.look(Array::size) != 1 {
            return Err(value_error("[convert] Only length-1 arrays can be converted to Python scalars."));
        }
        Ok(element(py, &self.bytes(py)?, self.look(Array::dtype))?)
    }
}

#[pymethods]
impl PyArray {
    #[new]
    #[pyo3(signature = (val, dtype=None))]
    fn new(val: &Bound<'_, PyAny>, dtype: Option<PyDtype>) -> Answer<PyArray> {
        Ok(array_from(val, dtype.map(|dtype| dtype.0))?.into())
    }

    /// The array's shape, a tuple of ints.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        // Not while the array is locked: making objects may run anything, by way of the garbage collector.
        PyTuple::new(py, self.array().shape())
    }

    /// The type of the elements.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> Py<PyDtype> {
        dtype::object(py, self.look(Array::dtype))
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.look(Array::ndim)
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.look(Array::size)
    }

    /// The bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.look(Array::dtype).size()
    }

    /// The bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.look(Array::nbytes)
    }

    /// The value of an array of one element.
    fn item(&self, py: Python<'_>) -> Answer<Py<PyAny>> {
        self.one(py)
    }

    /// The values as nested lists, or as a number where there is no axis.
    fn tolist(&self, py: Python<'_>) -> Answer<Py<PyAny>> {
        let array = self.array();
        let bytes = self.bytes(py)?;
        Ok(nested(py, &bytes, array.shape(), array.dtype())?)
    }

    fn __len__(&self) -> Answer<usize> {
        self.look(|array| match array.shape().first() {
            Some(&n) => Ok(n as usize),
            None => Err(type_error("len() 0-dimensional array.")),
        })
    }

    fn __bool__(&self, py: Python<'_>) -> Answer<bool> {
        Ok(self.one(py)?.is_truthy(py)?)
    }

    fn __int__(&self, py: Python<'_>) -> Answer<Py<PyAny>> {
        Ok(py.get_type::<pyo3::types::PyInt>().call1((self.one(py)?,))?.unbind())
    }

    fn __float__(&self, py: Python<'_>) -> Answer<f64> {
        Ok(self.one(py)?.extract(py)?)
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyAny>> {
        Ok(py.get_type::<pyo3::types::PyComplex>().call1((self.one(py)?,))?)
    }

    fn __index__(&self, py: Python<'_>) -> Answer<Py<PyAny>> {
        let whole = self.look(|array| array.ndim() == 0 && array.dtype().is_integer());
        if !whole {
            return Err(type_error("Only 0-dimensional integer arrays can be converted to an index."));
        }
        self.one(py)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes(py)?))
    }

    /// Arrays are told apart by which object they are.
    fn __hash__(slf: &Bound<'_, Self>) -> usize {
        // Objects stand at multiples of 16.
        (slf.as_ptr() as usize) >> 4
    }

    fn __repr__(&self, py: Python<'_>) -> Answer<String> {
        let array = self.array();
        py.detach(|| array.eval().map(|()| array.to_string())).map_err(Into::into)
    }

    fn __format__(slf: &Bound<'_, Self>, spec: &Bound<'_, PyAny>) -> Answer<String> {
        let py = slf.py();
        let this = slf.get();
        if this.ndim() > 0 && spec.len()? == 0 {
            return this.__repr__(py);
        }
        if this.ndim() > 0 {
            return Err(PyTypeError::new_err("unsupported format string passed to mx.array.__format__").into());
        }
        let format = py.import("builtins")?.getattr("format")?;
        Ok(format.call1((this.one(py)?, spec))?.extract()?)
    }

    fn __iter__(&self) -> Answer<ArrayIterator> {
        let array = self.array();
        if array.ndim() == 0 {
            return Err(type_error("iter() 0-dimensional array."));
        }
        Ok(ArrayIterator { array, next: Mutex::new(0) })
    }

    fn __copy__(&self) -> PyArray {
        self.array().into()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyDict>) -> PyArray {
        self.array().into()
    }
}

/// The values of the elements as nested lists.
fn nested(py: Python<'_>, bytes: &[u8], shape: &[i32], dtype: Dtype) -> PyResult<Py<PyAny>> {
    let Some((&n, rest)) = shape.split_first() else { return element(py, bytes, dtype) };
    let list = PyList::empty(py);
    let size = if n == 0 { 0 } else { bytes.len() / n as usize };
    for i in 0..n as usize {
        list.append(nested(py, &bytes[i * size..][..size], rest, dtype)?)?;
    }
    Ok(list.into_any().unbind())
}

/// Walks along the first axis of an array.
#[pyclass(module = "mlx.core", frozen)]
struct ArrayIterator {
    array: Array,
    next: Mutex<i32>,
}

#[pymethods]
impl ArrayIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self) -> Answer<Option<PyArray>> {
        let mut next = self.next.lock().map_err(|_| PyValueError::new_err("the iterator is in use."))?;
        if *next >= self.array.shape()[0] {
            return Ok(None);
        }
        *next += 1;
        Ok(Some(pumice::ops::gather::take_one(&self.array, *next - 1, Some(0))?.into()))
    }
}

/// An argument that must be an array.
pub struct Given(pub Array);

impl<'py> FromPyObject<'_, 'py> for Given {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Given> {
        if let Ok(array) = object.cast::<PyArray>() {
            return Ok(Given(array.get().array()));
        }
        match object.getattr(pyo3::intern!(object.py(), "__mlx_array__")) {
            Ok(method) => Ok(Given(method.call0()?.cast::<PyArray>()?.get().array())),
            Err(_) => Err(PyTypeError::new_err(format!("an array is expected but {} was given.", object.get_type()))),
        }
    }
}

/// Adds the classes.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyArray>()?;
    module.add_class::<ArrayIterator>()
}
