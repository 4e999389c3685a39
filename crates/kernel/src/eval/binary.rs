//! Operations on two values, and the identities of those that reductions use.

use super::word::{Apply, Visit2, lift2};
use crate::ir::BinaryOp;
use crate::types::Scalar;

/// The operation on one component of each.
///
/// # Panics
/// If the operation is not defined on the type; `verify` refuses such kernels.
pub fn binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> u64 {
    visit_binary(op, scalar, Apply([a, b]))
}

/// What the first invocation of an exclusive scan gets: the value that changes nothing, `+0` for sums of floats. None for
/// operations that do not reduce.
pub fn identity(op: BinaryOp, scalar: Scalar) -> Option<u64> {
    let ones = match scalar {
        Scalar::Bool => 1,
        Scalar::I32 | Scalar::F32 => u32::MAX as u64,
        Scalar::I64 | Scalar::F64 => u64::MAX,
    };
    let least = ones / 2 + 1;
    Some(match (op, scalar) {
        (BinaryOp::Add, _) => 0,
        (BinaryOp::Mul, Scalar::F32) => 1f32.to_bits() as u64,
        (BinaryOp::Mul, Scalar::F64) => 1f64.to_bits(),
        (BinaryOp::Mul, _) => 1,
        (BinaryOp::Min, Scalar::F32) => f32::INFINITY.to_bits() as u64,
        (BinaryOp::Min, Scalar::F64) => f64::INFINITY.to_bits(),
        (BinaryOp::Max, Scalar::F32) => f32::NEG_INFINITY.to_bits() as u64,
        (BinaryOp::Max, Scalar::F64) => f64::NEG_INFINITY.to_bits(),
        (BinaryOp::MinS, _) => least - 1,
        (BinaryOp::MaxS, _) => least,
        (BinaryOp::MinU | BinaryOp::And, _) => ones,
        (BinaryOp::MaxU | BinaryOp::Or | BinaryOp::Xor, _) => 0,
        _ => return None,
    })
}

/// Finds the function and visits it.
pub(crate) fn visit_binary<V: Visit2>(op: BinaryOp, scalar: Scalar, v: V) -> V::Out {
    match scalar {
        Scalar::Bool => of_bool(op, v),
        Scalar::I32 => of_u32(op, v),
        Scalar::I64 => of_u64(op, v),
        Scalar::F32 => of_f32(op, v),
        Scalar::F64 => of_f64(op, v),
    }
}

fn of_bool<V: Visit2>(op: BinaryOp, v: V) -> V::Out {
    match op {
        BinaryOp::And => v.visit(lift2(|a: bool, b: bool| a & b)),
        BinaryOp::Or => v.visit(lift2(|a: bool, b: bool| a | b)),
        BinaryOp::Xor => v.visit(lift2(|a: bool, b: bool| a ^ b)),
        _ => undefined(op, Scalar::Bool),
    }
}

macro_rules! integer_table {
    ($name:ident, $u:ty, $i:ty, $wide_u:ty, $wide_i:ty, $scalar:expr) => {
        fn $name<V: Visit2>(op: BinaryOp, v: V) -> V::Out {
            match op {
                BinaryOp::Add => v.visit(lift2(<$u>::wrapping_add)),
                BinaryOp::Sub => v.visit(lift2(<$u>::wrapping_sub)),
                BinaryOp::Mul => v.visit(lift2(<$u>::wrapping_mul)),
                BinaryOp::DivS => v.visit(lift2(|a: $i, b: $i| if b == 0 { 0 } else { a.wrapping_div(b) })),
                BinaryOp::DivU => v.visit(lift2(|a: $u, b: $u| a.checked_div(b).unwrap_or(0))),
                BinaryOp::RemS => v.visit(lift2(|a: $i, b: $i| if b == 0 { a } else { a.wrapping_rem(b) })),
                BinaryOp::RemU => v.visit(lift2(|a: $u, b: $u| a.checked_rem(b).unwrap_or(a))),
                BinaryOp::MulHighS => {
                    v.visit(lift2(|a: $i, b: $i| ((a as $wide_i * b as $wide_i) >> <$i>::BITS) as $i))
                }
                BinaryOp::MulHighU => {
                    v.visit(lift2(|a: $u, b: $u| ((a as $wide_u * b as $wide_u) >> <$u>::BITS) as $u))
                }
                BinaryOp::MinS => v.visit(lift2(<$i>::min)),
                BinaryOp::MaxS => v.visit(lift2(<$i>::max)),
                BinaryOp::MinU => v.visit(lift2(<$u>::min)),
                BinaryOp::MaxU => v.visit(lift2(<$u>::max)),
                BinaryOp::And => v.visit(lift2(|a: $u, b: $u| a & b)),
                BinaryOp::Or => v.visit(lift2(|a: $u, b: $u| a | b)),
                BinaryOp::Xor => v.visit(lift2(|a: $u, b: $u| a ^ b)),
                BinaryOp::Shl => v.visit(lift2(|a: $u, b: $u| a.wrapping_shl(b as u32))),
                BinaryOp::ShrS => v.visit(lift2(|a: $i, b: $i| a.wrapping_shr(b as u32))),
                BinaryOp::ShrU => v.visit(lift2(|a: $u, b: $u| a.wrapping_shr(b as u32))),
                BinaryOp::Div | BinaryOp::Min | BinaryOp::Max => undefined(op, $scalar),
            }
        }
    };
}

integer_table!(of_u32, u32, i32, u64, i64, Scalar::I32);
integer_table!(of_u64, u64, i64, u128, i128, Scalar::I64);

macro_rules! float_table {
    ($name:ident, $f:ty, $scalar:expr) => {
        fn $name<V: Visit2>(op: BinaryOp, v: V) -> V::Out {
            match op {
                BinaryOp::Add => v.visit(lift2(|a: $f, b: $f| a + b)),
                BinaryOp::Sub => v.visit(lift2(|a: $f, b: $f| a - b)),
                BinaryOp::Mul => v.visit(lift2(|a: $f, b: $f| a * b)),
                BinaryOp::Div => v.visit(lift2(|a: $f, b: $f| a / b)),
                BinaryOp::Min => v.visit(lift2(|a: $f, b: $f| if a < b || a.is_nan() { a } else { b })),
                BinaryOp::Max => v.visit(lift2(|a: $f, b: $f| if a > b || a.is_nan() { a } else { b })),
                _ => undefined(op, $scalar),
            }
        }
    };
}

float_table!(of_f32, f32, Scalar::F32);
float_table!(of_f64, f64, Scalar::F64);

fn undefined<T>(op: BinaryOp, scalar: Scalar) -> T {
    panic!("{op:?} is not defined on {}; verify refuses it", scalar.name())
}
