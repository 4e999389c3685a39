//! Trees of arrays: lists, tuples and dictionaries, nested, with arrays and other things as leaves. Dictionaries may be
//! of a class of their own, as modules are, and tuples may have names.

use pumice::Array;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::array::PyArray;
use crate::error::{Answer, value_error};

/// Visits the leaves of a tree in order.
pub fn visit<'py>(tree: &Bound<'py, PyAny>, look: &mut dyn FnMut(&Bound<'py, PyAny>) -> Answer<()>) -> Answer<()> {
    if tree.is_exact_instance_of::<PyArray>() {
        return look(tree);
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
    look(tree)
}

/// The arrays of a tree in order; other leaves are passed over.
pub fn arrays(tree: &Bound<'_, PyAny>) -> Answer<Vec<Array>> {
    let mut found = Vec::new();
    visit(tree, &mut |leaf| {
        found.extend(leaf.cast::<PyArray>().ok().map(|array| array.get().array()));
        Ok(())
    })?;
    Ok(found)
}

/// The arrays of a tree in order; there must be nothing else in it.
pub fn only_arrays(tree: &Bound<'_, PyAny>) -> Answer<Vec<Array>> {
    let mut found = Vec::new();
    visit(tree, &mut |leaf| match leaf.cast::<PyArray>() {
        Ok(array) => {
            found.push(array.get().array());
            Ok(())
        }
        Err(_) => Err(value_error("[tree_flatten] The argument should contain only arrays")),
    })?;
    Ok(found)
}

/// The tree with every array replaced by the next of some; lists, tuples and dictionaries are new, other leaves stay.
pub fn filled<'py>(tree: &Bound<'py, PyAny>, with: &mut dyn Iterator<Item = Array>) -> Answer<Bound<'py, PyAny>> {
    let py = tree.py();
    if tree.is_exact_instance_of::<PyArray>() {
        let array = with.next().ok_or_else(|| value_error("[tree] there must be an array for every leaf."))?;
        return Ok(Bound::new(py, PyArray::from(array))?.into_any());
    }
    if let Ok(list) = tree.cast::<PyList>() {
        let items = list.iter().map(|item| filled(&item, with)).collect::<Answer<Vec<_>>>()?;
        return Ok(PyList::new(py, items)?.into_any());
    }
    if let Ok(tuple) = tree.cast::<PyTuple>() {
        let items = tuple.iter().map(|item| filled(&item, with)).collect::<Answer<Vec<_>>>()?;
        let items = PyTuple::new(py, items)?;
        // Named tuples are made from their fields one by one.
        return match tuple.is_exact_instance_of::<PyTuple>() {
            true => Ok(items.into_any()),
            false => Ok(tuple.get_type().call1(items)?),
        };
    }
    if let Ok(dict) = tree.cast::<PyDict>() {
        let made = PyDict::new(py);
        for (key, item) in dict.iter() {
            made.set_item(key, filled(&item, with)?)?;
        }
        return Ok(made.into_any());
    }
    Ok(tree.clone())
}

/// The tree with every array replaced by a small one: its structure.
pub fn outline<'py>(tree: &Bound<'py, PyAny>) -> Answer<Bound<'py, PyAny>> {
    filled(tree, &mut std::iter::repeat_with(|| Array::scalar(0u8)))
}

/// A tuple of one as what it holds: transforms hand over the arguments of functions of one argument like this.
pub fn unwrapped<'py>(arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    if arguments.len() == 1 { arguments.get_item(0) } else { Ok(arguments.as_any().clone()) }
}
