//! Correctly rounded f32 square root.

use super::function;
use super::rounding::{Format, digits, from_bits, parts, round, to_bits};
use crate::build::{Builder, Val};
use crate::types::Scalar::{F32, I32, I64};

const FORMAT: Format = Format::F32;

pub(super) fn by_integers(k: &Builder) {
    function(k, F32, |[x]| from_integers(x));
}

/// A root by the device's fma, corrected to the nearest. Where a remainder could leave the normal range, it is the root of
/// the number between 1 and 4 with the operand's digits, and half of the exponent is put back by integers.
pub(super) fn fused(k: &Builder) {
    function(k, F32, |[x]| k.if_(is_moderate(x), || corrected(x), || scaled(x)));
}

/// Whether it is positive, finite, and has an exponent that leaves room for 2^-48 of it.
pub(super) fn is_moderate(x: Val<'_>) -> Val<'_> {
    (x.bitcast(I32).shr_u(23) - (127 - 60)).lt_u(255 - (127 - 60))
}

/// With any root that is right to a few ulp. One correction brings it within an ulp of the truth, where its remainder is
/// exact. The neighbour on the truth's side is nearer if the truth lies beyond the midpoint: with `gap` the distance of the
/// two, if `x` is beyond `(root ± gap / 2)²`, that is if the remainder is beyond `± root * gap + gap² / 4`; and as both
/// sides are whole multiples of `gap²`, the quarter decides only when the remainder equals `root * gap`.
fn corrected(x: Val<'_>) -> Val<'_> {
    let k = x.builder();
    let rough = x.sqrt();
    let slope = k.f32(0.5) / rough;
    let root = (-rough).fma(rough, x).fma(slope, rough);
    let remainder = (-root).fma(root, x);
    let outward = (remainder.bitcast(I32) >> 31) | 1;
    let neighbour = (root.bitcast(I32) + outward).bitcast(F32);
    let reach = root * (neighbour - root).abs();
    let beyond = remainder.gt(reach) | (-remainder).ge(reach);
    beyond.select(neighbour, root)
}

/// The root of the digits, its exponent moved by half of the operand's. Roots of denormals are no denormals.
fn scaled(x: Val<'_>) -> Val<'_> {
    let k = x.builder();
    let bits = x.bitcast(I32);
    let (radicand, half) = radicand(bits & i32::MAX);
    let root = corrected(radicand).bitcast(I32) + half;
    from_special(bits, root, k.i32(FORMAT.infinity() as i32), k.i32(FORMAT.nan() as i32)).bitcast(F32)
}

/// The number between 1 and 4 with the digits of a magnitude's bits, and half of the even exponent it lacks, as bits to be added.
pub(super) fn radicand(magnitude: Val<'_>) -> (Val<'_>, Val<'_>) {
    let number = digits(magnitude);
    let exponent = number.exponent - 127;
    let odd = exponent & 1;
    let radicand = (number.number.bitcast(I32) + (odd << 23)).bitcast(F32);
    (radicand, ((exponent - odd) >> 1) << 23)
}

/// Zeros of either sign, and infinity, are their own roots; what is negative and NaN has none.
fn from_special<'k>(bits: Val<'k>, root: Val<'k>, infinity: Val<'k>, nan: Val<'k>) -> Val<'k> {
    let own = (bits & 0x7fff_ffff).eq(0) | bits.eq(infinity);
    own.select(bits, bits.gt_u(infinity).select(nan, root))
}

fn from_integers(x: Val<'_>) -> Val<'_> {
    let k = x.builder();
    let bits = to_bits(x);
    let number = parts(FORMAT, bits & 0x7fff_ffffu64);
    // An even exponent, and 50 or 51 bits under the root, so that the root has 25 or 26; one more stands for the remainder.
    let odd = number.exponent & 1;
    let radicand = number.significand << (odd + 26).to_u(I64);
    let exponent = (number.exponent - odd - 26) >> 1;
    // The driver's root is right to some 20 units of this one; a step of Newton's makes that less than one too many.
    let seed = radicand.to_u(F32).sqrt().to_u(I64);
    let root = (seed + radicand.div_u(seed)).shr_u(1);
    let root = root - (root * root).gt_u(radicand).to_u(I64);
    let exact = (root * root).eq(radicand);
    let finite = round(FORMAT, (root << 1) | exact.select(k.i64(0), 1), exponent - 1);
    let [infinity, nan] = [FORMAT.infinity(), FORMAT.nan()].map(|bits| k.i64(bits as i64));
    let result = from_special(bits, finite, infinity, nan);
    from_bits(FORMAT, result)
}
