//! Arguments that several forms of Python's values can be: axes, shapes, lists of arrays.

use pumice::Array;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use smallvec::{SmallVec, smallvec};

use crate::array::Given;
use crate::convert::{int_of, shape_of};

/// An int or a sequence of ints: axes, a shape, repetitions.
pub struct Ints(pub SmallVec<[i32; 4]>);

impl<'py> FromPyObject<'_, 'py> for Ints {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Ints> {
        if object.is_instance_of::<PyInt>() {
            return Ok(Ints(smallvec![int_of(&object)?]));
        }
        if object.is_instance_of::<pyo3::types::PyString>() {
            return Err(PyTypeError::new_err("an int or a sequence of ints is expected but a str was given."));
        }
        match object.try_iter() {
            Ok(_) => Ok(Ints(shape_of(&object)?)),
            Err(_) => Ok(Ints(smallvec![int_of(&object)?])),
        }
    }
}

/// A sequence of ints.
pub struct IntList(pub SmallVec<[i32; 4]>);

impl<'py> FromPyObject<'_, 'py> for IntList {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<IntList> {
        Ok(IntList(shape_of(&object)?))
    }
}

/// The ints that are given, if any are.
pub fn given(ints: &Option<Ints>) -> Option<&[i32]> {
    ints.as_ref().map(|ints| ints.0.as_slice())
}

/// A sequence of arrays.
pub struct Arrays(pub Vec<Array>);

impl<'py> FromPyObject<'_, 'py> for Arrays {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Arrays> {
        let arrays = object.try_iter()?.map(|item| Ok(item?.extract::<Given>()?.0)).collect::<PyResult<_>>()?;
        Ok(Arrays(arrays))
    }
}

/// Positional ints, or one sequence of them: `reshape(2, 3)` and `reshape((2, 3))`.
pub fn spread(arguments: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<SmallVec<[i32; 4]>> {
    if arguments.len() == 1 {
        return Ok(arguments.get_item(0)?.extract::<Ints>()?.0);
    }
    arguments.iter().map(|n| int_of(&n)).collect()
}
