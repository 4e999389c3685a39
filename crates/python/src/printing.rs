//! How arrays are printed: `set_printoptions` and its kin.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

use pyo3::prelude::*;

use crate::error::{Answer, value_error};

/// Digits after the point; -1 if they are not fixed.
static PRECISION: AtomicI32 = AtomicI32::new(-1);

/// How arrays are printed.
#[pyclass(module = "mlx.core", frozen)]
struct PrintOptions {
    /// Digits after the point; -1 if they are not fixed.
    #[pyo3(get)]
    precision: i32,
}

#[pymethods]
impl PrintOptions {
    #[new]
    #[pyo3(signature = (precision=-1))]
    fn new(precision: i32) -> PrintOptions {
        PrintOptions { precision }
    }
}

/// Fixes the digits after the point, for the whole process; -1 frees them.
#[pyfunction]
#[pyo3(signature = (precision=-1))]
fn set_printoptions(precision: i32) {
    PRECISION.store(precision, Ordering::Relaxed);
    pumice::set_precision(u16::try_from(precision).ok());
}

/// How arrays are printed.
#[pyfunction]
fn get_printoptions() -> PrintOptions {
    PrintOptions { precision: PRECISION.load(Ordering::Relaxed) }
}

/// Options that hold inside a `with`.
#[pyclass(name = "_PrintOptionsContext", module = "mlx.core", frozen)]
struct Context {
    precision: i32,
    before: Mutex<Vec<i32>>,
}

#[pymethods]
impl Context {
    fn __enter__(slf: Py<Self>) -> Answer<Py<Self>> {
        let this = slf.get();
        this.before.lock().map_err(|_| value_error("the context is broken."))?.push(get_printoptions().precision);
        set_printoptions(this.precision);
        Ok(slf)
    }

    #[pyo3(signature = (*args))]
    fn __exit__(&self, args: &Bound<'_, PyAny>) -> Answer<()> {
        let _ = args;
        let before = self.before.lock().map_err(|_| value_error("the context is broken."))?.pop();
        before.into_iter().for_each(set_printoptions);
        Ok(())
    }
}

/// Options that hold inside a `with`.
#[pyfunction]
#[pyo3(signature = (precision=-1))]
fn printoptions(precision: i32) -> Context {
    Context { precision, before: Mutex::default() }
}

/// Adds the classes and functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PrintOptions>()?;
    module.add_class::<Context>()?;
    module.add_function(wrap_pyfunction!(set_printoptions, module)?)?;
    module.add_function(wrap_pyfunction!(get_printoptions, module)?)?;
    module.add_function(wrap_pyfunction!(printoptions, module)?)
}
