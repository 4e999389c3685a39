//! gamma, lgamma: polynomials below 3, Stirling's formula with a fitted remainder above, reflection below 0.

use super::bits::{ROUNDER, negate_if_odd, rounded_integer, scale, with_sign};
use super::exponential::{EXP2, LN_2, LN_2_REST};
use super::logarithm::{log, log_parts};
use super::polynomial::polynomial;
use super::power::log2_pair;
use super::reduction::HALF_PI;
use crate::build::Val;
use crate::types::Scalar;

/// `lgamma(x) / ((x - 1) (x - 2))` in `x - NEAR_ONE_CENTRE` for x from 0.5 to 1.5; relative error 2^-27.6.
const NEAR_ONE: [f32; 13] = [
    0.564_923_05,
    -0.230_038_36,
    0.138_936_62,
    -0.097_949_78,
    0.074_688_226,
    -0.059_541_956,
    0.048_063_926,
    -0.040_954_41,
    0.042_752_326,
    -0.028_666_16,
    -0.009_672_825,
    -0.032_918_777,
    0.085_492_425,
];
/// The centres are chosen so that the first coefficient is nearly a float.
const NEAR_ONE_CENTRE: f32 = 1.051_757_8;
/// The same in `x - NEAR_TWO_CENTRE` for x from 1.5 to 3.
const NEAR_TWO: [f32; 10] = [
    0.404_988_23,
    -0.089_099_56,
    0.026_907_729,
    -0.009_260_784,
    0.003_421_439,
    -0.001_316_519_6,
    0.000_514_582_27,
    -0.000_217_581_9,
    0.000_108_367_57,
    -0.000_036_508_307,
];
const NEAR_TWO_CENTRE: f32 = 2.188_281_3;
/// `x (lgamma(x) - (x - 1/2) (log(x) - 1) - log(2π/e) / 2)` in `1/x²` from 3 on; absolute error of lgamma 2^-32.
const STIRLING: [f32; 4] = [0.083_333_33, -0.002_777_252_3, 0.000_778_358, -0.000_420_261_73];
/// `log(2π/e) / 2` as a sum.
const HALF_LOG: f32 = 0.418_938_55;
const HALF_LOG_REST: f32 = -1.416_814_5e-8;

const PI: f32 = std::f32::consts::PI;
const LOG_PI: f32 = 1.144_729_9;
const LOG_PI_REST: f32 = 3.317_301e-8;

pub(super) fn lgamma(x: Val<'_>) -> Val<'_> {
    let k = x.builder();
    let a = x.abs();
    let positive = k.if_(a.ge(3.0), || lgamma_far(a), || lgamma_near(a));
    let reflected = k.if_(
        x.lt(0.0),
        || {
            // lgamma(-a) = log(π / (a |sin πa|)) - lgamma(a); where a² would vanish, it is -log a.
            let sine = sin_pi(fraction(a).abs());
            let product = a * sine;
            // What the product drops, relative to it, also brings LOG_PI's rest in.
            let missed = a.fma(sine, -product) / product - LOG_PI_REST;
            let missed = product.gt(0.0).select(missed, 0.0);
            let y = LOG_PI - (log(product) + (positive + missed));
            a.lt(1e-10).select(positive, y)
        },
        || positive,
    );
    // Zero, and from -2^23 down integers and infinity.
    (x.eq(0.0) | x.lt(-8_388_607.0)).select(f32::INFINITY, reflected)
}

/// lgamma of a number from 0 to 3; below 1/2 as lgamma(1 + a) - log(a).
fn lgamma_near(a: Val<'_>) -> Val<'_> {
    let small = a.lt(0.5);
    let (less_1, less_2) = (small.select(a, a - 1.0), small.select(a - 1.0, a - 2.0));
    let (t, u) = (less_1 - (NEAR_ONE_CENTRE - 1.0), a - NEAR_TWO_CENTRE);
    let (one, two) = (polynomial(t, &NEAR_ONE[1..]) * t, polynomial(u, &NEAR_TWO[1..]) * u);
    // q + q_rest is the polynomial, w + w_rest the factor of both zeros.
    let near_one = a.lt(1.5);
    let (first, tail) = (near_one.select(NEAR_ONE[0], a.builder().f32(NEAR_TWO[0])), near_one.select(one, two));
    let q = first + tail;
    let q_rest = tail - (q - first);
    let w = less_1 * less_2;
    let w_rest = less_1.fma(less_2, -w);
    let y = w.fma(q, w.fma(q_rest, w_rest * q));
    let (e, log_m) = log_parts(a);
    // Adding 0 makes the zero at 1 positive.
    small.select(e.fma(-LN_2, y - log_m), y + 0.0)
}

/// lgamma from 3 on: `(x - 1/2) (log(x) - 1)` with the bits its factors and the product drop.
fn lgamma_far(x: Val<'_>) -> Val<'_> {
    let (high, low) = log2_pair(x);
    let l = high * LN_2;
    let l_rest = low.fma(LN_2, high.fma(LN_2_REST, high.fma(LN_2, -l)));
    let u = l - 1.0;
    let u_rest = ((l - u) - 1.0) + l_rest;
    let v = x - 0.5;
    let v_rest = (x - v) - 0.5;
    let product = u * v;
    let rest = u_rest.fma(v, u.fma(v_rest, u.fma(v, -product)));
    let inverse = 1.0 / x;
    let stirling = polynomial(inverse * inverse, &STIRLING).fma(inverse, HALF_LOG_REST) + HALF_LOG;
    product.lt(f32::INFINITY).select(product + (stirling + rest), product)
}

/// What is left of a number after the nearest integer; exact.
pub(super) fn fraction(a: Val<'_>) -> Val<'_> {
    a - a.round_even()
}

/// `(sin(πr) / r - π)` in `r²` for `|r| <= 1/2`, relative error 2^-32; the first coefficient completes π.
const SIN_PI: [f32; 6] = [-8.748_923e-8, -5.167_712_7, 2.550_160_4, -0.599_217_5, 0.081_886_746, -0.006_761_991];

/// sin(πr) for r from 0 to 1/2.
pub(super) fn sin_pi(r: Val<'_>) -> Val<'_> {
    r.fma(PI, polynomial(r * r, &SIN_PI) * r)
}

/// gamma(GAMMA_CENTRE + u) from 1 to 2; relative error 2^-27.2.
const GAMMA: [f32; 11] = [
    0.887_211_4,
    0.051_613_24,
    0.407_737,
    -0.094_140_194,
    0.135_994_99,
    -0.069_828_96,
    0.053_225_4,
    -0.032_259_69,
    0.019_620_165,
    -0.019_676_035,
    0.016_694_881,
];
const GAMMA_CENTRE: f32 = 1.523_437_5;
/// `gamma(x) / e^((x - 1/2) (log(x) - 1))` in `1/x` from 3 to 45, less its first coefficient; relative error 2^-32.4.
const STIRLING_FACTOR_FIRST: f32 = 1.520_359_5;
const STIRLING_FACTOR: [f32; 6] =
    [-0.000_012_612_017, 0.126_695_36, 0.005_283_700_3, -0.004_122_787, -0.000_137_183_48, 0.000_807_597_9];
const LOG2_E: f32 = std::f32::consts::LOG2_E;
const LOG2_E_REST: f32 = 1.925_963e-8;

pub(super) fn gamma(x: Val<'_>) -> Val<'_> {
    let k = x.builder();
    // Beyond 50 all is infinite, or zero below.
    let a = x.abs().gt(50.0).select(50.0, x.abs());
    let (m, n) = k.if_(a.ge(3.0), || gamma_far(a), || (gamma_near(a), k.i32(0)));
    let y = k.if_(
        x.lt(0.0),
        || {
            // gamma(-a) = -π / (a sin(πa) gamma(a)), negative where the integer above x is even.
            let r = fraction(x);
            let y = scale(pi_over(sin_pi(r.abs()), a, m), -n);
            let y = with_sign(y, r);
            let y = negate_if_odd(y, (x - r).to(Scalar::I32));
            r.eq(0.0).select(f32::NAN, y)
        },
        || scale(m, n),
    );
    let y = x.eq(f32::NEG_INFINITY).select(f32::NAN, y);
    x.abs().lt(1e-8).select(1.0 / x, y)
}

/// π / (a b c), rounded about once.
fn pi_over<'k>(a: Val<'k>, b: Val<'k>, c: Val<'k>) -> Val<'k> {
    let bc = b * c;
    let abc = a * bc;
    let rest = a.fma(bc, -abc) + a * b.fma(c, -bc);
    let y = PI / abc;
    let miss = rest.fma(-y, (-y).fma(abc, PI) + 2.0 * HALF_PI[1]);
    (y * std::f32::consts::FRAC_1_PI).fma(miss, y)
}

/// gamma of a number from 0 to 3.
fn gamma_near(a: Val<'_>) -> Val<'_> {
    let (below, above) = (a.lt(1.0), a.ge(2.0));
    let shift = below.select(GAMMA_CENTRE - 1.0, above.select(GAMMA_CENTRE + 1.0, a.builder().f32(GAMMA_CENTRE)));
    let y = polynomial(a - shift, &GAMMA);
    below.select(y / a, above.select(y * (a - 1.0), y))
}

/// gamma from 3 on as `m · 2^n`.
fn gamma_far<'k>(x: Val<'k>) -> (Val<'k>, Val<'k>) {
    let (high, low) = log2_pair(x);
    let u = high - LOG2_E;
    let u_rest = ((high - u) - LOG2_E) + (low - LOG2_E_REST);
    let v = x - 0.5;
    let product = u * v;
    let rest = u_rest.fma(v, u.fma(v, -product));
    let sum = product + ROUNDER;
    let r = (product - (sum - ROUNDER)) + rest;
    let p = polynomial(r, &EXP2) * r;
    let e = p + 1.0;
    let e_rest = p - (e - 1.0);
    let tail = polynomial(1.0 / x, &STIRLING_FACTOR);
    let s = tail + STIRLING_FACTOR_FIRST;
    let s_rest = tail - (s - STIRLING_FACTOR_FIRST);
    (e.fma(s, e.fma(s_rest, e_rest * s)), rounded_integer(sum))
}
