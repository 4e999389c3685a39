//! `repeat(x, n, axis)`: each element `n` times; `tile(x, n)`: the whole array `n` times.

use smallvec::{SmallVec, smallvec};

use crate::array::Array;
use crate::error::{Error, Result};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::Entry;
use crate::ops::views::{case_of, expand_dims, flatten, reshape};
use crate::shape::{Shape, normalize_axis};

/// Each element so many times along an axis, or of the flattened array.
pub fn repeat(x: &Array, repeats: i32, axis: Option<i32>) -> Result<Array> {
    let Some(axis) = axis else { return repeat(&flatten(x, 0, -1)?, repeats, Some(0)) };
    let axis = normalize_axis("repeat", axis, x.ndim())?;
    if repeats < 0 {
        return Err(Error::Value(format!("[repeat] repeats must not be negative but is {repeats}.")));
    }
    let size = product("repeat", x.shape()[axis], repeats)?;
    let mut repeated = Shape::from_slice(x.shape());
    repeated.insert(axis + 1, repeats);
    let mut shape = Shape::from_slice(x.shape());
    shape[axis] = size;
    reshape(&broadcast_to(&expand_dims(x, &[axis as i32 + 1])?, &repeated)?, &shape)
}

/// The array so many times along each axis. Repetitions count for the last axes; what is missing in front of the
/// shorter of shape and repetitions is 1.
pub fn tile(x: &Array, repetitions: &[i32]) -> Result<Array> {
    if let Some(n) = repetitions.iter().find(|&&n| n < 0) {
        return Err(Error::Value(format!("[tile] repetitions must not be negative but one is {n}.")));
    }
    let axes = x.ndim().max(repetitions.len());
    let padded = |sizes: &[i32]| {
        let ones = std::iter::repeat_n(1, axes - sizes.len());
        ones.chain(sizes.iter().copied()).collect::<Shape>()
    };
    let (sizes, repetitions) = (padded(x.shape()), padded(repetitions));
    // Every axis gets one before it, along which it is repeated.
    let interleaved: SmallVec<[i32; 8]> = sizes.iter().flat_map(|&n| [1, n]).collect();
    let repeated: SmallVec<[i32; 8]> = repetitions.iter().zip(&sizes).flat_map(|(&times, &n)| [times, n]).collect();
    let mut shape: Shape = smallvec![];
    for (&times, &n) in repetitions.iter().zip(&sizes) {
        shape.push(product("tile", n, times)?);
    }
    reshape(&broadcast_to(&reshape(x, &interleaved)?, &repeated)?, &shape)
}

fn product(op: &str, n: i32, times: i32) -> Result<i32> {
    let size = n as i64 * times as i64;
    i32::try_from(size).map_err(|_| Error::Value(format!("[{op}] a size must fit 32 bits but would be {size}.")))
}

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "repeat",
            doc: "Each element several times.",
            cases: vec![
                case_of("rows", &[2, 3], |x| repeat(x, 2, Some(0))),
                case_of("flat", &[2, 3], |x| repeat(x, 3, None)),
                case_of("not at all", &[2, 3], |x| repeat(x, 0, Some(1))),
                case_of("scalar", &[], |x| repeat(x, 2, None)),
                case_of("empty", &[0, 2], |x| repeat(x, 3, Some(0))),
            ],
        },
        Entry {
            name: "tile",
            doc: "The whole array several times.",
            cases: vec![
                case_of("both axes", &[2, 3], |x| tile(x, &[2, 3])),
                case_of("last axis", &[2, 3], |x| tile(x, &[2])),
                case_of("new axis", &[2], |x| tile(x, &[2, 0, 1])),
                case_of("scalar", &[], |x| tile(x, &[2, 2])),
                case_of("empty", &[0, 2], |x| tile(x, &[2, 2])),
            ],
        },
    ]
}
