//! Where invocations meet, at random: subgroup operations, and phases of shared memory between barriers.

use super::{Role, Writer};
use crate::ir::{ArrayDecl, BinaryOp, CompareOp, Fence, GroupKind, Op, Place, ReduceOp, ShuffleKind, Value, Vote};
use crate::types::{Elem, Scalar, Type};

const INT_REDUCE: [BinaryOp; 9] = [
    BinaryOp::Add,
    BinaryOp::Mul,
    BinaryOp::MinS,
    BinaryOp::MaxS,
    BinaryOp::MinU,
    BinaryOp::MaxU,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
];
const FLOAT_REDUCE: [BinaryOp; 4] = [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max];

/// Shared arrays a kernel may have.
const ARRAYS: usize = 4;

impl Writer<'_> {
    /// Something all invocations of the workgroup do together.
    pub(super) fn meeting(&mut self) {
        let meetings = self.buffers(|r| r == Role::Meeting);
        match self.source.below(6) {
            0..=2 if self.limits.subgroups => self.subgroup(),
            3 if self.limits.shared && !meetings.is_empty() => self.meet_in_buffer(meetings[0]),
            4 if self.limits.shared && self.limits.atomics => self.count_in_shared(),
            _ if self.limits.shared => self.meet_in_shared(),
            _ if self.limits.subgroups => self.subgroup(),
            _ => self.value(),
        }
    }

    fn subgroup(&mut self) {
        let ty = self.ty();
        match self.source.below(6) {
            0..=2 => {
                let ops: &[BinaryOp] = match ty.scalar() {
                    Some(Scalar::Bool) => &[BinaryOp::And, BinaryOp::Or, BinaryOp::Xor],
                    Some(s) if s.is_int() => &INT_REDUCE,
                    _ => &FLOAT_REDUCE,
                };
                let op = ReduceOp(self.source.choose(ops));
                let kind = self.source.choose(&[GroupKind::Reduce, GroupKind::Inclusive, GroupKind::Exclusive]);
                let value = self.pick(ty);
                self.emit(ty, Op::Subgroup { op, kind, value });
            }
            3 => {
                let kinds = [ShuffleKind::At, ShuffleKind::Xor, ShuffleKind::Up, ShuffleKind::Down];
                let kind = self.source.choose(&kinds);
                let value = self.pick(ty);
                let lane = if self.source.chance(1, 2) { self.index_below(8) } else { self.pick(Type::I32) };
                self.emit(ty, Op::Shuffle { kind, value, lane });
            }
            4 => {
                let a = self.pick(Type::BOOL);
                self.emit(Type::Vector(Scalar::I32, 4), Op::Ballot(a));
            }
            _ => {
                let a = self.pick(Type::BOOL);
                let vote = self.source.choose(&[Vote::All, Vote::Any]);
                self.emit(Type::BOOL, Op::Vote(vote, a));
            }
        }
    }

    /// Each writes its own element, then all read anyone's.
    fn meet_in_shared(&mut self) {
        let number = self.shared_array();
        let ty = self.kernel.shared[number as usize].compute();
        let elem = self.kernel.shared[number as usize].elem;
        let place = Place::Shared(number);
        let values = vec![self.pick(ty)];
        self.effect(Op::Store { place, elem, index: self.local, values });
        self.barrier(Fence::Shared);
        for _ in 0..1 + self.source.below(2) {
            let index = self.index_below(self.kernel.invocations());
            self.emit(ty, Op::Load { place, elem, index });
        }
        self.barrier(Fence::Shared);
    }

    fn shared_array(&mut self) -> u32 {
        if self.kernel.shared.len() < ARRAYS {
            let decl = self.array("shared", self.kernel.invocations());
            self.kernel.shared.push(decl);
            return self.kernel.shared.len() as u32 - 1;
        }
        self.source_below(ARRAYS as u32)
    }

    /// Each writes its own element of a buffer, then all read those of their workgroup.
    fn meet_in_buffer(&mut self, number: u32) {
        let elem = self.kernel.buffers[number as usize].elem;
        let place = Place::Buffer(number);
        let values = vec![self.pick(elem.compute())];
        self.effect(Op::Store { place, elem, index: self.me, values });
        self.barrier(Fence::All);
        let offset = self.index_below(self.kernel.invocations());
        let index = self.integer(BinaryOp::Add, self.first, offset);
        self.emit(elem.compute(), Op::Load { place, elem, index });
        self.barrier(Fence::All);
    }

    /// All count in a shared array by one operation, then read what came of it.
    fn count_in_shared(&mut self) {
        let elem = self.source.choose(&[Elem::I32, Elem::U32]);
        let place = self.counters(elem);
        let values = vec![self.pick(Type::I32)];
        self.effect(Op::Store { place, elem, index: self.local, values });
        self.barrier(Fence::Shared);
        let op = self.order_free();
        let (index, value) = (self.index_below(self.kernel.invocations()), self.pick(Type::I32));
        let count = |w: &mut Self| {
            w.hidden(Type::I32, Op::Atomic { op, place, elem, index, value, expected: None });
        };
        if self.source.chance(1, 2) {
            count(self);
        } else {
            self.only_some(count);
        }
        self.barrier(Fence::Shared);
        let index = self.index_below(self.kernel.invocations());
        self.emit(Type::I32, Op::Load { place, elem, index });
        self.barrier(Fence::Shared);
    }

    /// The shared array of plain integers of this type.
    fn counters(&mut self, elem: Elem) -> Place {
        let found = self.kernel.shared.iter().position(|a| a.elem == elem && a.lanes == 1);
        let number = found.unwrap_or_else(|| {
            let name = format!("counters_{}", self.kernel.shared.len());
            self.kernel.shared.push(ArrayDecl { name, elem, lanes: 1, len: self.kernel.invocations() });
            self.kernel.shared.len() - 1
        });
        Place::Shared(number as u32)
    }

    /// Runs a statement in the invocations where some value is odd.
    fn only_some(&mut self, write: impl FnOnce(&mut Self)) {
        let (any, one) = (self.pick(Type::I32), self.number(1));
        let odd: Value = self.integer(BinaryOp::And, any, one);
        let condition = self.hidden(Type::BOOL, Op::Compare(CompareOp::Eq, odd, one));
        self.when(condition, write);
    }

    fn barrier(&mut self, fence: Fence) {
        let fence = if self.source.chance(1, 8) { Fence::All } else { fence };
        self.effect(Op::Barrier(fence));
    }
}
