//! Whole quotients, remainders, powers and shifts of typed scalars.

use pumice_kernel::Val;
use pumice_kernel::math::complex::Complex;

use super::Typed;
use crate::dtype::Dtype;

impl<'k> Typed<'k> {
    /// The quotient rounded down; of integers by zero 0, of complex numbers the quotient itself.
    pub fn floor_divide(self, other: Typed<'k>) -> Typed<'k> {
        match self.dtype {
            Dtype::Bool => Typed::truth(self.val & other.val),
            Dtype::C64 => self / other,
            dtype if dtype.is_floating() => Typed::new((self / other).val.floor(), dtype),
            dtype if dtype.is_unsigned() => Typed::new(self.val.div_u(other.val), dtype),
            dtype => {
                let (quotient, remainder) = (self.val / other.val, self.val % other.val);
                Typed::rounded(signs_differ(remainder, other.val).select(quotient - 1, quotient), dtype)
            }
        }
    }

    /// What floor division leaves, with the sign of the divisor; of integers by zero the dividend.
    pub fn remainder(self, other: Typed<'k>) -> Typed<'k> {
        match self.dtype {
            Dtype::Bool => Typed::truth(self.val & !other.val),
            dtype if dtype.is_floating() => Typed::rounded(self.val.remainder(other.val), dtype),
            dtype if dtype.is_unsigned() => Typed::new(self.val.rem_u(other.val), dtype),
            dtype => {
                let remainder = self.val % other.val;
                let moved = signs_differ(remainder, other.val).select(remainder + other.val, remainder);
                Typed::rounded(moved, dtype)
            }
        }
    }

    /// The power; of integers it wraps, and is 0 for negative exponents.
    pub fn power(self, exponent: Typed<'k>) -> Typed<'k> {
        match self.dtype {
            Dtype::Bool => Typed::truth(self.val | !exponent.val),
            dtype if dtype.is_inexact() => self.combine(exponent, |a, b| a.pow(b), complex_power),
            dtype => Typed::rounded(self.integer_power(exponent.val), dtype),
        }
    }

    /// By squaring: a bit of the exponent a turn.
    fn integer_power(self, exponent: Val<'k>) -> Val<'k> {
        let one = self.like(1.0).val;
        let (power, ..) = self.builder().while_(
            (one, self.val, exponent),
            |(_, _, rest)| rest.gt_u(0),
            |(power, base, rest)| {
                let odd = (rest & 1).ne(0);
                (odd.select(power * base, power), base * base, rest.shr_u(1))
            },
        );
        match self.dtype.is_signed() {
            true => exponent.lt(0).select(self.like(0.0).val, power),
            false => power,
        }
    }

    /// The bits moved up; by their distance modulo 32, or 64 for types of 64 bits.
    pub fn left_shift(self, distance: Typed<'k>) -> Typed<'k> {
        Typed::rounded(self.val << distance.val, self.dtype)
    }

    /// The bits moved down, signed ones keeping their sign; by their distance modulo 32, or 64 for types of 64 bits.
    pub fn right_shift(self, distance: Typed<'k>) -> Typed<'k> {
        let moved = match self.dtype.is_unsigned() {
            true => self.val.shr_u(distance.val),
            false => self.val >> distance.val,
        };
        Typed::rounded(moved, self.dtype)
    }

    /// Every bit turned; a bool's one.
    pub fn invert(self) -> Typed<'k> {
        Typed::rounded(!self.val, self.dtype)
    }

    /// Applies an operation on bits.
    pub fn bitwise(self, other: Typed<'k>, op: impl FnOnce(Val<'k>, Val<'k>) -> Val<'k>) -> Typed<'k> {
        Typed::new(op(self.val, other.val), self.dtype)
    }
}

/// Zero has no power with an exponent to the left of the imaginary axis, or on it but for 0.
fn complex_power<'k>(base: Complex<'k>, exponent: Complex<'k>) -> Complex<'k> {
    let undefined =
        base.re.eq(0.0) & base.im.eq(0.0) & exponent.re.le(0.0) & (exponent.re.ne(0.0) | exponent.im.ne(0.0));
    let power = base.pow(exponent);
    Complex { re: undefined.select(f32::NAN, power.re), im: undefined.select(f32::NAN, power.im) }
}

/// Whether a remainder towards zero is not one towards negative infinity.
fn signs_differ<'k>(remainder: Val<'k>, divisor: Val<'k>) -> Val<'k> {
    remainder.ne(0) & (remainder ^ divisor).lt(0)
}
