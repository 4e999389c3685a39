//! Derivatives of products, minima and maxima.

use super::others::product_of_others;
use super::{Along, sum};
use crate::array::Array;
use crate::error::Result;
use crate::ops::astype::astype;
use crate::ops::binary::{divide, equal, multiply};
use crate::ops::unary::transposed;

/// The cotangent goes to each element times the product of the others.
pub(super) fn prod_vjp(at: &Along<'_>, g: &Array) -> Result<Array> {
    transposed(g, |g| multiply(g, product_of_others(at.x, at.axes)?))
}

pub(super) fn prod_jvp(at: &Along<'_>, tangent: &Array) -> Result<Array> {
    sum(&multiply(tangent, product_of_others(at.x, at.axes)?)?, Some(&at.given()), true)
}

/// The cotangent goes to the elements that are the least or greatest, in equal parts.
pub(super) fn extremum_vjp(at: &Along<'_>, g: &Array) -> Result<Array> {
    multiply(g, shares(at)?)
}

pub(super) fn extremum_jvp(at: &Along<'_>, tangent: &Array) -> Result<Array> {
    sum(&multiply(tangent, shares(at)?)?, Some(&at.given()), true)
}

fn shares(at: &Along<'_>) -> Result<Array> {
    let found = astype(&equal(at.x, &at.result)?, at.x.dtype())?;
    divide(&found, sum(&found, Some(&at.given()), true)?)
}
