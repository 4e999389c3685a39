//! `diff(x, n, axis)`: differences of neighbours along an axis, `out[i] = x[i + 1] - x[i]`, taken `n` times.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::binary::{not_equal, subtract};
use crate::ops::catalogue::Entry;
use crate::ops::slices::slice;
use crate::ops::views::case_of;
use crate::shape::normalize_axis;

/// The differences of neighbours along an axis, and of those, `n` times; of bools whether they differ.
pub fn diff(x: &Array, n: i32, axis: i32) -> Result<Array> {
    let axis = normalize_axis("diff", axis, x.ndim())?;
    if n < 0 {
        return Err(Error::Value(format!("[diff] n must not be negative but is {n}.")));
    }
    let mut x = x.clone();
    // Nothing has no differences, however often they are taken.
    for _ in 0..n.min(x.shape()[axis]) {
        let (later, earlier) = (part(&x, axis, 1)?, part(&x, axis, 0)?);
        x = if x.dtype() == Dtype::Bool { not_equal(later, earlier)? } else { subtract(later, earlier)? };
    }
    Ok(x)
}

/// All but one element of an axis, from the one of this number on.
fn part(x: &Array, axis: usize, from: i32) -> Result<Array> {
    let (mut start, mut stop) = (vec![0; x.ndim()], x.shape().to_vec());
    (start[axis], stop[axis]) = (from, stop[axis] - 1 + from);
    slice(x, &start, &stop, &vec![1; x.ndim()])
}

pub(super) fn entries() -> Vec<Entry> {
    let cases = vec![
        case_of("last axis", &[3, 5], |x| diff(x, 1, -1)),
        case_of("first axis twice", &[5, 2], |x| diff(x, 2, 0)),
        case_of("not at all", &[3], |x| diff(x, 0, 0)),
        case_of("nothing is left", &[2, 3], |x| diff(x, 4, 1)),
        case_of("empty", &[0, 2], |x| diff(x, 1, 0)),
    ];
    vec![Entry { name: "diff", doc: "Differences of neighbours along an axis.", cases }]
}

/// Expected values from the wheel.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_taken_as_often_as_asked() {
        let x = Array::from_slice(&[1, 4, 9, 16], &[4]).expect("four");
        let ints = |n| diff(&x, n, -1).expect("it has differences").to_vec::<i32>().expect("ints");
        assert_eq!(ints(1), [3, 5, 7]);
        assert_eq!(ints(2), [2, 2]);
        assert!(ints(i32::MAX).is_empty());
        assert!(matches!(diff(&x, -1, 0), Err(Error::Value(_))));
        assert!(matches!(diff(&x, 1, 1), Err(Error::Index(_))));
    }

    #[test]
    fn bools_differ_or_not() {
        let x = Array::from_bools(&[true, false, false], &[3]).expect("three");
        assert_eq!(diff(&x, 1, 0).expect("it has differences").to_bools().expect("bools"), [true, false]);
    }
}
