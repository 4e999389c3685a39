//! The loops of operations on two values, of comparisons, and of selections.

use pumice_kernel::Scalar;
use pumice_kernel::ir::{BinaryOp, CompareOp};

use super::loops::{Chunk, Function, Lane, Lanes, each, map1, map2};
use crate::cpu::simd::has_wide_vectors;

/// The loop of an operation. None where the language does not define it, which `verify` refuses.
pub(super) fn binary(op: BinaryOp, scalar: Scalar) -> Option<Function> {
    match scalar {
        Scalar::Bool => of_bool(op),
        Scalar::I32 => by_floats(op).filter(|_| has_wide_vectors()).or_else(|| of_u32(op)),
        Scalar::I64 => of_u64(op),
        Scalar::F32 => of_f32(op),
        Scalar::F64 => of_f64(op),
    }
}

fn of_bool(op: BinaryOp) -> Option<Function> {
    Some(match op {
        BinaryOp::And => each!(Narrow2, |a: u32, b: u32| a & b),
        BinaryOp::Or => each!(Narrow2, |a: u32, b: u32| a | b),
        BinaryOp::Xor => each!(Narrow2, |a: u32, b: u32| a ^ b),
        _ => return None,
    })
}

macro_rules! integer_table {
    ($name:ident, $variant:ident, $u:ty, $i:ty, $wide_u:ty, $wide_i:ty) => {
        fn $name(op: BinaryOp) -> Option<Function> {
            Some(match op {
                BinaryOp::Add => each!($variant, |a: $u, b: $u| a.wrapping_add(b)),
                BinaryOp::Sub => each!($variant, |a: $u, b: $u| a.wrapping_sub(b)),
                BinaryOp::Mul => each!($variant, |a: $u, b: $u| a.wrapping_mul(b)),
                BinaryOp::DivS => each!($variant, |a: $i, b: $i| if b == 0 { 0 } else { a.wrapping_div(b) }),
                BinaryOp::DivU => each!($variant, |a: $u, b: $u| a.checked_div(b).unwrap_or(0)),
                BinaryOp::RemS => each!($variant, |a: $i, b: $i| if b == 0 { a } else { a.wrapping_rem(b) }),
                BinaryOp::RemU => each!($variant, |a: $u, b: $u| a.checked_rem(b).unwrap_or(a)),
                BinaryOp::MulHighS => {
                    each!($variant, |a: $i, b: $i| ((a as $wide_i * b as $wide_i) >> <$i>::BITS) as $i)
                }
                BinaryOp::MulHighU => {
                    each!($variant, |a: $u, b: $u| ((a as $wide_u * b as $wide_u) >> <$u>::BITS) as $u)
                }
                BinaryOp::MinS => each!($variant, |a: $i, b: $i| a.min(b)),
                BinaryOp::MaxS => each!($variant, |a: $i, b: $i| a.max(b)),
                BinaryOp::MinU => each!($variant, |a: $u, b: $u| a.min(b)),
                BinaryOp::MaxU => each!($variant, |a: $u, b: $u| a.max(b)),
                BinaryOp::And => each!($variant, |a: $u, b: $u| a & b),
                BinaryOp::Or => each!($variant, |a: $u, b: $u| a | b),
                BinaryOp::Xor => each!($variant, |a: $u, b: $u| a ^ b),
                BinaryOp::Shl => {
                    Function::$variant(|out, a, b| shift(out, a, b, |a: $u, b: $u| a.wrapping_shl(b as u32)))
                }
                BinaryOp::ShrS => {
                    Function::$variant(|out, a, b| shift(out, a, b, |a: $i, b: $u| a.wrapping_shr(b as u32)))
                }
                BinaryOp::ShrU => {
                    Function::$variant(|out, a, b| shift(out, a, b, |a: $u, b: $u| a.wrapping_shr(b as u32)))
                }
                BinaryOp::Div | BinaryOp::Min | BinaryOp::Max => return None,
            })
        }
    };
}

integer_table!(of_u32, Narrow2, u32, i32, u64, i64);
integer_table!(of_u64, Wide2, u64, i64, u128, i128);

/// Divisions of 32 bits, for which there are no vectors, in f64, for which there are: the rounded quotient of two such
/// integers is beyond no integer that the exact one is not beyond. Needs instructions that drop a fraction.
fn by_floats(op: BinaryOp) -> Option<Function> {
    Some(match op {
        BinaryOp::DivS => each!(Narrow2, |a: i32, b: i32| quotient(a as f64, b as f64)),
        BinaryOp::DivU => each!(Narrow2, |a: u32, b: u32| quotient(a as f64, b as f64)),
        BinaryOp::RemS => {
            each!(Narrow2, |a: i32, b: i32| (a as u32)
                .wrapping_sub((b as u32).wrapping_mul(quotient(a as f64, b as f64))))
        }
        BinaryOp::RemU => each!(Narrow2, |a: u32, b: u32| a.wrapping_sub(b.wrapping_mul(quotient(a as f64, b as f64)))),
        _ => return None,
    })
}

/// The low 32 bits of the quotient without its fraction; 0 where the divisor is.
#[inline(always)]
fn quotient(a: f64, b: f64) -> u32 {
    // In the sum with 3 · 2^51 an integer stands in the low bits, in two's complement.
    let bits = ((a / b).trunc() + 6_755_399_441_055_744.0).to_bits() as u32;
    if b == 0.0 { 0 } else { bits }
}

/// Shifts by one amount for all lanes are four times as fast: only those have an instruction before AVX2.
#[inline(always)]
fn shift<A: Lane<Bits = B::Bits>, B: Lane>(
    out: &mut [Chunk<B::Bits>],
    a: Lanes<'_, B::Bits>,
    b: Lanes<'_, B::Bits>,
    f: impl Fn(A, B) -> A,
) {
    match b.uniform() {
        Some(b) => map1(out, a, |a: A| f(a, B::of(b))),
        None => map2(out, a, b, f),
    }
}

macro_rules! float_table {
    ($name:ident, $variant:ident, $f:ty) => {
        fn $name(op: BinaryOp) -> Option<Function> {
            Some(match op {
                BinaryOp::Add => each!($variant, |a: $f, b: $f| a + b),
                BinaryOp::Sub => each!($variant, |a: $f, b: $f| a - b),
                BinaryOp::Mul => each!($variant, |a: $f, b: $f| a * b),
                BinaryOp::Div => each!($variant, |a: $f, b: $f| a / b),
                BinaryOp::Min => each!($variant, |a: $f, b: $f| if (a < b) | a.is_nan() { a } else { b }),
                BinaryOp::Max => each!($variant, |a: $f, b: $f| if (a > b) | a.is_nan() { a } else { b }),
                _ => return None,
            })
        }
    };
}

float_table!(of_f32, Narrow2, f32);
float_table!(of_f64, Wide2, f64);

/// The loop of a comparison. None where the language does not define it, which `verify` refuses.
pub(super) fn compare(op: CompareOp, scalar: Scalar) -> Option<Function> {
    Some(match (op, scalar) {
        (CompareOp::Eq, Scalar::Bool | Scalar::I32) => each!(Narrow2, |a: u32, b: u32| a == b),
        (CompareOp::Ne, Scalar::Bool | Scalar::I32) => each!(Narrow2, |a: u32, b: u32| a != b),
        (CompareOp::Lt, Scalar::I32) => each!(Narrow2, |a: i32, b: i32| a < b),
        (CompareOp::Le, Scalar::I32) => each!(Narrow2, |a: i32, b: i32| a <= b),
        (CompareOp::LtU, Scalar::I32) => each!(Narrow2, |a: u32, b: u32| a < b),
        (CompareOp::LeU, Scalar::I32) => each!(Narrow2, |a: u32, b: u32| a <= b),
        (CompareOp::Eq, Scalar::I64) => each!(Test, |a: u64, b: u64| a == b),
        (CompareOp::Ne, Scalar::I64) => each!(Test, |a: u64, b: u64| a != b),
        (CompareOp::Lt, Scalar::I64) => each!(Test, |a: i64, b: i64| a < b),
        (CompareOp::Le, Scalar::I64) => each!(Test, |a: i64, b: i64| a <= b),
        (CompareOp::LtU, Scalar::I64) => each!(Test, |a: u64, b: u64| a < b),
        (CompareOp::LeU, Scalar::I64) => each!(Test, |a: u64, b: u64| a <= b),
        (CompareOp::Eq, Scalar::F32) => each!(Narrow2, |a: f32, b: f32| a == b),
        (CompareOp::Ne, Scalar::F32) => each!(Narrow2, |a: f32, b: f32| a != b),
        (CompareOp::Lt, Scalar::F32) => each!(Narrow2, |a: f32, b: f32| a < b),
        (CompareOp::Le, Scalar::F32) => each!(Narrow2, |a: f32, b: f32| a <= b),
        (CompareOp::Eq, Scalar::F64) => each!(Test, |a: f64, b: f64| a == b),
        (CompareOp::Ne, Scalar::F64) => each!(Test, |a: f64, b: f64| a != b),
        (CompareOp::Lt, Scalar::F64) => each!(Test, |a: f64, b: f64| a < b),
        (CompareOp::Le, Scalar::F64) => each!(Test, |a: f64, b: f64| a <= b),
        _ => return None,
    })
}

/// The loop of a selection by a mask.
pub(super) fn select(scalar: Scalar) -> Function {
    match scalar {
        Scalar::Bool | Scalar::I32 | Scalar::F32 => {
            each!(Narrow3, |condition: bool, a: u32, b: u32| if condition { a } else { b })
        }
        Scalar::I64 | Scalar::F64 => each!(Choose, |condition: bool, a: u64, b: u64| if condition { a } else { b }),
    }
}

/// The loop of the dot product of four packed bytes, each side with its sign.
pub(super) fn dot4(signed_a: bool, signed_b: bool) -> Function {
    match (signed_a, signed_b) {
        (false, false) => each!(Narrow3, |a: u32, b: u32, c: u32| dot(a, b, c, unsigned, unsigned)),
        (false, true) => each!(Narrow3, |a: u32, b: u32, c: u32| dot(a, b, c, unsigned, signed)),
        (true, false) => each!(Narrow3, |a: u32, b: u32, c: u32| dot(a, b, c, signed, unsigned)),
        (true, true) => each!(Narrow3, |a: u32, b: u32, c: u32| dot(a, b, c, signed, signed)),
    }
}

#[inline(always)]
fn dot(a: u32, b: u32, sum: u32, of_a: impl Fn(u32) -> i32, of_b: impl Fn(u32) -> i32) -> u32 {
    let product = |shift: u32| (of_a(a >> shift) * of_b(b >> shift)) as u32;
    [0, 8, 16, 24].into_iter().fold(sum, |sum, shift| sum.wrapping_add(product(shift)))
}

#[inline(always)]
fn signed(byte: u32) -> i32 {
    byte as i8 as i32
}

#[inline(always)]
fn unsigned(byte: u32) -> i32 {
    byte as u8 as i32
}
