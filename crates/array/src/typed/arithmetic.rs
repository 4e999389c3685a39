//! Arithmetic of typed scalars: computed in the compute type, then wrapped or rounded to the type.

use std::ops::{Add, Mul, Neg, Sub};

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
}

/// Of bools, whether one is true: MLX adds them so.
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
impl<'k> Mul for Typed<'k> {
    type Output = Typed<'k>;

    fn mul(self, other: Typed<'k>) -> Typed<'k> {
        match self.dtype {
            Dtype::Bool => Typed::new(self.val & other.val, Dtype::Bool),
            _ => self.combine(other, |a, b| a * b, |a, b| a * b),
        }
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
