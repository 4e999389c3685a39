//! Correctly rounded f32 division.

use super::function;
use super::rounding::{Format, digits, from_bits, parts, round, to_bits};
use crate::build::{Builder, Val};
use crate::types::Scalar::{F32, I32};

const FORMAT: Format = Format::F32;
const INFINITY: i32 = 0x7f80_0000;

pub(super) fn by_integers(k: &Builder) {
    function(k, F32, |[a, b]| from_integers(a, b));
}

/// A quotient by the device's fma, corrected to the nearest. Where an intermediate could leave the normal range, the numbers
/// between 1 and 2 with the operands' digits are divided instead, and the exponents put back by integers.
pub(super) fn fused(k: &Builder) {
    function(k, F32, |[a, b]| {
        let moderate = is_moderate(a) & is_moderate(b);
        k.if_(moderate, || corrected(a, b).0, || scaled(a, b))
    });
}

/// Whether the exponent is within 60 of that of 1: then quotient and remainders are normal numbers.
fn is_moderate(x: Val<'_>) -> Val<'_> {
    let exponent = x.bitcast(I32).shr_u(23) & 0xff;
    (exponent - (127 - 60)).le_u(120)
}

/// With any reciprocal that is right to a few ulp. One correction brings the quotient within an ulp of the truth, where its
/// remainder is exact; of it and its neighbour on the truth's side the one with the smaller remainder is the nearest (two
/// equal ones cannot be: a quotient is never halfway between two floats). Gives the remainder as well.
fn corrected<'k>(a: Val<'k>, b: Val<'k>) -> (Val<'k>, Val<'k>) {
    let reciprocal = b.builder().f32(1.0) / b;
    let rough = a * reciprocal;
    let quotient = (-b).fma(rough, a).fma(reciprocal, rough);
    let remainder = (-b).fma(quotient, a);
    // The truth is further from zero if remainder and a have one sign.
    let outward = ((remainder.bitcast(I32) ^ a.bitcast(I32)) >> 31) | 1;
    let neighbour = (quotient.bitcast(I32) + outward).bitcast(F32);
    let other = (-b).fma(neighbour, a);
    let nearer = other.abs().lt(remainder.abs());
    (nearer.select(neighbour, quotient), nearer.select(other, remainder))
}

/// The digits' quotient, its exponent moved by the difference of the operands'.
fn scaled<'k>(a: Val<'k>, b: Val<'k>) -> Val<'k> {
    let k = a.builder();
    let sign = (a.bitcast(I32) ^ b.bitcast(I32)) & i32::MIN;
    let [a, b] = [a, b].map(|x| x.bitcast(I32) & i32::MAX);
    let (x, y) = (digits(a), digits(b));
    let (quotient, remainder) = corrected(x.number, y.number);
    let bits = quotient.bitcast(I32);
    let field = bits.shr_u(23) + x.exponent - y.exponent;
    let normal = (bits & 0x7f_ffff) | (field << 23);
    let magnitude = field.le(0).select(denormal(bits, field, remainder), normal);
    let infinity = k.i32(INFINITY);
    let magnitude = field.ge(255).select(infinity, magnitude);
    let is_zero = a.eq(0) | b.eq(INFINITY);
    let is_infinite = a.eq(INFINITY) | b.eq(0);
    let is_nan = (is_zero & is_infinite) | a.gt(INFINITY) | b.gt(INFINITY);
    let magnitude = is_infinite.select(infinity, is_zero.select(k.i32(0), magnitude));
    (sign | is_nan.select(k.i32(FORMAT.nan() as i32), magnitude)).bitcast(F32)
}

/// Moves the digits of a quotient right until its exponent fits. What is moved out decides the rounding, and where that
/// is half of the last place, what the quotient itself was rounded by does.
fn denormal<'k>(bits: Val<'k>, field: Val<'k>, remainder: Val<'k>) -> Val<'k> {
    let one = bits.builder().i32(1);
    let whole = (bits & 0x7f_ffff) | 0x80_0000;
    let drop = (1 - field).min(25);
    let kept = whole.shr_u(drop);
    let (rest, half) = (whole & ((one << drop) - 1), one << (drop - 1));
    let odd = (kept & 1).ne(0);
    let above = remainder.gt(0.0) | (remainder.eq(0.0) & odd);
    let up = rest.gt(half) | (rest.eq(half) & above);
    kept + up.to(I32)
}

fn from_integers<'k>(a: Val<'k>, b: Val<'k>) -> Val<'k> {
    let k = a.builder();
    let (a, b) = (to_bits(a), to_bits(b));
    let sign = (a ^ b) & 0x8000_0000u64;
    let (a, b) = (a & 0x7fff_ffffu64, b & 0x7fff_ffffu64);
    let infinity = FORMAT.infinity();
    let (x, y) = (parts(FORMAT, a), parts(FORMAT, b));
    // Both leading ones are at bit 23, so the quotient has 26 or 27 bits; one more stands for the remainder.
    let dividend = x.significand << 26;
    let quotient = dividend.div_u(y.significand);
    let exact = (quotient * y.significand).eq(dividend);
    let significand = (quotient << 1) | exact.select(k.i64(0), 1);
    let finite = round(FORMAT, significand, x.exponent - y.exponent - 27);
    let is_zero = a.eq(0) | b.eq(infinity);
    let is_infinite = a.eq(infinity) | b.eq(0);
    let is_nan = (is_zero & is_infinite) | a.gt_u(infinity) | b.gt_u(infinity);
    let magnitude = is_infinite.select(k.i64(infinity as i64), finite);
    let magnitude = is_zero.select(k.i64(0), magnitude);
    let magnitude = is_nan.select(k.i64(FORMAT.nan() as i64), magnitude);
    from_bits(FORMAT, sign | magnitude)
}
