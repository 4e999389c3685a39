//! Element-wise functions of two arrays that are a few others.

use super::{add, equal, floor_divide, less_equal, logical_and, logical_or, multiply, remainder, subtract};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::reduce::all;
use crate::ops::unary::{abs, isinf, isnan, logical_not, stop_gradient};
use crate::scalar::{Operand, pair};

/// The quotient rounded down, and what it leaves. Both are constants to derivatives.
pub fn divmod(a: impl Operand, b: impl Operand) -> Result<(Array, Array)> {
    let (a, b) = pair("divmod", &a, &b)?;
    if a.dtype().promote(b.dtype()) == Dtype::C64 {
        let (a, b) = (a.dtype(), b.dtype());
        return Err(Error::Value(format!("[divmod] a and b must be real but have types {a} and {b}.")));
    }
    Ok((floor_divide(&a, &b)?, stop_gradient(&remainder(&a, &b)?)?))
}

/// How close numbers must be to count as equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Close {
    /// The distance, as a part of the second number.
    pub rtol: f64,
    /// The distance that is added to it.
    pub atol: f64,
    /// Whether NaN is close to NaN.
    pub equal_nan: bool,
}

impl Default for Close {
    fn default() -> Close {
        Close { rtol: 1e-5, atol: 1e-8, equal_nan: false }
    }
}

/// Whether the numbers are within `atol + rtol · |b|` of each other; infinities are close to themselves only.
pub fn isclose(a: impl Operand, b: impl Operand, close: Close) -> Result<Array> {
    let (a, b) = pair("isclose", &a, &b)?;
    let [rtol, atol] = [close.rtol, close.atol].map(|x| Array::scalar(x as f32));
    let near = less_equal(abs(&subtract(&a, &b)?)?, add(atol, multiply(rtol, abs(&b)?)?)?)?;
    let infinite = logical_or(isinf(&a)?, isinf(&b)?)?;
    let near = logical_and(near, logical_not(&infinite)?)?;
    let near = logical_or(near, logical_and(infinite, equal(&a, &b)?)?)?;
    match close.equal_nan {
        true => logical_or(near, logical_and(isnan(&a)?, isnan(&b)?)?),
        false => Ok(near),
    }
}

/// Whether all numbers are close; see [`isclose`].
pub fn allclose(a: impl Operand, b: impl Operand, close: Close) -> Result<Array> {
    all(&isclose(a, b, close)?, None, false)
}

/// Whether two arrays have one shape and equal numbers, whatever their types are.
pub fn array_equal(a: impl Operand, b: impl Operand, equal_nan: bool) -> Result<Array> {
    let (a, b) = pair("array_equal", &a, &b)?;
    if a.shape() != b.shape() {
        return Ok(Array::from_bits(false as u64, Dtype::Bool));
    }
    let same = equal(&a, &b)?;
    match equal_nan {
        true => all(&logical_or(same, logical_and(isnan(&a)?, isnan(&b)?)?)?, None, false),
        false => all(&same, None, false),
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let cases = |call: fn(&Array, &Array) -> Result<Vec<Array>>, dtypes: &'static [Dtype]| {
        let shapes: [(&str, [&[i32]; 2]); 3] =
            [("rows", [&[3, 5], &[5]]), ("scalars", [&[], &[]]), ("empty", [&[0, 2], &[2]])];
        let cases = shapes.into_iter().map(move |(name, [a, b])| Case {
            name: name.into(),
            inputs: vec![Sample::within(a, -9.0, 9.0), Sample::within(b, 1.0, 3.0)],
            dtypes,
            call: Box::new(move |x| call(&x[0], &x[1])),
            differentiable: false,
        });
        cases.collect()
    };
    const REAL: &[Dtype] = Dtype::ALL.split_at(13).0;
    let both = |a: &Array, b: &Array| divmod(a, b).map(|(quotient, rest)| vec![quotient, rest]);
    let close = |a: &Array, b: &Array| Ok(vec![isclose(a, b, Close::default())?]);
    let all_close = |a: &Array, b: &Array| Ok(vec![allclose(a, b, Close::default())?]);
    let same = |a: &Array, _: &Array| Ok(vec![array_equal(a, a, false)?]);
    vec![
        Entry { name: "divmod", doc: "The quotient rounded down, and what it leaves.", cases: cases(both, REAL) },
        Entry { name: "isclose", doc: "Whether numbers nearly agree.", cases: cases(close, &Dtype::ALL) },
        Entry { name: "allclose", doc: "Whether all numbers nearly agree.", cases: cases(all_close, &Dtype::ALL) },
        Entry { name: "array_equal", doc: "Whether two arrays are equal.", cases: cases(same, &Dtype::ALL) },
    ]
}

/// Expected values from the wheel.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divmod_gives_the_quotient_and_the_rest() {
        let a = Array::from_slice(&[7i16, -7, 7], &[3]).expect("three");
        let b = Array::from_slice(&[3i16, 3, -3], &[3]).expect("three");
        let (quotient, rest) = divmod(&a, &b).expect("integers divide");
        assert_eq!(quotient.to_vec::<i16>().expect("ints"), [2, -3, -3]);
        assert_eq!(rest.to_vec::<i16>().expect("ints"), [1, 2, -2]);
    }

    #[test]
    fn infinities_are_close_to_themselves_and_nan_where_asked() {
        let [inf, nan] = [f32::INFINITY, f32::NAN];
        let a = Array::from_slice(&[inf, -inf, nan, 1.0, inf, 1.0], &[6]).expect("six");
        let b = Array::from_slice(&[inf, inf, nan, 1.0 + 1e-6, 1.0, 1.1], &[6]).expect("six");
        let close = |how| isclose(&a, &b, how).expect("they compare").to_bools().expect("bools");
        assert_eq!(close(Close::default()), [true, false, false, true, false, false]);
        assert_eq!(close(Close { equal_nan: true, ..Close::default() }), [true, false, true, true, false, false]);
    }

    #[test]
    fn arrays_are_equal_whatever_their_types_are_but_not_their_shapes() {
        let ints = Array::from_slice(&[1, 2], &[2]).expect("two");
        let floats = Array::from_slice(&[1f32, 2.0], &[2]).expect("two");
        let longer = Array::from_slice(&[1, 2, 3], &[3]).expect("three");
        let nan = Array::scalar(f32::NAN);
        let same = |a, b, equal_nan| array_equal(a, b, equal_nan).expect("they compare").to_bools().expect("bools");
        assert_eq!(same(&ints, &floats, false), [true]);
        assert_eq!(same(&ints, &longer, false), [false]);
        assert_eq!(same(&nan, &nan, false), [false]);
        assert_eq!(same(&nan, &nan, true), [true]);
        let close = allclose(&ints, 1, Close::default()).expect("they compare");
        assert_eq!(close.to_bools().expect("bools"), [false]);
    }
}
