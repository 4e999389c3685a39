//! Complex inverse functions, by Kahan's formulas ("Branch Cuts for Complex Elementary Functions"), which keep the signs of
//! zeros on the cuts.

use super::Complex;
use crate::math::hyperbolic::asinh;
use crate::math::inverse::{atan, atan2};
use crate::math::logarithm::log1p;

impl<'k> Complex<'k> {
    fn plus_one(self) -> Complex<'k> {
        Complex { re: self.re + 1.0, im: self.im }
    }

    fn one_minus(self) -> Complex<'k> {
        Complex { re: 1.0 - self.re, im: -self.im }
    }

    /// Arcsine.
    pub fn asin(self) -> Complex<'k> {
        let (below, above) = (self.one_minus().sqrt(), self.plus_one().sqrt());
        let product = below.re.fma(above.re, -(below.im * above.im));
        let cross = below.re.fma(above.im, -(below.im * above.re));
        Complex { re: atan2(self.re, product), im: asinh(cross) }
    }

    /// Arccosine.
    pub fn acos(self) -> Complex<'k> {
        let (below, above) = (self.one_minus().sqrt(), self.plus_one().sqrt());
        let cross = above.re.fma(below.im, -(above.im * below.re));
        Complex { re: atan2(below.re, above.re) * 2.0, im: asinh(cross) }
    }

    /// Inverse of sinh.
    pub fn asinh(self) -> Complex<'k> {
        self.times_i().asin().over_i()
    }

    /// Inverse of cosh, with a real part that is not negative.
    pub fn acosh(self) -> Complex<'k> {
        let less = Complex { re: self.re - 1.0, im: self.im }.sqrt();
        let above = self.plus_one().sqrt();
        let dot = less.re.fma(above.re, less.im * above.im);
        Complex { re: asinh(dot), im: atan2(less.im, above.re) * 2.0 }
    }

    /// Inverse of tanh: `log1p(4 re / ((1 - re)² + im²)) / 4` and half the angle of `(1 - re) (1 + re) - im² + 2 i im`.
    pub fn atanh(self) -> Complex<'k> {
        let (x, y) = (self.re.abs(), self.im);
        let distance = 1.0 - x;
        let square = distance.fma(distance, y * y);
        let re = log1p(x * 4.0 / square) * 0.25;
        let real = (x + 1.0).fma(distance, -(y * y));
        // Beyond the range of the squares the angle is π/2 away from 0.
        let angle = atan2(y + y, real) * 0.5;
        let far = square.ge(f32::INFINITY);
        let edge = atan(y * f32::INFINITY);
        let angle = far.select(y.eq(0.0).select(angle, edge), angle);
        Complex { re: crate::math::bits::with_sign(re, self.re), im: angle }
    }

    /// Arctangent.
    pub fn atan(self) -> Complex<'k> {
        self.times_i().atanh().over_i()
    }
}
