//! Rounding and wrapping to storage types: `narrow`, `encode`, `decode`.
//!
//! The 16-bit floats are rounded by integer arithmetic: to nearest even, through denormals, to infinity on overflow; a NaN
//! stays a NaN, made quiet.

use super::word::{Apply, Visit1, lift1};
use crate::types::Elem;

/// An I32 or F32 component as it would come back from storage of the type; other types leave it as it is.
pub fn narrow(elem: Elem, a: u64) -> u64 {
    visit_narrow(elem, Apply([a]))
}

/// An F32 component as 16 bits of F16 or BF16.
///
/// # Panics
/// If the type is another; `verify` refuses such kernels.
pub fn encode(elem: Elem, a: u64) -> u64 {
    visit_encode(elem, Apply([a]))
}

/// The low 16 bits read as F16 or BF16, as an F32 component.
///
/// # Panics
/// If the type is another; `verify` refuses such kernels.
pub fn decode(elem: Elem, a: u64) -> u64 {
    visit_decode(elem, Apply([a]))
}

/// A number rounded once to F16, BF16 or F32, as an f32.
///
/// # Panics
/// If the type is another.
pub fn round_to_elem(elem: Elem, value: f64) -> f32 {
    match elem {
        Elem::F32 => value as f32,
        Elem::F16 => f16_to_f32(f32_to_f16(to_f32_odd(value))),
        Elem::BF16 => bf16_to_f32(f32_to_bf16(to_f32_odd(value))),
        _ => panic!("rounding to {}, which is no float of a matrix", elem.name()),
    }
}

/// Finds the function and visits it.
pub(crate) fn visit_narrow<V: Visit1>(elem: Elem, v: V) -> V::Out {
    match elem {
        Elem::I8 => v.visit(lift1(|a: i32| a as i8 as i32)),
        Elem::U8 => v.visit(lift1(|a: u32| a as u8 as u32)),
        Elem::I16 => v.visit(lift1(|a: i32| a as i16 as i32)),
        Elem::U16 => v.visit(lift1(|a: u32| a as u16 as u32)),
        Elem::F16 => v.visit(lift1(|a: f32| f16_to_f32(f32_to_f16(a)))),
        Elem::BF16 => v.visit(lift1(|a: f32| bf16_to_f32(f32_to_bf16(a)))),
        _ => v.visit(|a| a),
    }
}

/// Finds the function and visits it.
pub(crate) fn visit_encode<V: Visit1>(elem: Elem, v: V) -> V::Out {
    match elem {
        Elem::F16 => v.visit(lift1(|a: f32| f32_to_f16(a) as u32)),
        Elem::BF16 => v.visit(lift1(|a: f32| f32_to_bf16(a) as u32)),
        _ => panic!("encode is not defined on {}; verify refuses it", elem.name()),
    }
}

/// Finds the function and visits it.
pub(crate) fn visit_decode<V: Visit1>(elem: Elem, v: V) -> V::Out {
    match elem {
        Elem::F16 => v.visit(lift1(|a: u32| f16_to_f32(a as u16))),
        Elem::BF16 => v.visit(lift1(|a: u32| bf16_to_f32(a as u16))),
        _ => panic!("decode is not defined on {}; verify refuses it", elem.name()),
    }
}

/// f32 to bf16: the upper half, rounded.
#[inline(always)]
pub(crate) fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let rounded = (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16;
    let quiet = (bits >> 16) as u16 | 0x40;
    if value.is_nan() { quiet } else { rounded }
}

/// bf16 to f32: the upper half.
#[inline(always)]
pub(crate) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

/// f32 to f16. Without a branch, so that a column's loop can be vectorised.
#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    // Normal results: the exponent's bias drops by 112, the mantissa by 13 bits, rounded; a carry walks into the exponent.
    let odd = magnitude >> 13 & 1;
    let normal = (magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13) as u16;
    // Below 2^-14: the addition of 1/2 aligns the last place of the sum with the last place of f16 (2^-24) and rounds there.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits()) as u16;
    let special = if magnitude > 0x7f80_0000 { 0x7e00 | (magnitude >> 13 & 0x3ff) as u16 } else { 0x7c00 };
    let finite = if magnitude < 113 << 23 { denormal } else { normal };
    // From 65520, halfway to 65536, it is infinity.
    sign | if magnitude >= 0x477f_f000 { special } else { finite }
}

/// f16 to f32, exactly.
#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    let sign = ((bits & 0x8000) as u32) << 16;
    let magnitude = ((bits & 0x7fff) as u32) << 13;
    let special = magnitude >= 0x7c00 << 13;
    let rebased = magnitude + (112 << 23) + if special { 112 << 23 } else { 0 };
    // Denormals: the bits count units of 2^-24.
    let denormal = ((bits & 0x7fff) as f32 * f32::from_bits(103 << 23)).to_bits();
    f32::from_bits(sign | if magnitude < 1 << 23 { denormal } else { rebased })
}

/// f64 to f32 rounded to odd, so that a second rounding to fewer bits is as if it were the only one.
fn to_f32_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = near as f64;
    if near.is_nan() || back == value {
        return near;
    }
    if near.is_infinite() {
        return f32::MAX.copysign(near);
    }
    let bits = near.to_bits();
    let toward_zero = if back.abs() > value.abs() { bits - 1 } else { bits };
    f32::from_bits(toward_zero | 1)
}
