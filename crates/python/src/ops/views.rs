//! Views and changes of type.

use pumice::ops::{
    astype as conversion, bitcast, broadcast_to as broadcasting, depends as dependence, flip as flipping, slices, views,
};
use pumice::{Array, Result};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::arguments::{Arrays, IntList, Ints, given, spread};
use super::{functions, methods};
use crate::array::{Given, PyArray};
use crate::convert::Value;
use crate::device::{On, array_on, on};
use crate::dtype::PyDtype;
use crate::error::Answer;

fn matrix_transposed(a: &Array) -> Result<Array> {
    if a.ndim() < 2 {
        let text = format!("[matrix_transpose] the array must have 2 axes but has {}.", a.ndim());
        return Err(pumice::Error::Value(text));
    }
    views::swapaxes(a, -1, -2)
}

mod table {
    use super::*;
    functions! {
        /// The elements in order, in another shape.
        reshape [a, /, shape, *] (a: Given, shape: IntList) => views::reshape(&a.0, &shape.0);
        /// The axes from one to another made one.
        flatten [a, /, start_axis=0, end_axis=-1, *] (a: Given, start_axis: i32, end_axis: i32) =>
            views::flatten(&a.0, start_axis, end_axis);
        /// One axis made several.
        unflatten [a, /, axis, shape, *] (a: Given, axis: i32, shape: IntList) =>
            views::unflatten(&a.0, axis, &shape.0);
        /// New axes of one element.
        expand_dims [a, /, axis, *] (a: Given, axis: Ints) => views::expand_dims(&a.0, &axis.0);
        /// Without axes of one element.
        squeeze [a, /, axis=None, *] (a: Given, axis: Option<Ints>) => views::squeeze(&a.0, given(&axis));
        /// The axes in another order, or in reverse.
        transpose [a, /, axes=None, *] (a: Given, axes: Option<Ints>) => views::transpose(&a.0, given(&axes));
        /// The last two axes in each other's place.
        matrix_transpose [a, /, *] (a: Given) => matrix_transposed(&a.0);
        /// The elements along axes in the opposite order.
        flip [a, /, axis=None, *] (a: Given, axis: Option<Ints>) => flipping::flip(&a.0, given(&axis));
        /// An axis moved to another place.
        moveaxis [a, /, source, destination, *] (a: Given, source: i32, destination: i32) =>
            views::moveaxis(&a.0, source, destination);
        /// Two axes in each other's place.
        swapaxes [a, /, axis1, axis2, *] (a: Given, axis1: i32, axis2: i32) => views::swapaxes(&a.0, axis1, axis2);
        /// The elements repeated to a shape.
        broadcast_to [a, /, shape, *] (a: Value, shape: Ints) => broadcasting::broadcast_to(&a.to_array()?, &shape.0);
        /// The elements that strides and an offset select from the memory of the array made contiguous.
        as_strided [a, /, shape=None, strides=None, offset=0, *]
            (a: Given, shape: Option<IntList>, strides: Option<Vec<i64>>, offset: i64) =>
            views::as_strided(&a.0, shape.as_ref().map(|shape| shape.0.as_slice()), strides.as_deref(), offset);
        /// The array in memory without gaps.
        contiguous [a, /, allow_col_major=false, *] (a: Given, allow_col_major: bool) =>
            views::contiguous(&a.0, allow_col_major);
        /// The elements in another type.
        astype [a, dtype, /, *] (a: Given, dtype: PyDtype) => conversion::astype(&a.0, dtype.0);
        /// The bits as elements of another type.
        view [a, dtype] (a: Value, dtype: PyDtype) => bitcast::view(&a.to_array()?, dtype.0);
    }
}

methods! {
    /// See `mx.flatten`.
    flatten |a| [start_axis=0, end_axis=-1, *,] (start_axis: i32, end_axis: i32) =>
        views::flatten(a, start_axis, end_axis);
    /// See `mx.squeeze`.
    squeeze |a| [axis=None, *,] (axis: Option<Ints>) => views::squeeze(a, given(&axis));
    /// See `mx.moveaxis`.
    moveaxis |a| [source, destination, *,] (source: i32, destination: i32) => views::moveaxis(a, source, destination);
    /// See `mx.swapaxes`.
    swapaxes |a| [axis1, axis2, *,] (axis1: i32, axis2: i32) => views::swapaxes(a, axis1, axis2);
    /// See `mx.astype`.
    astype |a| [dtype,] (dtype: PyDtype) => conversion::astype(a, dtype.0);
    /// See `mx.view`.
    view |a| [dtype, *,] (dtype: PyDtype) => bitcast::view(a, dtype.0);
}

#[pymethods]
impl PyArray {
    /// The elements in order, in another shape: `reshape(2, 3)` or `reshape((2, 3))`.
    #[pyo3(signature = (*shape, stream=None))]
    fn reshape(&self, shape: &Bound<'_, PyTuple>, stream: Option<On>) -> Answer<PyArray> {
        let shape = spread(shape)?;
        array_on(stream, || views::reshape(&self.array(), &shape))
    }

    /// The axes in another order, or in reverse: `transpose(1, 0)` or `transpose((1, 0))`.
    #[pyo3(signature = (*axes, stream=None))]
    fn transpose(&self, axes: &Bound<'_, PyTuple>, stream: Option<On>) -> Answer<PyArray> {
        let order = if axes.is_empty() { None } else { Some(spread(axes)?) };
        array_on(stream, || views::transpose(&self.array(), order.as_deref()))
    }

    /// The axes in reverse.
    #[getter(T)]
    fn transposed(&self) -> Answer<PyArray> {
        Ok(views::transpose(&self.array(), None)?.into())
    }

    /// The last two axes in each other's place.
    #[getter(mT)]
    fn matrix_transposed(&self) -> Answer<PyArray> {
        Ok(matrix_transposed(&self.array())?.into())
    }

    /// The real part.
    #[getter]
    fn real(&self) -> Answer<PyArray> {
        Ok(pumice::ops::unary::real(&self.array())?.into())
    }

    /// The imaginary part.
    #[getter]
    fn imag(&self) -> Answer<PyArray> {
        Ok(pumice::ops::unary::imag(&self.array())?.into())
    }

    /// See `mx.split`.
    #[pyo3(signature = (indices_or_sections, axis=0, *, stream=None))]
    fn split(&self, indices_or_sections: &Bound<'_, PyAny>, axis: i32, stream: Option<On>) -> Answer<Vec<PyArray>> {
        parts(&self.array(), indices_or_sections, axis, stream)
    }
}

fn parts(a: &Array, places: &Bound<'_, PyAny>, axis: i32, stream: Option<On>) -> Answer<Vec<PyArray>> {
    let parts = match places.is_instance_of::<pyo3::types::PyInt>() {
        true => {
            let sections = places.extract()?;
            on(stream, || slices::split(a, sections, axis))?
        }
        false => {
            let indices: IntList = places.extract()?;
            on(stream, || slices::split_at(a, &indices.0, axis))?
        }
    };
    Ok(parts.into_iter().map(PyArray::from).collect())
}

/// The array in equal parts, or in parts that begin at indices.
#[pyfunction]
#[pyo3(signature = (a, /, indices_or_sections, axis=0, *, stream=None))]
fn split(a: Given, indices_or_sections: &Bound<'_, PyAny>, axis: i32, stream: Option<On>) -> Answer<Vec<PyArray>> {
    parts(&a.0, indices_or_sections, axis, stream)
}

/// Arrays broadcast to one shape.
#[pyfunction]
#[pyo3(signature = (*arrays, stream=None))]
fn broadcast_arrays(arrays: &Bound<'_, PyTuple>, stream: Option<On>) -> Answer<Vec<PyArray>> {
    let arrays = arrays.iter().map(|array| array.extract()).collect::<Answer<Vec<Value>>>()?;
    let made = on(stream, || {
        let arrays = arrays.iter().map(Value::to_array).collect::<Result<Vec<_>>>()?;
        views::broadcast_arrays(&arrays)
    })?;
    Ok(made.into_iter().map(PyArray::from).collect())
}

/// Functions of any number of arrays that give one array for one and a list for several.
macro_rules! for_each_array {
    ($($name:ident $doc:literal;)*) => {$(
        #[doc = $doc]
        #[pyfunction]
        #[pyo3(signature = (*arys, stream=None))]
        fn $name(arys: &Bound<'_, PyTuple>, stream: Option<On>) -> Answer<Py<PyAny>> {
            each(views::$name, arys, stream)
        }
    )*};
}

for_each_array! {
    atleast_1d "The arrays with at least one axis.";
    atleast_2d "The arrays with at least two axes.";
    atleast_3d "The arrays with at least three axes.";
}

fn each(op: fn(&Array) -> Result<Array>, arrays: &Bound<'_, PyTuple>, stream: Option<On>) -> Answer<Py<PyAny>> {
    let py = arrays.py();
    let given = arrays.iter().map(|array| array.extract()).collect::<Answer<Vec<Value>>>()?;
    let made = on(stream, || given.iter().map(|value| op(&value.to_array()?)).collect::<Result<Vec<_>>>())?;
    let mut made: Vec<PyArray> = made.into_iter().map(PyArray::from).collect();
    match made.len() {
        1 => Ok(Py::new(py, made.remove(0))?.into_any()),
        _ => Ok(made.into_pyobject(py)?.unbind()),
    }
}

/// The inputs, computed after other arrays.
#[pyfunction]
fn depends(inputs: &Bound<'_, PyAny>, dependencies: &Bound<'_, PyAny>) -> Answer<Py<PyAny>> {
    let arrays = |object: &Bound<'_, PyAny>| match object.extract::<Given>() {
        Ok(array) => Ok(vec![array.0]),
        Err(_) => object.extract::<Arrays>().map(|arrays| arrays.0),
    };
    let made = dependence::depends(&arrays(inputs)?, &arrays(dependencies)?)?;
    let mut made: Vec<PyArray> = made.into_iter().map(PyArray::from).collect();
    match inputs.is_instance_of::<PyArray>() {
        true => Ok(Py::new(inputs.py(), made.remove(0))?.into_any()),
        false => Ok(made.into_pyobject(inputs.py())?.unbind()),
    }
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    table::add_to(module)?;
    module.add_function(wrap_pyfunction!(split, module)?)?;
    module.add_function(wrap_pyfunction!(broadcast_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(atleast_1d, module)?)?;
    module.add_function(wrap_pyfunction!(atleast_2d, module)?)?;
    module.add_function(wrap_pyfunction!(atleast_3d, module)?)?;
    module.add_function(wrap_pyfunction!(depends, module)?)
}
