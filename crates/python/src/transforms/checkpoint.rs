//! `checkpoint`: a function whose intermediate results are computed again for its derivatives.

use std::sync::{Arc, Mutex, PoisonError};

use pumice::Array;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::{Transform, Transformed, call_apart, together};
use crate::error::{Answer, hold};
use crate::tree;

pub(super) fn call<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> Answer<Bound<'py, PyAny>> {
    let py = args.py();
    let given = together(args, kwargs)?;
    let inputs = tree::arrays(given.as_any())?;
    let result: Arc<Mutex<Option<Py<PyAny>>>> = Arc::default();
    let found = result.clone();
    let (function, outline) = (function.clone().unbind(), tree::outline(given.as_any())?.unbind());
    let run = move |inputs: &[Array]| {
        Python::attach(|py| {
            hold((|| {
                let filled = tree::filled(outline.bind(py), &mut inputs.iter().cloned())?;
                let given = call_apart(function.bind(py), &filled)?;
                let outputs = tree::arrays(&given)?;
                *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(tree::outline(&given)?.unbind());
                Ok(outputs)
            })())
        })
    };
    let outputs = pumice::checkpoint(run)(&inputs)?;
    let result = result.lock().unwrap_or_else(PoisonError::into_inner).take().expect("the function was called");
    tree::filled(result.bind(py), &mut outputs.into_iter())
}

/// A function whose intermediate results are computed again for its derivatives, and not kept.
#[pyfunction]
fn checkpoint(fun: Bound<'_, PyAny>) -> PyResult<Transformed> {
    Transformed::new(fun, Transform::Checkpoint)
}

/// Adds the function.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(checkpoint, module)?)
}
