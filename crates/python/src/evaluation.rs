//! `eval` and `async_eval`, of trees of arrays.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::Answer;
use crate::tree;

/// Computes the arrays of trees, and waits until they are there.
#[pyfunction]
#[pyo3(signature = (*args))]
fn eval(py: Python<'_>, args: &Bound<'_, PyTuple>) -> Answer<()> {
    let arrays = tree::arrays(args.as_any())?;
    Ok(py.detach(|| pumice::eval(&arrays))?)
}

/// Starts to compute the arrays of trees.
#[pyfunction]
#[pyo3(signature = (*args))]
fn async_eval(py: Python<'_>, args: &Bound<'_, PyTuple>) -> Answer<()> {
    let arrays = tree::arrays(args.as_any())?;
    Ok(py.detach(|| pumice::async_eval(&arrays))?)
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(eval, module)?)?;
    module.add_function(wrap_pyfunction!(async_eval, module)?)
}
