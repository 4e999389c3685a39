//! A scalar of an array's type inside a kernel: the value in its compute type, and the type it counts as.
//!
//! Arithmetic on it wraps and rounds as the type does, after every step. That is why a fused kernel gives the bits of its parts:
//! a bf16 sum is rounded to bf16 whether it is stored or used at once.

mod arithmetic;
mod compare;
mod functions;
mod integer;

use pumice_kernel::math::complex::Complex;
use pumice_kernel::{Builder, Scalar, Type, Val};

use crate::dtype::Dtype;

/// A scalar of a type.
#[derive(Clone, Copy)]
pub struct Typed<'k> {
    /// The value, in the type's compute type; complex numbers are vectors of two f32.
    pub val: Val<'k>,
    /// What it counts as.
    pub dtype: Dtype,
}

impl<'k> Typed<'k> {
    /// A value that is already one of the type's.
    pub fn new(val: Val<'k>, dtype: Dtype) -> Typed<'k> {
        Typed { val, dtype }
    }

    /// A value wrapped or rounded to the type.
    pub fn rounded(val: Val<'k>, dtype: Dtype) -> Typed<'k> {
        let narrow = dtype.size() < 4 && dtype != Dtype::Bool;
        Typed { val: if narrow { val.narrow(dtype.elem()) } else { val }, dtype }
    }

    /// A complex number.
    pub fn complex_of(value: Complex<'k>) -> Typed<'k> {
        Typed { val: value.vector(), dtype: Dtype::C64 }
    }

    /// The kernel being written.
    pub fn builder(self) -> &'k Builder {
        self.val.builder()
    }

    /// The complex number; of a complex type only.
    pub fn complex(self) -> Complex<'k> {
        Complex::of(self.val)
    }

    /// A number of this one's type; integers are wrapped to it.
    pub fn like(self, value: f64) -> Typed<'k> {
        constant(self.builder(), self.dtype, value)
    }

    /// The value as another type, as MLX's `astype` does it.
    pub fn to(self, dtype: Dtype) -> Typed<'k> {
        if dtype == self.dtype {
            return self;
        }
        match (self.dtype, dtype) {
            (_, Dtype::Bool) => Typed::new(self.is_nonzero(), Dtype::Bool),
            (Dtype::C64, _) => Typed::new(self.complex().re, Dtype::F32).to(dtype),
            (_, Dtype::C64) => Typed::complex_of(Complex::real(self.to(Dtype::F32).val)),
            _ => Typed::rounded(self.converted(dtype), dtype),
        }
    }

    /// The value in the compute type of another real type, not yet wrapped or rounded to it.
    fn converted(self, dtype: Dtype) -> Val<'k> {
        let to = compute(dtype);
        let to_unsigned = dtype.is_unsigned() && self.dtype.is_floating();
        match self.dtype {
            from if to == compute(from) => self.val,
            // A negative float becomes the bits of the signed number, as processors have it.
            _ if to_unsigned && dtype.size() < 4 => self.val.to(to),
            _ if to_unsigned => self.val.lt(self.like(0.0).val).select(self.val.to(to), self.val.to_u(to)),
            from if from.is_unsigned() => self.val.to_u(to),
            _ => self.val.to(to),
        }
    }

    /// Whether it differs from zero; a bool.
    pub fn is_nonzero(self) -> Val<'k> {
        match self.dtype {
            Dtype::Bool => self.val,
            Dtype::C64 => {
                let z = self.complex();
                z.re.ne(0.0) | z.im.ne(0.0)
            }
            _ => self.val.ne(self.like(0.0).val),
        }
    }
}

/// The compute type of a real type.
pub fn compute(dtype: Dtype) -> Scalar {
    dtype.elem().compute().scalar().expect("elements are scalars or vectors")
}

/// A constant of a type.
pub fn constant(k: &Builder, dtype: Dtype, value: f64) -> Typed<'_> {
    let val = match dtype {
        Dtype::C64 => Complex::real(k.f32(value as f32)).vector(),
        Dtype::Bool => k.bool(value != 0.0),
        _ => match compute(dtype) {
            Scalar::F32 => k.f32(value as f32),
            Scalar::F64 => k.f64(value),
            Scalar::I32 => k.constant(Type::I32, value as i64 as u32 as u64),
            _ => k.i64(value as i64),
        },
    };
    Typed::rounded(val, dtype)
}
