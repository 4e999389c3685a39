//! What goes wrong, as Python's exceptions: Pumice's errors are named by what they are there.

use std::cell::RefCell;
use std::convert::Infallible;

use pumice::Error;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// An exception to raise. It is made of Pumice's errors and of Python's own.
#[derive(Debug)]
pub struct Failure(PyErr);

/// What the functions of the module give.
pub type Answer<T> = Result<T, Failure>;

thread_local! {
    /// The exception that a function of Python raised while one of Pumice's transforms called it.
    static HELD: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// What Pumice's transforms are told of an exception; it is found again when their error becomes one.
const RAISED: &str = "[python] a function raised an exception.";

/// Keeps an exception until the transform that called a function of Python has returned.
pub fn hold<T>(answer: Answer<T>) -> pumice::Result<T> {
    answer.map_err(|failure| {
        HELD.set(Some(failure.0));
        Error::Runtime(RAISED.into())
    })
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let text = error.to_string();
        if let Some(held) = HELD.take().filter(|_| text == RAISED) {
            return Failure(held);
        }
        Failure(match error {
            Error::Value(_) => PyValueError::new_err(text),
            Error::Type(_) => PyTypeError::new_err(text),
            Error::Index(_) => PyIndexError::new_err(text),
            Error::Memory(_) => PyMemoryError::new_err(text),
            Error::Io(_) => PyOSError::new_err(text),
            _ => PyRuntimeError::new_err(text),
        })
    }
}

impl From<Infallible> for Failure {
    fn from(never: Infallible) -> Failure {
        match never {}
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure(error)
    }
}

impl From<pyo3::CastError<'_, '_>> for Failure {
    fn from(error: pyo3::CastError<'_, '_>) -> Failure {
        Failure(error.into())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        failure.0
    }
}

/// A `ValueError`.
pub fn value_error(text: impl Into<String>) -> Failure {
    Failure(PyValueError::new_err(text.into()))
}

/// A `TypeError`.
pub fn type_error(text: impl Into<String>) -> Failure {
    Failure(PyTypeError::new_err(text.into()))
}
