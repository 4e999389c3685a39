//! Operations on one and two values, and comparisons.
//!
//! What SPIR-V leaves undefined is decided here as `ir` says: shift amounts are masked, integer division is guarded (not
//! when the divisor is a harmless constant), NaN is propagated by comparison rather than by the driver's minimum.

use rspirv::spirv::{GlslStd450Op, Op as Code};

use super::emitter::Emitter;
use super::exact::Exact;
use super::words::Id;
use crate::ir::{BinaryOp, CompareOp, UnaryOp, Value};
use crate::types::{Scalar, Type};

/// The bits of 1 as an F32.
const ONE: u64 = 1f32.to_bits() as u64;

/// The component type of arithmetic's operands.
fn scalar_of(ty: Type) -> Scalar {
    ty.scalar().expect("arithmetic works on scalars and vectors")
}

/// Bits in a component of an integer or float.
fn width(ty: Type) -> u32 {
    8 * scalar_of(ty).bytes() as u32
}

/// The integer type with a float's bits.
pub(super) fn bits_of(ty: Type) -> Type {
    ty.with_scalar(if width(ty) == 32 { Scalar::I32 } else { Scalar::I64 })
}

/// All bits set, in a component's width.
fn ones(ty: Type) -> u64 {
    u64::MAX >> (64 - width(ty))
}

impl Emitter<'_> {
    pub fn unary(&mut self, op: UnaryOp, ty: Type, a: Id) -> Id {
        let scalar = scalar_of(ty);
        match (op, scalar) {
            (UnaryOp::Not, Scalar::Bool) => self.op(Code::LogicalNot, ty, &[a]),
            (UnaryOp::Not, _) => self.op(Code::Not, ty, &[a]),
            (UnaryOp::Neg | UnaryOp::Abs, s) if s.is_float() => self.sign(op, ty, a),
            (UnaryOp::Neg, _) => self.op(Code::SNegate, ty, &[a]),
            (UnaryOp::Abs, _) => {
                let zero = self.constant(ty, 0);
                let negative = self.compare(CompareOp::Lt, ty, a, zero);
                let negated = self.op(Code::SNegate, ty, &[a]);
                self.select(ty, negative, negated, a)
            }
            (UnaryOp::Floor, _) => self.glsl(GlslStd450Op::Floor, ty, &[a]),
            (UnaryOp::Ceil, _) => self.glsl(GlslStd450Op::Ceil, ty, &[a]),
            (UnaryOp::Trunc, Scalar::F64) => self.call_each(Exact::TruncF64, ty, ty, [a]),
            (UnaryOp::RoundEven, Scalar::F64) => self.call_each(Exact::RoundEvenF64, ty, ty, [a]),
            (UnaryOp::Trunc, _) => self.glsl(GlslStd450Op::Trunc, ty, &[a]),
            (UnaryOp::RoundEven, _) => self.glsl(GlslStd450Op::RoundEven, ty, &[a]),
            (UnaryOp::Sqrt, Scalar::F32) => self.sqrt_f32(ty, a),
            (UnaryOp::Sqrt, _) => self.glsl(GlslStd450Op::Sqrt, ty, &[a]),
            (UnaryOp::CountOnes, _) => self.count_ones(ty, a),
            (UnaryOp::LeadingZeros, _) => self.leading_zeros(ty, a),
            (UnaryOp::TrailingZeros, _) => self.trailing_zeros(ty, a),
            (UnaryOp::ReverseBits, _) => self.reverse_bits(ty, a),
        }
    }

    /// Flips or clears the sign of a float. By bits where the driver is free to lose a denormal or a NaN on the way.
    fn sign(&mut self, op: UnaryOp, ty: Type, a: Id) -> Id {
        let controls = self.target.float_controls;
        let safe = match scalar_of(ty) {
            Scalar::F32 => controls.denorm_preserve_32 && controls.keep_nan_32,
            _ => controls.denorm_preserve_64 && controls.keep_nan_64,
        };
        if safe {
            return self.free_sign(op, ty, a);
        }
        let int = bits_of(ty);
        let bits = self.op(Code::Bitcast, int, &[a]);
        let sign = 1 << (width(ty) - 1);
        let changed = match op {
            UnaryOp::Neg => {
                let mask = self.constant(int, sign);
                self.op(Code::BitwiseXor, int, &[bits, mask])
            }
            _ => {
                let mask = self.constant(int, sign - 1);
                self.op(Code::BitwiseAnd, int, &[bits, mask])
            }
        };
        self.op(Code::Bitcast, ty, &[changed])
    }

    /// Flips or clears the sign of a float as the driver does it.
    pub fn free_sign(&mut self, op: UnaryOp, ty: Type, a: Id) -> Id {
        match op {
            // Nothing is rounded. Told not to contract it, NVIDIA's driver makes an addition of it.
            UnaryOp::Neg => self.op(Code::FNegate, ty, &[a]),
            _ => self.glsl(GlslStd450Op::FAbs, ty, &[a]),
        }
    }

    /// An operation on two values of the kernel; constants among them spare guards.
    pub fn binary(&mut self, op: BinaryOp, ty: Type, a: Value, b: Value) -> Id {
        if let (BinaryOp::Div, Some(Scalar::F32), Some(ONE), Some(x)) =
            (op, ty.scalar(), self.known(a), self.radicand(b))
            && let Some(id) = self.reciprocal_root_f32(ty, self.id(x))
        {
            return id;
        }
        let known = self.known(b);
        let (a, b) = (self.id(a), self.id(b));
        match (op, known) {
            (BinaryOp::DivS | BinaryOp::DivU | BinaryOp::RemS | BinaryOp::RemU, Some(divisor))
                if divisor != 0 && divisor != ones(ty) =>
            {
                self.divide(op, ty, a, b)
            }
            (BinaryOp::Shl | BinaryOp::ShrS | BinaryOp::ShrU, Some(amount)) if amount < width(ty) as u64 => {
                self.shift(op, ty, a, b)
            }
            _ => self.combine(op, ty, a, b),
        }
    }

    /// A constant; of a zero of floats, drivers that forget its sign are not told the value.
    pub fn literal(&mut self, ty: Type, bits: u64) -> Id {
        let id = self.constant(ty, bits);
        let is_zero = bits.checked_shl(65 - width(ty)).unwrap_or(0) == 0;
        if is_zero { self.hidden(ty, id) } else { id }
    }

    /// Keeps the value of floats that may be zeros from drivers that forget their signs: lavapipe takes `x + 0.0` for `x`, which
    /// differs where x is -0.0, though the kernel declares that signs of zeros count.
    pub fn hidden(&mut self, ty: Type, id: Id) -> Id {
        if self.target.signed_zeros || !ty.scalar().is_some_and(Scalar::is_float) {
            return id;
        }
        let Some(wide) = self.opaque_zero() else { return id };
        let int = bits_of(ty);
        let scalar = Type::Scalar(scalar_of(int));
        let zero = if scalar == Type::I64 { wide } else { self.op(Code::UConvert, scalar, &[wide]) };
        let zero = match ty {
            Type::Vector(_, lanes) => self.op(Code::CompositeConstruct, int, &[zero; 4][..lanes as usize]),
            _ => zero,
        };
        let bits = self.op(Code::Bitcast, int, &[id]);
        let bits = self.op(Code::BitwiseOr, int, &[bits, zero]);
        self.op(Code::Bitcast, ty, &[bits])
    }

    /// An operation on any two ids of a type.
    pub fn combine(&mut self, op: BinaryOp, ty: Type, a: Id, b: Id) -> Id {
        let scalar = scalar_of(ty);
        if scalar.is_float() {
            return self.combine_floats(op, ty, a, b);
        }
        let operands = [a, b];
        match op {
            BinaryOp::Add => self.op(Code::IAdd, ty, &operands),
            BinaryOp::Sub => self.op(Code::ISub, ty, &operands),
            BinaryOp::Mul => self.op(Code::IMul, ty, &operands),
            BinaryOp::DivS | BinaryOp::DivU | BinaryOp::RemS | BinaryOp::RemU => self.divide_guarded(op, ty, a, b),
            BinaryOp::MulHighS | BinaryOp::MulHighU => self.mul_high(op == BinaryOp::MulHighS, ty, a, b),
            BinaryOp::MinS => self.glsl(GlslStd450Op::SMin, ty, &operands),
            BinaryOp::MaxS => self.glsl(GlslStd450Op::SMax, ty, &operands),
            BinaryOp::MinU => self.glsl(GlslStd450Op::UMin, ty, &operands),
            BinaryOp::MaxU => self.glsl(GlslStd450Op::UMax, ty, &operands),
            BinaryOp::And if scalar == Scalar::Bool => self.op(Code::LogicalAnd, ty, &operands),
            BinaryOp::Or if scalar == Scalar::Bool => self.op(Code::LogicalOr, ty, &operands),
            BinaryOp::Xor if scalar == Scalar::Bool => self.op(Code::LogicalNotEqual, ty, &operands),
            BinaryOp::And => self.op(Code::BitwiseAnd, ty, &operands),
            BinaryOp::Or => self.op(Code::BitwiseOr, ty, &operands),
            BinaryOp::Xor => self.op(Code::BitwiseXor, ty, &operands),
            BinaryOp::Shl | BinaryOp::ShrS | BinaryOp::ShrU => {
                let mask = self.constant(ty, width(ty) as u64 - 1);
                let amount = self.op(Code::BitwiseAnd, ty, &[b, mask]);
                self.shift(op, ty, a, amount)
            }
            BinaryOp::Div | BinaryOp::Min | BinaryOp::Max => unreachable!("verify keeps {op:?} to floats"),
        }
    }

    fn combine_floats(&mut self, op: BinaryOp, ty: Type, a: Id, b: Id) -> Id {
        match op {
            BinaryOp::Add => self.float(Code::FAdd, ty, &[a, b]),
            BinaryOp::Sub => self.float(Code::FSub, ty, &[a, b]),
            BinaryOp::Mul => self.float(Code::FMul, ty, &[a, b]),
            BinaryOp::Div if scalar_of(ty) == Scalar::F32 => self.div_f32(ty, a, b),
            BinaryOp::Div => self.float(Code::FDiv, ty, &[a, b]),
            BinaryOp::Min | BinaryOp::Max => {
                let (less, more) = if op == BinaryOp::Min { (a, b) } else { (b, a) };
                let bools = ty.with_scalar(Scalar::Bool);
                let before = self.less(ty, less, more);
                let nan = self.is_nan(ty, a);
                let first = self.op(Code::LogicalOr, bools, &[before, nan]);
                self.select(ty, first, a, b)
            }
            _ => unreachable!("verify keeps {op:?} to integers"),
        }
    }

    /// Whether each component is a NaN. By bits where the driver may assume that there are none.
    pub fn is_nan(&mut self, ty: Type, a: Id) -> Id {
        let controls = self.target.float_controls;
        let kept = if scalar_of(ty) == Scalar::F32 { controls.keep_nan_32 } else { controls.keep_nan_64 };
        let bools = ty.with_scalar(Scalar::Bool);
        if kept {
            return self.op(Code::IsNan, bools, &[a]);
        }
        let int = bits_of(ty);
        let (magnitude, infinity) = match scalar_of(ty) {
            Scalar::F32 => (0x7fff_ffff, 0x7f80_0000),
            _ => (u64::MAX >> 1, 0x7ff0 << 48),
        };
        let [magnitude, infinity] = [magnitude, infinity].map(|bits| self.constant(int, bits));
        let bits = self.op(Code::Bitcast, int, &[a]);
        let size = self.op(Code::BitwiseAnd, int, &[bits, magnitude]);
        self.op(Code::UGreaterThan, bools, &[size, infinity])
    }

    fn shift(&mut self, op: BinaryOp, ty: Type, a: Id, amount: Id) -> Id {
        let code = match op {
            BinaryOp::Shl => Code::ShiftLeftLogical,
            BinaryOp::ShrS => Code::ShiftRightArithmetic,
            _ => Code::ShiftRightLogical,
        };
        self.op(code, ty, &[a, amount])
    }

    /// Division where the divisor is neither 0 nor -1.
    fn divide(&mut self, op: BinaryOp, ty: Type, a: Id, b: Id) -> Id {
        match op {
            BinaryOp::DivS => self.op(Code::SDiv, ty, &[a, b]),
            BinaryOp::DivU => self.op(Code::UDiv, ty, &[a, b]),
            BinaryOp::RemU => self.op(Code::UMod, ty, &[a, b]),
            // Vulkan leaves OpSRem undefined for negative operands.
            _ => {
                let quotient = self.op(Code::SDiv, ty, &[a, b]);
                let whole = self.op(Code::IMul, ty, &[quotient, b]);
                self.op(Code::ISub, ty, &[a, whole])
            }
        }
    }

    /// Division by 1 instead of 0 (and -1 if signed), and then the result that is right for those.
    fn divide_guarded(&mut self, op: BinaryOp, ty: Type, a: Id, b: Id) -> Id {
        let bools = ty.with_scalar(Scalar::Bool);
        let [zero, one, minus_one] = [0, 1, ones(ty)].map(|bits| self.constant(ty, bits));
        let by_zero = self.op(Code::IEqual, bools, &[b, zero]);
        let signed = matches!(op, BinaryOp::DivS | BinaryOp::RemS);
        let mut odd = by_zero;
        let mut by_minus_one = 0;
        if signed {
            by_minus_one = self.op(Code::IEqual, bools, &[b, minus_one]);
            odd = self.op(Code::LogicalOr, bools, &[by_zero, by_minus_one]);
        }
        let divisor = self.select(ty, odd, one, b);
        let mut result = self.divide(op, ty, a, divisor);
        if op == BinaryOp::DivS {
            let negated = self.op(Code::SNegate, ty, &[a]);
            result = self.select(ty, by_minus_one, negated, result);
        }
        // A remainder by 1 is already the 0 that a remainder by -1 must be.
        let of_zero = if matches!(op, BinaryOp::DivS | BinaryOp::DivU) { zero } else { a };
        self.select(ty, by_zero, of_zero, result)
    }

    pub fn compare(&mut self, op: CompareOp, ty: Type, a: Id, b: Id) -> Id {
        let scalar = scalar_of(ty);
        let code = match (op, scalar) {
            (CompareOp::Eq, Scalar::Bool) => Code::LogicalEqual,
            (CompareOp::Ne, Scalar::Bool) => Code::LogicalNotEqual,
            (CompareOp::Eq, s) if s.is_float() => Code::FOrdEqual,
            (CompareOp::Ne, s) if s.is_float() => Code::FUnordNotEqual,
            (CompareOp::Lt, s) if s.is_float() => Code::FOrdLessThan,
            (CompareOp::Le, s) if s.is_float() => Code::FOrdLessThanEqual,
            (CompareOp::Eq, _) => Code::IEqual,
            (CompareOp::Ne, _) => Code::INotEqual,
            (CompareOp::Lt, _) => Code::SLessThan,
            (CompareOp::Le, _) => Code::SLessThanEqual,
            (CompareOp::LtU, _) => Code::ULessThan,
            (CompareOp::LeU, _) => Code::ULessThanEqual,
        };
        self.op(code, ty.with_scalar(Scalar::Bool), &[a, b])
    }
}
