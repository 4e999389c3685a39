//! Polynomials by Horner's rule with fma, and the reciprocal by Newton's: what divisions are avoided with.

use super::bits::{SIGN, bits, float};
use crate::build::Val;

/// `Σ coefficients[i] · x^i`.
pub(super) fn polynomial<'k>(x: Val<'k>, coefficients: &[f32]) -> Val<'k> {
    let (&last, rest) = coefficients.split_last().expect("a polynomial has a coefficient");
    let mut sum = x.builder().f32(last);
    for &c in rest.iter().rev() {
        sum = sum.fma(x, c);
    }
    sum
}

/// `-1 / x` to one unit in the last place, for normal `x` below 2^126, in a handful of operations; a division, which is
/// correctly rounded, costs more. Negative, because that takes no negation on the way, which is an operation on some GPUs.
pub(super) fn negated_reciprocal_of_normal(x: Val<'_>) -> Val<'_> {
    let y = rough_negated_reciprocal(x);
    y.fma(x.fma(y, 1.0), y)
}

/// `-t / (t + 1)` to about one unit in the last place, for `t` from 0 to 2^125. The remainder is that of the exact sum.
pub(super) fn negated_part_of_successor(t: Val<'_>) -> Val<'_> {
    let y = rough_negated_reciprocal(t + 1.0);
    let q = t * y;
    q.fma(t, t + q).fma(y, q)
}

/// `-1 / x` with an error below 2^-12.9: the guess reflects the exponent and is within 5%, a step of third order cubes that.
fn rough_negated_reciprocal(x: Val<'_>) -> Val<'_> {
    let y = float((0x7ef3_11c7 | SIGN) - bits(x));
    let miss = x.fma(y, 1.0);
    y.fma(miss.fma(miss, miss), y)
}
