//! The loops of operations on one value.

use pumice_kernel::Scalar;
use pumice_kernel::ir::UnaryOp;

use super::loops::{Function, each};

/// The loop of an operation. None where the language does not define it, which `verify` refuses.
pub(super) fn unary(op: UnaryOp, scalar: Scalar) -> Option<Function> {
    match scalar {
        Scalar::Bool => (op == UnaryOp::Not).then_some(each!(Narrow1, |a: bool| !a)),
        Scalar::I32 => of_u32(op),
        Scalar::I64 => of_u64(op),
        Scalar::F32 => of_f32(op),
        Scalar::F64 => of_f64(op),
    }
}

macro_rules! integer_table {
    ($name:ident, $variant:ident, $u:ty, $i:ty) => {
        fn $name(op: UnaryOp) -> Option<Function> {
            Some(match op {
                UnaryOp::Neg => each!($variant, |a: $u| a.wrapping_neg()),
                UnaryOp::Abs => each!($variant, |a: $i| a.wrapping_abs()),
                UnaryOp::Not => each!($variant, |a: $u| !a),
                UnaryOp::CountOnes => each!($variant, |a: $u| <$u>::from(a.count_ones())),
                UnaryOp::LeadingZeros => each!($variant, |a: $u| <$u>::from(a.leading_zeros())),
                UnaryOp::TrailingZeros => each!($variant, |a: $u| <$u>::from(a.trailing_zeros())),
                UnaryOp::ReverseBits => each!($variant, |a: $u| a.reverse_bits()),
                _ => return None,
            })
        }
    };
}

integer_table!(of_u32, Narrow1, u32, i32);
integer_table!(of_u64, Wide1, u64, i64);

macro_rules! float_table {
    ($name:ident, $variant:ident, $f:ty, $bits:ty, $round:ident) => {
        fn $name(op: UnaryOp) -> Option<Function> {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            Some(match op {
                UnaryOp::Neg => each!($variant, |a: $bits| a ^ SIGN),
                UnaryOp::Abs => each!($variant, |a: $bits| a & !SIGN),
                UnaryOp::Floor => {
                    each!($variant, |a: $f| $round(a, |a, near| if near > a { near - 1.0 } else { near }))
                }
                UnaryOp::Ceil => each!($variant, |a: $f| $round(a, |a, near| if near < a { near + 1.0 } else { near })),
                UnaryOp::Trunc => each!($variant, |a: $f| $round(a, |a, near| {
                    if near.abs() > a.abs() { near - (1.0 as $f).copysign(a) } else { near }
                })),
                UnaryOp::RoundEven => each!($variant, |a: $f| $round(a, |_, near| near)),
                UnaryOp::Sqrt => each!($variant, |a: $f| a.sqrt()),
                _ => return None,
            })
        }

        /// An integer near `a`, mended from the nearest. By sums instead of the C library's functions, which a
        /// processor without SSE4 needs: a sum with 2^23 (2^52) drops the fraction, and numbers beyond have none. All
        /// keep the sign.
        #[inline(always)]
        fn $round(a: $f, mend: impl Fn($f, $f) -> $f) -> $f {
            const WHOLE: $f = (1u64 << (<$f>::MANTISSA_DIGITS - 1)) as $f;
            let near = ((a.abs() + WHOLE) - WHOLE).copysign(a);
            let found = mend(a, near).copysign(a);
            // NaN is not below, and stays.
            if a.abs() < WHOLE { found } else { a }
        }
    };
}

float_table!(of_f32, Narrow1, f32, u32, round_f32);
float_table!(of_f64, Wide1, f64, u64, round_f64);
