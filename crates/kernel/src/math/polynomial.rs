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

/// `1 / x` to one unit in the last place, for normal `x` below 2^126, in a handful of operations; a division, which is
/// correctly rounded, costs more. The guess reflects the exponent and is within 5%; a step of third order cubes that error,
/// one of second order squares it.
pub(super) fn reciprocal_of_normal(x: Val<'_>) -> Val<'_> {
    let negated = -x;
    let y = float(0x7ef3_11c7 - bits(x));
    let miss = negated.fma(y, 1.0);
    let y = y.fma(miss.fma(miss, miss), y);
    y.fma(negated.fma(y, 1.0), y)
}
