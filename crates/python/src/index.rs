//! Index expressions: `a[...]`, `a[...] = b` and `a.at[...]`.

// The slots that #[pymethods] writes for methods of a macro count as ours.
#![allow(unsafe_op_in_unsafe_fn)]

use pumice::Array;
use pumice::indexing::{self, At, Index};
use pumice::ops::astype::astype;
use pumice::ops::broadcast_to::broadcast_to;
use pumice::ops::views::reshape;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PyList, PySlice, PyTuple};
use smallvec::{SmallVec, smallvec};

use crate::array::PyArray;
use crate::convert::{Value, array_from};
use crate::error::{Answer, value_error};
use crate::number::Number;

/// The expression that a Python index is.
fn expression(index: &Bound<'_, PyAny>) -> Answer<SmallVec<[Index; 2]>> {
    match index.is_instance_of::<PyTuple>() {
        true => index.cast::<PyTuple>()?.iter().map(|item| one(&item)).collect(),
        false => Ok(smallvec![one(index)?]),
    }
}

fn one(index: &Bound<'_, PyAny>) -> Answer<Index> {
    if index.is_none() {
        return Ok(Index::NewAxis);
    }
    if let Ok(n) = index.cast_exact::<PyInt>() {
        return Ok(Index::Int(place(n.as_any())?));
    }
    if let Ok(slice) = index.cast::<PySlice>() {
        return Ok(Index::Slice {
            start: bound(&slice.getattr("start")?)?,
            stop: bound(&slice.getattr("stop")?)?,
            step: bound(&slice.getattr("step")?)?,
        });
    }
    if let Ok(array) = index.cast::<PyArray>() {
        return Ok(Index::Array(array.get().array()));
    }
    match index {
        _ if index.is_instance_of::<PyEllipsis>() => Ok(Index::Ellipsis),
        _ if index.is_instance_of::<PyList>() => Ok(Index::Array(array_from(index, None)?)),
        _ if index.is_instance_of::<PyInt>() && !index.is_instance_of::<PyBool>() => Ok(Index::Int(place(index)?)),
        _ => {
            let found = index.get_type();
            Err(value_error(format!("[index] an array must be indexed by ints, slices or arrays but is by {found}.")))
        }
    }
}

fn bound(index: &Bound<'_, PyAny>) -> Answer<Option<i64>> {
    match index {
        _ if index.is_none() => Ok(None),
        _ if index.is_instance_of::<PyInt>() => place(index).map(Some),
        _ => Err(value_error("[index] the bounds of a slice must be ints or None but are not.")),
    }
}

fn place(index: &Bound<'_, PyAny>) -> Answer<i64> {
    match index.extract::<i32>() {
        Ok(n) => Ok(n.into()),
        Err(_) => Err(value_error(format!("[index] a place must fit 32 bits but is {index}."))),
    }
}

/// Whether an index means the whole array.
fn whole(index: &Bound<'_, PyAny>) -> bool {
    index.is_instance_of::<PyEllipsis>()
}

/// A value in place of all elements. It keeps its type, as in MLX; numbers take the array's where they can.
fn replaced(array: &Array, value: &Value) -> Answer<Array> {
    let value = match value {
        Value::Number(Number::Bool(_)) => astype(&value.to_array()?, array.dtype())?,
        _ => value.beside(array)?,
    };
    let excess = value.ndim().saturating_sub(array.ndim());
    let leading = value.shape().iter().take(excess).take_while(|&&n| n == 1).count();
    let value = reshape(&value, &value.shape()[leading..])?;
    Ok(broadcast_to(&value, array.shape())?)
}

/// In assignments a bool is a mask without axes.
fn masked<'py>(index: &Bound<'py, PyAny>) -> Answer<Bound<'py, PyAny>> {
    match index.cast::<PyBool>() {
        Ok(mask) => Ok(Bound::new(index.py(), PyArray::from(Array::from_bools(&[mask.is_true()], &[])?))?.into_any()),
        Err(_) => Ok(index.clone()),
    }
}

#[pymethods]
impl PyArray {
    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> Answer<PyArray> {
        Ok(indexing::get(&self.array(), &expression(index)?)?.into())
    }

    fn __setitem__(&self, index: &Bound<'_, PyAny>, value: Value) -> Answer<()> {
        let array = self.array();
        let changed = match whole(index) {
            true => replaced(&array, &value)?,
            false => indexing::set(&array, &expression(&masked(index)?)?, value)?,
        };
        drop(array);
        self.replace(changed);
        Ok(())
    }

    /// Updates that count also where an index comes twice: `a.at[index].add(value)`.
    #[getter]
    fn at(slf: Py<Self>) -> ArrayAt {
        ArrayAt { array: slf, index: None }
    }
}

/// Elements that are about to be updated.
#[pyclass(module = "mlx.core", frozen)]
struct ArrayAt {
    array: Py<PyArray>,
    index: Option<Py<PyAny>>,
}

impl ArrayAt {
    fn places(&self, py: Python<'_>) -> Answer<At> {
        let Some(index) = &self.index else {
            return Err(value_error("[at] an index must be given, as in `x.at[0].add(4)`, but none is."));
        };
        Ok(indexing::at(&self.array.get().array(), &expression(index.bind(py))?))
    }
}

/// The updates, by those of the array crate.
macro_rules! updates {
    ($($name:ident $doc:literal;)*) => {
        #[pymethods]
        impl ArrayAt {
            fn __getitem__(&self, py: Python<'_>, indices: Py<PyAny>) -> ArrayAt {
                ArrayAt { array: self.array.clone_ref(py), index: Some(indices) }
            }

            $(
                #[doc = $doc]
                fn $name(&self, py: Python<'_>, value: Value) -> Answer<PyArray> {
                    Ok(self.places(py)?.$name(value)?.into())
                }
            )*
        }
    };
}

updates! {
    add "The array with a value added to the elements.";
    subtract "The array with a value taken from the elements.";
    multiply "The array with the elements multiplied by a value.";
    divide "The array with the elements divided by a value.";
    maximum "The array with the larger of the elements and a value.";
    minimum "The array with the smaller of the elements and a value.";
}

/// Adds the class.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrayAt>()
}
