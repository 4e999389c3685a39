//! Operations on one value.

use super::word::{Apply, Visit1, lift1};
use crate::ir::UnaryOp;
use crate::types::Scalar;

/// The operation on one component.
///
/// # Panics
/// If the operation is not defined on the type; `verify` refuses such kernels.
pub fn unary(op: UnaryOp, scalar: Scalar, a: u64) -> u64 {
    visit_unary(op, scalar, Apply([a]))
}

/// Finds the function and visits it.
pub(crate) fn visit_unary<V: Visit1>(op: UnaryOp, scalar: Scalar, v: V) -> V::Out {
    match (scalar, op) {
        (Scalar::Bool, UnaryOp::Not) => v.visit(lift1(|a: bool| !a)),
        (Scalar::I32, _) => of_u32(op, v),
        (Scalar::I64, _) => of_u64(op, v),
        (Scalar::F32, _) => of_f32(op, v),
        (Scalar::F64, _) => of_f64(op, v),
        _ => undefined(op, scalar),
    }
}

macro_rules! integer_table {
    ($name:ident, $u:ty, $i:ty, $scalar:expr) => {
        fn $name<V: Visit1>(op: UnaryOp, v: V) -> V::Out {
            match op {
                UnaryOp::Neg => v.visit(lift1(<$u>::wrapping_neg)),
                UnaryOp::Abs => v.visit(lift1(<$i>::wrapping_abs)),
                UnaryOp::Not => v.visit(lift1(|a: $u| !a)),
                UnaryOp::CountOnes => v.visit(lift1(|a: $u| <$u>::from(a.count_ones()))),
                UnaryOp::LeadingZeros => v.visit(lift1(|a: $u| <$u>::from(a.leading_zeros()))),
                UnaryOp::TrailingZeros => v.visit(lift1(|a: $u| <$u>::from(a.trailing_zeros()))),
                UnaryOp::ReverseBits => v.visit(lift1(<$u>::reverse_bits)),
                _ => undefined(op, $scalar),
            }
        }
    };
}

integer_table!(of_u32, u32, i32, Scalar::I32);
integer_table!(of_u64, u64, i64, Scalar::I64);

macro_rules! float_table {
    ($name:ident, $f:ty, $bits:ty, $scalar:expr) => {
        fn $name<V: Visit1>(op: UnaryOp, v: V) -> V::Out {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            match op {
                UnaryOp::Neg => v.visit(lift1(|a: $bits| a ^ SIGN)),
                UnaryOp::Abs => v.visit(lift1(|a: $bits| a & !SIGN)),
                UnaryOp::Floor => v.visit(lift1(<$f>::floor)),
                UnaryOp::Ceil => v.visit(lift1(<$f>::ceil)),
                UnaryOp::Trunc => v.visit(lift1(<$f>::trunc)),
                UnaryOp::RoundEven => v.visit(lift1(<$f>::round_ties_even)),
                UnaryOp::Sqrt => v.visit(lift1(<$f>::sqrt)),
                _ => undefined(op, $scalar),
            }
        }
    };
}

float_table!(of_f32, f32, u32, Scalar::F32);
float_table!(of_f64, f64, u64, Scalar::F64);

fn undefined<T>(op: UnaryOp, scalar: Scalar) -> T {
    panic!("{op:?} is not defined on {}; verify refuses it", scalar.name())
}
