//! Complex numbers: two F32 values that are computed with as one.
//!
//! Stored as `Elem::C64`, loaded as F32 x 2, taken apart by [`Complex::of`]. Errors count against the magnitude of the whole
//! result, of which they are a few units in the last place; `pow` adds those of its exponent. Infinities and NaN follow C99's
//! Annex G where that takes no extra case, else they may come out as NaN.

mod inverse;
mod root;
mod trigonometric;

use std::ops;

use super::bits::{bits, float, scale};
use super::exponential::{exp_scaled, expm1};
use super::logarithm::{log, log_of_sum};
use super::trigonometric::sin_cos;
use crate::build::{Val, here};
use crate::types::{Scalar, Type};

/// A complex number of a kernel being written: copy it freely.
#[derive(Clone, Copy, Debug)]
pub struct Complex<'k> {
    /// Real part, F32.
    pub re: Val<'k>,
    /// Imaginary part, F32.
    pub im: Val<'k>,
}

impl<'k> Complex<'k> {
    /// From its parts.
    pub fn new(re: Val<'k>, im: Val<'k>) -> Complex<'k> {
        Complex { re, im }
    }

    /// From a vector F32 x 2, as a buffer of C64 gives it.
    #[track_caller]
    pub fn of(vector: Val<'k>) -> Complex<'k> {
        let ty = vector.ty();
        if ty != Type::Vector(Scalar::F32, 2) {
            vector.builder().note_mistake(here(), format!("a complex number must be f32x2 but is {ty}."));
            return Complex::real(vector.builder().f32(0.0));
        }
        Complex { re: vector.lane(0), im: vector.lane(1) }
    }

    /// A real number as a complex one.
    pub fn real(re: Val<'k>) -> Complex<'k> {
        Complex { re, im: re.builder().f32(0.0) }
    }

    /// As a vector F32 x 2, as a buffer of C64 takes it.
    pub fn vector(self) -> Val<'k> {
        self.re.builder().vector(&[self.re, self.im])
    }

    /// Both parts times a real number.
    pub fn scaled(self, factor: f32) -> Complex<'k> {
        Complex { re: self.re * factor, im: self.im * factor }
    }

    /// The number mirrored at the real axis.
    pub fn conjugate(self) -> Complex<'k> {
        Complex { re: self.re, im: -self.im }
    }

    /// i times the number.
    pub(super) fn times_i(self) -> Complex<'k> {
        Complex { re: -self.im, im: self.re }
    }

    /// The number divided by i.
    pub(super) fn over_i(self) -> Complex<'k> {
        Complex { re: self.im, im: -self.re }
    }

    /// Magnitude.
    pub fn abs(self) -> Val<'k> {
        self.re.hypot(self.im)
    }

    /// Angle, between -π and π.
    pub fn arg(self) -> Val<'k> {
        self.im.atan2(self.re)
    }

    /// The number over its magnitude; zero of zero.
    pub fn sign(self) -> Complex<'k> {
        let zero = self.re.eq(0.0) & self.im.eq(0.0);
        // Scaled first, so that neither the magnitude nor a quotient leaves the range.
        let (z, _) = self.normalised();
        let magnitude = z.abs();
        Complex { re: zero.select(self.re, z.re / magnitude), im: zero.select(self.im, z.im / magnitude) }
    }

    /// z².
    pub fn square(self) -> Complex<'k> {
        Complex { re: (self.re - self.im) * (self.re + self.im), im: self.re * (self.im + self.im) }
    }

    /// 1 / z.
    pub fn reciprocal(self) -> Complex<'k> {
        Complex::real(self.re.builder().f32(1.0)) / self
    }

    /// e^z.
    pub fn exp(self) -> Complex<'k> {
        let (m, n) = exp_scaled(self.re);
        let (sin, cos) = sin_cos(self.im);
        let (re, im) = (scale(cos * m, n), scale(sin * m, n));
        // A real argument gives a real result, infinite or not; e^-inf is zero at any angle.
        let (vanishes, real) = (self.re.eq(f32::NEG_INFINITY), self.im.eq(0.0));
        Complex { re: vanishes.select(0.0, re), im: (vanishes | real).select(vanishes.select(0.0, self.im), im) }
    }

    /// e^z - 1, without cancellation near 0.
    pub fn expm1(self) -> Complex<'k> {
        let half = (self.im * 0.5).sin();
        let e = self.exp();
        let cos = (half * half).fma(-2.0, 1.0);
        let near = expm1(self.re).fma(cos, half * half * -2.0);
        Complex { re: self.re.abs().lt(1.0).select(near, e.re - 1.0), im: e.im }
    }

    /// Natural logarithm; its imaginary part is between -π and π.
    pub fn log(self) -> Complex<'k> {
        let (a, b) = (self.re.abs(), self.im.abs());
        let (high, low) = (a.max(b), a.min(b));
        // Near the unit circle log(|z|²) / 2 with |z|² - 1 = (high - 1) (high + 1) + low².
        let t = (high - 1.0).fma(high + 1.0, low * low);
        let near = log_of_sum(t, t.builder().f32(0.0)) * 0.5;
        let (z, n) = self.normalised();
        let far = n.to(Scalar::F32).fma(super::exponential::LN_2, log(z.abs()));
        let far = high.eq(f32::INFINITY).select(high, far);
        let re = (high.gt(0.5) & high.lt(1.5)).select(near, far);
        Complex { re, im: self.arg() }
    }

    /// Logarithm to base 2.
    pub fn log2(self) -> Complex<'k> {
        self.log().scaled(std::f32::consts::LOG2_E)
    }

    /// Logarithm to base 10.
    pub fn log10(self) -> Complex<'k> {
        self.log().scaled(std::f32::consts::LOG10_E)
    }

    /// log(1 + z), without cancellation near 0.
    pub fn log1p(self) -> Complex<'k> {
        let next = Complex { re: self.re + 1.0, im: self.im };
        let t = (self.re + 2.0).fma(self.re, self.im * self.im);
        let near = log_of_sum(t, t.builder().f32(0.0)) * 0.5;
        let small = self.re.abs().lt(0.5) & self.im.abs().lt(1.0);
        Complex { re: small.select(near, next.log().re), im: self.im.atan2(next.re) }
    }

    /// z^w as e^(w log z); 0^w is 0, and z^0 is 1.
    pub fn pow(self, exponent: Complex<'k>) -> Complex<'k> {
        let zero = self.re.eq(0.0) & self.im.eq(0.0);
        let one = exponent.re.eq(0.0) & exponent.im.eq(0.0);
        let power = (exponent * self.log()).exp();
        let re = zero.select(0.0, power.re);
        let im = zero.select(0.0, power.im);
        Complex { re: one.select(1.0, re), im: one.select(0.0, im) }
    }

    /// The number times a power of two that brings its larger part between 1 and 2, and the exponent taken out (I32);
    /// denormals stay below 1.
    pub(super) fn normalised(self) -> (Complex<'k>, Val<'k>) {
        let field = (bits(self.re.abs()) >> 23).max(bits(self.im.abs()) >> 23).max(1);
        // Twice, since 2^-127 and 2^-128 are no normal numbers.
        let n = field - 127;
        let half = n >> 1;
        let (down, rest) = (float((127 - half) << 23), float((127 - (n - half)) << 23));
        (Complex { re: self.re * down * rest, im: self.im * down * rest }, n)
    }
}

impl<'k> ops::Add for Complex<'k> {
    type Output = Complex<'k>;
    fn add(self, other: Complex<'k>) -> Complex<'k> {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<'k> ops::Sub for Complex<'k> {
    type Output = Complex<'k>;
    fn sub(self, other: Complex<'k>) -> Complex<'k> {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

impl<'k> ops::Neg for Complex<'k> {
    type Output = Complex<'k>;
    fn neg(self) -> Complex<'k> {
        Complex { re: -self.re, im: -self.im }
    }
}

impl<'k> ops::Mul for Complex<'k> {
    type Output = Complex<'k>;
    fn mul(self, other: Complex<'k>) -> Complex<'k> {
        Complex { re: self.re.fma(other.re, -(self.im * other.im)), im: self.re.fma(other.im, self.im * other.re) }
    }
}

impl<'k> ops::Div for Complex<'k> {
    type Output = Complex<'k>;
    /// Both numbers are scaled to about 1, so nothing overflows on the way. A finite number over infinity is zero.
    fn div(self, other: Complex<'k>) -> Complex<'k> {
        let ((a, n), (b, m)) = (self.normalised(), other.normalised());
        let square = b.re.fma(b.re, b.im * b.im);
        let product = a * b.conjugate();
        let exponent = n - m;
        let (re, im) = (scale(product.re / square, exponent), scale(product.im / square, exponent));
        let infinite = other.re.is_inf() | other.im.is_inf();
        let vanishes = infinite & self.re.is_finite() & self.im.is_finite();
        Complex { re: vanishes.select(0.0, re), im: vanishes.select(0.0, im) }
    }
}
