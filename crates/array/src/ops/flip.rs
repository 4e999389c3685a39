//! `flip(x, axes)`: the elements along axes in the opposite order, without copying: `out[i] = x[n - 1 - i]`.

use crate::array::Array;
use crate::error::Result;
use crate::ops::catalogue::Entry;
use crate::ops::slices::slice;
use crate::ops::views::case_of;
use crate::shape::normalize_axis;

/// The elements along axes, or along all of them if none are given, in the opposite order.
pub fn flip(x: &Array, axes: Option<&[i32]>) -> Result<Array> {
    let ndim = x.ndim();
    let axes = match axes {
        Some(axes) => axes.iter().map(|&axis| normalize_axis("flip", axis, ndim)).collect::<Result<Vec<_>>>()?,
        None => (0..ndim).collect(),
    };
    let (mut start, mut stop, mut strides) = (vec![0; ndim], x.shape().to_vec(), vec![1; ndim]);
    for axis in axes {
        (start[axis], stop[axis], strides[axis]) = (x.shape()[axis] - 1, -1, -1);
    }
    slice(x, &start, &stop, &strides)
}

pub(super) fn entries() -> Vec<Entry> {
    let cases = vec![
        case_of("all axes", &[3, 4], |x| flip(x, None)),
        case_of("first axis", &[3, 4], |x| flip(x, Some(&[0]))),
        case_of("last axis", &[2, 3, 2], |x| flip(x, Some(&[-1]))),
        case_of("scalar", &[], |x| flip(x, None)),
        case_of("empty", &[0, 2], |x| flip(x, None)),
    ];
    vec![Entry { name: "flip", doc: "The elements along axes in the opposite order.", cases }]
}

/// Expected values from the wheel.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_that_is_named_twice_is_turned_once() {
        let x = Array::from_slice(&[1, 2, 3, 4], &[2, 2]).expect("four");
        let flipped = |axes| flip(&x, axes).expect("it turns").to_vec::<i32>().expect("ints");
        assert_eq!(flipped(None), [4, 3, 2, 1]);
        assert_eq!(flipped(Some(&[0, 0])), [3, 4, 1, 2]);
        assert_eq!(flipped(Some(&[])), [1, 2, 3, 4]);
        assert!(matches!(flip(&x, Some(&[2])), Err(crate::Error::Index(_))));
    }
}
