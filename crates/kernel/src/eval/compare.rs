//! Comparisons.

use super::word::{Apply, Visit2, lift2};
use crate::ir::CompareOp;
use crate::types::Scalar;

/// The comparison of one component of each: 1 or 0.
///
/// # Panics
/// If the comparison is not defined on the type; `verify` refuses such kernels.
pub fn compare(op: CompareOp, scalar: Scalar, a: u64, b: u64) -> u64 {
    visit_compare(op, scalar, Apply([a, b]))
}

/// Finds the function and visits it.
pub(crate) fn visit_compare<V: Visit2>(op: CompareOp, scalar: Scalar, v: V) -> V::Out {
    match (op, scalar) {
        // Equality of integers and bools is equality of words: what stands above them is zero.
        (CompareOp::Eq, Scalar::Bool | Scalar::I32 | Scalar::I64) => v.visit(lift2(|a: u64, b: u64| a == b)),
        (CompareOp::Ne, Scalar::Bool | Scalar::I32 | Scalar::I64) => v.visit(lift2(|a: u64, b: u64| a != b)),
        (CompareOp::Eq, Scalar::F32) => v.visit(lift2(|a: f32, b: f32| a == b)),
        (CompareOp::Ne, Scalar::F32) => v.visit(lift2(|a: f32, b: f32| a != b)),
        (CompareOp::Eq, Scalar::F64) => v.visit(lift2(|a: f64, b: f64| a == b)),
        (CompareOp::Ne, Scalar::F64) => v.visit(lift2(|a: f64, b: f64| a != b)),
        (CompareOp::Lt, Scalar::I32) => v.visit(lift2(|a: i32, b: i32| a < b)),
        (CompareOp::Le, Scalar::I32) => v.visit(lift2(|a: i32, b: i32| a <= b)),
        (CompareOp::Lt, Scalar::I64) => v.visit(lift2(|a: i64, b: i64| a < b)),
        (CompareOp::Le, Scalar::I64) => v.visit(lift2(|a: i64, b: i64| a <= b)),
        (CompareOp::Lt, Scalar::F32) => v.visit(lift2(|a: f32, b: f32| a < b)),
        (CompareOp::Le, Scalar::F32) => v.visit(lift2(|a: f32, b: f32| a <= b)),
        (CompareOp::Lt, Scalar::F64) => v.visit(lift2(|a: f64, b: f64| a < b)),
        (CompareOp::Le, Scalar::F64) => v.visit(lift2(|a: f64, b: f64| a <= b)),
        (CompareOp::LtU, Scalar::I32 | Scalar::I64) => v.visit(lift2(|a: u64, b: u64| a < b)),
        (CompareOp::LeU, Scalar::I32 | Scalar::I64) => v.visit(lift2(|a: u64, b: u64| a <= b)),
        _ => panic!("{op:?} is not defined on {}; verify refuses it", scalar.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [CompareOp; 6] =
        [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::LtU, CompareOp::LeU];

    #[test]
    fn integers_compare_by_the_sign_the_operation_says() {
        let of = |a: i32, b: i32| ALL.map(|op| compare(op, Scalar::I32, a as u32 as u64, b as u32 as u64));
        assert_eq!(of(-1, 1), [0, 1, 1, 1, 0, 0]);
        assert_eq!(of(1, -1), [0, 1, 0, 0, 1, 1]);
        assert_eq!(of(5, 5), [1, 0, 0, 1, 0, 1]);
        let of = |a: i64, b: i64| ALL.map(|op| compare(op, Scalar::I64, a as u64, b as u64));
        assert_eq!(of(i64::MIN, 0), [0, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn of_floats_all_but_unequal_are_false_for_nan() {
        let of = |a: f32, b: f32| {
            [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le]
                .map(|op| compare(op, Scalar::F32, a.to_bits() as u64, b.to_bits() as u64))
        };
        assert_eq!(of(f32::NAN, 1.0), [0, 1, 0, 0]);
        assert_eq!(of(f32::NAN, f32::NAN), [0, 1, 0, 0]);
        assert_eq!(of(0.0, -0.0), [1, 0, 0, 1]);
        assert_eq!(of(-1e-45, 0.0), [0, 1, 1, 1]);
    }
}
