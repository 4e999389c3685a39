//! `count_nonzero(x, axes)`: how many elements along axes differ from zero.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::astype::astype;
use crate::ops::binary::not_equal;
use crate::ops::catalogue::{Case, Entry};
use crate::ops::reduce::sum;
use crate::ops::views::case_of;

/// How many elements along axes, or of the whole array if none are given, differ from zero; an int32.
pub fn count_nonzero(x: &Array, axes: Option<&[i32]>, keepdims: bool) -> Result<Array> {
    astype(&sum(&not_equal(x, 0)?, axes, keepdims)?, Dtype::I32)
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, shape: &[i32], axes: Option<&'static [i32]>| Case {
        differentiable: false,
        ..case_of(name, shape, move |x| count_nonzero(x, axes, false))
    };
    let cases = vec![
        case("rows", &[3, 5], Some(&[-1])),
        case("columns", &[3, 5], Some(&[0])),
        case("all", &[2, 3, 2], None),
        case("no axes", &[3], Some(&[])),
        case("scalar", &[], None),
        case("empty", &[0, 2], None),
    ];
    vec![Entry { name: "count_nonzero", doc: "How many elements differ from zero.", cases }]
}

/// Expected values from the wheel.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_differs_from_zero_and_no_axes_count_nothing_together() {
        let x = Array::from_slice(&[0f32, f32::NAN, -0.0], &[3]).expect("three");
        let count = |axes| count_nonzero(&x, axes, false).expect("it counts").to_vec::<i32>().expect("ints");
        assert_eq!(count(None), [1]);
        assert_eq!(count(Some(&[])), [0, 1, 0]);
    }
}
