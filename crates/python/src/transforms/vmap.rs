//! `vmap`: a function over one more axis of its arguments.

use std::cell::RefCell;

use pumice::Array;
use pumice::transforms::Mapping;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::{Transform, Transformed};
use crate::array::PyArray;
use crate::error::{Answer, hold, type_error, value_error};
use crate::tree;

/// The mapped axes of the arguments and of the results: ints, None, or trees of them.
pub(super) struct Map {
    in_axes: Py<PyAny>,
    out_axes: Py<PyAny>,
}

impl Map {
    pub(super) fn call<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> Answer<Bound<'py, PyAny>> {
        let py = args.py();
        if kwargs.is_some_and(|kwargs| !kwargs.is_empty()) {
            return Err(type_error("[vmap] Keyword arguments are not supported."));
        }
        let inputs = tree::only_arrays(args.as_any())?;
        let axes = axes_of(&tree::unwrapped(args)?, self.in_axes.bind(py))?;
        let result = RefCell::new(None);
        let traced = |traces: &[Array]| {
            hold((|| {
                let filled = tree::filled(args.as_any(), &mut traces.iter().cloned())?;
                let given = function.call1(filled.cast::<PyTuple>()?)?;
                let outputs = tree::only_arrays(&given)?;
                result.replace(Some(given));
                Ok(outputs)
            })())
        };
        let mapping = Mapping::new(traced, &axes.into(), &inputs)?;
        let result = result.take().expect("the function was called");
        let places = axes_of(&result, self.out_axes.bind(py))?;
        let places = mapping.is_mapped().zip(places).map(|(mapped, place)| settled(mapped, place));
        let places = places.collect::<Answer<Vec<_>>>()?;
        let outputs = mapping.placed(&places.into())?;
        tree::filled(&result, &mut outputs.into_iter())
    }
}

/// Where the axis of a result goes. No place is, as in MLX, the last one of results that do not depend on mapped arguments.
fn settled(mapped: bool, place: Option<i32>) -> Answer<Option<i32>> {
    match place {
        None if mapped => Err(value_error("[vmap] an output that is mapped must have an axis but is given None.")),
        place => Ok(place.or(Some(-1))),
    }
}

/// The axis of each array of a tree, from a tree of axes that the tree begins with.
fn axes_of(tree: &Bound<'_, PyAny>, axes: &Bound<'_, PyAny>) -> Answer<Vec<Option<i32>>> {
    let mut found = Vec::new();
    match axes.cast::<PyTuple>() {
        // One axis in a tuple is that of the one array.
        Ok(one) if one.len() == 1 && tree.is_instance_of::<PyArray>() => collect(tree, &one.get_item(0)?, &mut found)?,
        _ => collect(tree, axes, &mut found)?,
    }
    Ok(found)
}

fn collect(tree: &Bound<'_, PyAny>, axes: &Bound<'_, PyAny>, found: &mut Vec<Option<i32>>) -> Answer<()> {
    let is_tree =
        axes.is_instance_of::<PyTuple>() || axes.is_instance_of::<PyList>() || axes.is_instance_of::<PyDict>();
    if !is_tree {
        let axis = match axes.is_none() {
            true => None,
            false => Some(axes.extract::<i32>().map_err(|_| value_error("[vmap] axis must be int or None."))?),
        };
        found.extend(vec![axis; tree::arrays(tree)?.len()]);
        return Ok(());
    }
    if tree.is_instance_of::<PyArray>() {
        return Err(value_error("[vmap] axis must be int or None."));
    }
    if let (Ok(tree), Ok(axes)) = (tree.cast::<PyDict>(), axes.cast::<PyDict>()) {
        return tree.iter().try_for_each(|(key, item)| {
            let axes = axes.get_item(key)?.ok_or_else(no_prefix)?;
            collect(&item, &axes, found)
        });
    }
    let same = (tree.is_instance_of::<PyTuple>() && axes.is_instance_of::<PyTuple>())
        || (tree.is_instance_of::<PyList>() && axes.is_instance_of::<PyList>());
    if !same || tree.len()? != axes.len()? {
        return Err(no_prefix());
    }
    tree.try_iter()?.zip(axes.try_iter()?).try_for_each(|(item, axes)| collect(&item?, &axes?, found))
}

fn no_prefix() -> crate::error::Failure {
    value_error("[vmap] the tree of axes must be one that the arguments' begins with but is not.")
}

/// A function over one more axis of its arguments.
#[pyfunction]
#[pyo3(signature = (fun, in_axes=Axes(None), out_axes=Axes(None)))]
fn vmap(fun: Bound<'_, PyAny>, in_axes: Axes, out_axes: Axes) -> Answer<Transformed> {
    let py = fun.py();
    let map = Map { in_axes: in_axes.or_first(py)?, out_axes: out_axes.or_first(py)? };
    Ok(Transformed::new(fun, Transform::Map(map))?)
}

/// A tree of axes, if one is given; None is no tree.
struct Axes(Option<Py<PyAny>>);

impl Axes {
    fn or_first(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.0 {
            Some(axes) => Ok(axes),
            None => Ok(0i32.into_pyobject(py)?.into_any().unbind()),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Axes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Axes> {
        if object.is_none() {
            return Err(PyTypeError::new_err("[vmap] axes must be given but are None."));
        }
        Ok(Axes(Some(object.to_owned().unbind())))
    }
}

/// Adds the function.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(vmap, module)?)
}
