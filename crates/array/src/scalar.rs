//! Plain numbers beside arrays: they take the array's type where they can, as Python's do in MLX.

use crate::array::Array;
use crate::dtype::{Complex64, Dtype};
use crate::error::{Error, Result};
use crate::typed_bits::bits;

/// What an op takes as an operand: an array, or a number that becomes one of the other operand's type.
pub trait Operand {
    /// The array, or the number.
    fn operand(&self) -> Weak<'_>;
}

/// An array, or a number without a type of its own.
#[derive(Clone, Copy, Debug)]
pub enum Weak<'a> {
    /// An array.
    Array(&'a Array),
    /// A bool.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A complex number.
    Complex(Complex64),
}

impl Weak<'_> {
    /// The type it has beside an operand of another, or alone.
    pub fn dtype_beside(&self, other: Option<Dtype>) -> Dtype {
        match (self, other) {
            (Weak::Array(a), _) => a.dtype(),
            (Weak::Bool(_), _) => Dtype::Bool,
            (Weak::Int(_), Some(Dtype::Bool)) => Dtype::I32,
            (Weak::Int(_), Some(dtype)) => dtype,
            (Weak::Int(n), None) => {
                if i32::try_from(*n).is_ok() {
                    Dtype::I32
                } else {
                    Dtype::I64
                }
            }
            (Weak::Float(_), Some(dtype)) if dtype.is_inexact() => dtype,
            (Weak::Float(_), _) => Dtype::F32,
            (Weak::Complex(_), _) => Dtype::C64,
        }
    }

    /// The array, or an array of no axes with the number.
    pub fn to_array(&self, op: &str, beside: Option<Dtype>) -> Result<Array> {
        let dtype = self.dtype_beside(beside);
        match *self {
            Weak::Array(a) => Ok(a.clone()),
            Weak::Bool(b) => Ok(Array::from_bits(b as u64, Dtype::Bool)),
            Weak::Int(n) if dtype.is_integer() => match fits(n, dtype) {
                true => Ok(Array::from_bits(n as u64, dtype)),
                false => Err(Error::Value(format!("[{op}] Converting {n} to {dtype} would result in overflow."))),
            },
            Weak::Int(n) => Ok(Array::from_bits(bits(n as f64, dtype), dtype)),
            Weak::Float(x) => Ok(Array::from_bits(bits(x, dtype), dtype)),
            Weak::Complex(z) => Ok(Array::scalar(z)),
        }
    }
}

fn fits(n: i64, dtype: Dtype) -> bool {
    let width = 8 * dtype.size() as u32;
    if width == 64 {
        return true;
    }
    match dtype.is_signed() {
        true => (-(1i64 << (width - 1))..1i64 << (width - 1)).contains(&n),
        false => (0..1i64 << width).contains(&n),
    }
}

/// Two operands as arrays, each number taking the type of the other operand.
pub(crate) fn pair(op: &str, a: &dyn Operand, b: &dyn Operand) -> Result<(Array, Array)> {
    let (a, b) = (a.operand(), b.operand());
    let beside = |other: &Weak<'_>| match other {
        Weak::Array(array) => Some(array.dtype()),
        _ => None,
    };
    Ok((a.to_array(op, beside(&b))?, b.to_array(op, beside(&a))?))
}

impl Operand for Array {
    fn operand(&self) -> Weak<'_> {
        Weak::Array(self)
    }
}

impl<T: Operand + ?Sized> Operand for &T {
    fn operand(&self) -> Weak<'_> {
        (*self).operand()
    }
}

macro_rules! numbers {
    ($($rust:ty => $variant:ident),* $(,)?) => {$(
        impl Operand for $rust {
            fn operand(&self) -> Weak<'_> {
                Weak::$variant((*self).into())
            }
        }
    )*};
}
numbers!(bool => Bool, i32 => Int, i64 => Int, f32 => Float, f64 => Float, Complex64 => Complex);

/// What the wheel's `+` gives for Python's numbers.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::astype::astype;
    use crate::ops::binary::add;

    fn one(dtype: Dtype) -> Array {
        astype(&Array::from_slice(&[1f32], &[1]).expect("one"), dtype).expect("it converts")
    }

    #[test]
    fn numbers_take_the_type_of_the_array_beside_them() {
        use Dtype::{BF16, Bool, C64, F16, F32, F64, I8, I32, I64, U8, U64};
        let (int, float): (&dyn Operand, &dyn Operand) = (&1, &1.5);
        let complex: &dyn Operand = &Complex64 { re: 0.0, im: 1.0 };
        let expected = [
            (Bool, [I32, F32, C64]),
            (U8, [U8, F32, C64]),
            (I8, [I8, F32, C64]),
            (I64, [I64, F32, C64]),
            (F16, [F16, F16, C64]),
            (BF16, [BF16, BF16, C64]),
            (F64, [F64, F64, C64]),
            (C64, [C64, C64, C64]),
        ];
        crate::with_stream(crate::default_stream(crate::Device::CPU).expect("there is a CPU"), || {
            for (dtype, given) in expected {
                let found = [int, float, complex].map(|number| add(one(dtype), number).expect("they add").dtype());
                assert_eq!(found, given, "beside {dtype}");
            }
            assert_eq!(add(one(Bool), true).expect("they add").dtype(), Bool);
            assert_eq!(add(one(U64), -1).expect("it wraps").dtype(), U64);
        });
    }

    #[test]
    fn numbers_alone_are_int32_int64_or_float32() {
        assert_eq!(add(1, 2).expect("they add").dtype(), Dtype::I32);
        assert_eq!(add(1i64 << 40, 2).expect("they add").dtype(), Dtype::I64);
        assert_eq!(add(1, 2.0).expect("they add").dtype(), Dtype::F32);
        assert_eq!(add(true, 2).expect("they add").dtype(), Dtype::I32);
    }

    #[test]
    fn whole_numbers_must_fit_the_type_they_take() {
        let error = add(one(Dtype::I8), 300).expect_err("300 is too large");
        assert_eq!(error.to_string(), "[add] Converting 300 to int8 would result in overflow.");
        assert!(matches!(add(one(Dtype::U8), -1), Err(Error::Value(_))));
    }
}
