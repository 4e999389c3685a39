//! Assignment and updates by index expressions.

use super::mask::{is_mask, set_masked};
use super::selection::Selection;
use super::{Index, get};
use crate::array::Array;
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::binary::{add, maximum, minimum, multiply};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::scatter::{Combine, scatter_by};
use crate::ops::unary::{negative, reciprocal};
use crate::ops::views::{reshape, squeeze};
use crate::scalar::Operand;
use crate::shape::{Shape, broadcast};

/// The array with the elements that an expression selects replaced by a value, which broadcasts to them and becomes
/// their type.
pub fn set(x: &Array, expression: &[Index], value: impl Operand) -> Result<Array> {
    let value = value_of(x, &value)?;
    match expression {
        [Index::Array(mask)] if is_mask(&expression[0]) => set_masked(x, mask, &value),
        _ => update(Combine::Replace, x, expression, &value),
    }
}

/// The elements that an expression selects, to be updated.
pub fn at(x: &Array, expression: &[Index]) -> At {
    At::new(x, expression.to_vec())
}

/// Elements that are about to be updated. Where an index array names one twice, both updates count.
#[derive(Clone, Debug)]
pub struct At {
    x: Array,
    expression: Vec<Index>,
}

impl At {
    pub(super) fn new(x: &Array, expression: Vec<Index>) -> At {
        At { x: x.clone(), expression }
    }

    /// The elements themselves.
    pub fn get(&self) -> Result<Array> {
        get(&self.x, &self.expression)
    }

    /// The array with a value added to them.
    pub fn add(&self, value: impl Operand) -> Result<Array> {
        self.update(Combine::Add, &value_of(&self.x, &value)?)
    }

    /// The array with a value taken from them.
    pub fn subtract(&self, value: impl Operand) -> Result<Array> {
        self.update(Combine::Add, &negative(&value_of(&self.x, &value)?)?)
    }

    /// The array with them multiplied by a value.
    pub fn multiply(&self, value: impl Operand) -> Result<Array> {
        self.update(Combine::Multiply, &value_of(&self.x, &value)?)
    }

    /// The array with them multiplied by one over a value, which becomes their type: of integers mostly zero, as in
    /// MLX.
    pub fn divide(&self, value: impl Operand) -> Result<Array> {
        let inverse = reciprocal(&value_of(&self.x, &value)?)?;
        self.update(Combine::Multiply, &astype(&inverse, self.x.dtype())?)
    }

    /// The array with the larger of them and a value.
    pub fn maximum(&self, value: impl Operand) -> Result<Array> {
        self.update(Combine::Max, &value_of(&self.x, &value)?)
    }

    /// The array with the smaller of them and a value.
    pub fn minimum(&self, value: impl Operand) -> Result<Array> {
        self.update(Combine::Min, &value_of(&self.x, &value)?)
    }

    fn update(&self, combine: Combine, value: &Array) -> Result<Array> {
        update(combine, &self.x, &self.expression, value)
    }
}

/// A value in the array's type.
fn value_of(x: &Array, value: &dyn Operand) -> Result<Array> {
    astype(&value.operand().to_array("index", None)?, x.dtype())
}

fn update(combine: Combine, x: &Array, expression: &[Index], value: &Array) -> Result<Array> {
    if expression.iter().any(is_mask) {
        return Err(Error::Value("[index] a boolean mask must be the only index but is one of several.".into()));
    }
    let selection = Selection::new(x.shape(), expression)?;
    let part = selection.slice(x)?;
    let (arrays, axes) = selection.index_arrays();
    let mut positions = Shape::new();
    for array in &arrays {
        positions = broadcast("index", &positions, array.shape())?;
    }
    let value = fitted(&selection, value, part.shape(), &positions)?;
    if selection.is_empty(part.shape(), &positions) {
        return Ok(x.clone());
    }
    let part = match arrays.is_empty() {
        true => combined(combine, &part, &reshape(&value, part.shape())?)?,
        false => {
            let mut shape = positions;
            shape.extend_from_slice(part.shape());
            let first = shape.len() - part.ndim();
            axes.iter().for_each(|&axis| shape[first + axis as usize] = 1);
            let updates = reshape(&selection.positions_first(&value)?, &shape)?;
            scatter_by(combine, &part, &arrays, &updates, &axes)?
        }
    };
    selection.with_slice(x, &part)
}

/// The value broadcast to what is selected, without new axes.
fn fitted(selection: &Selection, value: &Array, part: &[i32], positions: &[i32]) -> Result<Array> {
    let selected = selection.shape(part, positions);
    let mut whole = selected.clone();
    selection.new_axes.iter().for_each(|&axis| whole.insert(axis as usize, 1));
    // Axes of one element in front count for nothing.
    let excess = value.ndim().saturating_sub(whole.len());
    let leading = value.shape().iter().take(excess).take_while(|&&n| n == 1).count();
    let value = reshape(value, &value.shape()[leading..])?;
    let value = broadcast_to(&value, &whole)?;
    match selection.new_axes.is_empty() {
        true => Ok(value),
        false => squeeze(&value, Some(&selection.new_axes)),
    }
}

/// Elements combined with as many updates.
fn combined(combine: Combine, x: &Array, update: &Array) -> Result<Array> {
    match combine {
        Combine::Replace => Ok(update.clone()),
        Combine::Add => add(x, update),
        Combine::Multiply => multiply(x, update),
        Combine::Max => maximum(x, update),
        Combine::Min => minimum(x, update),
    }
}
