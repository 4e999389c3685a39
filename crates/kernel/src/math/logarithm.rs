//! log, log2, log10, log1p: `x = 2^e · (1 + f)` with `1 + f` between 2/3 and 4/3, and a polynomial for `log(1 + f)`.

use super::bits::{bits, float};
use super::exponential::{LN_2, exp_of_sum};
use super::polynomial::polynomial;
use crate::build::Val;
use crate::types::Scalar;

/// `(log(1 + f) - f) / f²` for `|f| <= 1/3`; relative error of the logarithm 2^-27.7.
pub(super) const LOG: [f32; 9] = [
    -0.5,
    0.333_332_15,
    -0.249_998_05,
    0.200_104_45,
    -0.166_801_81,
    0.140_053_4,
    -0.121_883_43,
    0.139_867_08,
    -0.128_744_94,
];

const LOG10_2: f32 = std::f32::consts::LOG10_2;
const LOG10_2_REST: f32 = -1.432_098_6e-8;
const LOG2_E_LESS_1: f32 = 0.442_695_05;
const LOG2_E: f32 = std::f32::consts::LOG2_E;
const LOG10_E: f32 = std::f32::consts::LOG10_E;
const LOG10_E_REST: f32 = -1.010_305_2e-8;

const TWO_THIRDS: i32 = 0x3f2a_aaab;
const SMALLEST_NORMAL: f32 = f32::MIN_POSITIVE;

/// The exponent (I32) and fraction of a positive normal number: `x = 2^e · m`, `m` between 2/3 and 4/3.
pub(super) fn split(x: Val<'_>) -> (Val<'_>, Val<'_>) {
    let e = (bits(x) - TWO_THIRDS) >> 23;
    (e, float(bits(x) - (e << 23)))
}

/// As `split` for any positive number, with the exponent as F32 and the fraction less one.
fn split_any(x: Val<'_>) -> (Val<'_>, Val<'_>) {
    let tiny = x.lt(SMALLEST_NORMAL);
    let (e, m) = split(tiny.select(x * 8_388_608.0, x));
    (e.to(Scalar::F32) - tiny.select(23.0, 0.0), m - 1.0)
}

/// The logarithm where `x` is positive and finite, and what it is elsewhere.
fn special<'k>(x: Val<'k>, logarithm: Val<'k>) -> Val<'k> {
    let y = x.lt(f32::INFINITY).select(logarithm, x);
    let y = x.eq(0.0).select(f32::NEG_INFINITY, y);
    x.lt(0.0).select(f32::NAN, y)
}

pub(super) fn log(x: Val<'_>) -> Val<'_> {
    let (e, f) = split_any(x);
    special(x, log_from(e, f))
}

/// The logarithm of a positive normal number.
pub(super) fn log_of_normal(x: Val<'_>) -> Val<'_> {
    let (e, m) = split(x);
    log_from(e.to(Scalar::F32), m - 1.0)
}

/// The logarithm of a positive number in two parts: how often ln 2, and the logarithm of the rest.
pub(super) fn log_parts<'k>(x: Val<'k>) -> (Val<'k>, Val<'k>) {
    let (e, f) = split_any(x);
    (e, log_near_one(f))
}

/// `log(1 + f)` for `|f| <= 1/3`.
fn log_near_one(f: Val<'_>) -> Val<'_> {
    polynomial(f, &LOG).fma(f * f, f)
}

/// `e · ln 2 + log(1 + f)`.
fn log_from<'k>(e: Val<'k>, f: Val<'k>) -> Val<'k> {
    e.fma(LN_2, log_near_one(f))
}

pub(super) fn log2(x: Val<'_>) -> Val<'_> {
    let (e, f) = split_any(x);
    let t = f * f * polynomial(f, &LOG);
    // f · log2(e) = f + 0.44 f: the large part is exact.
    let small = t.fma(LOG2_E, f * LOG2_E_LESS_1);
    special(x, (e + f) + small)
}

pub(super) fn log10(x: Val<'_>) -> Val<'_> {
    let (e, f) = split_any(x);
    let t = f * f * polynomial(f, &LOG);
    let small = t.fma(LOG10_E, f.fma(LOG10_E_REST, e * LOG10_2_REST));
    special(x, e.fma(LOG10_2, f.fma(LOG10_E, small)))
}

pub(super) fn log1p(x: Val<'_>) -> Val<'_> {
    let y = log_of_sum(x, x.builder().f32(0.0));
    let y = x.lt(f32::INFINITY).select(y, x);
    let y = x.eq(-1.0).select(f32::NEG_INFINITY, y);
    let y = x.lt(-1.0).select(f32::NAN, y);
    x.abs().lt(LOG1P_IDENTITY).select(x, y)
}

/// Below this `log(1 + x)` rounds to `x`.
const LOG1P_IDENTITY: f32 = 2.98e-8;

/// `log(1 + x + rest)` for finite `x > -1` and a `rest` far below it.
pub(super) fn log_of_sum<'k>(x: Val<'k>, rest: Val<'k>) -> Val<'k> {
    let u = x + 1.0;
    let u_rest = (x - (u - 1.0)) + rest;
    let (e, m) = split(u);
    // 2^-e; beyond 2^126 the rest is zero and any factor will do.
    let unscale = float((127 - e).max(1) << 23);
    log_from(e.to(Scalar::F32), u_rest.fma(unscale, m - 1.0))
}

/// `log(e^x + e^y)`, from the larger and the distance.
pub(super) fn logaddexp<'k>(x: Val<'k>, y: Val<'k>) -> Val<'k> {
    let high = x.max(y);
    let low = x.lt(y).select(x, y);
    // The distance and what its rounding missed. Infinities have none.
    let d = low - high;
    let back = d + high;
    let missed = (low - back) + ((back - d) - high);
    let missed = d.gt(-200.0).select(missed, 0.0);
    let (e, e_rest) = exp_of_sum(x.eq(y).select(0.0, d), missed);
    // Near zero log(1 + e) is e, and an fma may take the smallest numbers for zeros.
    high + e.lt(1e-15).select(e, log_of_sum(e, e_rest))
}
