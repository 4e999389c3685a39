//! Assignment by a mask: `x[mask] = value`.

use super::Index;
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::gather::take;
use crate::ops::running_sum::running_sum;
use crate::ops::select::where_;
use crate::ops::views::{flatten, reshape};
use crate::shape::{Shape, display};

/// Whether an index is an array of bools.
pub(super) fn is_mask(index: &Index) -> bool {
    matches!(index, Index::Array(array) if array.dtype() == Dtype::Bool)
}

/// The array with the elements that a mask of its first axes selects replaced: all by one value, or by one row of
/// values after the other.
pub(super) fn set_masked(x: &Array, mask: &Array, value: &Array) -> Result<Array> {
    let Some(rest) = x.shape().strip_prefix(mask.shape()) else {
        let [mask, x] = [mask.shape(), x.shape()].map(display);
        return Err(Error::Value(format!("[index] a mask must have the shape {x} begins with but has shape {mask}.")));
    };
    if value.ndim() > rest.len() + 1 {
        let [value, rest] = [value.shape(), rest].map(display);
        return Err(Error::Value(format!("[index] rows of values must broadcast to {rest} but have shape {value}.")));
    }
    let mut spread = Shape::from_slice(mask.shape());
    spread.extend(rest.iter().map(|_| 1));
    let spread = reshape(mask, &spread)?;
    if value.ndim() <= rest.len() {
        return where_(&spread, broadcast_to(value, rest)?, x);
    }
    if value.shape()[0] == 0 || x.size() == 0 {
        return Ok(x.clone());
    }
    let mut rows = Shape::from_slice(&value.shape()[..1]);
    rows.extend_from_slice(rest);
    let ranks = running_sum(&flatten(mask, 0, -1)?)?;
    let rows = take(&broadcast_to(value, &rows)?, &ranks, Some(0))?;
    where_(&spread, reshape(&rows, x.shape())?, x)
}
