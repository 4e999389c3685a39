//! Polynomials by Horner's rule with fma, and the reciprocal by Newton's: what divisions are avoided with.

use super::bits::{bits, float};
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

/// `1 / x` to about 1e-5, for normal `x` below 2^126. The first guess reflects the exponent and is within 5%; each of
/// the two steps squares the error.
pub(super) fn rough_reciprocal(x: Val<'_>) -> Val<'_> {
    let guess = float(0x7ef3_11c7 - bits(x));
    refine(-x, refine(-x, guess))
}

/// `1 / x` to one unit in the last place, for normal `x` below 2^126, in seven operations; a division, which is correctly
/// rounded, costs more.
pub(super) fn reciprocal_of_normal(x: Val<'_>) -> Val<'_> {
    refine(-x, rough_reciprocal(x))
}

fn refine<'k>(negated: Val<'k>, y: Val<'k>) -> Val<'k> {
    y.fma(negated.fma(y, 1.0), y)
}
