//! Products of matrices and vectors.

use pumice::ops::matmul as products;
use pumice::{Array, Error, Result};
use pyo3::prelude::*;

use super::arguments::Ints;
use super::functions;
use crate::array::Given;

/// The axes of a tensor product: so many of the last and first, or lists.
enum Along {
    Count(i32),
    Lists(Vec<Ints>),
}

impl<'py> FromPyObject<'_, 'py> for Along {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Along> {
        match object.extract::<i32>() {
            Ok(count) => Ok(Along::Count(count)),
            Err(_) => Ok(Along::Lists(object.try_iter()?.map(|list| list?.extract()).collect::<PyResult<_>>()?)),
        }
    }
}

fn tensor_product(a: &Array, b: &Array, along: &Along) -> Result<Array> {
    match along {
        Along::Count(n) => {
            let last: Vec<i32> = (-n..0).collect();
            let first: Vec<i32> = (0..*n).collect();
            products::tensordot(a, b, &last, &first)
        }
        Along::Lists(lists) => match lists.as_slice() {
            [of_a, of_b] => products::tensordot(a, b, &of_a.0, &of_b.0),
            _ => Err(Error::Value(format!("[tensordot] axes must be two lists but are {}.", lists.len()))),
        },
    }
}

functions! {
    /// The product of matrices.
    matmul [a, b, /, *] (a: Given, b: Given) => products::matmul(&a.0, &b.0);
    /// `alpha * (a @ b) + beta * c`.
    addmm [c, a, b, /, alpha=1.0, beta=1.0, *] (c: Given, a: Given, b: Given, alpha: f32, beta: f32) =>
        products::addmm(&c.0, &a.0, &b.0, alpha, beta);
    /// Sums of products along the last axes.
    inner [a, b, /, *] (a: Given, b: Given) => products::inner(&a.0, &b.0);
    /// Every element times every element.
    outer [a, b, /, *] (a: Given, b: Given) => products::outer(&a.0, &b.0);
    /// The second array times each element of the first.
    kron [a, b, *] (a: Given, b: Given) => pumice::ops::kron::kron(&a.0, &b.0);
    /// Dot products along an axis, the first array conjugated.
    vecdot [a, b, /, *, axis=-1] (a: Given, b: Given, axis: i32) => pumice::ops::vecdot::vecdot(&a.0, &b.0, axis);
    /// Sums of products along given axes.
    tensordot [a, b, /, axes=Along::Count(2), *] (a: Given, b: Given, axes: Along) => tensor_product(&a.0, &b.0, &axes);
}
