//! Functions made of functions: `grad`, `value_and_grad`, `vjp`, `jvp`, `vmap`, `compile`, `checkpoint`, and functions
//! with rules of their own. Arguments and results are trees of arrays.

mod checkpoint;
mod compile;
mod custom;
mod grad;
mod pushes;
mod vmap;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::error::Answer;

/// A function that a transform has made of another.
#[pyclass(name = "_gc_func", module = "mlx.core", frozen, weakref)]
struct Transformed {
    function: Py<PyAny>,
    transform: Transform,
}

enum Transform {
    Gradient(grad::Gradient),
    Map(vmap::Map),
    Compile(compile::Compile),
    Checkpoint,
}

impl Transformed {
    fn new(function: Bound<'_, PyAny>, transform: Transform) -> PyResult<Transformed> {
        if !function.is_callable() {
            let text = format!("a function is expected but {} was given.", function.get_type());
            return Err(PyTypeError::new_err(text));
        }
        Ok(Transformed { function: function.unbind(), transform })
    }
}

#[pymethods]
impl Transformed {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> Answer<Bound<'py, PyAny>> {
        let function = self.function.bind(args.py());
        match &self.transform {
            Transform::Gradient(gradient) => gradient.call(function, args, kwargs),
            Transform::Map(map) => map.call(function, args, kwargs),
            Transform::Compile(compile) => compile.call(function, args, kwargs),
            Transform::Checkpoint => checkpoint::call(function, args, kwargs),
        }
    }

    /// Names, documentation and everything else are the function's.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(py).getattr(name.extract::<&str>()?)
    }

    #[getter]
    fn __doc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(py).getattr("__doc__")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.function)
    }
}

/// The arguments of a call as one tree.
fn together<'py>(args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyTuple>> {
    let py = args.py();
    let kwargs = kwargs.cloned().unwrap_or_else(|| PyDict::new(py));
    PyTuple::new(py, [args.as_any(), kwargs.as_any()])
}

/// Calls a function with the arguments that [`together`] made one tree.
fn call_apart<'py>(function: &Bound<'py, PyAny>, both: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let both = both.cast::<PyTuple>()?;
    let (args, kwargs) = (both.get_item(0)?, both.get_item(1)?);
    function.call(args.cast::<PyTuple>()?, Some(kwargs.cast::<PyDict>()?))
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Transformed>()?;
    grad::add_to(module)?;
    pushes::add_to(module)?;
    vmap::add_to(module)?;
    compile::add_to(module)?;
    checkpoint::add_to(module)?;
    custom::add_to(module)
}
