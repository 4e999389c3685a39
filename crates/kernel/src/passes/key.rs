//! When two instructions compute the same: equal keys.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::cse::Epochs;
use crate::ir::{
    BinaryOp, Builtin, CompareOp, GroupKind, Inst, Kernel, Op, Place, ReduceOp, ShuffleKind, UnaryOp, Value, Vote,
};
use crate::types::{Elem, Scalar};

/// What an instruction computes, from what.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    what: What,
    scalar: Scalar,
    lanes: u8,
    operands: [Value; 4],
}

const NONE: Value = Value(u32::MAX);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Const(u64),
    Builtin(Builtin),
    Arg(u32),
    Unary(UnaryOp),
    Binary(BinaryOp),
    Fma,
    Compare(CompareOp),
    Select,
    Convert(bool),
    Bitcast,
    Narrow(Elem),
    Encode(Elem),
    Decode(Elem),
    Compose,
    Extract(u8),
    Dot4(bool, bool),
    Subgroup(ReduceOp, GroupKind),
    Shuffle(ShuffleKind),
    Ballot,
    Vote(Vote),
    Load { place: Place, elem: Elem, count: u8, epoch: u32 },
}

/// A map by keys, or by values, that trusts its input: nobody chooses keys to collide, and the standard hash is what most of
/// a pass's time would go to.
pub(super) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;

/// Multiplies and rotates, a word at a time.
#[derive(Default)]
pub(super) struct QuickHasher(u64);

impl Hasher for QuickHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(*b as u64));
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(word as u64);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word as u64);
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}

impl Key {
    /// The key of an instruction that computes the same whenever its operands are the same; none if it does more.
    pub fn of(kernel: &Kernel, inst: &Inst, epochs: &Epochs) -> Option<Key> {
        let what = match &inst.op {
            Op::Load { place, elem, .. } => {
                What::Load { place: *place, elem: *elem, count: inst.results.len() as u8, epoch: epochs.at(*place) }
            }
            op => pure(op)?,
        };
        Some(key(kernel, inst, what))
    }
}

/// The key of an instruction without operands but a constant index.
pub(super) fn constant_key(kernel: &Kernel, inst: &Inst) -> Option<Key> {
    Some(key(kernel, inst, pure(&inst.op)?))
}

fn key(kernel: &Kernel, inst: &Inst, what: What) -> Key {
    let mut operands = [NONE; 4];
    let mut count = 0;
    inst.op.each_operand(|v| {
        operands[count] = v;
        count += 1;
    });
    if commutes(&inst.op) && operands[0] > operands[1] {
        operands.swap(0, 1);
    }
    let ty = kernel.type_of(inst.results[0]);
    let scalar = ty.scalar().expect("no pure instruction gives a matrix");
    Key { what, scalar, lanes: ty.lanes() as u8, operands }
}

fn pure(op: &Op) -> Option<What> {
    Some(match op {
        Op::Const(bits) => What::Const(*bits),
        Op::Builtin(b) => What::Builtin(*b),
        Op::Arg { param, .. } => What::Arg(*param),
        Op::Unary(op, _) => What::Unary(*op),
        Op::Binary(op, ..) => What::Binary(*op),
        Op::Fma(..) => What::Fma,
        Op::Compare(op, ..) => What::Compare(*op),
        Op::Select(..) => What::Select,
        Op::Convert { signed, .. } => What::Convert(*signed),
        Op::Bitcast(_) => What::Bitcast,
        Op::Narrow(elem, _) => What::Narrow(*elem),
        Op::Encode(elem, _) => What::Encode(*elem),
        Op::Decode(elem, _) => What::Decode(*elem),
        Op::Compose(_) => What::Compose,
        Op::Extract(_, at) => What::Extract(*at),
        Op::Dot4 { signed_a, signed_b, .. } => What::Dot4(*signed_a, *signed_b),
        // All invocations of the subgroup are there, wherever it stands: so the same values give the same.
        Op::Subgroup { op, kind, .. } => What::Subgroup(*op, *kind),
        Op::Shuffle { kind, .. } => What::Shuffle(*kind),
        Op::Ballot(_) => What::Ballot,
        Op::Vote(vote, _) => What::Vote(*vote),
        _ => return None,
    })
}

/// Whether the first two operands may change places without a change of bits.
fn commutes(op: &Op) -> bool {
    use BinaryOp::{Add, And, MaxS, MaxU, MinS, MinU, Mul, MulHighS, MulHighU, Or, Xor};
    match op {
        Op::Binary(op, ..) => {
            matches!(op, Add | Mul | And | Or | Xor | MinS | MaxS | MinU | MaxU | MulHighS | MulHighU)
        }
        Op::Compare(op, ..) => matches!(op, CompareOp::Eq | CompareOp::Ne),
        Op::Fma(..) => true,
        _ => false,
    }
}
