//! Comparisons of typed scalars, and what kind of number one is. They give kernel bools.

use pumice_kernel::Val;

use super::Typed;
use crate::dtype::Dtype;

impl<'k> Typed<'k> {
    /// A kernel bool as a scalar.
    pub fn truth(val: Val<'k>) -> Typed<'k> {
        Typed::new(val, Dtype::Bool)
    }

    /// Whether they are equal; NaN equals nothing.
    pub fn equal(self, other: Typed<'k>) -> Val<'k> {
        match self.dtype {
            Dtype::C64 => {
                let (a, b) = (self.complex(), other.complex());
                a.re.eq(b.re) & a.im.eq(b.im)
            }
            _ => self.val.eq(other.val),
        }
    }

    /// Whether it is less; complex numbers by their real parts, then by their imaginary parts.
    pub fn less(self, other: Typed<'k>) -> Val<'k> {
        match self.dtype {
            Dtype::Bool => !self.val & other.val,
            Dtype::C64 => {
                let (a, b) = (self.complex(), other.complex());
                a.re.lt(b.re) | a.re.eq(b.re) & a.im.lt(b.im)
            }
            dtype if dtype.is_unsigned() => self.val.lt_u(other.val),
            _ => self.val.lt(other.val),
        }
    }

    /// Whether it is less or equal; complex numbers by their real parts, then by their imaginary parts.
    pub fn less_equal(self, other: Typed<'k>) -> Val<'k> {
        match self.dtype {
            Dtype::Bool => !self.val | other.val,
            Dtype::C64 => {
                let (a, b) = (self.complex(), other.complex());
                a.re.lt(b.re) | a.re.eq(b.re) & a.im.le(b.im)
            }
            dtype if dtype.is_unsigned() => self.val.le_u(other.val),
            _ => self.val.le(other.val),
        }
    }

    /// Whether it, or a part of it, is NaN.
    pub fn is_nan(self) -> Val<'k> {
        match self.dtype {
            Dtype::C64 => {
                let z = self.complex();
                z.re.ne(z.re) | z.im.ne(z.im)
            }
            dtype if dtype.is_floating() => self.val.ne(self.val),
            _ => self.builder().bool(false),
        }
    }

    /// Whether it, or a part of it, is infinite.
    pub fn is_inf(self) -> Val<'k> {
        match self.dtype {
            Dtype::C64 => {
                let z = self.complex();
                z.re.is_inf() | z.im.is_inf()
            }
            dtype if dtype.is_floating() => self.val.abs().eq(self.like(f64::INFINITY).val),
            _ => self.builder().bool(false),
        }
    }

    /// Whether it is this number; never for integers and bools, which are asked for infinities only.
    pub fn is_infinity(self, infinity: f64) -> Val<'k> {
        match self.dtype.is_inexact() {
            true => self.equal(self.like(infinity)),
            false => self.builder().bool(false),
        }
    }
}
