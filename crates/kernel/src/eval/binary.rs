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

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [i64; 14] =
        [0, 1, -1, 2, -2, 7, -7, i32::MAX as i64, i32::MIN as i64, i32::MIN as i64 + 1, 31, 32, 33, 0x1234_5678];

    fn narrow(op: BinaryOp, a: i64, b: i64) -> i32 {
        let word = binary(op, Scalar::I32, a as u32 as u64, b as u32 as u64);
        assert_eq!(word >> 32, 0, "{op:?} leaves the upper half zero");
        word as i32
    }

    fn wide(op: BinaryOp, a: i64, b: i64) -> i64 {
        binary(op, Scalar::I64, a as u64, b as u64) as i64
    }

    /// Quotient and remainder towards zero, as the language defines them.
    fn divided(a: i128, b: i128) -> (i128, i128) {
        if b == 0 { (0, a) } else { (a / b, a % b) }
    }

    #[test]
    fn i32_arithmetic_is_arithmetic_modulo_its_width() {
        for (a, b) in EDGES.iter().flat_map(|a| EDGES.iter().map(move |b| (*a, *b))) {
            let (x, y) = (a as i32 as i128, b as i32 as i128);
            let (u, v) = (a as u32 as i128, b as u32 as i128);
            let shift = (b & 31) as u32;
            let expected = [
                (BinaryOp::Add, x + y),
                (BinaryOp::Sub, x - y),
                (BinaryOp::Mul, x * y),
                (BinaryOp::DivS, divided(x, y).0),
                (BinaryOp::RemS, divided(x, y).1),
                (BinaryOp::DivU, divided(u, v).0),
                (BinaryOp::RemU, divided(u, v).1),
                (BinaryOp::MulHighS, (x * y) >> 32),
                (BinaryOp::MulHighU, (u * v) >> 32),
                (BinaryOp::MinS, x.min(y)),
                (BinaryOp::MaxS, x.max(y)),
                (BinaryOp::MinU, u.min(v)),
                (BinaryOp::MaxU, u.max(v)),
                (BinaryOp::And, x & y),
                (BinaryOp::Or, x | y),
                (BinaryOp::Xor, x ^ y),
                (BinaryOp::Shl, x << shift),
                (BinaryOp::ShrS, x >> shift),
                (BinaryOp::ShrU, u >> shift),
            ];
            for (op, value) in expected {
                assert_eq!(narrow(op, a, b), value as i32, "{op:?} {a} {b}");
            }
        }
    }

    #[test]
    fn i64_arithmetic_is_arithmetic_modulo_its_width() {
        let edges = EDGES.map(|a| if a.abs() > 100 { a << 31 } else { a });
        for (a, b) in edges.iter().flat_map(|a| edges.iter().map(move |b| (*a, *b))) {
            let (x, y) = (a as i128, b as i128);
            let (u, v) = (a as u64 as i128, b as u64 as i128);
            let shift = (b & 63) as u32;
            let expected = [
                (BinaryOp::Add, x + y),
                (BinaryOp::Sub, x - y),
                (BinaryOp::Mul, x * y),
                (BinaryOp::DivS, divided(x, y).0),
                (BinaryOp::RemS, divided(x, y).1),
                (BinaryOp::DivU, divided(u, v).0),
                (BinaryOp::RemU, divided(u, v).1),
                (BinaryOp::MulHighS, (x * y) >> 64),
                (BinaryOp::MulHighU, ((u as u128 * v as u128) >> 64) as i128),
                (BinaryOp::MinU, u.min(v)),
                (BinaryOp::MaxS, x.max(y)),
                (BinaryOp::Shl, x << shift),
                (BinaryOp::ShrS, x >> shift),
                (BinaryOp::ShrU, u >> shift),
            ];
            for (op, value) in expected {
                assert_eq!(wide(op, a, b), value as i64, "{op:?} {a} {b}");
            }
        }
    }

    fn float(op: BinaryOp, a: f32, b: f32) -> f32 {
        f32::from_bits(binary(op, Scalar::F32, a.to_bits() as u64, b.to_bits() as u64) as u32)
    }

    #[test]
    fn a_nan_on_either_side_of_a_minimum_wins_and_of_equal_zeros_the_second() {
        for op in [BinaryOp::Min, BinaryOp::Max] {
            assert!(float(op, f32::NAN, 1.0).is_nan(), "{op:?}");
            assert!(float(op, 1.0, f32::NAN).is_nan(), "{op:?}");
            assert_eq!(float(op, 0.0, -0.0).to_bits(), (-0f32).to_bits(), "{op:?}");
            assert_eq!(float(op, -0.0, 0.0).to_bits(), 0, "{op:?}");
        }
        assert_eq!(float(BinaryOp::Min, -1.0, 2.0), -1.0);
        assert_eq!(float(BinaryOp::Max, f32::NEG_INFINITY, -2.0), -2.0);
    }

    #[test]
    fn float_arithmetic_keeps_denormals_and_rounds_to_even() {
        assert_eq!(float(BinaryOp::Mul, f32::MIN_POSITIVE, 0.5).to_bits(), 1 << 22);
        assert_eq!(float(BinaryOp::Add, 16777216.0, 1.0), 16777216.0);
        assert_eq!(float(BinaryOp::Add, 16777216.0, 3.0), 16777220.0);
        assert_eq!(float(BinaryOp::Sub, 0.0, 0.0).to_bits(), 0);
        assert_eq!(float(BinaryOp::Div, 1.0, 0.0), f32::INFINITY);
        assert!(float(BinaryOp::Div, 0.0, 0.0).is_nan());
        // One third in f64 is nearer to the f32 above than to the one below; rounding once must agree.
        assert_eq!(float(BinaryOp::Div, 1.0, 3.0), (1.0f64 / 3.0) as f32);
    }

    #[test]
    fn identities_change_nothing() {
        let floats = [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max];
        for (op, a) in floats.iter().flat_map(|op| [1.5f32, -3.0, f32::INFINITY, -1e-40].map(|a| (*op, a))) {
            let identity = f32::from_bits(identity(op, Scalar::F32).expect("it reduces") as u32);
            assert_eq!(float(op, identity, a), a, "{op:?} {a}");
        }
        use BinaryOp::{Add, And, MaxS, MaxU, MinS, MinU, Mul, Or, Xor};
        for (op, a) in [Add, Mul, MinS, MaxS, MinU, MaxU, And, Or, Xor].iter().flat_map(|op| EDGES.map(|a| (*op, a))) {
            let none = [Scalar::I32, Scalar::I64].map(|s| identity(op, s).expect("it reduces") as i64);
            assert_eq!(narrow(op, none[0], a), a as i32, "{op:?} {a}");
            assert_eq!(wide(op, none[1], a), a, "{op:?} {a}");
        }
        assert_eq!(identity(BinaryOp::Sub, Scalar::I32), None);
        assert_eq!([And, Or, Xor].map(|op| identity(op, Scalar::Bool)), [Some(1), Some(0), Some(0)]);
    }
}
