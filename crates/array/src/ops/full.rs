//! Arrays of one value: `full`, `zeros`, `ones` and their `_like`. They take no memory until somebody needs it.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::views::case_of;
use crate::scalar::Operand;
use crate::typed_bits::bits;

/// An array of one value, or of the values of an array that broadcasts to the shape.
pub fn full(shape: &[i32], value: impl Operand, dtype: Option<Dtype>) -> Result<Array> {
    refuse_negative("full", shape)?;
    let value = value.operand().to_array("full", dtype)?;
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

/// An array of one value in an array's shape, and in its type if no other is given.
pub fn full_like(x: &Array, value: impl Operand, dtype: Option<Dtype>) -> Result<Array> {
    full(x.shape(), value, Some(dtype.unwrap_or(x.dtype())))
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
    let case = |name: &str, shape: &'static [i32]| Case {
        name: name.into(),
        inputs: vec![Sample::new(&[])],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![full(shape, &x[0], None)?])),
        differentiable: true,
    };
    let like = |name: &'static str, call: fn(&Array) -> Result<Array>| Entry {
        name,
        doc: "An array of one value in another's shape and type.",
        cases: [&[2, 3][..], &[], &[0, 2]]
            .map(|shape| Case { differentiable: false, ..case_of("values", shape, call) })
            .into(),
    };
    vec![
        Entry {
            name: "full",
            doc: "An array of one value.",
            cases: vec![case("values", &[2, 3]), case("scalar", &[]), case("empty", &[2, 0])],
        },
        like("full_like", |x| full_like(x, 1, None)),
        like("zeros_like", zeros_like),
        like("ones_like", ones_like),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_its_own_type_or_the_given_one() {
        // mx.full of mlx 0.32.4
        let dtype = |value: &dyn Fn() -> Result<Array>| value().expect("it is made").dtype();
        assert_eq!(dtype(&|| full(&[2], 3, None)), Dtype::I32);
        assert_eq!(dtype(&|| full(&[2], 3.5, None)), Dtype::F32);
        assert_eq!(dtype(&|| full(&[2], true, None)), Dtype::Bool);
        assert_eq!(dtype(&|| full(&[2], 1i64 << 40, None)), Dtype::I64);
        let x = Array::from_slice(&[1, 2], &[2]).expect("two");
        assert_eq!(full_like(&x, 2.5, None).and_then(|y| y.to_vec::<i32>()).expect("ints"), [2, 2]);
        assert_eq!(full(&[2, 2], &x, None).and_then(|y| y.to_vec::<i32>()).expect("ints"), [1, 2, 1, 2]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(matches!(full(&[-2], 1, None), Err(Error::Value(_))));
        assert!(matches!(zeros(&[-1], Dtype::F32), Err(Error::Value(_))));
        assert!(matches!(full(&[2], 300, Some(Dtype::I8)), Err(Error::Value(_))));
    }
}
