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
