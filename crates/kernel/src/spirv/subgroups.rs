//! Operations across a subgroup.
//!
//! Floats are combined with shuffles in the order `ir` fixes, so that the bits depend on the subgroup's size alone; integers
//! and bools by the device's own reductions where it has them. With one invocation per subgroup everything is trivial and
//! no subgroup instruction is emitted.

use rspirv::spirv::{Capability, GroupOperation, Op as Code, Scope};

use super::emitter::Emitter;
use super::words::Id;
use crate::eval::identity;
use crate::ir::{BinaryOp, Builtin, GroupKind, ReduceOp, ShuffleKind, Value, Vote};
use crate::types::{Scalar, Type};

impl Emitter<'_> {
    fn subgroup_scope(&mut self) -> Id {
        self.asm.u32(Scope::Subgroup as u32)
    }

    pub fn subgroup(&mut self, ReduceOp(op): ReduceOp, kind: GroupKind, ty: Type, value: Id) -> Id {
        if self.target.subgroup_size == 1 {
            return if kind == GroupKind::Exclusive { self.identity_of(op, ty) } else { value };
        }
        let native = match ty.scalar() {
            Some(Scalar::F32 | Scalar::F64) | None => None,
            _ if !self.target.subgroup_arithmetic => None,
            Some(scalar) => Some(native_code(op, scalar == Scalar::Bool)),
        };
        if let Some(code) = native {
            self.asm.need(Capability::GroupNonUniformArithmetic);
            let scope = self.subgroup_scope();
            let operation = match kind {
                GroupKind::Reduce => GroupOperation::Reduce,
                GroupKind::Inclusive => GroupOperation::InclusiveScan,
                GroupKind::Exclusive => GroupOperation::ExclusiveScan,
            };
            return self.op(code, ty, &[scope, operation as u32, value]);
        }
        match kind {
            GroupKind::Reduce => self.butterfly(op, ty, value),
            GroupKind::Inclusive => self.doubling(op, ty, value),
            GroupKind::Exclusive => {
                let inclusive = self.doubling(op, ty, value);
                let (below, exists) = self.value_below(ty, inclusive, 1);
                let identity = self.identity_of(op, ty);
                self.select(ty, exists, below, identity)
            }
        }
    }

    fn identity_of(&mut self, op: BinaryOp, ty: Type) -> Id {
        let scalar = ty.scalar().expect("subgroups combine scalars and vectors");
        let bits = identity(op, scalar).expect("verify keeps to operations that combine");
        self.constant(ty, bits)
    }

    /// Distances 1, 2, 4, …: `op(own, other)`.
    fn butterfly(&mut self, op: BinaryOp, ty: Type, mut value: Id) -> Id {
        let mut distance = 1;
        while distance < self.target.subgroup_size {
            let other = self.exchange(ty, value, distance);
            value = self.combine(op, ty, value, other);
            distance *= 2;
        }
        value
    }

    /// Distances 1, 2, 4, …: `op(lower, own)` where there is a lower one.
    fn doubling(&mut self, op: BinaryOp, ty: Type, mut value: Id) -> Id {
        let mut distance = 1;
        while distance < self.target.subgroup_size {
            let (below, exists) = self.value_below(ty, value, distance);
            let combined = self.combine(op, ty, below, value);
            value = self.select(ty, exists, combined, value);
            distance *= 2;
        }
        value
    }

    /// The value of one's own lane xor a mask that stays inside the subgroup.
    fn exchange(&mut self, ty: Type, value: Id, mask: u32) -> Id {
        self.asm.need(Capability::GroupNonUniformShuffle);
        let (scope, mask) = (self.subgroup_scope(), self.asm.u32(mask));
        self.op(Code::GroupNonUniformShuffleXor, ty, &[scope, value, mask])
    }

    /// The value from a constant distance below, and whether there is one.
    fn value_below(&mut self, ty: Type, value: Id, distance: u32) -> (Id, Id) {
        self.asm.need(Capability::GroupNonUniformShuffleRelative);
        let (scope, distance) = (self.subgroup_scope(), self.asm.u32(distance));
        let lane = self.builtin(Builtin::Lane);
        let exists = self.op(Code::UGreaterThanEqual, Type::BOOL, &[lane, distance]);
        (self.op(Code::GroupNonUniformShuffleUp, ty, &[scope, value, distance]), exists)
    }

    pub fn shuffle(&mut self, kind: ShuffleKind, ty: Type, value: Id, lane: Value) -> Id {
        let size = self.target.subgroup_size;
        if size == 1 {
            return value;
        }
        match (kind, self.known(lane)) {
            (ShuffleKind::Xor, Some(mask)) if mask < size as u64 => self.exchange(ty, value, mask as u32),
            (ShuffleKind::Up, Some(distance)) if distance < size as u64 => {
                let (below, exists) = self.value_below(ty, value, distance as u32);
                self.select(ty, exists, below, value)
            }
            _ => self.shuffle_any(kind, ty, value, self.id(lane)),
        }
    }

    /// The other lane is computed; one outside the subgroup becomes one's own.
    fn shuffle_any(&mut self, kind: ShuffleKind, ty: Type, value: Id, operand: Id) -> Id {
        self.asm.need(Capability::GroupNonUniformShuffle);
        let own = self.builtin(Builtin::Lane);
        let other = match kind {
            ShuffleKind::At => operand,
            ShuffleKind::Xor => self.op(Code::BitwiseXor, Type::I32, &[own, operand]),
            ShuffleKind::Up => self.op(Code::ISub, Type::I32, &[own, operand]),
            ShuffleKind::Down => self.op(Code::IAdd, Type::I32, &[own, operand]),
        };
        let (scope, size) = (self.subgroup_scope(), self.asm.u32(self.target.subgroup_size));
        let inside = self.op(Code::ULessThan, Type::BOOL, &[other, size]);
        let lane = self.select(Type::I32, inside, other, own);
        self.op(Code::GroupNonUniformShuffle, ty, &[scope, value, lane])
    }

    pub fn ballot(&mut self, value: Id) -> Id {
        let ty = Type::Vector(Scalar::I32, 4);
        if self.target.subgroup_size == 1 {
            let [one, zero] = [1, 0].map(|n| self.asm.u32(n));
            let bit = self.select(Type::I32, value, one, zero);
            return self.op(Code::CompositeConstruct, ty, &[bit, zero, zero, zero]);
        }
        self.asm.need(Capability::GroupNonUniformBallot);
        let scope = self.subgroup_scope();
        self.op(Code::GroupNonUniformBallot, ty, &[scope, value])
    }

    pub fn vote(&mut self, vote: Vote, value: Id) -> Id {
        if self.target.subgroup_size == 1 {
            return value;
        }
        self.asm.need(Capability::GroupNonUniformVote);
        let scope = self.subgroup_scope();
        let code = match vote {
            Vote::All => Code::GroupNonUniformAll,
            Vote::Any => Code::GroupNonUniformAny,
        };
        self.op(code, Type::BOOL, &[scope, value])
    }
}

/// The device's instruction for an operation on integers or bools.
fn native_code(op: BinaryOp, bools: bool) -> Code {
    match op {
        BinaryOp::Add => Code::GroupNonUniformIAdd,
        BinaryOp::Mul => Code::GroupNonUniformIMul,
        BinaryOp::MinS => Code::GroupNonUniformSMin,
        BinaryOp::MaxS => Code::GroupNonUniformSMax,
        BinaryOp::MinU => Code::GroupNonUniformUMin,
        BinaryOp::MaxU => Code::GroupNonUniformUMax,
        BinaryOp::And if bools => Code::GroupNonUniformLogicalAnd,
        BinaryOp::Or if bools => Code::GroupNonUniformLogicalOr,
        BinaryOp::Xor if bools => Code::GroupNonUniformLogicalXor,
        BinaryOp::And => Code::GroupNonUniformBitwiseAnd,
        BinaryOp::Or => Code::GroupNonUniformBitwiseOr,
        BinaryOp::Xor => Code::GroupNonUniformBitwiseXor,
        _ => unreachable!("verify keeps to operations that combine"),
    }
}
