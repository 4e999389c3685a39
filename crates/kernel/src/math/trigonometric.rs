//! sin, cos, tan: a polynomial each on `|r| <= π/4`, after the reduction that serves every float.

use super::bits::negate_if_odd;
use super::polynomial::{negated_reciprocal_of_normal, polynomial};
use super::reduction::{Angle, reduce};
use crate::build::Val;

/// `(sin r - r) / r³` in `r²` for `|r| <= 0.8`; relative error 2^-27.7.
const SIN: [f32; 3] = [-0.166_666_54, 0.008_332_095, -0.000_195_055_4];
/// `(cos r - 1 + r²/2) / r⁴` in `r²` for `|r| <= 0.8`; relative error 2^-32.6.
const COS: [f32; 3] = [0.041_666_64, -0.001_388_713, 0.000_024_412_086];
/// `(tan r - r) / r³` in `r²` for `|r| <= 0.79`; relative error 2^-29.3.
const TAN: [f32; 7] =
    [0.333_333_52, 0.133_325_68, 0.054_071_475, 0.021_219_596, 0.011_004_083, -0.000_130_203_61, 0.004_487_416_2];

/// Below this sin x and tan x round to x; the sign of zero stays.
const IDENTITY: f32 = 0.000_244;

pub(super) fn sin(x: Val<'_>) -> Val<'_> {
    let y = sin_of(&reduce(x));
    x.abs().lt(IDENTITY).select(x, y)
}

pub(super) fn cos(x: Val<'_>) -> Val<'_> {
    let angle = reduce(x);
    sin_of(&Angle { quadrant: angle.quadrant + 1, ..angle })
}

/// sin x and cos x from one reduction.
pub(super) fn sin_cos<'k>(x: Val<'k>) -> (Val<'k>, Val<'k>) {
    let angle = reduce(x);
    let (sin, cos) = kernels(&angle);
    let odd = (angle.quadrant & 1).ne(0);
    let s = negate_if_odd(odd.select(cos, sin), angle.quadrant.shr_u(1));
    let c = negate_if_odd(odd.select(sin, cos), (angle.quadrant + 1).shr_u(1));
    (x.abs().lt(IDENTITY).select(x, s), c)
}

fn sin_of<'k>(angle: &Angle<'k>) -> Val<'k> {
    let (sin, cos) = kernels(angle);
    let y = (angle.quadrant & 1).ne(0).select(cos, sin);
    negate_if_odd(y, angle.quadrant.shr_u(1))
}

/// sin and cos of the remainder.
fn kernels<'k>(angle: &Angle<'k>) -> (Val<'k>, Val<'k>) {
    let (r, rest) = (angle.r, angle.rest);
    let s = r * r;
    let sin = r + polynomial(s, &SIN).fma(s * r, rest);
    let cos = s.fma(polynomial(s, &COS).fma(s, -0.5), -(r * rest)) + 1.0;
    (sin, cos)
}

pub(super) fn tan(x: Val<'_>) -> Val<'_> {
    let Angle { quadrant, r, rest } = reduce(x);
    let s = r * r;
    let small = polynomial(s, &TAN).fma(s * r, rest.fma(s, rest));
    let t = r + small;
    let t_rest = small - (t - r);
    // -1 / (t + t_rest) by one more Newton step, which takes the rest in.
    let y = negated_reciprocal_of_normal(t);
    let miss = t_rest.fma(y, t.fma(y, 1.0));
    let cotangent = y.fma(miss, y);
    let result = (quadrant & 1).ne(0).select(cotangent, t);
    x.abs().lt(IDENTITY).select(x, result)
}
