//! Arithmetic of typed scalars: computed in the compute type, then wrapped or rounded to the type.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pumice_kernel::Val;
use pumice_kernel::math::complex::Complex;

use super::Typed;
use crate::dtype::Dtype;

impl<'k> Typed<'k> {
    /// Applies a function of real numbers, or its complex counterpart, and rounds.
    pub fn combine(
        self,
        other: Typed<'k>,
        real: impl FnOnce(Val<'k>, Val<'k>) -> Val<'k>,
        complex: impl FnOnce(Complex<'k>, Complex<'k>) -> Complex<'k>,
    ) -> Typed<'k> {
        match self.dtype {
            Dtype::C64 => Typed::complex_of(complex(self.complex(), other.complex())),
            dtype => Typed::rounded(real(self.val, other.val), dtype),
        }
    }

    /// Applies a function of a real number, or its complex counterpart, and rounds.
    pub fn apply(
        self,
        real: impl FnOnce(Val<'k>) -> Val<'k>,
        complex: impl FnOnce(Complex<'k>) -> Complex<'k>,
    ) -> Typed<'k> {
        match self.dtype {
            Dtype::C64 => Typed::complex_of(complex(self.complex())),
            dtype => Typed::rounded(real(self.val), dtype),
        }
    }

    /// The distance from zero; of a complex number a float32.
    pub fn abs(self) -> Typed<'k> {
        match self.dtype {
            Dtype::C64 => Typed::new(self.complex().abs(), Dtype::F32),
            dtype if dtype.is_unsigned() || dtype == Dtype::Bool => self,
            dtype => Typed::rounded(self.val.abs(), dtype),
        }
    }

    /// -1, 0 or 1; 0 of NaN. Of a complex number the one of magnitude 1 in its direction.
    pub fn sign(self) -> Typed<'k> {
        let zero = self.like(0.0);
        match self.dtype {
            Dtype::Bool => self,
            Dtype::C64 => Typed::complex_of(self.complex().sign()),
            dtype if dtype.is_unsigned() => Typed::new(self.is_nonzero().select(self.like(1.0).val, zero.val), dtype),
            dtype => {
                let below = self.val.lt(zero.val).select(self.like(-1.0).val, zero.val);
                Typed::new(self.val.gt(zero.val).select(self.like(1.0).val, below), dtype)
            }
        }
    }

    /// The larger; NaN if either is. Of two that are equal the second.
    pub fn maximum(self, other: Typed<'k>) -> Typed<'k> {
        match self.dtype {
            Dtype::Bool => Typed::new(self.val | other.val, Dtype::Bool),
            Dtype::C64 => Typed::new((self.is_nan() | other.less(self)).select(self.val, other.val), Dtype::C64),
            dtype if dtype.is_unsigned() => Typed::new(self.val.max_u(other.val), dtype),
            dtype => Typed::new(self.val.max(other.val), dtype),
        }
    }

    /// The smaller; NaN if either is. Of two that are equal the second.
    pub fn minimum(self, other: Typed<'k>) -> Typed<'k> {
        match self.dtype {
            Dtype::Bool => Typed::new(self.val & other.val, Dtype::Bool),
            Dtype::C64 => Typed::new((self.is_nan() | self.less(other)).select(self.val, other.val), Dtype::C64),
            dtype if dtype.is_unsigned() => Typed::new(self.val.min_u(other.val), dtype),
            dtype => Typed::new(self.val.min(other.val), dtype),
        }
    }
}

/// Of bools, whether one is true: MLX adds them so.
#[allow(clippy::suspicious_arithmetic_impl)] // bools have no arithmetic of their own
impl<'k> Add for Typed<'k> {
    type Output = Typed<'k>;

    fn add(self, other: Typed<'k>) -> Typed<'k> {
        match self.dtype {
            Dtype::Bool => Typed::new(self.val | other.val, Dtype::Bool),
            _ => self.combine(other, |a, b| a + b, |a, b| a + b),
        }
    }
}

/// Of bools, whether they differ.
#[allow(clippy::suspicious_arithmetic_impl)] // bools have no arithmetic of their own
impl<'k> Sub for Typed<'k> {
    type Output = Typed<'k>;

    fn sub(self, other: Typed<'k>) -> Typed<'k> {
        match self.dtype {
            Dtype::Bool => Typed::new(self.val ^ other.val, Dtype::Bool),
            _ => self.combine(other, |a, b| a - b, |a, b| a - b),
        }
    }
}

/// Of bools, whether both are true.
#[allow(clippy::suspicious_arithmetic_impl)] // bools have no arithmetic of their own
impl<'k> Mul for Typed<'k> {
    type Output = Typed<'k>;

    fn mul(self, other: Typed<'k>) -> Typed<'k> {
        match self.dtype {
            Dtype::Bool => Typed::new(self.val & other.val, Dtype::Bool),
            _ => self.combine(other, |a, b| a * b, |a, b| a * b),
        }
    }
}

/// The quotient, of inexact types only.
impl<'k> Div for Typed<'k> {
    type Output = Typed<'k>;

    fn div(self, other: Typed<'k>) -> Typed<'k> {
        self.combine(other, |a, b| a / b, complex_quotient)
    }
}

/// Of a bool, itself.
impl<'k> Neg for Typed<'k> {
    type Output = Typed<'k>;

    fn neg(self) -> Typed<'k> {
        match self.dtype {
            Dtype::Bool => self,
            Dtype::C64 => Typed::complex_of(-self.complex()),
            dtype => Typed::rounded(-self.val, dtype),
        }
    }
}

/// By zero each part is divided on its own, so that what is not zero becomes infinite.
fn complex_quotient<'k>(a: Complex<'k>, b: Complex<'k>) -> Complex<'k> {
    let by_zero = b.re.eq(0.0) & b.im.eq(0.0);
    let quotient = a / b;
    Complex { re: by_zero.select(a.re / b.re, quotient.re), im: by_zero.select(a.im / b.re, quotient.im) }
}
