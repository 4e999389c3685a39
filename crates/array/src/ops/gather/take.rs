//! `take(x, indices, axis)`: the elements at indices along an axis, or of the flattened array.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::slices::slice;
use crate::ops::views::{flatten, reshape, squeeze, transpose};
use crate::shape::{Shape, normalize_axis};

/// The elements at indices along an axis, the index array's axes in place of that one. Without an axis, of the
/// flattened array.
pub fn take(x: &Array, indices: &Array, axis: Option<i32>) -> Result<Array> {
    let Some(axis) = axis else { return take(&flatten(x, 0, -1)?, indices, Some(0)) };
    let axis = normalize_axis("take", axis, x.ndim())?;
    super::integers("take", indices)?;
    if x.shape()[axis] == 0 && indices.size() > 0 {
        return Err(Error::Value("[take] the axis must have elements to be taken but is empty.".into()));
    }
    let mut sizes = Shape::from_slice(x.shape());
    sizes[axis] = sizes[axis].min(1);
    let parts = super::gather(x, std::slice::from_ref(indices), &[axis as i32], &sizes)?;
    // The axis of one element goes, and the index array's axes take its place.
    let mut shape = Shape::from_slice(indices.shape());
    shape.extend(x.shape().iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, &n)| n));
    let parts = reshape(&parts, &shape)?;
    let (n, axis) = (indices.ndim() as i32, axis as i32);
    let order: Vec<i32> = (n..n + axis).chain(0..n).chain(n + axis..parts.ndim() as i32).collect();
    if axis == 0 { Ok(parts) } else { transpose(&parts, Some(&order)) }
}

/// A look at the elements at one index along an axis, which goes. Without an axis, the element of the flattened array.
pub fn take_one(x: &Array, index: i32, axis: Option<i32>) -> Result<Array> {
    let Some(axis) = axis else { return take_one(&flatten(x, 0, -1)?, index, Some(0)) };
    let axis = normalize_axis("take", axis, x.ndim())?;
    let n = x.shape()[axis];
    if !(-n..n).contains(&index) {
        return Err(Error::Value(format!("[take] the index must be in [{}, {n}) but is {index}.", -n)));
    }
    let (mut start, mut stop) = (vec![0; x.ndim()], x.shape().to_vec());
    start[axis] = if index < 0 { index + n } else { index };
    stop[axis] = start[axis] + 1;
    squeeze(&slice(x, &start, &stop, &vec![1; x.ndim()])?, Some(&[axis as i32]))
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, x: &[i32], indices: &[i32], n: f64, axis: Option<i32>| Case {
        name: name.into(),
        inputs: vec![Sample::new(x), Sample::within(indices, -n, n - 0.01).of(Dtype::I32)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![take(&x[0], &x[1], axis)?])),
        differentiable: true,
    };
    let cases = vec![
        case("first axis", &[5, 3], &[4], 5.0, Some(0)),
        case("middle axis", &[2, 5, 3], &[2, 2], 5.0, Some(1)),
        case("last axis", &[2, 5], &[], 5.0, Some(-1)),
        case("flattened", &[2, 5], &[3], 10.0, None),
        case("empty", &[2, 5], &[0], 5.0, Some(1)),
    ];
    vec![Entry { name: "take", doc: "The elements at indices along an axis.", cases }]
}
