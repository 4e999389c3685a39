//! f32 to f16 and bf16 and back, by integer arithmetic: to nearest even, through denormals, to infinity on overflow; a NaN
//! stays a NaN.

use super::function;
use crate::build::Builder;
use crate::types::Scalar::{F32, I32};

/// The difference of the exponents' biases, in place.
const REBASE: u32 = 112 << 23;

pub(super) fn encode_f16(k: &Builder) {
    function(k, F32, |[x]| {
        let bits = x.bitcast(I32);
        let sign = bits.shr_u(16) & 0x8000;
        let magnitude = bits & 0x7fff_ffff;
        // Normal results: the exponent's bias drops by 112, the mantissa by 13 bits, rounded; a carry walks into the exponent.
        let odd = magnitude.shr_u(13) & 1;
        let normal = (magnitude + 0xfffu32.wrapping_sub(REBASE) + odd).shr_u(13);
        // Below 2^-14: the addition of 1/2 aligns the last place of the sum with the last place of f16 (2^-24).
        let denormal = (magnitude.bitcast(F32) + 0.5).bitcast(I32) - 0.5f32.to_bits();
        let finite = magnitude.lt_u(113 << 23).select(denormal, normal);
        let special = magnitude.gt_u(0x7f80_0000).select(k.i32(0x7e00), 0x7c00);
        // From 65520, halfway to 65536, it is infinity.
        sign | magnitude.ge_u(0x477f_f000).select(special, finite)
    });
}

/// Scales by 2^112 what has the exponent and mantissa of the f16 in the places of an f32. A denormal f16 is a denormal f32
/// before the product: only for devices that keep those.
pub(super) fn decode_f16_by_product(k: &Builder) {
    function(k, I32, |[half]| {
        let bits = ((half << 16) >> 3) & 0x8fff_e000u32;
        let scaled = (bits.bitcast(F32) * f32::from_bits(239 << 23)).bitcast(I32);
        let special = (bits & 0x0f80_0000).eq(0x0f80_0000);
        special.select(scaled | 0x7f80_0000, scaled).bitcast(F32)
    });
}

pub(super) fn decode_f16(k: &Builder) {
    function(k, I32, |[half]| {
        let bits = ((half << 16) >> 3) & 0x8fff_e000u32;
        let (sign, magnitude) = (bits & 0x8000_0000u32, bits & 0x0fff_e000);
        let special = magnitude.ge_u(0x0f80_0000);
        let normal = magnitude + special.select(k.i32(2 * REBASE as i32), REBASE as i32);
        // Denormals: with the least normal exponent in place the mantissa counts from 2^-14, which is then taken off.
        let least = f32::from_bits(113 << 23);
        let denormal = ((magnitude + (113 << 23)).bitcast(F32) - least).bitcast(I32);
        let magnitude = magnitude.lt_u(1 << 23).select(denormal, normal);
        (sign | magnitude).bitcast(F32)
    });
}

pub(super) fn encode_bf16(k: &Builder) {
    function(k, F32, |[x]| {
        let bits = x.bitcast(I32);
        let high = bits.shr_u(16);
        let rounded = (bits + 0x7fff + (high & 1)).shr_u(16);
        let nan = (bits & 0x7fff_ffff).gt_u(0x7f80_0000);
        nan.select(high | 0x40, rounded)
    });
}
