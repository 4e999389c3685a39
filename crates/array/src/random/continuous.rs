//! Random real numbers: `uniform`, and what is made of it.

use super::bits::bits;
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::binary::{add, divide, maximum, minimum, multiply, subtract};
use crate::ops::bitcast::view;
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::unary::{abs, erf, erfinv, log, log1p, negative, sign};
use crate::ops::views::squeeze;
use crate::scalar::Operand;
use crate::shape::{Shape, broadcast, display};

/// The largest float32 below one, negated.
const ABOVE_MINUS_ONE: f32 = f32::EPSILON / 2.0 - 1.0;

/// Evenly distributed numbers, `low` included and `high` not; both broadcast to the shape.
pub fn uniform(
    low: impl Operand,
    high: impl Operand,
    shape: &[i32],
    dtype: Dtype,
    key: Option<&Array>,
) -> Result<Array> {
    // The largest number below one.
    let below_one = match dtype {
        Dtype::F32 => -ABOVE_MINUS_ONE,
        Dtype::F16 => 1.0 - 1.0 / 2048.0,
        Dtype::BF16 => 1.0 - 1.0 / 256.0,
        Dtype::F64 => {
            return Err(Error::Runtime("[uniform] the type must have at most 32 bits but is float64.".into()));
        }
        _ => return Err(Error::Value(format!("[uniform] the type must be a floating-point type but is {dtype}."))),
    };
    let [low, high] = [bound("uniform", &low, dtype)?, bound("uniform", &high, dtype)?];
    let range = subtract(&high, &low)?;
    let whole = broadcast("uniform", shape, range.shape())?;
    if whole.as_slice() != shape {
        let [shape, whole] = [shape, &whole].map(display);
        return Err(Error::Value(format!("[uniform] low and high must broadcast to shape {shape} but give {whole}.")));
    }
    let bits = astype(&bits(shape, 4, key)?, Dtype::F32)?;
    let part = minimum(divide(bits, u32::MAX as f32)?, Array::scalar(below_one))?;
    add(multiply(range, astype(&part, dtype)?)?, low)
}

/// A bound as an array of a type.
pub(super) fn bound(op: &str, operand: &dyn Operand, dtype: Dtype) -> Result<Array> {
    astype(&operand.operand().to_array(op, Some(dtype))?, dtype)
}

/// Normally distributed numbers with mean `loc` and standard deviation `scale`; of a complex type, each part has half
/// the variance.
pub fn normal(
    shape: &[i32],
    dtype: Dtype,
    loc: Option<&dyn Operand>,
    scale: Option<&dyn Operand>,
    key: Option<&Array>,
) -> Result<Array> {
    let samples = match dtype {
        Dtype::C64 => {
            let mut parts = Shape::from_slice(shape);
            parts.push(2);
            let parts = multiply(standard(&parts, key)?, std::f32::consts::FRAC_1_SQRT_2)?;
            squeeze(&view(&parts, Dtype::C64)?, Some(&[-1]))?
        }
        _ if dtype.is_floating() => astype(&standard(shape, key)?, dtype)?,
        _ => return Err(Error::Value(format!("[normal] the type must be floating-point or complex but is {dtype}."))),
    };
    placed("normal", samples, loc, scale)
}

fn standard(shape: &[i32], key: Option<&Array>) -> Result<Array> {
    let u = uniform(ABOVE_MINUS_ONE, 1, shape, Dtype::F32, key)?;
    multiply(std::f32::consts::SQRT_2, erfinv(&u)?)
}

/// Samples scaled and moved.
fn placed(op: &str, samples: Array, loc: Option<&dyn Operand>, scale: Option<&dyn Operand>) -> Result<Array> {
    let dtype = samples.dtype();
    let fitted = |x: &dyn Operand| {
        let x = bound(op, x, dtype)?;
        broadcast_to(&x, samples.shape())
    };
    let scaled = match scale {
        Some(scale) => multiply(&samples, fitted(scale)?)?,
        None => samples.clone(),
    };
    match loc {
        Some(loc) => add(scaled, fitted(loc)?),
        None => Ok(scaled),
    }
}

/// Normally distributed numbers between two bounds; of the bounds' shape if none is given.
pub fn truncated_normal(
    lower: impl Operand,
    upper: impl Operand,
    shape: Option<&[i32]>,
    dtype: Dtype,
    key: Option<&Array>,
) -> Result<Array> {
    const NAME: &str = "truncated_normal";
    if !dtype.is_floating() {
        return Err(Error::Value(format!("[{NAME}] the type must be a floating-point type but is {dtype}.")));
    }
    let [lower, upper] = [bound(NAME, &lower, dtype)?, bound(NAME, &upper, dtype)?];
    let own = broadcast(NAME, lower.shape(), upper.shape())?;
    let shape = shape.unwrap_or(&own);
    let root = bound(NAME, &std::f64::consts::SQRT_2, dtype)?;
    let [low, high] = [erf(&divide(&lower, &root)?)?, erf(&divide(&upper, &root)?)?];
    let normal = multiply(&root, erfinv(&uniform(low, high, shape, dtype, key)?)?)?;
    minimum(maximum(normal, lower)?, upper)
}

/// Numbers of the standard Gumbel distribution.
pub fn gumbel(shape: &[i32], dtype: Dtype, key: Option<&Array>) -> Result<Array> {
    let u = uniform(0, 1, shape, dtype, key)?;
    negative(&log(&negative(&log(&u)?)?)?)
}

/// Numbers of the Laplace distribution with mean `loc` and scale `scale`.
pub fn laplace(
    shape: &[i32],
    dtype: Dtype,
    loc: Option<&dyn Operand>,
    scale: Option<&dyn Operand>,
    key: Option<&Array>,
) -> Result<Array> {
    if !dtype.is_floating() {
        return Err(Error::Value(format!("[laplace] the type must be a floating-point type but is {dtype}.")));
    }
    let u = uniform(ABOVE_MINUS_ONE, 1, shape, Dtype::F32, key)?;
    let samples = multiply(sign(&u)?, log1p(&negative(&abs(&u)?)?)?)?;
    placed("laplace", astype(&samples, dtype)?, loc, scale)
}

pub(super) fn entries(key: impl Fn() -> Sample) -> Vec<Entry> {
    const FLOATS: [Dtype; 3] = [Dtype::F32, Dtype::F16, Dtype::BF16];
    type Make = fn(&[i32], Dtype, &Array) -> Result<Array>;
    let all: [(&str, &str, Make); 5] = [
        ("uniform", "Evenly distributed numbers.", |shape, dtype, key| uniform(-2, 5, shape, dtype, Some(key))),
        ("normal", "Normally distributed numbers.", |shape, dtype, key| {
            normal(shape, dtype, None, Some(&2), Some(key))
        }),
        ("truncated_normal", "Normally distributed numbers between bounds.", |shape, dtype, key| {
            truncated_normal(-1, 1, Some(shape), dtype, Some(key))
        }),
        ("gumbel", "Numbers of the Gumbel distribution.", |shape, dtype, key| gumbel(shape, dtype, Some(key))),
        ("laplace", "Numbers of the Laplace distribution.", |shape, dtype, key| {
            laplace(shape, dtype, Some(&1), None, Some(key))
        }),
    ];
    let entry = |(name, doc, make): (&'static str, &'static str, Make)| {
        let case = |dtype: Dtype| Case {
            name: format!("{dtype}"),
            inputs: vec![key()],
            dtypes: &[Dtype::U32],
            call: Box::new(move |x| Ok(vec![make(&[3, 5], dtype, &x[0])?])),
            differentiable: false,
        };
        Entry { name, doc, cases: FLOATS.into_iter().map(case).collect() }
    };
    all.into_iter().map(entry).collect()
}
