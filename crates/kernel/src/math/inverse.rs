//! asin, acos, atan, atan2.

use super::bits::{SIGN, bits, float, with_sign};
use super::polynomial::polynomial;
use super::reduction::HALF_PI;
use crate::build::Val;

/// `(asin x - x) / x³` in `x²` for `|x| <= 1/2`; relative error 2^-27.6.
const ASIN: [f32; 5] = [0.166_667_52, 0.074_953_094, 0.045_469_15, 0.024_184_778, 0.042_158_306];
/// `(atan x - x) / x³` in `x²` for `|x| <= 1`; relative error 2^-28.5.
const ATAN: [f32; 9] = [
    -0.333_333,
    0.199_985_31,
    -0.142_640_52,
    0.109_511_75,
    -0.084_004_75,
    0.057_906_546,
    -0.031_127_002,
    0.010_887_361,
    -0.001_787_543,
];

const PI: f32 = std::f32::consts::PI;
const PI_REST: f32 = 2.0 * HALF_PI[1];

/// For `|x| <= 1/2` the number itself, else `sqrt((1 - |x|) / 2)`, whose arcsine is half of what is missing to π/2; the
/// second value is its arcsine less itself.
fn half_angle<'k>(magnitude: Val<'k>, large: Val<'k>) -> (Val<'k>, Val<'k>) {
    let z = magnitude.fma(-0.5, 0.5);
    let y = large.select(z.sqrt(), magnitude);
    let z = large.select(z, magnitude * magnitude);
    (y, polynomial(z, &ASIN) * (z * y))
}

pub(super) fn asin(x: Val<'_>) -> Val<'_> {
    let a = x.abs();
    let large = a.gt(0.5);
    let (y, small) = half_angle(a, large);
    let near_one = HALF_PI[0] - (y + small.fma(1.0, -0.5 * HALF_PI[1])) * 2.0;
    with_sign(large.select(near_one, y + small), x)
}

pub(super) fn acos(x: Val<'_>) -> Val<'_> {
    let a = x.abs();
    let large = a.gt(0.5);
    let (y, small) = half_angle(a, large);
    let negative = bits(x).lt(0);
    let small_signed = float(bits(small) ^ (bits(x) & SIGN));
    let y_signed = float(bits(y) ^ (bits(x) & SIGN));
    let middle = HALF_PI[0] - (y_signed + (small_signed - HALF_PI[1]));
    let twice = (y + small) * 2.0;
    let below = PI - (y + (small - 0.5 * PI_REST)) * 2.0;
    large.select(negative.select(below, twice), middle)
}

/// atan of a number between 0 and 1.
fn atan_unit(t: Val<'_>) -> Val<'_> {
    let z = t * t;
    // No fma at the end: it may take the smallest numbers for zeros.
    t + (t * z) * polynomial(z, &ATAN)
}

pub(super) fn atan(x: Val<'_>) -> Val<'_> {
    let a = x.abs();
    let large = a.gt(1.0);
    let y = atan_unit(large.select(1.0 / a, a));
    let y = large.select(HALF_PI[0] - (y - HALF_PI[1]), y);
    with_sign(y, x)
}

pub(super) fn atan2<'k>(y: Val<'k>, x: Val<'k>) -> Val<'k> {
    let (a, b) = (y.abs(), x.abs());
    let steep = a.gt(b);
    let (small, large) = (steep.select(b, a), steep.select(a, b));
    // Two zeros give 0, two infinities 1; a NaN stays.
    let t = large.eq(0.0).select(0.0, small / large);
    let t = small.eq(f32::INFINITY).select(1.0, t);
    let r = atan_unit(t);
    let r = steep.select(HALF_PI[0] - (r - HALF_PI[1]), r);
    let r = bits(x).lt(0).select(PI - (r - PI_REST), r);
    with_sign((a + b).ne(a + b).select(f32::NAN, r), y)
}
