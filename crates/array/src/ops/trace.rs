//! `trace(x, offset, axis1, axis2)`: sums along diagonals, `Σ x[.., i, .., i + offset, ..]`.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::catalogue::Entry;
use crate::ops::create::diagonal;
use crate::ops::reduce::sum;
use crate::ops::views::case_of;
use crate::shape::normalize_axis;

/// The sums along the diagonals of two axes, of elements that become another type first if one is given.
pub fn trace(x: &Array, offset: i32, axis1: i32, axis2: i32, dtype: Option<Dtype>) -> Result<Array> {
    let ndim = x.ndim();
    if ndim < 2 {
        return Err(Error::Value(format!("[trace] the array must have at least 2 axes but has {ndim}.")));
    }
    let [first, second] = [normalize_axis("trace", axis1, ndim)?, normalize_axis("trace", axis2, ndim)?];
    if first == second {
        return Err(Error::Value(format!("[trace] axis1 and axis2 must differ but both are {axis1}.")));
    }
    let along = diagonal(x, offset, axis1, axis2)?;
    match dtype {
        Some(dtype) => sum(&astype(&along, dtype)?, Some(&[-1]), false),
        None => sum(&along, Some(&[-1]), false),
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let cases = vec![
        case_of("matrix", &[3, 4], |x| trace(x, 0, 0, 1, None)),
        case_of("above", &[4, 3], |x| trace(x, 1, 0, 1, None)),
        case_of("outer axes", &[2, 3, 4], |x| trace(x, -1, 2, 0, None)),
        case_of("outside", &[3, 3], |x| trace(x, 5, 0, 1, None)),
        case_of("empty", &[0, 2], |x| trace(x, 0, 0, 1, None)),
    ];
    vec![Entry { name: "trace", doc: "Sums along diagonals.", cases }]
}

/// Expected values from the wheel.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_widen_as_sums_do_unless_a_type_is_given() {
        let x = Array::from_slice(&[1u8, 2, 3, 4, 5, 6], &[2, 3]).expect("six");
        let y = trace(&x, 1, 0, 1, None).expect("it has a diagonal");
        assert_eq!((y.dtype(), y.to_vec::<u32>().expect("numbers")), (Dtype::U32, vec![8]));
        let y = trace(&x, 0, 0, 1, Some(Dtype::F32)).expect("it has a diagonal");
        assert_eq!(y.to_vec::<f32>().expect("floats"), [6.0]);
    }
}
