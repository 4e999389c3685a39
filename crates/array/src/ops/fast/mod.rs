//! MLX's `fast` ops: what models are made of, each defined by its meaning in simpler ops.

mod attention;
mod cpu;
mod layer_norm;
mod rms_norm;
mod rope;

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::catalogue::Entry;
use crate::shape::{self, Spec};

pub use attention::{Mask, scaled_dot_product_attention};
pub use layer_norm::layer_norm;
pub use rms_norm::rms_norm;
pub use rope::{Rope, rope};

/// The types these ops are computed in.
const FLOATING: &[Dtype] = &[Dtype::F16, Dtype::F32, Dtype::F64, Dtype::BF16];

/// Refuses a result of another type than a floating one.
fn floating(op: &str, dtype: Dtype) -> Result<Dtype> {
    match dtype.is_floating() {
        true => Ok(dtype),
        false => Err(Error::Value(format!("[{op}] the inputs must promote to a floating type but give {dtype}."))),
    }
}

/// An array that may be missing, in a type.
fn converted(x: Option<&Array>, dtype: Dtype) -> Result<Option<Array>> {
    x.map(|x| astype(x, dtype)).transpose()
}

/// Refuses a weight or a bias that does not have an element for each of the last axis of `x`.
fn fits_last_axis(op: &str, name: &str, x: &Spec, given: &Spec) -> Result<()> {
    let Some(&n) = x.shape.last() else {
        return Err(Error::Value(format!("[{op}] x must have at least 1 axis but has none.")));
    };
    match given.shape[..] == [n] {
        true => Ok(()),
        false => Err(Error::Value(format!(
            "[{op}] {name} must have shape ({n},) to match the last axis of x but has shape {}.",
            shape::display(&given.shape)
        ))),
    }
}

pub(super) fn entries() -> Vec<Entry> {
    vec![rms_norm::entry(), layer_norm::entry(), rope::entry(), attention::entry()]
}
