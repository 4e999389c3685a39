//! sinh, cosh, tanh and their inverses.

use super::bits::{ROUNDER, bits, float, negated_with_sign, power_of_two, rounded_integer, with_sign};
use super::exponential::{LN_2, LN_2_REST};
use super::logarithm::log_of_sum;
use super::polynomial::{negated_part_of_successor, polynomial};
use crate::build::Val;

/// `(sinh r - r) / r³` in `r²` for `|r| <= 1`; relative error 2^-31.5.
const SINH: [f32; 4] = [0.166_666_67, 0.008_333_311, 0.000_198_425_75, 0.000_002_784_692];
/// `(cosh r - 1 - r²/2) / r⁴` in `r²` for `|r| <= 0.347`; relative error 2^-33.3.
const COSH: [f32; 2] = [0.041_666_46, 0.001_393_545_3];
/// `(e^r - 1 - r) / r²` for `|r| <= 0.3467`; error relative to `e^r - 1` 2^-26.1.
const TANH: [f32; 5] = [0.499_999_97, 0.166_665_46, 0.041_667_44, 0.008_366_256, 0.001_387_032_1];
/// `(asinh x - x) / x³` in `x²` for `|x| <= 1`; relative error 2^-28.1.
const ASINH: [f32; 8] = [
    -0.166_666_3,
    0.074_987_16,
    -0.044_487_88,
    0.029_456_288,
    -0.019_182_067,
    0.010_430_844,
    -0.003_838_439_5,
    0.000_673_985_3,
];
/// `(atanh x - x) / x³` in `x²` for `|x| <= 1/2`; relative error 2^-29.4.
const ATANH: [f32; 6] = [0.333_333_02, 0.200_024_53, 0.142_237_86, 0.118_163_86, 0.051_604_36, 0.176_378_5];

/// An odd function near zero: `x + x³ q(x²)`. A product comes last: an fma may take the smallest numbers for zeros.
fn odd<'k>(x: Val<'k>, q: &[f32]) -> Val<'k> {
    let z = x * x;
    x * polynomial(z, q).fma(z, 1.0)
}

/// `a = n ln 2 + r` for `a` from 0 to 90: sinh r, cosh r - 1, and a quarter of 2^n and 2^-n.
struct Halves<'k> {
    sinh_r: Val<'k>,
    cosh_r_less_1: Val<'k>,
    up: Val<'k>,
    down: Val<'k>,
}

/// With `n = 0` below `direct`.
fn halves(a: Val<'_>, direct: f32) -> Halves<'_> {
    // Beyond 90 all is infinite.
    let a = a.gt(89.6).select(89.6, a);
    let sum = a.fma(std::f32::consts::LOG2_E, ROUNDER);
    let sum = a.lt(direct).select(ROUNDER, sum);
    let n = sum - ROUNDER;
    let r = n.fma(-LN_2_REST, n.fma(-LN_2, a));
    let z = r * r;
    let n = rounded_integer(sum);
    Halves {
        sinh_r: polynomial(z, &SINH).fma(z * r, r),
        cosh_r_less_1: z * polynomial(z, &COSH).fma(z, 0.5),
        up: power_of_two(n - 2),
        // Nothing where its exponent would not fit.
        down: float((125 - n).max(0) << 23),
    }
}

pub(super) fn sinh(x: Val<'_>) -> Val<'_> {
    let h = halves(x.abs(), 1.0);
    let (cosh_n, sinh_n) = (h.up + h.down, h.up - h.down);
    let y = sinh_n + cosh_n.fma(h.sinh_r, sinh_n * h.cosh_r_less_1);
    // Doubling would lose bits of the smallest numbers.
    let y = x.abs().lt(0.000_244).select(x.abs(), y * 2.0);
    with_sign(y, x)
}

pub(super) fn cosh(x: Val<'_>) -> Val<'_> {
    let h = halves(x.abs(), 0.0);
    let rising = h.cosh_r_less_1 + h.sinh_r;
    let falling = h.cosh_r_less_1 - h.sinh_r;
    (h.up + h.up.fma(rising, h.down.fma(falling, h.down))) * 2.0
}

/// `t / (t + 1)` with `t = (e^2a - 1) / 2`, which keeps its bits near zero: with `a = n ln 2 / 2 + s` it is
/// `2^n (s + 2 s² q(2s)) + (2^n - 1) / 2`.
pub(super) fn tanh(x: Val<'_>) -> Val<'_> {
    const HALF: [f32; 5] = [2.0 * TANH[0], 4.0 * TANH[1], 8.0 * TANH[2], 16.0 * TANH[3], 32.0 * TANH[4]];
    let a = x.abs();
    // Beyond 10 it is 1.
    let bounded = a.gt(10.0).select(10.0, a);
    let sum = bounded.fma(2.0 * std::f32::consts::LOG2_E, ROUNDER);
    let s = (sum - ROUNDER).fma(-0.5 * LN_2, bounded);
    let p = (polynomial(s, &HALF) * s).fma(s, s);
    let power = power_of_two(bits(sum));
    let t = p.fma(power, power.fma(0.5, -0.5));
    let y = negated_part_of_successor(t);
    // An fma may take the smallest numbers for zeros.
    a.lt(TANH_IDENTITY).select(x, negated_with_sign(y, x))
}

/// Below this `tanh x` is nearly `x`.
const TANH_IDENTITY: f32 = 0.000_3;

pub(super) fn asinh(x: Val<'_>) -> Val<'_> {
    let a = x.abs();
    let k = x.builder();
    let v = a.fma(a, 1.0);
    let s = v.sqrt();
    let s_rest = (-s).fma(s, v) * 0.5 / s;
    // log(a + s), as log(1 + y) with y = a - 1 + s.
    let b = a - 1.0;
    let y = b + s;
    let y_rest = (b - (y - s)) + s_rest;
    let huge = a.gt(HUGE);
    let near = log_of_sum(huge.select(a, y), huge.select(k.f32(0.0), y_rest));
    let far = huge.select(near + LN_2, near);
    let y = a.lt(1.0).select(odd(a, &ASINH), far);
    with_sign(a.lt(f32::INFINITY).select(y, a), x)
}

/// Beyond this `asinh x` and `acosh x` are `log 2x`, and so `log(1 + x) + log 2`.
const HUGE: f32 = 16_777_216.0;

pub(super) fn acosh(x: Val<'_>) -> Val<'_> {
    let k = x.builder();
    let t = x - 1.0;
    // sqrt(x² - 1) = sqrt(t² + 2t)
    let v = t.fma(t, t + t);
    let s = v.sqrt();
    let s_rest = s.eq(0.0).select(0.0, (-s).fma(s, v) * 0.5 / s);
    let y = t + s;
    let y_rest = (t - (y - s)) + s_rest;
    let huge = x.gt(HUGE);
    let near = log_of_sum(huge.select(x, y), huge.select(k.f32(0.0), y_rest));
    let y = huge.select(near + LN_2, near);
    let y = x.lt(f32::INFINITY).select(y, x);
    x.lt(1.0).select(f32::NAN, y)
}

pub(super) fn atanh(x: Val<'_>) -> Val<'_> {
    let a = x.abs();
    // log((1 + a) / (1 - a)) / 2
    let q = (a + a) / (1.0 - a);
    let far = log1p_of_quotient(q) * 0.5;
    with_sign(a.lt(0.5).select(odd(a, &ATANH), far), x)
}

fn log1p_of_quotient(q: Val<'_>) -> Val<'_> {
    super::logarithm::log1p(q)
}
