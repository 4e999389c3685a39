//! `eval` and `async_eval`, of trees of arrays; what signals and forks of Python's mean for evaluation.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::{Answer, Failure, hold};
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

/// Runs the handlers of signals that have come: Ctrl-C ends an evaluation with `KeyboardInterrupt`.
fn hear_signals() -> pumice::Result<()> {
    // Nobody hears them where the interpreter is going.
    Python::try_attach(|py| hold(py.check_signals().map_err(Failure::from))).unwrap_or(Ok(()))
}

/// Tells Pumice that this process was forked.
#[pyfunction]
fn after_fork() {
    pumice::forked();
}

/// Lets the CPU's streams finish: a child would wait for threads that it does not have.
#[pyfunction]
fn before_fork(py: Python<'_>) {
    py.detach(pumice::eval::come_to_rest);
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    pumice::eval::set_interrupt(hear_signals);
    let py = module.py();
    let when = PyDict::new(py);
    when.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    when.set_item("after_in_child", wrap_pyfunction!(after_fork, module)?)?;
    // Where processes cannot be forked, there is no such function.
    if let Ok(register) = py.import("os")?.getattr("register_at_fork") {
        register.call((), Some(&when))?;
    }
    module.add_function(wrap_pyfunction!(eval, module)?)?;
    module.add_function(wrap_pyfunction!(async_eval, module)?)
}
