//! Random integers and bools.

use super::bits::bits;
use super::continuous::{bound, uniform};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::binary::{less, maximum, minimum, multiply, subtract};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::unary::floor;
use crate::scalar::Operand;

/// Evenly distributed integers, `low` included and `high` not; both broadcast to the shape.
pub fn randint(
    low: impl Operand,
    high: impl Operand,
    shape: &[i32],
    dtype: Dtype,
    key: Option<&Array>,
) -> Result<Array> {
    if dtype.is_inexact() {
        return Err(Error::Value(format!("[randint] the type must be an integer or bool but is {dtype}.")));
    }
    let given = |operand: &dyn Operand| operand.operand().to_array("randint", None);
    let (low, high) = (given(&low)?, given(&high)?);
    let [low, high] = [&low, &high].map(|x| broadcast_to(x, shape));
    let (low, high) = (low?, high?);
    let whole = astype(&floor(&uniform(&low, &high, shape, Dtype::F32, key)?)?, dtype)?;
    // Rounding may reach beyond the last number.
    let last = astype(&subtract(&high, 1)?, dtype)?;
    maximum(minimum(whole, last)?, astype(&low, dtype)?)
}

/// Bools that are true with probability `p`; of its shape if none is given.
pub fn bernoulli(p: impl Operand, shape: Option<&[i32]>, key: Option<&Array>) -> Result<Array> {
    let p = p.operand().to_array("bernoulli", None)?;
    if !p.dtype().is_floating() {
        return Err(Error::Value(format!("[bernoulli] p must be of a floating-point type but is {}.", p.dtype())));
    }
    let shape = shape.unwrap_or(p.shape()).to_vec();
    // The largest float32 below 2^32.
    let limit = multiply(&p, bound("bernoulli", &4294967040.0f32, Dtype::F32)?)?;
    less(bits(&shape, 4, key)?, broadcast_to(&limit, &shape)?)
}

pub(super) fn entries(key: impl Fn() -> Sample) -> Vec<Entry> {
    let integers = Dtype::ALL.into_iter().filter(|dtype| !dtype.is_inexact());
    let randints = integers.map(|dtype| Case {
        name: format!("{dtype}"),
        inputs: vec![key()],
        dtypes: &[Dtype::U32],
        call: Box::new(move |x| Ok(vec![randint(2, 9, &[3, 5], dtype, Some(&x[0]))?])),
        differentiable: false,
    });
    let bernoullis = [0.0, 0.3, 1.0].map(|p| Case {
        name: format!("p = {p}"),
        inputs: vec![key()],
        dtypes: &[Dtype::U32],
        call: Box::new(move |x| Ok(vec![bernoulli(p, Some(&[3, 5]), Some(&x[0]))?])),
        differentiable: false,
    });
    vec![
        Entry { name: "randint", doc: "Evenly distributed integers.", cases: randints.collect() },
        Entry { name: "bernoulli", doc: "Bools that are true with a probability.", cases: bernoullis.into() },
    ]
}
