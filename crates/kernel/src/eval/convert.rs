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

#[cfg(test)]
mod tests {
    use super::*;

    fn from_f32(a: f32, to: Scalar, signed: bool) -> u64 {
        convert(Scalar::F32, to, signed, a.to_bits() as u64)
    }

    #[test]
    fn floats_to_integers_truncate_saturate_and_take_nan_to_zero() {
        let signed = |a| from_f32(a, Scalar::I32, true) as i32;
        let unsigned = |a| from_f32(a, Scalar::I32, false);
        assert_eq!([signed(-1.9), signed(1.9), signed(f32::NAN)], [-1, 1, 0]);
        assert_eq!([signed(3e9), signed(f32::NEG_INFINITY), signed(2147483648.0)], [i32::MAX, i32::MIN, i32::MAX]);
        assert_eq!([unsigned(-1.0), unsigned(-0.5), unsigned(3e9)], [0, 0, 3_000_000_000]);
        assert_eq!(unsigned(4294967296.0), u32::MAX as u64);
        assert_eq!(from_f32(-1e30, Scalar::I64, true) as i64, i64::MIN);
        assert_eq!(from_f32(1e30, Scalar::I64, false), u64::MAX);
        assert_eq!(convert(Scalar::F64, Scalar::I32, true, (-0.9f64).to_bits()), 0);
    }

    #[test]
    fn integers_to_floats_round_to_nearest_even() {
        let to_f32 = |a: u64, from, signed| f32::from_bits(convert(from, Scalar::F32, signed, a) as u32);
        assert_eq!(to_f32(16777217, Scalar::I32, true), 16777216.0);
        assert_eq!(to_f32(16777219, Scalar::I32, true), 16777220.0);
        assert_eq!(to_f32(0xffff_ffff, Scalar::I32, true), -1.0);
        assert_eq!(to_f32(0xffff_ffff, Scalar::I32, false), 4294967296.0);
        // Rounded through f64 this would tie and fall to the even neighbour below.
        assert_eq!(to_f32((1 << 60) + (1 << 36) + 1, Scalar::I64, true), (1u64 << 60) as f32 + (1u64 << 37) as f32);
        assert_eq!(to_f32(u64::MAX, Scalar::I64, false), 18446744073709551616.0);
    }

    #[test]
    fn anything_but_zero_is_true() {
        assert_eq!(from_f32(f32::NAN, Scalar::Bool, true), 1);
        assert_eq!(from_f32(-0.0, Scalar::Bool, true), 0);
        assert_eq!(from_f32(1e-45, Scalar::Bool, true), 1);
        assert_eq!(convert(Scalar::I64, Scalar::Bool, true, 1 << 32), 1);
    }

    #[test]
    fn a_bool_is_one_or_zero_whatever_the_sign() {
        for signed in [true, false] {
            assert_eq!(convert(Scalar::Bool, Scalar::I64, signed, 1), 1);
            assert_eq!(convert(Scalar::Bool, Scalar::F32, signed, 1), 1f32.to_bits() as u64);
            assert_eq!(convert(Scalar::Bool, Scalar::F64, signed, 0), 0);
        }
    }

    #[test]
    fn widening_extends_by_sign_and_narrowing_drops_the_upper_half() {
        assert_eq!(convert(Scalar::I32, Scalar::I64, true, 0xffff_fffe) as i64, -2);
        assert_eq!(convert(Scalar::I32, Scalar::I64, false, 0xffff_fffe), 0xffff_fffe);
        assert_eq!(convert(Scalar::I64, Scalar::I32, true, 0x1_8000_0001), 0x8000_0001);
        let third = (1.0f64 / 3.0).to_bits();
        assert_eq!(convert(Scalar::F64, Scalar::F32, true, third), (1f32 / 3.0).to_bits() as u64);
    }

    #[test]
    fn a_bitcast_puts_the_low_half_first() {
        let pair = Type::Vector(Scalar::I32, 2);
        assert_eq!(bitcast(Type::I64, pair, &[0x1111_2222_3333_4444]), [0x3333_4444, 0x1111_2222]);
        assert_eq!(bitcast(pair, Type::F64, &[1, 2]), [0x2_0000_0001]);
        assert_eq!(bitcast(Type::F32, Type::I32, &[7]), [7]);
    }
}
