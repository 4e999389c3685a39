//! What users give as the factors of a product, made the matrices that the ops take.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::views::{expand_dims, reshape};
use crate::shape::{self, Shape};

/// Two matrices or stacks of matrices with the same axes in front, and the shape that the user's result has.
pub(super) struct Factors {
    /// `(…, m, k)`.
    pub a: Array,
    /// `(…, k, n)`.
    pub b: Array,
    /// The product's shape as the user sees it: the same elements in the same order.
    pub shape: Shape,
}

impl Factors {
    /// Promotes, broadcasts and folds; the user's errors are raised here.
    pub fn new(op: &str, a: &Array, b: &Array, dtype: Dtype) -> Result<Factors> {
        if let Some(name) = [("a", a), ("b", b)].iter().find(|(_, x)| x.ndim() == 0).map(|(name, _)| name) {
            return Err(Error::Value(format!("[{op}] {name} must have at least one axis but has none.")));
        }
        let (row, column) = (a.ndim() == 1, b.ndim() == 1);
        let a = astype(&if row { expand_dims(a, &[0])? } else { a.clone() }, dtype)?;
        let b = astype(&if column { expand_dims(b, &[1])? } else { b.clone() }, dtype)?;
        let (depth, other) = (a.shape()[a.ndim() - 1], b.shape()[b.ndim() - 2]);
        if depth != other {
            let [left, right] = [a.shape(), b.shape()].map(shape::display);
            return Err(Error::Value(format!(
                "[{op}] the last axis of a must match the second to last of b but shapes are {left} and {right}."
            )));
        }
        let batch = shape::broadcast(op, front(&a), front(&b))?;
        let mut shape = batch.clone();
        if !row {
            shape.push(a.shape()[a.ndim() - 2]);
        }
        if !column {
            shape.push(b.shape()[b.ndim() - 1]);
        }
        refuse_huge(op, &shape)?;
        let (a, b) =
            if folds(&a, &b) { (reshape(&a, &[-1, depth])?, b) } else { (stacked(&a, &batch)?, stacked(&b, &batch)?) };
        Ok(Factors { a, b, shape })
    }

    /// Terms in each sum.
    pub fn depth(&self) -> i32 {
        self.a.shape()[self.a.ndim() - 1]
    }

    /// The shape of the product of the matrices.
    pub fn matrices(&self) -> Shape {
        let mut shape = Shape::from_slice(front(&self.a));
        shape.extend([self.a.shape()[self.a.ndim() - 2], self.b.shape()[self.b.ndim() - 1]]);
        shape
    }
}

/// The axes in front of the matrices.
fn front(x: &Array) -> &[i32] {
    &x.shape()[..x.ndim() - 2]
}

/// Whether a stack times one matrix can be one product: the rows of all its matrices are counted together.
fn folds(a: &Array, b: &Array) -> bool {
    let rows: i64 = a.shape()[..a.ndim() - 1].iter().map(|&n| n as i64).fold(1, i64::saturating_mul);
    let depth = a.shape()[a.ndim() - 1];
    b.ndim() == 2 && a.ndim() > 2 && depth > 0 && rows <= i32::MAX as i64
}

fn stacked(x: &Array, batch: &[i32]) -> Result<Array> {
    let mut shape = Shape::from_slice(batch);
    shape.extend_from_slice(&x.shape()[x.ndim() - 2..]);
    // Of other sizes the product itself would refuse.
    if x.shape() == shape.as_slice() { Ok(x.clone()) } else { broadcast_to(x, &shape) }
}

/// No result has more elements than a 64-bit offset in bytes can count.
fn refuse_huge(op: &str, shape: &[i32]) -> Result<()> {
    let size = shape.iter().try_fold(1i64, |size, &n| size.checked_mul(n as i64));
    match size.filter(|&size| size < i64::MAX / 16) {
        Some(_) => Ok(()),
        None => {
            let shape = shape::display(shape);
            Err(Error::Value(format!("[{op}] the result must fit memory but has shape {shape}.")))
        }
    }
}
