//! State that compiled functions capture: trees of arrays that are read before a call and written after it. The state of
//! the random numbers may be a leaf.

use pumice::{Array, random};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::array::PyArray;
use crate::error::{Answer, value_error};
use crate::random::RandomState;
use crate::tree;

/// The arrays of the state, in order.
pub fn read(state: &Bound<'_, PyAny>) -> Answer<Vec<Array>> {
    let mut arrays = Vec::new();
    tree::visit(state, &mut |leaf| {
        if let Ok(array) = leaf.cast::<PyArray>() {
            arrays.push(array.get().array());
        } else if leaf.is_instance_of::<RandomState>() {
            arrays.push(random::state()?);
        }
        Ok(())
    })?;
    Ok(arrays)
}

/// Puts other arrays into the state: new objects into lists and dictionaries, so that who holds the old ones keeps them.
pub fn write(state: &Bound<'_, PyAny>, arrays: &[Array]) -> Answer<()> {
    let mut arrays = arrays.iter().cloned();
    fill(state, &mut arrays).map(drop)
}

/// What stands in a leaf's place; none where the thing itself took the arrays in.
type Instead = Option<Py<PyArray>>;

fn fill(state: &Bound<'_, PyAny>, arrays: &mut dyn Iterator<Item = Array>) -> Answer<Instead> {
    let py = state.py();
    let mut next = || arrays.next().ok_or_else(|| value_error("[compile] the captured state must keep its structure."));
    if state.is_instance_of::<PyArray>() {
        return Ok(Some(Py::new(py, PyArray::from(next()?))?));
    }
    if state.is_instance_of::<RandomState>() {
        random::set_state(&next()?)?;
    } else if let Ok(list) = state.cast::<PyList>() {
        for i in 0..list.len() {
            if let Some(array) = fill(&list.get_item(i)?, arrays)? {
                list.set_item(i, array)?;
            }
        }
    } else if let Ok(tuple) = state.cast::<PyTuple>() {
        for item in tuple.iter() {
            // Tuples cannot be changed: the object in it becomes the other array.
            if let (Some(array), Ok(item)) = (fill(&item, arrays)?, item.cast::<PyArray>()) {
                item.get().replace(array.get().array());
            }
        }
    } else if let Ok(dict) = state.cast::<PyDict>() {
        for (key, item) in dict.iter() {
            if let Some(array) = fill(&item, arrays)? {
                dict.set_item(key, array)?;
            }
        }
    }
    Ok(None)
}
