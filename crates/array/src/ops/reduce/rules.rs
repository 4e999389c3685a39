//! Derivatives of products, minima and maxima.

use super::{Along, prod, sum};
use crate::array::Array;
use crate::error::Result;
use crate::ops::astype::astype;
use crate::ops::binary::{divide, equal, multiply};
use crate::ops::full::{ones_like, zeros_like};
use crate::ops::select::where_;
use crate::ops::unary::transposed;

/// The cotangent goes to each element times the product of the others.
pub(super) fn prod_vjp(at: &Along<'_>, g: &Array) -> Result<Array> {
    transposed(g, |g| multiply(g, product_of_others(at)?))
}

pub(super) fn prod_jvp(at: &Along<'_>, tangent: &Array) -> Result<Array> {
    sum(&multiply(tangent, product_of_others(at)?)?, Some(&at.given()), true)
}

/// For each element the product of the others along the axes: quotients of the product of all that are not zero, as long as the
/// others have no zero.
fn product_of_others(at: &Along<'_>) -> Result<Array> {
    let zero = equal(at.x, 0.0)?;
    let zeros = sum(&zero, Some(&at.given()), true)?;
    let nonzero = where_(&zero, ones_like(at.x)?, at.x)?;
    let product = prod(&nonzero, Some(&at.given()), true)?;
    let none = zeros_like(&product)?;
    let beside_none = where_(equal(&zeros, 0)?, divide(&product, &nonzero)?, &none)?;
    let beside_one = where_(equal(&zeros, 1)?, &product, &none)?;
    where_(&zero, &beside_one, &beside_none)
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
