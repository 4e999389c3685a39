//! `1 / sqrt(x)`, root and quotient each rounded, in less than half of what the two take one after the other: what corrects the root is
//! its reciprocal, and neither needs the driver's division.

use super::function;
use super::rounding::Format;
use super::square_root::{is_moderate, radicand};
use crate::build::{Builder, Val};
use crate::types::Scalar::{F32, I32};

const FORMAT: Format = Format::F32;

/// By the device's fma. Where a remainder could leave the normal range, it is that of the number between 1 and 4 with the operand's
/// digits, and half of the exponent is put back by integers.
pub(super) fn fused(k: &Builder) {
    function(k, F32, |[x]| k.if_(is_moderate(x), || corrected(x), || scaled(x)));
}

/// A guess by the exponent, two Newton steps, and a third that takes the rounding of `x y` in: `y` is `1 / sqrt(x)` to little more
/// than half an ulp. With it one correction rounds the root, and another the root's reciprocal, unless the root's digits are all
/// ones: that reciprocal lies just above a middle, and is taken for it.
fn corrected(x: Val<'_>) -> Val<'_> {
    let half = x * -0.5;
    let mut y = (0x5f37_59df - (x.bitcast(I32) >> 1)).bitcast(F32);
    for _ in 0..2 {
        y = y * (half * y).fma(y, 1.5);
    }
    let rough = x * y;
    let rough_rest = x.fma(y, -rough);
    let miss = (-rough_rest).fma(y, (-rough).fma(y, 1.0));
    let y = (y * 0.5).fma(miss, y);

    let rough = x * y;
    let root = (-rough).fma(rough, x).fma(y * 0.5, rough);
    let quotient = y.fma((-root).fma(y, 1.0), y);
    let all_ones = (root.bitcast(I32) | !0x7f_ffff).eq(-1);
    (quotient.bitcast(I32) + all_ones.to(I32)).bitcast(F32)
}

/// That of the digits, its exponent less by half of the operand's: always a normal number. Of zeros it is infinite, with their sign.
fn scaled(x: Val<'_>) -> Val<'_> {
    let k = x.builder();
    let [infinity, nan] = [FORMAT.infinity(), FORMAT.nan()].map(|bits| k.i32(bits as i32));
    let bits = x.bitcast(I32);
    let magnitude = bits & i32::MAX;
    let (radicand, half) = radicand(magnitude);
    let finite = bits.eq(infinity).select(k.i32(0), corrected(radicand).bitcast(I32) - half);
    // Negative ones as well, by their sign's bit.
    let number = bits.gt_u(infinity).select(nan, finite);
    magnitude.eq(0).select(bits | infinity, number).bitcast(F32)
}
