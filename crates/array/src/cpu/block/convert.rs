//! The loops of conversions: by value, by bits, and through storage types.

use pumice_kernel::{Elem, Scalar};

use super::loops::{Function, each};
use crate::cpu::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::cpu::simd::{has_wide_vectors, truncated};

/// The loop of a conversion by value. `as` between floats and integers is the language's rule word for word.
pub(super) fn convert(from: Scalar, to: Scalar, signed: bool) -> Function {
    match to {
        Scalar::Bool => to_bool(from),
        Scalar::I32 => to_i32(from, signed),
        Scalar::I64 => to_i64(from, signed),
        Scalar::F32 => to_f32(from, signed),
        Scalar::F64 => to_f64(from, signed),
    }
}

fn to_bool(from: Scalar) -> Function {
    match from {
        Scalar::Bool => each!(Narrow1, |a: u32| a),
        Scalar::I32 => each!(Narrow1, |a: u32| a != 0),
        Scalar::I64 => each!(Shrink, |a: u64| a != 0),
        Scalar::F32 => each!(Narrow1, |a: f32| a != 0.0),
        Scalar::F64 => each!(Shrink, |a: f64| a != 0.0),
    }
}

fn to_i32(from: Scalar, signed: bool) -> Function {
    match (from, signed) {
        (Scalar::Bool, _) => each!(Narrow1, |a: u32| a & 1),
        (Scalar::I32, _) => each!(Narrow1, |a: u32| a),
        (Scalar::I64, _) => each!(Shrink, |a: u64| a as u32),
        (Scalar::F32, true) => each!(Narrow1, |a: f32| truncated(a)),
        (Scalar::F32, false) if has_wide_vectors() => each!(Narrow1, |a: f32| whole(a)),
        (Scalar::F32, false) => each!(Narrow1, |a: f32| a as u32),
        (Scalar::F64, true) => each!(Shrink, |a: f64| a as i32),
        (Scalar::F64, false) => each!(Shrink, |a: f64| a as u32),
    }
}

/// As `as` does it, which the compiler makes no vectors of: between bounds, without the fraction, and 0 for NaN.
#[inline(always)]
fn whole(a: f32) -> u32 {
    const MOST: f64 = u32::MAX as f64;
    let bounded = if a as f64 > MOST { MOST } else { a as f64 };
    let bounded = if bounded < 0.0 { 0.0 } else { bounded };
    // In the sum with 3 · 2^51 an integer stands in the low bits.
    let bits = (bounded.trunc() + 6_755_399_441_055_744.0).to_bits() as u32;
    if a.is_nan() { 0 } else { bits }
}

fn to_i64(from: Scalar, signed: bool) -> Function {
    match (from, signed) {
        (Scalar::Bool, _) => each!(Widen, |a: u32| (a & 1) as u64),
        (Scalar::I32, true) => each!(Widen, |a: i32| a as i64),
        (Scalar::I32, false) => each!(Widen, |a: u32| a as u64),
        (Scalar::I64, _) => each!(Wide1, |a: u64| a),
        (Scalar::F32, true) => each!(Widen, |a: f32| a as i64),
        (Scalar::F32, false) => each!(Widen, |a: f32| a as u64),
        (Scalar::F64, true) => each!(Wide1, |a: f64| a as i64),
        (Scalar::F64, false) => each!(Wide1, |a: f64| a as u64),
    }
}

fn to_f32(from: Scalar, signed: bool) -> Function {
    match (from, signed) {
        (Scalar::Bool, _) => each!(Narrow1, |a: bool| if a { 1f32 } else { 0.0 }),
        (Scalar::I32, true) => each!(Narrow1, |a: i32| a as f32),
        (Scalar::I32, false) => each!(Narrow1, |a: u32| a as f32),
        (Scalar::I64, true) => each!(Shrink, |a: i64| a as f32),
        (Scalar::I64, false) => each!(Shrink, |a: u64| a as f32),
        (Scalar::F32, _) => each!(Narrow1, |a: u32| a),
        (Scalar::F64, _) => each!(Shrink, |a: f64| a as f32),
    }
}

fn to_f64(from: Scalar, signed: bool) -> Function {
    match (from, signed) {
        (Scalar::Bool, _) => each!(Widen, |a: bool| if a { 1f64 } else { 0.0 }),
        (Scalar::I32, true) => each!(Widen, |a: i32| a as f64),
        (Scalar::I32, false) => each!(Widen, |a: u32| a as f64),
        (Scalar::I64, true) => each!(Wide1, |a: i64| a as f64),
        (Scalar::I64, false) => each!(Wide1, |a: u64| a as f64),
        (Scalar::F32, _) => each!(Widen, |a: f32| a as f64),
        (Scalar::F64, _) => each!(Wide1, |a: u64| a),
    }
}

/// The loop of narrowing to a storage type; none where it changes nothing.
pub(super) fn narrow(elem: Elem) -> Option<Function> {
    Some(match elem {
        Elem::I8 => each!(Narrow1, |a: i32| a as i8 as i32),
        Elem::U8 => each!(Narrow1, |a: u32| a as u8 as u32),
        Elem::I16 => each!(Narrow1, |a: i32| a as i16 as i32),
        Elem::U16 => each!(Narrow1, |a: u32| a as u16 as u32),
        Elem::F16 => each!(Narrow1, |a: f32| f16_to_f32(f32_to_f16(a))),
        Elem::BF16 => each!(Narrow1, |a: f32| bf16_to_f32(f32_to_bf16(a))),
        _ => return None,
    })
}

/// The loop from F32 to 16 bits. None where the language does not define it, which `verify` refuses.
pub(super) fn encode(elem: Elem) -> Option<Function> {
    match elem {
        Elem::F16 => Some(each!(Narrow1, |a: f32| f32_to_f16(a) as u32)),
        Elem::BF16 => Some(each!(Narrow1, |a: f32| f32_to_bf16(a) as u32)),
        _ => None,
    }
}

/// The loop from 16 bits to F32. None where the language does not define it, which `verify` refuses.
pub(super) fn decode(elem: Elem) -> Option<Function> {
    match elem {
        Elem::F16 => Some(each!(Narrow1, |a: u32| f16_to_f32(a as u16))),
        Elem::BF16 => Some(each!(Narrow1, |a: u32| bf16_to_f32(a as u16))),
        _ => None,
    }
}

/// Two halves as one of 64 bits, the low one first.
pub(super) fn join() -> Function {
    each!(Join, |low: u32, high: u32| low as u64 | (high as u64) << 32)
}

/// The low and the high half of 64 bits.
pub(super) fn halves() -> [Function; 2] {
    [each!(Shrink, |a: u64| a as u32), each!(Shrink, |a: u64| (a >> 32) as u32)]
}
