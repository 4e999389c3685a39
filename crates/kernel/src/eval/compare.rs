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
