//! Conversions by value, and the same bits seen as another type.

use super::word::{Apply, Visit1, lift1};
use crate::types::{Scalar, Type};

/// One component converted by value; see `Op::Convert`.
pub fn convert(from: Scalar, to: Scalar, signed: bool, a: u64) -> u64 {
    visit_convert(from, to, signed, Apply([a]))
}

/// The components of a value seen as those of another type of the same size, lowest first. The conversion is by bits.
///
/// # Panics
/// If the sizes differ, or a type is a matrix or holds bools; `verify` refuses such kernels.
pub fn bitcast(from: Type, to: Type, components: &[u64]) -> Vec<u64> {
    let width = |ty: Type| match ty.scalar() {
        Some(Scalar::Bool) | None => panic!("bitcast of {ty}; verify refuses it"),
        Some(scalar) => scalar.bytes(),
    };
    let (source, target) = (width(from), width(to));
    assert_eq!(source * from.lanes(), target * to.lanes(), "bitcast from {from} to {to}; verify refuses it");
    match (source, target) {
        (4, 8) => components.chunks_exact(2).map(|pair| pair[0] | pair[1] << 32).collect(),
        (8, 4) => components.iter().flat_map(|word| [word & u32::MAX as u64, word >> 32]).collect(),
        _ => components.to_vec(),
    }
}

/// Finds the function and visits it.
pub(crate) fn visit_convert<V: Visit1>(from: Scalar, to: Scalar, signed: bool, v: V) -> V::Out {
    match to {
        Scalar::Bool => to_bool(from, v),
        Scalar::I32 => to_i32(from, signed, v),
        Scalar::I64 => to_i64(from, signed, v),
        Scalar::F32 => to_f32(from, signed, v),
        Scalar::F64 => to_f64(from, signed, v),
    }
}

fn to_bool<V: Visit1>(from: Scalar, v: V) -> V::Out {
    match from {
        Scalar::Bool => v.visit(|a| a),
        Scalar::I32 | Scalar::I64 => v.visit(lift1(|a: u64| a != 0)),
        Scalar::F32 => v.visit(lift1(|a: f32| a != 0.0)),
        Scalar::F64 => v.visit(lift1(|a: f64| a != 0.0)),
    }
}

// `as` from float to integer truncates, saturates and takes NaN to 0, which is the language's rule word for word; from
// integer to float, and from f64 to f32, it rounds to nearest even.

fn to_i32<V: Visit1>(from: Scalar, signed: bool, v: V) -> V::Out {
    match (from, signed) {
        (Scalar::Bool | Scalar::I32, _) => v.visit(|a| a),
        (Scalar::I64, _) => v.visit(lift1(|a: u64| a as u32)),
        (Scalar::F32, true) => v.visit(lift1(|a: f32| a as i32)),
        (Scalar::F32, false) => v.visit(lift1(|a: f32| a as u32)),
        (Scalar::F64, true) => v.visit(lift1(|a: f64| a as i32)),
        (Scalar::F64, false) => v.visit(lift1(|a: f64| a as u32)),
    }
}

fn to_i64<V: Visit1>(from: Scalar, signed: bool, v: V) -> V::Out {
    match (from, signed) {
        (Scalar::Bool | Scalar::I64, _) | (Scalar::I32, false) => v.visit(|a| a),
        (Scalar::I32, true) => v.visit(lift1(|a: i32| a as i64)),
        (Scalar::F32, true) => v.visit(lift1(|a: f32| a as i64)),
        (Scalar::F32, false) => v.visit(lift1(|a: f32| a as u64)),
        (Scalar::F64, true) => v.visit(lift1(|a: f64| a as i64)),
        (Scalar::F64, false) => v.visit(lift1(|a: f64| a as u64)),
    }
}

fn to_f32<V: Visit1>(from: Scalar, signed: bool, v: V) -> V::Out {
    match (from, signed) {
        (Scalar::Bool, _) => v.visit(lift1(|a: bool| a as u8 as f32)),
        (Scalar::I32, true) => v.visit(lift1(|a: i32| a as f32)),
        (Scalar::I32, false) => v.visit(lift1(|a: u32| a as f32)),
        (Scalar::I64, true) => v.visit(lift1(|a: i64| a as f32)),
        (Scalar::I64, false) => v.visit(lift1(|a: u64| a as f32)),
        (Scalar::F32, _) => v.visit(|a| a),
        (Scalar::F64, _) => v.visit(lift1(|a: f64| a as f32)),
    }
}

fn to_f64<V: Visit1>(from: Scalar, signed: bool, v: V) -> V::Out {
    match (from, signed) {
        (Scalar::Bool, _) => v.visit(lift1(|a: bool| a as u8 as f64)),
        (Scalar::I32, true) => v.visit(lift1(|a: i32| a as f64)),
        (Scalar::I32, false) => v.visit(lift1(|a: u32| a as f64)),
        (Scalar::I64, true) => v.visit(lift1(|a: i64| a as f64)),
        (Scalar::I64, false) => v.visit(lift1(|a: u64| a as f64)),
        (Scalar::F32, _) => v.visit(lift1(|a: f32| a as f64)),
        (Scalar::F64, _) => v.visit(|a| a),
    }
}
