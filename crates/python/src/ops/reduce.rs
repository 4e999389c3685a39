//! Reductions, along given axes or along all.

use pumice::ops::{arg_reduce, count_nonzero as counting, reduce, softmax as normalised, trace as tracing};
use pumice::{Array, Result};
use pyo3::prelude::*;

use super::arguments::{Ints, given};
use super::{functions, methods};
use crate::array::{Given, PyArray};
use crate::device::{On, array_on};
use crate::dtype::PyDtype;
use crate::error::Answer;

/// Reductions of one signature, as functions and as methods.
macro_rules! reductions {
    ($($name:ident by $op:path, $doc:literal;)*) => {
        mod along_axes {
            use super::*;
            functions! {$(
                #[doc = $doc]
                $name [a, /, axis=None, keepdims=false, *] (a: Given, axis: Option<Ints>, keepdims: bool) =>
                    $op(&a.0, given(&axis), keepdims);
            )*}
            methods! {$(
                #[doc = $doc]
                $name |a| [axis=None, keepdims=false, *,] (axis: Option<Ints>, keepdims: bool) =>
                    $op(a, given(&axis), keepdims);
            )*}
        }
    };
}

reductions! {
    all by reduce::all, "Whether all differ from zero.";
    any by reduce::any, "Whether one differs from zero.";
    logsumexp by normalised::logsumexp, "The logarithm of the sum of exponentials.";
    max by reduce::max, "The largest; NaN if one is.";
    mean by reduce::mean, "The sum divided by the number of elements.";
    min by reduce::min, "The smallest; NaN if one is.";
    prod by reduce::prod, "The product.";
    sum by reduce::sum, "The sum.";
}

type Spread = fn(&Array, Option<&[i32]>, bool, i32) -> Result<Array>;

fn spread(
    op: Spread,
    a: &Array,
    axis: Option<Ints>,
    keepdims: bool,
    ddof: i32,
    correction: Option<i32>,
) -> Result<Array> {
    op(a, given(&axis), keepdims, correction.unwrap_or(ddof))
}

mod others {
    use super::*;
    functions! {
        /// The variance.
        var [a, /, axis=None, keepdims=false, ddof=0, *, correction=None]
            (a: Given, axis: Option<Ints>, keepdims: bool, ddof: i32, correction: Option<i32>) =>
            spread(reduce::var, &a.0, axis, keepdims, ddof, correction);
        /// Where the largest is.
        argmax [a, /, axis=None, keepdims=false, *] (a: Given, axis: Option<i32>, keepdims: bool) =>
            arg_reduce::argmax(&a.0, axis, keepdims);
        /// Where the smallest is.
        argmin [a, /, axis=None, keepdims=false, *] (a: Given, axis: Option<i32>, keepdims: bool) =>
            arg_reduce::argmin(&a.0, axis, keepdims);
        /// How many differ from zero.
        count_nonzero [a, /, *, axis=None, keepdims=false] (a: Given, axis: Option<Ints>, keepdims: bool) =>
            counting::count_nonzero(&a.0, given(&axis), keepdims);
        /// The sum along a diagonal.
        trace [a, /, offset=0, axis1=0, axis2=1, dtype=None, *]
            (a: Given, offset: i32, axis1: i32, axis2: i32, dtype: Option<PyDtype>) =>
            tracing::trace(&a.0, offset, axis1, axis2, dtype.map(|dtype| dtype.0));
        /// Exponentials divided by their sum.
        softmax [a, /, axis=None, *, precise=false] (a: Given, axis: Option<Ints>, precise: bool) =>
            normalised::softmax(&a.0, given(&axis), precise);
    }
}

methods! {
    /// See `mx.var`.
    var |a| [axis=None, keepdims=false, ddof=0, *, correction=None,]
        (axis: Option<Ints>, keepdims: bool, ddof: i32, correction: Option<i32>) =>
        spread(reduce::var, a, axis, keepdims, ddof, correction);
    /// See `mx.std`.
    std |a| [axis=None, keepdims=false, ddof=0, *, correction=None,]
        (axis: Option<Ints>, keepdims: bool, ddof: i32, correction: Option<i32>) =>
        spread(reduce::std, a, axis, keepdims, ddof, correction);
    /// See `mx.argmax`.
    argmax |a| [axis=None, keepdims=false, *,] (axis: Option<i32>, keepdims: bool) =>
        arg_reduce::argmax(a, axis, keepdims);
    /// See `mx.argmin`.
    argmin |a| [axis=None, keepdims=false, *,] (axis: Option<i32>, keepdims: bool) =>
        arg_reduce::argmin(a, axis, keepdims);
}

/// The standard deviation.
// A function called `std` would hide the library of that name.
#[pyfunction]
#[pyo3(name = "std", signature = (a, /, axis=None, keepdims=false, ddof=0, *, correction=None, stream=None))]
fn standard_deviation(
    a: Given,
    axis: Option<Ints>,
    keepdims: bool,
    ddof: i32,
    correction: Option<i32>,
    stream: Option<On>,
) -> Answer<PyArray> {
    array_on(stream, || spread(reduce::std, &a.0, axis, keepdims, ddof, correction))
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    along_axes::add_to(module)?;
    others::add_to(module)?;
    module.add_function(wrap_pyfunction!(standard_deviation, module)?)
}
