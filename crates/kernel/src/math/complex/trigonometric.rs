//! Complex sin, cos, tan, sinh, cosh, tanh, from one angle and one hyperbolic argument.

use super::Complex;
use crate::build::Val;
use crate::math::bits::{scale, with_sign};
use crate::math::exponential::{exp_normal, exp_scaled};
use crate::math::hyperbolic::{cosh, sinh};
use crate::math::trigonometric::{sin_cos, tan};

/// cosh and sinh of a number as `value · 2^n`: beyond 20 both are e^|x| / 2, and may be larger than any float.
fn cosh_sinh<'k>(x: Val<'k>) -> (Val<'k>, Val<'k>, Val<'k>) {
    let a = x.abs();
    let (m, n) = exp_scaled(a);
    let large = a.gt(20.0);
    let half = m * 0.5;
    let n = large.select(n, x.builder().i32(0));
    (large.select(half, cosh(x)), large.select(with_sign(half, x), sinh(x)), n)
}

impl<'k> Complex<'k> {
    /// Hyperbolic sine.
    pub fn sinh(self) -> Complex<'k> {
        let (cosh, sinh, n) = cosh_sinh(self.re);
        let (sin, cos) = sin_cos(self.im);
        Complex { re: scale(sinh * cos, n), im: self.im.eq(0.0).select(self.im, scale(cosh * sin, n)) }
    }

    /// Hyperbolic cosine.
    pub fn cosh(self) -> Complex<'k> {
        let (cosh, sinh, n) = cosh_sinh(self.re);
        let (sin, cos) = sin_cos(self.im);
        let real = self.im.eq(0.0) | self.re.eq(0.0);
        Complex { re: scale(cosh * cos, n), im: real.select(self.re * self.im, scale(sinh * sin, n)) }
    }

    /// Hyperbolic tangent, by Kahan's formula: with t = tan(im), s = sinh(re) it is
    /// `((1 + t²) s sqrt(1 + s²) + i t) / (1 + (1 + t²) s²)`.
    pub fn tanh(self) -> Complex<'k> {
        let a = self.re.abs();
        let large = a.gt(11.0);
        let t = tan(self.im);
        let s = sinh(large.select(11.0, a));
        let b = t.fma(t, 1.0);
        let denominator = (b * s).fma(s, 1.0);
        let re = b * s / denominator * s.fma(s, 1.0).sqrt();
        // Far out: 1 and 4 sin cos e^-2a.
        let (sin, cos) = sin_cos(self.im);
        let e = exp_normal((a + a).min(80.0) * -1.0);
        let far = sin * cos * e * 4.0;
        let finite = self.im.is_finite();
        Complex {
            re: with_sign(large.select(1.0, re), self.re),
            im: large.select(finite.select(far, 0.0), t / denominator),
        }
    }

    /// Sine.
    pub fn sin(self) -> Complex<'k> {
        self.times_i().sinh().over_i()
    }

    /// Cosine.
    pub fn cos(self) -> Complex<'k> {
        self.times_i().cosh()
    }

    /// Tangent.
    pub fn tan(self) -> Complex<'k> {
        self.times_i().tanh().over_i()
    }
}
