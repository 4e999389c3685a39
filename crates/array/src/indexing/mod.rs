//! Index expressions as NumPy has them, as data: for reading ([`get`]), assignment ([`set`]) and updates ([`at`]).
//!
//! An expression is a list of [`Index`]es, one for each axis it says something about. It is settled once, into a
//! `Selection`: a slice of every axis, index arrays along some, and the order of the axes that come out. Reading,
//! assigning and updating follow from that.
//!
//! ```
//! use pumice::Array;
//! use pumice::indexing::Ellipsis;
//! let x = Array::from_slice(&[0i32, 1, 2, 3, 4, 5], &[2, 3])?;
//! assert_eq!(x.index((1, 1..))?.to_vec::<i32>()?, [4, 5]);
//! assert_eq!(x.index((Ellipsis, -1))?.to_vec::<i32>()?, [2, 5]);
//! # Ok::<(), pumice::Error>(())
//! ```

mod assign;
mod expression;
mod mask;
mod selection;
#[cfg(test)]
mod tests;

pub use assign::{At, at, set};
pub use expression::{Ellipsis, Expression, NewAxis, Slice};

use crate::array::Array;
use crate::error::{Error, Result};
use crate::ops::gather::gather;
use crate::ops::views::{expand_dims, reshape};
use crate::shape::Shape;

use selection::Selection;

/// What an index expression says about an axis.
#[derive(Clone, Debug)]
pub enum Index {
    /// The element at a place, counted from the end if negative; the axis goes.
    Int(i64),
    /// Every `step`-th element from `start` to before `stop`, as Python's slices.
    Slice {
        /// The first place; the first or last of the axis if none.
        start: Option<i64>,
        /// The place after the last; beyond the axis if none.
        stop: Option<i64>,
        /// From one place to the next; 1 if none.
        step: Option<i64>,
    },
    /// A new axis of one element.
    NewAxis,
    /// All axes that nothing else is said about.
    Ellipsis,
    /// The elements at places, or, of bools, a mask: for assignment only.
    Array(Array),
}

/// The elements that an expression selects.
pub fn get(x: &Array, expression: &[Index]) -> Result<Array> {
    // Often nothing is selected: `x[None]`.
    if expression.iter().all(|index| matches!(index, Index::NewAxis)) {
        let axes: Shape = (0..expression.len() as i32).collect();
        return expand_dims(x, &axes);
    }
    if expression.iter().any(mask::is_mask) {
        return Err(Error::Value("[index] boolean indices are not yet supported.".into()));
    }
    let selection = Selection::new(x.shape(), expression)?;
    let part = selection.slice(x)?;
    let kept = match selection.arrays.is_empty() {
        true if selection.keeps_axes() => part,
        true => reshape(&part, &selection.kept(part.shape()))?,
        false => {
            let (arrays, axes) = selection.index_arrays();
            let mut sizes = Shape::from_slice(part.shape());
            axes.iter().for_each(|&axis| sizes[axis as usize] = sizes[axis as usize].min(1));
            let parts = gather(&part, &arrays, &axes, &sizes)?;
            let mut shape = Shape::from_slice(&parts.shape()[..selection.positions]);
            shape.extend(selection.kept(part.shape()));
            selection.positions_in_place(&reshape(&parts, &shape)?)?
        }
    };
    match selection.new_axes.is_empty() {
        true => Ok(kept),
        false => expand_dims(&kept, &selection.new_axes),
    }
}

impl Array {
    /// The elements that an expression selects: `x.index((0, .., 1..3))`.
    pub fn index(&self, expression: impl Expression) -> Result<Array> {
        get(self, &expression.indices())
    }

    /// The array with the elements that an expression selects replaced by a value.
    pub fn index_set(&self, expression: impl Expression, value: impl crate::scalar::Operand) -> Result<Array> {
        set(self, &expression.indices(), value)
    }

    /// The elements that an expression selects, to be updated: `x.at(0).add(1)`.
    pub fn at(&self, expression: impl Expression) -> At {
        At::new(self, expression.indices())
    }
}
