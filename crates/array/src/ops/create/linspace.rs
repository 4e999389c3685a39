//! `linspace(start, stop, num)`: numbers evenly spaced between two.

use super::{arange, number};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::binary::{add, divide, multiply, subtract};
use crate::ops::catalogue::{Case, Entry};
use crate::scalar::Operand;

/// `num` numbers from `start` to `stop`, which is the last of them, or the one after the last without `endpoint`.
pub fn linspace(start: impl Operand, stop: impl Operand, num: i32, endpoint: bool, dtype: Dtype) -> Result<Array> {
    if num < 0 {
        return Err(Error::Value(format!("[linspace] num must not be negative but is {num}.")));
    }
    let [start, stop] = [start.operand(), stop.operand()].map(|weak| number("linspace", &weak));
    let (start, stop) = (start?, stop?);
    let computes = if dtype == Dtype::F64 { Dtype::F64 } else { Dtype::F32 };
    let steps = if endpoint { num - 1 } else { num };
    // t · stop + (1 - t) · start, rounded as MLX does: both ends are met exactly.
    let t = divide(arange(0, num, 1, Some(computes))?, steps.max(1))?;
    let line = add(multiply(subtract(1, &t)?, start)?, multiply(&t, stop)?)?;
    astype(&line, dtype)
}

pub(super) fn entries() -> Vec<Entry> {
    let shapes = [("both ends", 7, true), ("open end", 6, false), ("one", 1, true), ("none", 0, true)];
    let dtypes = [Dtype::F32, Dtype::F16, Dtype::BF16, Dtype::F64, Dtype::I32, Dtype::U8];
    let cases = shapes.into_iter().flat_map(|shape| dtypes.map(|dtype| (shape, dtype)));
    let cases = cases.map(|((name, num, endpoint), dtype)| Case {
        name: format!("{name}, {dtype}"),
        inputs: Vec::new(),
        dtypes: &[Dtype::F32],
        call: Box::new(move |_| Ok(vec![linspace(-3.3, 7.7, num, endpoint, dtype)?])),
        differentiable: false,
    });
    vec![Entry { name: "linspace", doc: "Numbers evenly spaced between two.", cases: cases.collect() }]
}
