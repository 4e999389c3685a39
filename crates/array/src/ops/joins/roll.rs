//! `roll(x, shifts, axes)`: elements moved along axes; what leaves at one end comes back at the other.

use crate::array::Array;
use crate::error::{Error, Result};
use crate::ops::catalogue::Entry;
use crate::ops::joins::concatenate;
use crate::ops::slices::split_at;
use crate::ops::views::{case_of, flatten, reshape};
use crate::shape::normalize_axis;

/// The elements moved along each of the axes by its shift, one after the other.
pub fn roll(x: &Array, shifts: &[i32], axes: &[i32]) -> Result<Array> {
    if shifts.len() < axes.len() {
        let (shifts, axes) = (shifts.len(), axes.len());
        return Err(Error::Value(format!(
            "[roll] every axis must have a shift but there are {axes} axes and {shifts} shifts."
        )));
    }
    let mut rolled = x.clone();
    for (&shift, &axis) in shifts.iter().zip(axes) {
        let axis = normalize_axis("roll", axis, x.ndim())?;
        let n = x.shape()[axis];
        let moved = if n == 0 { 0 } else { shift.rem_euclid(n) };
        if moved != 0 {
            let mut parts = split_at(&rolled, &[n - moved], axis as i32)?;
            parts.reverse();
            rolled = concatenate(&parts, axis as i32)?;
        }
    }
    Ok(rolled)
}

/// The elements in order moved by a shift, in the array's shape.
pub fn roll_flat(x: &Array, shift: i32) -> Result<Array> {
    reshape(&roll(&flatten(x, 0, -1)?, &[shift], &[0])?, x.shape())
}

pub(super) fn entries() -> Vec<Entry> {
    let cases = vec![
        case_of("two axes", &[3, 4], |x| roll(x, &[1, -2], &[0, 1])),
        case_of("one axis twice", &[3, 4], |x| roll(x, &[1, 5], &[1, -1])),
        case_of("flat", &[3, 4], |x| roll_flat(x, -5)),
        case_of("scalar", &[], |x| roll_flat(x, 1)),
        case_of("empty", &[2, 0], |x| roll(x, &[1], &[1])),
    ];
    vec![Entry { name: "roll", doc: "Elements moved along axes, around the ends.", cases }]
}
