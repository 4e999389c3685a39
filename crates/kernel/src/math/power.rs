//! pow, rsqrt, hypot.

use super::bits::{ROUNDER, SIGN, bits, float, rounded_integer, scale};
use super::exponential::exp2_near_zero;
use super::polynomial::{negated_reciprocal_of_normal, polynomial};
use crate::build::Val;
use crate::types::Scalar;

/// 2 / ln 2 as a sum.
const TWO_LOG2_E: f32 = 2.885_39;
const TWO_LOG2_E_REST: f32 = 3.851_926e-8;
/// 2 / (3 ln 2) as a sum.
const CUBIC: f32 = 0.961_796_7;
const CUBIC_REST: f32 = -7.028_462e-9;
/// `log2(m) = s · 2 / ln 2 + s³ (CUBIC + s² q(s²))` with `s = (m - 1) / (m + 1)`, for m from sqrt(1/2) to sqrt(2);
/// absolute error 2^-37.
const LOG2: [f32; 3] = [0.577_080_25, 0.411_844_25, 0.337_948_08];

const SQRT_HALF: i32 = 0x3f35_04f3;

/// `log2(x)` of a positive finite number as a sum of two floats, good to about 2^-31.
pub(super) fn log2_pair<'k>(x: Val<'k>) -> (Val<'k>, Val<'k>) {
    let tiny = x.lt(f32::MIN_POSITIVE);
    let (e, f) = parts(tiny.select(x * 16_777_216.0, x));
    log2_of_parts(e - tiny.select(24.0, 0.0), f)
}

/// The exponent and what follows: a positive normal number is `2^e (1 + f)`, 1 + f from sqrt(1/2) to sqrt(2).
fn parts<'k>(x: Val<'k>) -> (Val<'k>, Val<'k>) {
    let i = bits(x);
    let e = (i - SQRT_HALF) >> 23;
    (e.to(Scalar::F32), float(i - (e << 23)) - 1.0)
}

fn log2_of_parts<'k>(e: Val<'k>, f: Val<'k>) -> (Val<'k>, Val<'k>) {
    // s + s_rest = f / (2 + f)
    let g = f + 2.0;
    let g_rest = f - (g - 2.0);
    let y = -negated_reciprocal_of_normal(g);
    let s = f * y;
    let s_rest = y * g_rest.fma(-s, (-s).fma(g, f));
    // w + w_rest = s² (CUBIC + s² q)
    let z = s * s;
    let z_rest = s.fma(s, -z) + s * (s_rest + s_rest);
    let tail = polynomial(z, &LOG2) * z;
    let q = tail + CUBIC;
    let q_rest = tail - (q - CUBIC) + CUBIC_REST;
    let w = z * q;
    let w_rest = z.fma(q, -w) + z_rest.fma(q, z * q_rest);
    let high = s * TWO_LOG2_E;
    let low = s.fma(TWO_LOG2_E, -high) + s.fma(TWO_LOG2_E_REST, s_rest * TWO_LOG2_E);
    let low = s.fma(w, s.fma(w_rest, low));
    let sum = e + high;
    let low = (high - (sum - e)) + low;
    let total = sum + low;
    (total, low - (total - sum))
}

/// `2^(high + low)`, overflowing and underflowing as it should.
fn exp2_pair<'k>(high: Val<'k>, low: Val<'k>) -> Val<'k> {
    let inside = high.abs().lt(200.0);
    let low = inside.select(low, 0.0);
    let high = inside.select(high, high.lt(0.0).select(-200.0, 200.0));
    let sum = high + ROUNDER;
    let r = (high - (sum - ROUNDER)) + low;
    scale(exp2_near_zero(r), rounded_integer(sum))
}

/// x^y by C's rules: pow(x, 0) and pow(1, y) are 1 even for NaN; a negative x takes the sign of an odd y and gives NaN
/// for a y that is no integer.
pub(super) fn pow<'k>(x: Val<'k>, y: Val<'k>) -> Val<'k> {
    let (e, f) = parts(x);
    let (high, low) = log2_of_parts(e, f);
    let product = y * high;
    // Of positive normal numbers whose power is one: no more than half of the work is left then.
    let plain = x.ge(f32::MIN_POSITIVE) & x.lt(f32::INFINITY) & product.abs().lt(120.0);
    let of_plain = || {
        let rest = low.fma(y, y.fma(high, -product));
        let sum = product + ROUNDER;
        let r = (product - (sum - ROUNDER)) + rest;
        // Only the integer in the low bits of the sum is left by the shift.
        float(bits(exp2_near_zero(r)) + (bits(sum) << 23))
    };
    x.builder().if_(plain, of_plain, || pow_of_any(x, y))
}

fn pow_of_any<'k>(x: Val<'k>, y: Val<'k>) -> Val<'k> {
    let (high, low) = log2_pair(x.abs());
    let product = y * high;
    let rest = low.fma(y, y.fma(high, -product));
    pow_of_special(x, y, exp2_pair(product, rest))
}

/// What x^y is, also where one of them is no finite number, or x is not positive, from what `|x|^y` would be.
fn pow_of_special<'k>(x: Val<'k>, y: Val<'k>, magnitude: Val<'k>) -> Val<'k> {
    let a = x.abs();
    // 0 and infinity on either side: infinite where x and y pull the same way.
    let infinity = f32::INFINITY;
    let extreme = a.eq(0.0) | a.eq(infinity) | y.abs().eq(infinity);
    let grows = a.lt(1.0).eq(y.lt(0.0));
    let magnitude = extreme.select(grows.select(infinity, 0.0), magnitude);
    let magnitude = a.eq(1.0).select(1.0, magnitude);
    let half = y * 0.5;
    let integer = y.trunc().eq(y);
    let odd = integer & half.trunc().ne(half);
    let negative = bits(x).lt(0);
    let signed = float(bits(magnitude) ^ (negative & odd).select(SIGN, x.builder().i32(0)));
    let undefined = x.ne(x) | y.ne(y) | (x.lt(0.0) & x.gt(f32::NEG_INFINITY) & !integer);
    let result = undefined.select(f32::NAN, signed);
    (x.eq(1.0) | y.eq(0.0)).select(1.0, result)
}

/// 1 / sqrt(x), root and quotient each rounded: on a CPU two instructions, for a GPU the emitter knows a way that shares work.
pub(super) fn rsqrt(x: Val<'_>) -> Val<'_> {
    x.builder().f32(1.0) / x.sqrt()
}

/// sqrt(x² + y²) without overflow on the way; infinite if either is, even beside a NaN.
pub(super) fn hypot<'k>(x: Val<'k>, y: Val<'k>) -> Val<'k> {
    let (a, b) = (x.abs(), y.abs());
    let exponent = (bits(a) >> 23).max(bits(b) >> 23).max(1).min(252);
    let down = float((254 - exponent) << 23);
    let (c, d) = (a * down, b * down);
    let r = c.fma(c, d * d).sqrt() * float(exponent << 23);
    (a.eq(f32::INFINITY) | b.eq(f32::INFINITY)).select(f32::INFINITY, r)
}
