//! Elements at indices.

use pumice::Array;
use pumice::ops::{gather, scatter};
use pyo3::prelude::*;

use super::functions;
use crate::array::Given;

/// An int or an array of them.
enum Places {
    One(i32),
    Many(Array),
}

impl<'py> FromPyObject<'_, 'py> for Places {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Places> {
        match object.extract::<Given>() {
            Ok(indices) => Ok(Places::Many(indices.0)),
            Err(_) => Ok(Places::One(object.extract()?)),
        }
    }
}

functions! {
    /// The elements at indices along an axis; without one, of the flattened array.
    take [a, /, indices, axis=None, *] (a: Given, indices: Places, axis: Option<i32>) => match indices {
        Places::One(index) => gather::take_one(&a.0, index, axis),
        Places::Many(indices) => gather::take(&a.0, &indices, axis),
    };
    /// The elements at indices along an axis, for each place of the others.
    take_along_axis [a, /, indices, axis=Some(-1), *] (a: Given, indices: Given, axis: Option<i32>) =>
        gather::take_along_axis(&a.0, &indices.0, axis);
    /// The array with values at indices along an axis, for each place of the others.
    put_along_axis [a, /, indices, values, axis=None, *]
        (a: Given, indices: Given, values: crate::convert::Value, axis: Option<i32>) =>
        scatter::put_along_axis(&a.0, &indices.0, &values.beside(&a.0)?, axis);
}
