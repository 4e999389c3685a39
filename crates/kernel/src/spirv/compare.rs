//! Comparisons of floats on drivers that take denormals for zeros there.
//!
//! NVIDIA's keeps denormals in sums and products (with RoundingModeRTE) but flushes the operands of comparisons. A difference of
//! two floats is never rounded to zero, so its bits tell their order; where one side is a constant that is no
//! denormal or zero, flushing the other changes nothing.

use rspirv::spirv::Op as Code;

use super::arithmetic::bits_of;
use super::emitter::Emitter;
use super::words::Id;
use crate::ir::{CompareOp, Value};
use crate::types::{Scalar, Type};

const NEGATIVE_ZERO: u64 = 0x8000_0000;
/// The bits of infinity.
const INFINITY: u64 = 0x7f80_0000;
/// Twice the bits of twice the smallest normal number: two numbers that are taken for zeros are not further apart.
const NEAR_END: u64 = 0x0200_0000;

/// Whether a value is a constant that is neither zero nor denormal, from its bits if it is a constant.
pub(super) fn is_far_from_zero(constant: Option<u64>) -> bool {
    constant.is_some_and(|bits| bits & INFINITY != 0)
}

impl Emitter<'_> {
    /// Compares two values of the kernel.
    pub fn compare_values(&mut self, op: CompareOp, a: Value, b: Value) -> Id {
        let ty = self.type_of(a);
        let (left, right) = (self.id(a), self.id(b));
        let flushed = ty.scalar() == Some(Scalar::F32) && !self.target.denormals.compare;
        if flushed && !self.is_function() && ![a, b].iter().any(|&v| is_far_from_zero(self.known(v))) {
            return self.compare_by_difference(op, ty, left, right);
        }
        self.compare(op, ty, left, right)
    }

    /// `a < b` of floats.
    pub fn less(&mut self, ty: Type, a: Id, b: Id) -> Id {
        if ty.scalar() == Some(Scalar::F32) && !self.target.denormals.compare {
            return self.less_by_difference(ty, a, b);
        }
        self.compare(CompareOp::Lt, ty, a, b)
    }

    fn compare_by_difference(&mut self, op: CompareOp, ty: Type, a: Id, b: Id) -> Id {
        let bools = ty.with_scalar(Scalar::Bool);
        match op {
            CompareOp::Eq => self.equal_by_difference(ty, a, b),
            CompareOp::Ne => {
                let equal = self.equal_by_difference(ty, a, b);
                self.op(Code::LogicalNot, bools, &[equal])
            }
            CompareOp::Lt => self.less_by_difference(ty, a, b),
            _ => {
                let after = self.less_by_difference(ty, b, a);
                let [a, b] = [a, b].map(|x| self.is_nan(ty, x));
                let nan = self.op(Code::LogicalOr, bools, &[a, b]);
                let not = self.op(Code::LogicalOr, bools, &[after, nan]);
                self.op(Code::LogicalNot, bools, &[not])
            }
        }
    }

    /// Whether `a - b` is negative: from the least negative number to minus infinity. Equal infinities differ by NaN.
    fn less_by_difference(&mut self, ty: Type, a: Id, b: Id) -> Id {
        let (int, bits) = self.difference(ty, a, b);
        let bools = ty.with_scalar(Scalar::Bool);
        if self.target.positive_nan {
            let negative_zero = self.constant(int, NEGATIVE_ZERO);
            return self.op(Code::UGreaterThan, bools, &[bits, negative_zero]);
        }
        let [least, range] = [NEGATIVE_ZERO + 1, INFINITY].map(|bits| self.constant(int, bits));
        let from_least = self.op(Code::ISub, int, &[bits, least]);
        self.op(Code::ULessThan, bools, &[from_least, range])
    }

    /// What the driver calls equal, unless there is a small difference.
    fn equal_by_difference(&mut self, ty: Type, a: Id, b: Id) -> Id {
        let bools = ty.with_scalar(Scalar::Bool);
        let (int, bits) = self.difference(ty, a, b);
        let [one, range] = [1, NEAR_END - 1].map(|bits| self.constant(int, bits));
        let doubled = self.op(Code::ShiftLeftLogical, int, &[bits, one]);
        let from_least = self.op(Code::ISub, int, &[doubled, one]);
        let apart = self.op(Code::ULessThan, bools, &[from_least, range]);
        let near = self.op(Code::FOrdEqual, bools, &[a, b]);
        let not = self.op(Code::LogicalNot, bools, &[apart]);
        self.op(Code::LogicalAnd, bools, &[near, not])
    }

    fn difference(&mut self, ty: Type, a: Id, b: Id) -> (Type, Id) {
        let difference = self.float(Code::FSub, ty, &[a, b]);
        let int = bits_of(ty);
        (int, self.op(Code::Bitcast, int, &[difference]))
    }
}
