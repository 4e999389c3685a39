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

#[cfg(test)]
mod tests {
    use super::*;

    const FLOATS: [f32; 18] = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        0.49999997,
        8388607.5,
        -8388609.0,
        1e30,
        f32::MAX,
        f32::MIN_POSITIVE,
        -1e-45,
        f32::INFINITY,
        f32::NEG_INFINITY,
        2.0,
        -3.7,
    ];

    fn of_float(op: UnaryOp, a: f32) -> f32 {
        f32::from_bits(unary(op, Scalar::F32, a.to_bits() as u64) as u32)
    }

    #[test]
    fn integers_are_negated_and_made_absolute_modulo_the_width() {
        let neg = |a: i32| unary(UnaryOp::Neg, Scalar::I32, a as u32 as u64) as u32 as i32;
        let abs = |a: i64| unary(UnaryOp::Abs, Scalar::I64, a as u64) as i64;
        assert_eq!([neg(1), neg(0), neg(i32::MIN)], [-1, 0, i32::MIN]);
        assert_eq!([abs(-5), abs(i64::MAX), abs(i64::MIN)], [5, i64::MAX, i64::MIN]);
    }

    #[test]
    fn the_word_above_an_i32_stays_zero() {
        for op in [UnaryOp::Neg, UnaryOp::Not, UnaryOp::Abs, UnaryOp::ReverseBits] {
            assert_eq!(unary(op, Scalar::I32, 1) >> 32, 0, "{op:?}");
        }
    }

    #[test]
    fn bits_are_counted_within_the_width() {
        let counts = |scalar, a| {
            [UnaryOp::CountOnes, UnaryOp::LeadingZeros, UnaryOp::TrailingZeros].map(|op| unary(op, scalar, a))
        };
        assert_eq!(counts(Scalar::I32, 0), [0, 32, 32]);
        assert_eq!(counts(Scalar::I32, 0x10), [1, 27, 4]);
        assert_eq!(counts(Scalar::I32, 0xffff_ffff), [32, 0, 0]);
        assert_eq!(counts(Scalar::I64, 0), [0, 64, 64]);
        assert_eq!(counts(Scalar::I64, 1 << 40), [1, 23, 40]);
        assert_eq!(unary(UnaryOp::ReverseBits, Scalar::I32, 1), 1 << 31);
        assert_eq!(unary(UnaryOp::ReverseBits, Scalar::I64, 2), 1 << 62);
    }

    #[test]
    fn not_of_a_bool_is_a_bool() {
        assert_eq!([0, 1].map(|a| unary(UnaryOp::Not, Scalar::Bool, a)), [1, 0]);
    }

    #[test]
    fn only_the_sign_of_a_float_is_touched_even_of_a_nan() {
        assert_eq!(unary(UnaryOp::Neg, Scalar::F32, 0x7fc0_1234), 0xffc0_1234);
        assert_eq!(unary(UnaryOp::Abs, Scalar::F32, 0xff80_0001), 0x7f80_0001);
        assert_eq!(unary(UnaryOp::Neg, Scalar::F64, 0), 1 << 63);
        assert_eq!(of_float(UnaryOp::Abs, -0.0).to_bits(), 0);
    }

    /// The integer next to a number, found in f64 by its definition, with the sign of the number.
    fn rounded(a: f32, pick: fn(f64, f64) -> f64) -> f32 {
        if !a.is_finite() || a.abs() >= 8388608.0 {
            return a;
        }
        let below = (a as i64 as f64) - if (a as i64 as f64) > a as f64 { 1.0 } else { 0.0 };
        (pick(a as f64, below) as f32).copysign(a)
    }

    #[test]
    fn roundings_keep_the_sign_of_zero_and_break_ties_to_even() {
        for a in FLOATS {
            let floor = rounded(a, |_, below| below);
            let ceil = rounded(a, |a, below| if a > below { below + 1.0 } else { below });
            let even = rounded(a, |a, below| match a - below {
                d if d < 0.5 || d == 0.5 && below % 2.0 == 0.0 => below,
                _ => below + 1.0,
            });
            let trunc = if a < 0.0 { ceil } else { floor };
            assert_eq!(of_float(UnaryOp::Floor, a).to_bits(), floor.to_bits(), "floor {a}");
            assert_eq!(of_float(UnaryOp::Ceil, a).to_bits(), ceil.to_bits(), "ceil {a}");
            assert_eq!(of_float(UnaryOp::RoundEven, a).to_bits(), even.to_bits(), "round {a}");
            assert_eq!(of_float(UnaryOp::Trunc, a).to_bits(), trunc.to_bits(), "trunc {a}");
        }
        assert!(of_float(UnaryOp::Floor, f32::NAN).is_nan());
    }

    #[test]
    fn square_roots_are_the_nearest_floats() {
        for a in [2.0f32, 3.0, 0.1, 1e-45, f32::MIN_POSITIVE, f32::MAX, 7.5e-39] {
            let root = of_float(UnaryOp::Sqrt, a);
            // The midpoints to both neighbours are exact in f64, and so are their squares up to an error that never ties.
            let [below, above] = [-1i32, 1].map(|d| f32::from_bits(root.to_bits().wrapping_add_signed(d)) as f64);
            let (low, high) = ((below + root as f64) / 2.0, (above + root as f64) / 2.0);
            assert!(low * low < a as f64 && (a as f64) < high * high, "sqrt {a} is {root}");
        }
        assert_eq!(of_float(UnaryOp::Sqrt, -0.0).to_bits(), (-0f32).to_bits());
        assert!(of_float(UnaryOp::Sqrt, -1e-45).is_nan());
    }
}
