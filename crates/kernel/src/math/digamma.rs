//! digamma: a polynomial about its positive zero, its asymptotic formula above 2, reflection below 0.

use super::bits::with_sign;
use super::exponential::LN_2;
use super::gamma::fraction;
use super::logarithm::log_parts;
use super::polynomial::polynomial;
use crate::build::Val;

/// The zero, as a sum.
const ZERO: f32 = 1.461_632_1;
const ZERO_REST: f32 = 1.243_815e-8;

/// `digamma(ZERO + t) / t` for t from -0.4617 to 0.5385, less its first coefficient; relative error 2^-27.8.
const NEAR_ZERO_FIRST: f32 = 0.967_672_2;
const NEAR_ZERO: [f32; 11] = [
    1.906_544_6e-8,
    -0.442_763_24,
    0.258_499_23,
    -0.163_937_02,
    0.107_841_87,
    -0.072_330_825,
    0.048_606_314,
    -0.031_897_645,
    0.023_278_06,
    -0.020_718_172,
    0.011_277_873,
];
/// `x² (log(x) - 1/(2x) - digamma(x))` in `1/x²` from 2 on; relative error of digamma 2^-31.
const ASYMPTOTIC: [f32; 5] = [0.083_333_21, -0.008_326_869, 0.003_848_854_7, -0.003_084_981_6, 0.001_930_280_2];

pub(super) fn digamma(x: Val<'_>) -> Val<'_> {
    x.builder().if_(x.lt(0.0), || reflected(-x), || positive(x))
}

fn positive(x: Val<'_>) -> Val<'_> {
    let y = x.ge(1.0).select(near_zero(x, ZERO), below_one(x));
    let y = x.ge(2.0).select(far(x, -0.5), y);
    x.lt(f32::INFINITY).select(y, x)
}

/// digamma(1 + x) - 1/x, with what the quotient drops.
fn below_one(x: Val<'_>) -> Val<'_> {
    let inverse = 1.0 / x;
    let missed = (-x).fma(inverse, 1.0) * inverse;
    let missed = x.gt(1e-3).select(missed, 0.0);
    (near_zero(x, ZERO - 1.0) - missed) - inverse
}

/// digamma(ZERO + (x - zero)), so that it can be had of x or of x + 1.
fn near_zero<'k>(x: Val<'k>, zero: f32) -> Val<'k> {
    let t = (x - zero) - ZERO_REST;
    t.fma(NEAR_ZERO_FIRST, polynomial(t, &NEAR_ZERO) * t)
}

/// digamma from 2 on: log(x) - 1/(2x) - …, the small terms joined first. With +1/2 as `half` it is digamma(1 + x).
fn far<'k>(x: Val<'k>, half: f32) -> Val<'k> {
    let (e, log_m) = log_parts(x);
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    e.fma(LN_2, log_m + inverse.fma(half, polynomial(square, &ASYMPTOTIC) * -square))
}

/// digamma(-a) = digamma(1 + a) + π cot(πa), with a pole at every integer.
fn reflected(a: Val<'_>) -> Val<'_> {
    // digamma(1 + a) is digamma(a) + 1/a, which would cancel below 1.
    let next = a.lt(1.0).select(near_zero(a, ZERO - 1.0), near_zero(a, ZERO) + 1.0 / a);
    let next = a.ge(2.0).select(far(a, 0.5), next);
    let r = fraction(a);
    let (large, small) = cotangent_pi(r);
    r.eq(0.0).select(f32::NAN, large + (small + next))
}

/// `(1/r - π cot(πr)) / r` in `r²` for `|r| <= 1/4`; error relative to `1/r` 2^-32.
const COTANGENT: [f32; 5] = [3.289_868, 2.164_643_5, 2.035_189_9, 1.986_260_7, 2.369_728_6];

/// `π tan(πs) / s - TANGENT_FIRST` in `s²` for `|s| <= 1/4`; relative error 2^-29.4.
const TANGENT_FIRST: f32 = 9.869_604;
const TANGENT: [f32; 8] =
    [2.786_222_8e-7, 32.469_723, 128.176_7, 513.136_6, 1_984.664_6, 10_211.19, -1_483.403, 404_675.12];

/// π cot(πr) for `|r| <= 1/2` as a sum, from 1/4 on as the tangent of the complement.
fn cotangent_pi<'k>(r: Val<'k>) -> (Val<'k>, Val<'k>) {
    let near = r.abs().lt(0.25);
    let s = 0.5 - r.abs();
    let far = s.fma(TANGENT_FIRST, polynomial(s * s, &TANGENT) * s);
    let small = polynomial(r * r, &COTANGENT) * -r;
    (near.select(1.0 / r, with_sign(far, r)), near.select(small, 0.0))
}
