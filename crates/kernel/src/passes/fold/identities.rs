//! Rewrites of operations of which something is known, other than integer arithmetic.

use super::{Folder, Origin, Outcome};
use crate::ir::{BinaryOp, CompareOp, Op, UnaryOp, Value};
use crate::types::{Elem, Scalar, Type};

impl Folder<'_> {
    /// What an operation comes to by an identity that keeps bits.
    pub(super) fn identity(&mut self, result: Value, op: &Op) -> Outcome {
        match *op {
            Op::Unary(op, a) => self.unary(op, a),
            Op::Binary(op, a, b) if self.scalar(a).is_float() => self.float(op, a, b),
            Op::Binary(op, a, b) => self.integer(op, a, b),
            Op::Compare(op, a, b) => self.compare(op, a, b),
            Op::Fma(a, b, c) => self.fma(a, b, c),
            Op::Select(condition, a, b) => self.select(condition, a, b),
            Op::Convert { value, .. } => self.convert(result, value),
            Op::Bitcast(a) => self.bitcast(result, a),
            Op::Narrow(elem, a) => self.narrow(elem, a),
            Op::Encode(elem, a) => match self.origin(a) {
                Origin::Narrow(inner, x) if inner == elem => Outcome::Instead(Op::Encode(elem, x)),
                _ => Outcome::Keep,
            },
            Op::Decode(elem, a) => match self.origin(a) {
                Origin::Encode(inner, x) if inner == elem => Outcome::Instead(Op::Narrow(elem, x)),
                _ => Outcome::Keep,
            },
            Op::Compose(ref parts) => self.compose(result, parts),
            Op::Extract(a, lane) => match self.origin(a) {
                Origin::Compose(first) => Outcome::Same(self.parts[first as usize + lane as usize]),
                _ => Outcome::Keep,
            },
            _ => Outcome::Keep,
        }
    }

    fn unary(&self, op: UnaryOp, a: Value) -> Outcome {
        let Origin::Unary(inner, x) = self.origin(a) else { return Outcome::Keep };
        match (op, inner) {
            (UnaryOp::Neg, UnaryOp::Neg)
            | (UnaryOp::Not, UnaryOp::Not)
            | (UnaryOp::ReverseBits, UnaryOp::ReverseBits) => Outcome::Same(x),
            (UnaryOp::Abs, UnaryOp::Neg) => Outcome::Instead(Op::Unary(UnaryOp::Abs, x)),
            // The least integer is its own absolute value, so this holds for integers too.
            (UnaryOp::Abs, UnaryOp::Abs) => Outcome::Same(a),
            (
                UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::RoundEven,
                UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::RoundEven,
            ) => Outcome::Same(a),
            _ => Outcome::Keep,
        }
    }

    /// `x * 1`, `x / 1`, `x + -0` and `x - 0` are x for every x; `x + 0` is not for -0, `x * 0` not for NaN.
    fn float(&mut self, op: BinaryOp, a: Value, b: Value) -> Outcome {
        let number = |v: Value| self.splat(v).map(|bits| to_f64(self.scalar(v), bits));
        match (op, number(a), number(b)) {
            (BinaryOp::Add | BinaryOp::Mul, Some(_), None) => Outcome::Instead(Op::Binary(op, b, a)),
            (BinaryOp::Mul | BinaryOp::Div, _, Some(1.0)) => Outcome::Same(a),
            (BinaryOp::Mul | BinaryOp::Div, _, Some(-1.0)) => Outcome::Instead(Op::Unary(UnaryOp::Neg, a)),
            (BinaryOp::Add, _, Some(zero)) if zero == 0.0 && zero.is_sign_negative() => Outcome::Same(a),
            (BinaryOp::Sub, _, Some(zero)) if zero == 0.0 && zero.is_sign_positive() => Outcome::Same(a),
            (BinaryOp::Div, _, Some(divisor)) => self.divide(a, b, divisor),
            (BinaryOp::Min | BinaryOp::Max, _, _) if a == b => Outcome::Same(a),
            _ => Outcome::Keep,
        }
    }

    /// Division by a power of two is multiplication by its reciprocal, where that is a normal number: both round the same
    /// quotient once. A correctly rounded division costs a device a dozen instructions.
    fn divide(&mut self, a: Value, b: Value, divisor: f64) -> Outcome {
        const MANTISSA: u64 = (1 << 52) - 1;
        let reciprocal = divisor.recip();
        let power_of_two = divisor.is_normal() && divisor.to_bits() & MANTISSA == 0;
        let bits = match self.scalar(b) {
            Scalar::F32 if (reciprocal as f32).is_normal() => (reciprocal as f32).to_bits() as u64,
            Scalar::F64 if reciprocal.is_normal() => reciprocal.to_bits(),
            _ => return Outcome::Keep,
        };
        if !power_of_two {
            return Outcome::Keep;
        }
        let factor = self.constant(self.kernel.type_of(b), bits);
        Outcome::Instead(Op::Binary(BinaryOp::Mul, a, factor))
    }

    fn fma(&self, a: Value, b: Value, c: Value) -> Outcome {
        let number = |v: Value| self.splat(v).map(|bits| to_f64(self.scalar(v), bits));
        match (number(a), number(b), number(c)) {
            (Some(1.0), _, _) => Outcome::Instead(Op::Binary(BinaryOp::Add, b, c)),
            (_, Some(1.0), _) => Outcome::Instead(Op::Binary(BinaryOp::Add, a, c)),
            (Some(-1.0), _, _) => Outcome::Instead(Op::Binary(BinaryOp::Sub, c, b)),
            (_, Some(-1.0), _) => Outcome::Instead(Op::Binary(BinaryOp::Sub, c, a)),
            (_, _, Some(zero)) if zero == 0.0 && zero.is_sign_negative() => {
                Outcome::Instead(Op::Binary(BinaryOp::Mul, a, b))
            }
            _ => Outcome::Keep,
        }
    }

    fn compare(&self, op: CompareOp, a: Value, b: Value) -> Outcome {
        let scalar = self.scalar(a);
        if scalar.is_float() {
            return Outcome::Keep;
        }
        let truth = |holds: bool| Outcome::Known([holds as u64; 4]);
        match (op, self.splat(a), self.splat(b)) {
            (CompareOp::Eq | CompareOp::Le | CompareOp::LeU, ..) if a == b => truth(true),
            (CompareOp::Ne | CompareOp::Lt | CompareOp::LtU, ..) if a == b => truth(false),
            (CompareOp::LtU, _, Some(0)) => truth(false),
            (CompareOp::LeU, Some(0), _) => truth(true),
            (CompareOp::Eq, _, Some(1)) | (CompareOp::Ne, _, Some(0)) if scalar == Scalar::Bool => Outcome::Same(a),
            (CompareOp::Eq, _, Some(0)) | (CompareOp::Ne, _, Some(1)) if scalar == Scalar::Bool => {
                Outcome::Instead(Op::Unary(UnaryOp::Not, a))
            }
            _ => Outcome::Keep,
        }
    }

    fn select(&self, condition: Value, a: Value, b: Value) -> Outcome {
        if a == b {
            return Outcome::Same(a);
        }
        if let Some(holds) = self.splat(condition) {
            return Outcome::Same(if holds != 0 { a } else { b });
        }
        if let Origin::Unary(UnaryOp::Not, x) = self.origin(condition) {
            return Outcome::Instead(Op::Select(x, b, a));
        }
        let ty = self.kernel.type_of(a);
        if ty.scalar() != Some(Scalar::Bool) || self.kernel.type_of(condition) != ty {
            return Outcome::Keep;
        }
        match (self.splat(a), self.splat(b)) {
            (Some(1), Some(0)) => Outcome::Same(condition),
            (Some(0), Some(1)) => Outcome::Instead(Op::Unary(UnaryOp::Not, condition)),
            _ => Outcome::Keep,
        }
    }

    fn convert(&self, result: Value, value: Value) -> Outcome {
        let (from, to) = (self.scalar(value), self.scalar(result));
        if from == to {
            return Outcome::Same(value);
        }
        let Origin::Convert(x) = self.origin(value) else { return Outcome::Keep };
        // There and back again through a type that holds every value.
        let exact = matches!((to, from), (Scalar::Bool, _) | (Scalar::I32, Scalar::I64) | (Scalar::F32, Scalar::F64));
        if exact && self.scalar(x) == to { Outcome::Same(x) } else { Outcome::Keep }
    }

    fn bitcast(&self, result: Value, a: Value) -> Outcome {
        let to = self.kernel.type_of(result);
        if self.kernel.type_of(a) == to {
            return Outcome::Same(a);
        }
        match self.origin(a) {
            Origin::Bitcast(x) => Outcome::Instead(Op::Bitcast(x)),
            _ => Outcome::Keep,
        }
    }

    /// What has been narrowed, decoded or loaded as a type is already as storage would give it back.
    fn narrow(&self, elem: Elem, a: Value) -> Outcome {
        match self.origin(a) {
            Origin::Narrow(inner, _) | Origin::Decode(inner) | Origin::Load(inner) if inner == elem => Outcome::Same(a),
            _ => Outcome::Keep,
        }
    }

    /// A vector put together from all components of another, in order, is that vector.
    fn compose(&self, result: Value, parts: &[Value]) -> Outcome {
        let part = |(i, v): (usize, &Value)| match self.origin(*v) {
            Origin::Extract(whole, lane) if lane as usize == i => Some(whole),
            _ => None,
        };
        let Some(whole) = parts.iter().enumerate().map(part).reduce(|a, b| a.filter(|_| a == b)).flatten() else {
            return Outcome::Keep;
        };
        let ty: Type = self.kernel.type_of(result);
        if self.kernel.type_of(whole) == ty { Outcome::Same(whole) } else { Outcome::Keep }
    }
}

/// A float constant by value.
fn to_f64(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F32 => f32::from_bits(bits as u32) as f64,
        _ => f64::from_bits(bits),
    }
}
