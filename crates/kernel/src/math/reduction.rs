//! `x = q · π/2 + r` with `|r|` about π/4 at most: the range reduction of sin, cos and tan, for every float.

use super::bits::{ROUNDER, bits, power_of_two};
use crate::build::Val;
use crate::types::Scalar;

/// π/2 as a sum of floats.
pub(super) const HALF_PI: [f32; 3] = [1.570_796_4, -4.371_139e-8, -1.715_124_5e-15];
const TWO_OVER_PI: f32 = std::f32::consts::FRAC_2_PI;

/// Below this three parts of π/2 are enough.
const MODERATE: f32 = 131_072.0;

/// A reduced angle: `x = quadrant · π/2 + r + rest`.
pub(super) struct Angle<'k> {
    /// I32; only its two low bits mean something.
    pub quadrant: Val<'k>,
    pub r: Val<'k>,
    pub rest: Val<'k>,
}

/// Reduces any float; infinities and NaN give a NaN remainder.
pub(super) fn reduce(x: Val<'_>) -> Angle<'_> {
    let k = x.builder();
    let (quadrant, r, rest) = k.if_(x.abs().lt(MODERATE), || reduce_moderate(x), || reduce_large(x));
    Angle { quadrant, r, rest }
}

/// Cody and Waite's: `x - n · π/2` in three parts. The first difference is exact, the second's rounding is caught:
/// near a multiple of π/2 little else is left.
fn reduce_moderate<'k>(x: Val<'k>) -> (Val<'k>, Val<'k>, Val<'k>) {
    let sum = x.fma(TWO_OVER_PI, ROUNDER);
    let n = sum - ROUNDER;
    let a = n.fma(-HALF_PI[0], x);
    let b = n * HALF_PI[1];
    let b_rest = n.fma(HALF_PI[1], -b);
    let r = a - b;
    let missed = ((a - r) - b) - b_rest;
    // The two low bits of the sum are those of n.
    (bits(sum), r, n.fma(-HALF_PI[2], missed))
}

/// The bits of 2/π after the point, with 32 zeros before them.
const TWO_OVER_PI_WORDS: [u32; 8] =
    [0, 0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab];

/// Payne and Hanek's: the product with 96 bits of 2/π, those that neither give multiples of four nor lie below 2^-62.
fn reduce_large<'k>(x: Val<'k>) -> (Val<'k>, Val<'k>, Val<'k>) {
    let magnitude = bits(x) & 0x7fff_ffff;
    let mantissa = ((magnitude & 0x007f_ffff) | 0x0080_0000).to_u(Scalar::I64);
    // |x| = mantissa · 2^(exponent - 150), and bit b of the words weighs 2^(31 - b): those from 2^1 down are wanted.
    let first = (magnitude >> 23) - 120;
    let (high, low) = window(first);
    let product = mantissa * high + (mantissa * low).shr_u(32);
    // Two bits of integer, then the fraction; half a quadrant more rounds to the nearest.
    let quadrant = (product + (1i64 << 61)).shr_u(62);
    let fraction = product - (quadrant << 62);
    let (r, rest) = quarter_turns_to_radians(fraction);
    let finite = magnitude.lt(0x7f80_0000);
    let (r, quadrant) = (finite.select(r, f32::NAN), quadrant.to(Scalar::I32));
    let negative = bits(x).lt(0);
    (negative.select(-quadrant, quadrant), negative.select(-r, r), negative.select(-rest, rest))
}

/// 96 bits of 2/π from a bit on, as an I64 of 64 and one of 32. The first bit is between 24 and 134.
fn window<'k>(first: Val<'k>) -> (Val<'k>, Val<'k>) {
    let k = first.builder();
    let (word, shift) = (first >> 5, (first & 31).to_u(Scalar::I64));
    let pair = |at: usize| {
        let joined = |i: usize| {
            let two = (TWO_OVER_PI_WORDS[i] as u64) << 32 | TWO_OVER_PI_WORDS[i + 1] as u64;
            k.i64(two as i64)
        };
        (1..5).fold(joined(at), |chosen, i| word.ge(i).select(joined(at + i as usize), chosen))
    };
    let (a, b) = (pair(0), pair(2));
    let high = (a << shift) | b.shr_u(1).shr_u(63 - shift);
    (high, (b << shift).shr_u(32))
}

/// A signed fraction of a quarter turn in units of 2^-62, as radians in two floats. Conversions are of 24 bits, so exact.
fn quarter_turns_to_radians<'k>(fraction: Val<'k>) -> (Val<'k>, Val<'k>) {
    let magnitude = fraction.abs();
    let zeros = magnitude.leading_zeros();
    let shifted = magnitude << zeros;
    let high = shifted.shr_u(40).to(Scalar::I32).to(Scalar::F32);
    let low = (shifted.shr_u(16) & 0x00ff_ffff).to(Scalar::I32).to(Scalar::F32);
    let unit = power_of_two(-22 - zeros.to(Scalar::I32));
    let unit = fraction.lt(0).select(-unit, unit);
    let (high, low) = (high * unit, low * (unit * (1.0 / 16_777_216.0)));
    let r = high * HALF_PI[0];
    let missed = high.fma(HALF_PI[0], -r);
    (r, high.fma(HALF_PI[1], low.fma(HALF_PI[0], missed)))
}
