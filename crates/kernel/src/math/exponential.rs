//! exp, exp2, expm1, sigmoid: `e^x = 2^n · e^r` with `|r| <= ln 2 / 2`, and a polynomial for `e^r`.

use super::bits::{ROUNDER, bits, float, halves_of_power, power_of_two, rounded_integer, scale};
use super::polynomial::polynomial;
use crate::build::Val;

const LOG2_E: f32 = std::f32::consts::LOG2_E;
/// ln 2 as a sum; `n · LN_2` needs no spare bits because fma keeps them all.
pub(super) const LN_2: f32 = std::f32::consts::LN_2;
pub(super) const LN_2_REST: f32 = -1.904_654_3e-9;

/// `(e^r - 1 - r) / r²` for `|r| <= 0.3476`; relative error of `e^r` 2^-28.2.
const EXP: [f32; 5] = [0.499_999_94, 0.166_665_2, 0.041_668_26, 0.008_368_857, 0.001_382_176_8];
/// `(2^r - 1) / r` for `|r| <= 0.5`; relative error of `2^r` 2^-28.3.
pub(super) const EXP2: [f32; 6] = [LN_2, 0.240_226_48, 0.055_503_596, 0.009_618_499, 0.001_339_096_9, 0.000_153_292_64];
/// `(e^r - 1 - r) / r²` for `|r| <= 0.5`; error relative to `e^r - 1` 2^-27.7.
const EXPM1: [f32; 6] = [0.500_000_06, 0.166_666_69, 0.041_664_958, 0.008_332_854, 0.001_401_074, 0.000_200_854_32];

/// `1 / (1 + e)` for `e` from 0 to 1; relative error 2^-8.7, least where results would be off most, and nothing at 1.
const SIGMOID: [f32; 4] = [0.998_615_9, -0.944_504_7, 0.665_508_5, -0.219_610_78];

/// Beyond these exp is infinite or rounds to zero.
const EXP_MAX: f32 = 89.0;
const EXP_MIN: f32 = -104.5;
/// `EXP_MAX` in powers of two, with `ROUNDER`.
const MOST_POWER: f32 = ROUNDER + 129.0;

/// `x` brought between `low` and `high`; NaN stays.
pub(super) fn clamp<'k>(x: Val<'k>, low: f32, high: f32) -> Val<'k> {
    let x = x.lt(low).select(low, x);
    x.gt(high).select(high, x)
}

/// `n` (I32) and `r` with `x = n · ln 2 + r`, for `|x|` below 2^21.
fn reduce<'k>(x: Val<'k>) -> (Val<'k>, Val<'k>) {
    let sum = x.fma(LOG2_E, ROUNDER);
    let n = sum - ROUNDER;
    let r = n.fma(-LN_2_REST, n.fma(-LN_2, x));
    (rounded_integer(sum), r)
}

/// As `reduce` for `x + rest`; the first difference is exact, so only the last sum rounds.
fn reduce_sum<'k>(x: Val<'k>, rest: Val<'k>) -> (Val<'k>, Val<'k>) {
    let sum = x.fma(LOG2_E, ROUNDER);
    let n = sum - ROUNDER;
    let r = n.fma(-LN_2, x) + n.fma(-LN_2_REST, rest);
    (rounded_integer(sum), r)
}

/// `e^r - 1` for the reduced argument, with the absolute error of `e^r`.
fn exp_minus_one(r: Val<'_>) -> Val<'_> {
    polynomial(r, &EXP).fma(r * r, r)
}

/// `e^r` for the reduced argument; infinite for any that is far above it.
fn exp_near_zero(r: Val<'_>) -> Val<'_> {
    polynomial(r, &EXP).fma(r, 1.0).fma(r, 1.0)
}

pub(super) fn exp(x: Val<'_>) -> Val<'_> {
    if x.is_never_positive() {
        return exp_of_not_positive(x);
    }
    let x = x.lt(EXP_MIN).select(EXP_MIN, x);
    // As an integer the largest power also stops infinity and NaN, which go on in r.
    let sum = float(bits(x.fma(LOG2_E, ROUNDER)).min(MOST_POWER.to_bits() as i32));
    let n = sum - ROUNDER;
    let r = n.fma(-LN_2_REST, n.fma(-LN_2, x));
    // The bits above n vanish when it is shifted to the exponent.
    let (up, rest) = halves_of_power(bits(sum));
    exp_near_zero(r) * up * rest
}

/// `e^x` where it is at most 1, with the bits of `exp` in fewer operations: nothing becomes infinite, and 2^64 times the result
/// is always normal, so that one shift makes its power of two.
fn exp_of_not_positive(x: Val<'_>) -> Val<'_> {
    /// `ROUNDER` with the exponent's bias and the 64.
    const BIASED: f32 = ROUNDER + 191.0;
    // Everything is done with the other sign: an absolute value costs nothing where it is used, its negation does.
    let a = x.abs();
    let a = a.gt(-EXP_MIN).select(-EXP_MIN, a);
    let sum = a.fma(-LOG2_E, BIASED);
    let n = sum - BIASED;
    let less = n.fma(LN_2_REST, n.fma(LN_2, a));
    let falling: [f32; 5] = std::array::from_fn(|i| if i % 2 == 0 { EXP[i] } else { -EXP[i] });
    // e^r for r = -less, with the roundings of `exp_near_zero`.
    let near_zero = polynomial(less, &falling).fma(less, -1.0).fma(less, 1.0);
    near_zero * float(bits(sum) << 23) * TWO_TO_MINUS_64
}

/// 2^-64.
const TWO_TO_MINUS_64: f32 = 1.0 / 18_446_744_073_709_551_616.0;

/// `e^x` for `x` between -87 and 88, where it is normal.
pub(super) fn exp_normal(x: Val<'_>) -> Val<'_> {
    let sum = x.fma(LOG2_E, ROUNDER);
    let n = sum - ROUNDER;
    let r = n.fma(-LN_2_REST, n.fma(-LN_2, x));
    add_exponent(exp_minus_one(r) + 1.0, sum)
}

/// `x · 2^n` where it is normal, from `n + ROUNDER`, whose bits above n vanish in the shift.
fn add_exponent<'k>(x: Val<'k>, rounded: Val<'k>) -> Val<'k> {
    float(bits(x) + (bits(rounded) << 23))
}

/// `e^x` as `m · 2^n` (I32), for products that may be in range though it is not.
pub(super) fn exp_scaled<'k>(x: Val<'k>) -> (Val<'k>, Val<'k>) {
    let (n, r) = reduce(clamp(x, -170.0, 170.0));
    (exp_minus_one(r) + 1.0, n)
}

/// `e^(x + rest)` for a `rest` far below `x`, and what the last rounding missed.
pub(super) fn exp_of_sum<'k>(x: Val<'k>, rest: Val<'k>) -> (Val<'k>, Val<'k>) {
    let (n, r) = reduce_sum(clamp(x, EXP_MIN, EXP_MAX), rest);
    let p = exp_minus_one(r);
    let e = p + 1.0;
    (scale(e, n), scale(p - (e - 1.0), n))
}

/// `e^(-a²) · (m + m_rest)` for `a` up to 10.2, with the bits that `a²` drops.
pub(super) fn exp_of_negated_square<'k>(a: Val<'k>, m: Val<'k>, m_rest: Val<'k>) -> Val<'k> {
    let square = a * a;
    let square_rest = a.fma(a, -square);
    let (n, r) = reduce_sum(-square, -square_rest);
    let p = exp_minus_one(r);
    let e = p + 1.0;
    let e_rest = p - (e - 1.0);
    scale(e.fma(m, e.fma(m_rest, e_rest * m)), n)
}

pub(super) fn exp2(x: Val<'_>) -> Val<'_> {
    let x = clamp(x, -151.0, 129.0);
    let sum = x + ROUNDER;
    let r = x - (sum - ROUNDER);
    scale(exp2_near_zero(r), rounded_integer(sum))
}

/// `2^r` for `|r| <= 0.5`.
pub(super) fn exp2_near_zero(r: Val<'_>) -> Val<'_> {
    polynomial(r, &EXP2).fma(r, 1.0)
}

pub(super) fn expm1(x: Val<'_>) -> Val<'_> {
    let y = clamp(x, -18.0, EXP_MAX);
    let sum = y.fma(LOG2_E, ROUNDER);
    // Below 1/2 the polynomial reaches as far as needed, and 2^n - 1 would cancel.
    let sum = y.abs().lt(0.5).select(ROUNDER, sum);
    let n = sum - ROUNDER;
    let r = n.fma(-LN_2_REST, n.fma(-LN_2, y));
    let p = polynomial(r, &EXPM1).fma(r * r, r);
    // 2^n (p + 1) - 1, halved so that n = 128 fits.
    let half = power_of_two(rounded_integer(sum) - 1);
    let result = p.fma(half, half - 0.5) * 2.0;
    // Keeps the sign of zero, and the bits of the smallest numbers, which the halving would drop.
    x.abs().lt(EXPM1_IDENTITY).select(x, result)
}

/// Below this `e^x - 1` rounds to `x`.
const EXPM1_IDENTITY: f32 = 5.96e-8;

/// `1 / (1 + e^-x)` from `e^-|x|`: a polynomial and a step of third order, in which `1 - y` and `y · e` are exact, so that the
/// quotient rounds about once.
pub(super) fn sigmoid(x: Val<'_>) -> Val<'_> {
    let e = exp(-x.abs());
    let y = polynomial(e, &SIGMOID);
    let excess = y.fma(e, y - 1.0);
    let positive = y.fma(excess.fma(excess, -excess), y);
    // By the sign's bit, which needs no care for denormals: both zeros give the same.
    bits(x).lt(0).select(e * positive, positive)
}
