//! The complex square root.

use super::Complex;
use crate::math::bits::{scale, with_sign};

impl<'k> Complex<'k> {
    /// Square root, with a real part that is not negative.
    pub fn sqrt(self) -> Complex<'k> {
        // An even power of two is taken out, so that the magnitude neither overflows nor loses bits.
        let (z, n) = self.normalised();
        let odd = n & 1;
        let factor = odd.ne(0).select(2.0, z.re.builder().f32(1.0));
        let z = Complex { re: z.re * factor, im: z.im * factor };
        let half = (n - odd) >> 1;
        let t = ((z.abs() + z.re.abs()) * 0.5).sqrt();
        let other = z.im.abs() * 0.5 / t;
        let positive = self.re.ge(0.0);
        let (re, im) = (positive.select(t, other), positive.select(other, t));
        let (re, im) = (scale(re, half), with_sign(scale(im, half), self.im));
        self.sqrt_special(Complex { re, im })
    }

    /// What the root of zeros and infinities is.
    fn sqrt_special(self, root: Complex<'k>) -> Complex<'k> {
        let infinity = f32::INFINITY;
        let zero = self.re.eq(0.0) & self.im.eq(0.0);
        let tall = self.im.is_inf();
        let (right, left) = (self.re.eq(infinity), self.re.eq(-infinity));
        let k = self.re.builder();
        let re = left.select(self.im * 0.0, right.select(infinity, root.re));
        let im = right.select(self.im * 0.0, left.select(with_sign(k.f32(infinity), self.im), root.im));
        Complex { re: zero.select(0.0, tall.select(infinity, re.abs())), im: (zero | tall).select(self.im, im) }
    }

    /// 1 / sqrt(z).
    pub fn rsqrt(self) -> Complex<'k> {
        self.sqrt().reciprocal()
    }
}
