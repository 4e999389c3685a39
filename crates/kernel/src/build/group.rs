//! What invocations do together: barriers, subgroup operations, and workgroup reductions that assume no subgroup size.

use super::value::NUMBER;
use super::{Builder, Operand, Val};
use crate::ir::{BinaryOp, Builtin, Fence, GroupKind, Op, ReduceOp, ShuffleKind, Vote};
use crate::types::{Scalar, Type};

impl Builder {
    /// All invocations of the workgroup arrive and see each other's writes to shared memory.
    #[track_caller]
    pub fn barrier(&self) {
        self.emit_effect(Op::Barrier(Fence::Shared));
    }

    /// As `barrier`, and they see each other's writes to buffers as well.
    #[track_caller]
    pub fn barrier_all(&self) {
        self.emit_effect(Op::Barrier(Fence::All));
    }

    /// Position in the subgroup.
    #[track_caller]
    pub fn lane(&self) -> Val<'_> {
        self.builtin(Builtin::Lane)
    }

    /// Invocations in a subgroup.
    #[track_caller]
    pub fn subgroup_size(&self) -> Val<'_> {
        self.builtin(Builtin::SubgroupSize)
    }

    /// Which subgroup of the workgroup.
    #[track_caller]
    pub fn subgroup_id(&self) -> Val<'_> {
        self.builtin(Builtin::SubgroupId)
    }

    /// Subgroups in the workgroup.
    #[track_caller]
    pub fn subgroup_count(&self) -> Val<'_> {
        self.builtin(Builtin::SubgroupCount)
    }

    /// The sum over the workgroup, in every invocation.
    #[track_caller]
    pub fn group_sum<'k>(&'k self, value: Val<'k>) -> Val<'k> {
        self.group_reduce(value, BinaryOp::Add)
    }

    /// The maximum over the workgroup, in every invocation; NaN wins.
    #[track_caller]
    pub fn group_max<'k>(&'k self, value: Val<'k>) -> Val<'k> {
        self.group_reduce(value, if value.is_float() { BinaryOp::Max } else { BinaryOp::MaxS })
    }

    /// The minimum over the workgroup, in every invocation; NaN wins.
    #[track_caller]
    pub fn group_min<'k>(&'k self, value: Val<'k>) -> Val<'k> {
        self.group_reduce(value, if value.is_float() { BinaryOp::Min } else { BinaryOp::MinS })
    }

    /// Combines a scalar over the workgroup, in every invocation: each subgroup reduces, one value each goes through
    /// shared memory, and every invocation folds those in order. Must stand where all invocations come.
    #[track_caller]
    pub fn group_reduce<'k>(&'k self, value: Val<'k>, op: BinaryOp) -> Val<'k> {
        let Type::Scalar(scalar) = value.ty() else {
            return self
                .fail(value.ty(), format!("a workgroup reduction must take a scalar but was given {}.", value.ty()));
        };
        let part = value.subgroup(op, GroupKind::Reduce);
        let scratch = self.shared("group_reduce", scalar.storage(), self.invocations());
        let id = self.subgroup_id();
        self.when(self.lane().eq(0), || scratch.store(id, part));
        self.barrier();
        let first = scratch.load(0);
        let whole = self.for_(1, self.subgroup_count(), 1, first, |i, sum| sum.combine(op, scratch.load(i)));
        // In a loop the next turn writes the scratch again.
        self.barrier();
        whole
    }
}

impl<'k> Val<'k> {
    #[track_caller]
    fn combine(self, op: BinaryOp, other: Val<'k>) -> Val<'k> {
        self.k.emit_one(self.ty(), Op::Binary(op, self.id, other.id))
    }

    /// Combines over the subgroup, into one value or running ones.
    #[track_caller]
    pub fn subgroup(self, op: BinaryOp, kind: GroupKind) -> Val<'k> {
        self.k.emit_one(self.ty(), Op::Subgroup { op: ReduceOp(op), kind, value: self.id })
    }

    /// The sum over the subgroup.
    #[track_caller]
    pub fn subgroup_sum(self) -> Val<'k> {
        match self.agree(self, NUMBER) {
            Ok(()) => self.subgroup(BinaryOp::Add, GroupKind::Reduce),
            Err(message) => self.k.fail(self.ty(), message),
        }
    }

    /// The maximum over the subgroup; NaN wins.
    #[track_caller]
    pub fn subgroup_max(self) -> Val<'k> {
        self.subgroup(if self.is_float() { BinaryOp::Max } else { BinaryOp::MaxS }, GroupKind::Reduce)
    }

    /// The minimum over the subgroup; NaN wins.
    #[track_caller]
    pub fn subgroup_min(self) -> Val<'k> {
        self.subgroup(if self.is_float() { BinaryOp::Min } else { BinaryOp::MinS }, GroupKind::Reduce)
    }

    /// The value of the given lane.
    #[track_caller]
    pub fn shuffle(self, lane: impl Operand<'k>) -> Val<'k> {
        self.shuffled(ShuffleKind::At, lane)
    }

    /// The value of one's own lane xor a mask.
    #[track_caller]
    pub fn shuffle_xor(self, mask: impl Operand<'k>) -> Val<'k> {
        self.shuffled(ShuffleKind::Xor, mask)
    }

    /// The value of the lane this far below; one's own where there is none.
    #[track_caller]
    pub fn shuffle_up(self, distance: impl Operand<'k>) -> Val<'k> {
        self.shuffled(ShuffleKind::Up, distance)
    }

    /// The value of the lane this far above; one's own where there is none.
    #[track_caller]
    pub fn shuffle_down(self, distance: impl Operand<'k>) -> Val<'k> {
        self.shuffled(ShuffleKind::Down, distance)
    }

    #[track_caller]
    fn shuffled(self, kind: ShuffleKind, lane: impl Operand<'k>) -> Val<'k> {
        let lane = lane.into_val(self.k, Type::I32);
        self.k.emit_one(self.ty(), Op::Shuffle { kind, value: self.id, lane: lane.id })
    }

    /// One bit per invocation of the subgroup, as I32 x 4.
    #[track_caller]
    pub fn ballot(self) -> Val<'k> {
        self.k.emit_one(Type::Vector(Scalar::I32, 4), Op::Ballot(self.id))
    }

    /// Whether this bool holds in all invocations of the subgroup.
    #[track_caller]
    pub fn subgroup_all(self) -> Val<'k> {
        self.k.emit_one(Type::BOOL, Op::Vote(Vote::All, self.id))
    }

    /// Whether this bool holds in any invocation of the subgroup.
    #[track_caller]
    pub fn subgroup_any(self) -> Val<'k> {
        self.k.emit_one(Type::BOOL, Op::Vote(Vote::Any, self.id))
    }
}
