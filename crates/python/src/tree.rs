//! Trees of arrays: lists, tuples and dictionaries, nested, with arrays and other things as leaves.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::array::PyArray;
use crate::error::Answer;

/// Visits the arrays of a tree in order; other leaves are passed over.
pub fn visit<'py>(tree: &Bound<'py, PyAny>, look: &mut dyn FnMut(&Bound<'py, PyArray>) -> Answer<()>) -> Answer<()> {
    if let Ok(array) = tree.cast::<PyArray>() {
        return look(array);
    }
    if let Ok(list) = tree.cast::<PyList>() {
        return list.iter().try_for_each(|item| visit(&item, look));
    }
    if let Ok(tuple) = tree.cast::<PyTuple>() {
        return tuple.iter().try_for_each(|item| visit(&item, look));
    }
    if let Ok(dict) = tree.cast::<PyDict>() {
        return dict.iter().try_for_each(|(_, item)| visit(&item, look));
    }
    Ok(())
}
