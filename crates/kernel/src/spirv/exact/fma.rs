//! `a * b + c` rounded once, on devices whose fma rounds twice.

use super::function;
use super::product::wide;
use super::rounding::{Format, Parts, from_bits, parts, round, to_bits};
use crate::build::{Builder, Val};
use crate::types::Scalar::{F32, F64, I32, I64};

/// The product of two f32 is exact in f64. Their sum is rounded to odd there, which keeps enough of it for the rounding to
/// f32 to be the only one.
pub(super) fn through_f64(k: &Builder) {
    function(k, F32, |[a, b, c]| {
        let [a, b, c] = [a, b, c].map(|x| x.to(F64));
        let product = a * b;
        let sum = product + c;
        // What the sum lost, exactly (Knuth). It is NaN if the sum is not finite: then nothing is to be mended.
        let shift = sum - product;
        let lost = (product - (sum - shift)) + (c - shift);
        let zero = k.f64(0.0);
        let inexact = lost.lt(zero) | lost.gt(zero);
        let bits = sum.bitcast(I64);
        let even = (bits & 1).eq(0);
        // An even sum lies one step off the odd neighbour in the direction of what was lost.
        let outward = ((lost.bitcast(I64) ^ bits) >> 63) | 1;
        let step = (inexact & even).select(outward, 0);
        (bits + step).bitcast(F64).to(F32)
    });
}

/// The product has 48 bits and fits a word beside 14 bits for what is shifted out.
pub(super) fn f32_by_integers(k: &Builder) {
    function(k, F32, |operands| {
        by_integers(Format::F32, operands, |[a, b, c]| {
            let product = Aligned { high: (a.significand * b.significand) << 14, low: None };
            let addend = Aligned { high: c.significand << 38, low: None };
            (product, a.exponent + b.exponent - 14, addend, c.exponent - 38)
        })
    });
}

/// The product has 106 bits and takes two words.
pub(super) fn f64_by_integers(k: &Builder) {
    function(k, F64, |operands| {
        by_integers(Format::F64, operands, |[a, b, c]| {
            let (high, low) = wide(a.significand, b.significand);
            let product = Aligned { high: (high << 20) | low.shr_u(44), low: Some(low << 20) };
            let zero = c.significand.builder().i64(0);
            let addend = Aligned { high: c.significand << 9, low: Some(zero) };
            // The exponents are those of the high word's last place.
            (product, a.exponent + b.exponent + 44, addend, c.exponent - 9)
        })
    });
}

/// A magnitude with its leading one between bits 60 and 62 of the high word, and so many zeros at the end that a shift
/// which loses something leaves no room for cancellation.
#[derive(Clone, Copy)]
struct Aligned<'k> {
    high: Val<'k>,
    low: Option<Val<'k>>,
}

type Align<'k> = fn([Parts<'k>; 3]) -> (Aligned<'k>, Val<'k>, Aligned<'k>, Val<'k>);

fn by_integers<'k>(format: Format, [a, b, c]: [Val<'k>; 3], align: Align<'k>) -> Val<'k> {
    let k = a.builder();
    let infinity = format.infinity();
    let sign_bit = infinity + (1 << format.fraction);
    let bits = [a, b, c].map(to_bits);
    let magnitudes = bits.map(|x| x & (sign_bit - 1));
    let (product, product_exponent, addend, addend_exponent) = align(magnitudes.map(|m| parts(format, m)));
    // A zero has no exponent of its own: one that is below all others.
    let addend_exponent = magnitudes[2].eq(0).select(k.i32(-1 << 16), addend_exponent);
    let gap = product_exponent - addend_exponent;
    let product = product.shifted((-gap).max(0));
    let addend = addend.shifted(gap.max(0));
    let [product_sign, addend_sign] = [(bits[0] ^ bits[1]) & sign_bit, bits[2] & sign_bit];
    let (sum, swapped) = product.plus(addend, product_sign.ne(addend_sign));
    let (significand, up) = sum.normalised();
    let exponent = product_exponent.max(addend_exponent) - up;
    let sign = swapped.select(addend_sign, product_sign);
    let rounded = sign | round(format, significand, exponent);
    let result = significand.eq(0).select(k.i64(0), rounded);
    // With a factor that is zero, infinite or NaN the product is exact; an addend that is not finite outweighs a finite product.
    let [finite_a, finite_b, finite_c] = magnitudes.map(|m| m.lt_u(infinity));
    let plain = !finite_a | !finite_b | magnitudes[0].eq(0) | magnitudes[1].eq(0);
    let result = from_bits(format, result);
    let result = (!finite_c).select(c, result);
    plain.select(a * b + c, result)
}

impl<'k> Aligned<'k> {
    /// Shifted right; the last bit stands for what is lost.
    fn shifted(self, by: Val<'k>) -> Aligned<'k> {
        let k = by.builder();
        let Some(low) = self.low else {
            let by = by.min(63).to_u(I64);
            return Aligned { high: jammed(self.high, by), low: None };
        };
        // Within a word, or by a word and then within.
        let far = by.ge(64);
        let rest = by.min(127) - far.select(k.i32(64), 0);
        let (first, second) = (far.select(k.i64(0), self.high), far.select(self.high, low));
        let lost = far.select(low, 0);
        let rest = rest.to_u(I64);
        // A shift by 64 counts as one by 0, so the carry between the words is cut off there.
        let carry = rest.eq(0).select(k.i64(0), first << (k.i64(64) - rest));
        let kept = second.shr_u(rest) | carry;
        let lost = lost.ne(0) | (second & ((k.i64(1) << rest) - 1)).ne(0);
        Aligned { high: first.shr_u(rest), low: Some(kept | lost.to_u(I64)) }
    }

    /// The sum, or the magnitude of the difference and whether it was the other way round.
    fn plus(self, other: Aligned<'k>, differ: Val<'k>) -> (Aligned<'k>, Val<'k>) {
        let swap = match (self.low, other.low) {
            (Some(a), Some(b)) => self.high.lt_u(other.high) | (self.high.eq(other.high) & a.lt_u(b)),
            _ => self.high.lt_u(other.high),
        };
        let (large, small) = (swap.select(other.high, self.high), swap.select(self.high, other.high));
        let Some((a, b)) = self.low.zip(other.low) else {
            return (Aligned { high: differ.select(large - small, large + small), low: None }, swap & differ);
        };
        let (large_low, small_low) = (swap.select(b, a), swap.select(a, b));
        let low = differ.select(large_low - small_low, large_low + small_low);
        let borrow = large_low.lt_u(small_low).to_u(I64);
        let carry = low.lt_u(large_low).to_u(I64);
        let high = differ.select(large - small - borrow, large + small + carry);
        (Aligned { high, low: Some(low) }, swap & differ)
    }

    /// One word, the last bit standing for what is lost, and by how much it was shifted left for that.
    fn normalised(self) -> (Val<'k>, Val<'k>) {
        let k = self.high.builder();
        let Some(low) = self.low else { return (self.high, k.i32(0)) };
        // After cancellation the high word may be empty: the low one takes its place.
        let empty = self.high.eq(0);
        let (high, low) = (empty.select(low.shr_u(1), self.high), empty.select(low << 63, low));
        let up = high.leading_zeros() - 1;
        // Bits that move up from the low word; in two steps, as a shift by 64 counts as one by 0.
        let carried = low.shr_u(1).shr_u(k.i64(63) - up);
        let lost = (low << up).ne(0);
        let whole = (high << up) | carried | lost.to_u(I64);
        let up = up.to_u(I32) + empty.select(k.i32(63), 0);
        (whole, up)
    }
}

/// Shifted right, the last bit standing for what is lost.
fn jammed<'k>(value: Val<'k>, by: Val<'k>) -> Val<'k> {
    let lost = (value & ((value.builder().i64(1) << by) - 1)).ne(0);
    value.shr_u(by) | lost.to_u(I64)
}
