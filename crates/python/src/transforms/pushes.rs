//! `vjp` and `jvp`, of functions from arrays to arrays.

use pumice::{Array, Result};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::PyArray;
use crate::error::{Answer, hold, type_error};
use crate::ops::Arrays;
use crate::tree;

/// Outputs and what was pulled back or pushed forward.
type Both = (Vec<PyArray>, Vec<PyArray>);

/// Python's function as one of arrays.
fn of_arrays<'a>(function: &'a Bound<'_, PyAny>) -> impl Fn(&[Array]) -> Result<Vec<Array>> + 'a {
    move |inputs| {
        hold((|| {
            let inputs = inputs.iter().map(|x| Py::new(function.py(), PyArray::from(x.clone())));
            let inputs = inputs.collect::<PyResult<Vec<_>>>()?;
            tree::only_arrays(&function.call1(PyTuple::new(function.py(), inputs)?)?)
        })())
    }
}

fn objects((outputs, others): (Vec<Array>, Vec<Array>)) -> Both {
    let objects = |arrays: Vec<Array>| arrays.into_iter().map(PyArray::from).collect();
    (objects(outputs), objects(others))
}

fn refuse_array(argument: &Bound<'_, PyAny>) -> Answer<Vec<Array>> {
    if argument.is_instance_of::<PyArray>() {
        return Err(type_error("a list of arrays is expected but an array was given."));
    }
    Ok(argument.extract::<Arrays>()?.0)
}

/// What a function gives for primals, and the cotangents of these for cotangents of its outputs.
#[pyfunction]
fn vjp(fun: &Bound<'_, PyAny>, primals: &Bound<'_, PyAny>, cotangents: &Bound<'_, PyAny>) -> Answer<Both> {
    let (primals, cotangents) = (refuse_array(primals)?, refuse_array(cotangents)?);
    Ok(objects(pumice::vjp(of_arrays(fun), &primals, &cotangents)?))
}

/// What a function gives for primals, and the tangents of its outputs for tangents of these.
#[pyfunction]
fn jvp(fun: &Bound<'_, PyAny>, primals: &Bound<'_, PyAny>, tangents: &Bound<'_, PyAny>) -> Answer<Both> {
    let (primals, tangents) = (refuse_array(primals)?, refuse_array(tangents)?);
    Ok(objects(pumice::jvp(of_arrays(fun), &primals, &tangents)?))
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(vjp, module)?)?;
    module.add_function(wrap_pyfunction!(jvp, module)?)
}
