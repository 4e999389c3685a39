//! Rewrites of integer and bool arithmetic: identities modulo the width.

use super::{Folder, Origin, Outcome};
use crate::eval;
use crate::ir::{BinaryOp, Op, UnaryOp, Value};
use crate::types::Scalar;

impl Folder<'_> {
    /// What an operation on integers or bools comes to.
    pub(super) fn integer(&mut self, op: BinaryOp, a: Value, b: Value) -> Outcome {
        match (self.splat(a), self.splat(b)) {
            (Some(_), None) if is_commutative(op) => Outcome::Instead(Op::Binary(op, b, a)),
            (_, Some(bits)) => self.with_constant(op, a, b, bits),
            (Some(0), None) if takes_zero_to_zero(op) => Outcome::Known([0; 4]),
            (Some(0), None) if op == BinaryOp::Sub => Outcome::Instead(Op::Unary(UnaryOp::Neg, b)),
            _ if a == b => with_itself(op, a),
            _ => Outcome::Keep,
        }
    }

    /// The right operand is a constant, the same in all components.
    fn with_constant(&mut self, op: BinaryOp, a: Value, b: Value, bits: u64) -> Outcome {
        let scalar = self.scalar(a);
        let ones = eval::low_bits(scalar, u64::MAX);
        let zero = || Outcome::Known([0; 4]);
        match op {
            _ if bits == 0 => with_zero(op, a),
            BinaryOp::Mul | BinaryOp::DivS | BinaryOp::DivU if bits == 1 => Outcome::Same(a),
            BinaryOp::RemS | BinaryOp::RemU | BinaryOp::MulHighU if bits == 1 => zero(),
            BinaryOp::Mul | BinaryOp::DivS if bits == ones => Outcome::Instead(Op::Unary(UnaryOp::Neg, a)),
            BinaryOp::RemS if bits == ones => zero(),
            BinaryOp::And | BinaryOp::MinU if bits == ones => Outcome::Same(a),
            BinaryOp::Or | BinaryOp::MaxU if bits == ones => Outcome::Known([ones; 4]),
            BinaryOp::Xor if bits == ones => Outcome::Instead(Op::Unary(UnaryOp::Not, a)),
            BinaryOp::Shl | BinaryOp::ShrS | BinaryOp::ShrU if bits.is_multiple_of(width(scalar)) => Outcome::Same(a),
            BinaryOp::Sub => self.instead(BinaryOp::Add, a, b, bits.wrapping_neg()),
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                self.regroup(op, a, b, bits)
            }
            BinaryOp::DivU | BinaryOp::RemU if bits.is_power_of_two() => self.by_power_of_two(op, a, b, bits),
            _ => Outcome::Keep,
        }
    }

    /// `(x ∘ c) ∘ d` is `x ∘ (c ∘ d)`.
    fn regroup(&mut self, op: BinaryOp, a: Value, b: Value, bits: u64) -> Outcome {
        if let Origin::Binary(inner, x, c) = self.origin(a)
            && inner == op
            && let Some(c) = self.splat(c)
        {
            return self.instead(op, x, b, eval::binary(op, self.scalar(a), c, bits));
        }
        if op == BinaryOp::Mul && bits.is_power_of_two() {
            return self.by_power_of_two(op, a, b, bits);
        }
        Outcome::Keep
    }

    fn by_power_of_two(&mut self, op: BinaryOp, a: Value, b: Value, bits: u64) -> Outcome {
        let exponent = bits.trailing_zeros() as u64;
        match op {
            BinaryOp::Mul => self.instead(BinaryOp::Shl, a, b, exponent),
            BinaryOp::DivU => self.instead(BinaryOp::ShrU, a, b, exponent),
            _ => self.instead(BinaryOp::And, a, b, bits - 1),
        }
    }

    /// The operation with another constant of the type of `like`.
    fn instead(&mut self, op: BinaryOp, a: Value, like: Value, bits: u64) -> Outcome {
        let ty = self.kernel.type_of(like);
        let constant = self.constant(ty, self.low_bits(like, bits));
        Outcome::Instead(Op::Binary(op, a, constant))
    }
}

/// The right operand is zero.
fn with_zero(op: BinaryOp, a: Value) -> Outcome {
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::ShrS
        | BinaryOp::ShrU
        | BinaryOp::MaxU
        | BinaryOp::RemS
        | BinaryOp::RemU => Outcome::Same(a),
        BinaryOp::Mul
        | BinaryOp::MulHighS
        | BinaryOp::MulHighU
        | BinaryOp::And
        | BinaryOp::MinU
        | BinaryOp::DivS
        | BinaryOp::DivU => Outcome::Known([0; 4]),
        _ => Outcome::Keep,
    }
}

/// Both operands are the same value.
fn with_itself(op: BinaryOp, a: Value) -> Outcome {
    match op {
        BinaryOp::Sub | BinaryOp::Xor => Outcome::Known([0; 4]),
        BinaryOp::And | BinaryOp::Or | BinaryOp::MinS | BinaryOp::MaxS | BinaryOp::MinU | BinaryOp::MaxU => {
            Outcome::Same(a)
        }
        _ => Outcome::Keep,
    }
}

/// Whether zero on the left gives zero, whatever stands on the right.
fn takes_zero_to_zero(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::DivS
            | BinaryOp::DivU
            | BinaryOp::RemS
            | BinaryOp::RemU
            | BinaryOp::Shl
            | BinaryOp::ShrS
            | BinaryOp::ShrU
    )
}

fn is_commutative(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Add
            | BinaryOp::Mul
            | BinaryOp::MulHighS
            | BinaryOp::MulHighU
            | BinaryOp::MinS
            | BinaryOp::MaxS
            | BinaryOp::MinU
            | BinaryOp::MaxU
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
    )
}

fn width(scalar: Scalar) -> u64 {
    8 * scalar.bytes() as u64
}
