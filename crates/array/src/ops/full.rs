//! Arrays of one value: `full`, `zeros`, `ones` and their `_like`. They take no memory until somebody needs it.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::Entry;
use crate::scalar::Operand;
use crate::typed_bits::bits;

/// An array of one value, or of the values of an array that broadcasts to the shape.
pub fn full(shape: &[i32], value: impl Operand, dtype: Option<Dtype>) -> Result<Array> {
    refuse_negative("full", shape)?;
    let value = value.operand().to_array("full", None)?;
    let dtype = dtype.unwrap_or(value.dtype());
    broadcast_to(&astype(&value, dtype)?, shape)
}

/// An array of zeros.
pub fn zeros(shape: &[i32], dtype: Dtype) -> Result<Array> {
    refuse_negative("zeros", shape)?;
    broadcast_to(&Array::from_bits(0, dtype), shape)
}

/// An array of ones.
pub fn ones(shape: &[i32], dtype: Dtype) -> Result<Array> {
    refuse_negative("ones", shape)?;
    broadcast_to(&Array::from_bits(bits(1.0, dtype), dtype), shape)
}

/// Zeros in an array's shape and type.
pub fn zeros_like(x: &Array) -> Result<Array> {
    zeros(x.shape(), x.dtype())
}

/// Ones in an array's shape and type.
pub fn ones_like(x: &Array) -> Result<Array> {
    ones(x.shape(), x.dtype())
}

fn refuse_negative(op: &str, shape: &[i32]) -> Result<()> {
    match shape.iter().find(|&&n| n < 0) {
        Some(n) => Err(Error::Value(format!("[{op}] the sizes of a shape must not be negative but one is {n}."))),
        None => Ok(()),
    }
}

pub(super) fn entries() -> Vec<Entry> {
    Vec::new()
}
