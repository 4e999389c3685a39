//! Subgroup operations. A last subgroup may be partial: invocations that do not exist take no part.

use std::ops::Range;

use super::machine::Machine;
use super::mask::Mask;
use crate::error::Result;
use crate::eval::{self, Visit2};
use crate::ir::{GroupKind, Inst, Op, ShuffleKind, Vote};
use crate::types::MatrixScope;

impl<'a> Machine<'a, '_> {
    /// One of `Subgroup`, `Shuffle`, `Ballot`, `Vote`.
    pub(super) fn subgroup(&mut self, inst: &'a Inst, mask: &Mask) -> Result<()> {
        let result = inst.results[0];
        let mut out = self.take(result);
        for group in 0..self.invocations.div_ceil(self.subgroup_size) {
            if self.whole(MatrixScope::Subgroup, group, mask, inst.line)? {
                let start = group * self.subgroup_size;
                let end = (start + self.subgroup_size).min(self.invocations);
                self.one_subgroup(&inst.op, start..end, &mut out);
            }
        }
        self.put(result, out);
        Ok(())
    }

    fn one_subgroup(&self, op: &Op, range: Range<usize>, out: &mut [u64]) {
        let n = self.invocations;
        match op {
            Op::Subgroup { op, kind, value } => {
                let scalar = self.kernel.type_of(*value).scalar().expect("verify refuses matrices");
                for (out, words) in out.chunks_exact_mut(n).zip(self.column(*value).chunks_exact(n)) {
                    let combine = Combine {
                        kind: *kind,
                        words: &words[range.clone()],
                        out: &mut out[range.clone()],
                        size: self.subgroup_size,
                        identity: eval::identity(op.0, scalar).expect("verify refuses other operations"),
                    };
                    eval::visit_binary(op.0, scalar, combine);
                }
            }
            Op::Shuffle { kind, value, lane } => {
                let lanes = &self.column(*lane)[range.clone()];
                for (out, words) in out.chunks_exact_mut(n).zip(self.column(*value).chunks_exact(n)) {
                    shuffle(*kind, &words[range.clone()], lanes, &mut out[range.clone()]);
                }
            }
            Op::Ballot(value) => {
                let bits = ballot(&self.column(*value)[range.clone()]);
                for (out, word) in out.chunks_exact_mut(n).zip(bits) {
                    out[range.clone()].fill(word);
                }
            }
            Op::Vote(vote, value) => {
                let words = &self.column(*value)[range.clone()];
                let holds = match vote {
                    Vote::All => words.iter().all(|w| *w != 0),
                    Vote::Any => words.iter().any(|w| *w != 0),
                };
                out[range].fill(holds as u64);
            }
            op => unreachable!("{op:?} is no subgroup operation"),
        }
    }
}

/// A reduction or scan over one subgroup, waiting for its function.
struct Combine<'c> {
    kind: GroupKind,
    words: &'c [u64],
    out: &'c mut [u64],
    /// Invocations of a whole subgroup.
    size: usize,
    identity: u64,
}

impl Visit2 for Combine<'_> {
    type Out = ();
    fn visit(self, f: impl Fn(u64, u64) -> u64) {
        match self.kind {
            GroupKind::Reduce => reduce(self.words, self.out, self.size, f),
            GroupKind::Inclusive => scan(self.words, self.out, f),
            GroupKind::Exclusive => {
                scan(self.words, self.out, f);
                self.out.rotate_right(1);
                self.out[0] = self.identity;
            }
        }
    }
}

/// By a butterfly over distances 1, 2, 4, …: `f(own, other)`. A lane that does not exist hands on what it would have received,
/// so that every lane gets the whole.
fn reduce(words: &[u64], out: &mut [u64], size: usize, f: impl Fn(u64, u64) -> u64) {
    let mut lanes = [None; 128];
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane = Some(*word);
    }
    let mut distance = 1;
    while distance < size {
        let before = lanes;
        for i in 0..size {
            lanes[i] = match (before[i], before[i ^ distance]) {
                (Some(own), Some(other)) => Some(f(own, other)),
                (own, other) => own.or(other),
            };
        }
        distance *= 2;
    }
    for (out, lane) in out.iter_mut().zip(lanes) {
        *out = lane.expect("a lane that exists has a value");
    }
}

/// By doubling over distances 1, 2, 4, …: `f(lower, own)`.
fn scan(words: &[u64], out: &mut [u64], f: impl Fn(u64, u64) -> u64) {
    out.copy_from_slice(words);
    let mut distance = 1;
    while distance < out.len() {
        // From the top, so that what stands below is still of the step before.
        for i in (distance..out.len()).rev() {
            out[i] = f(out[i - distance], out[i]);
        }
        distance *= 2;
    }
}

fn shuffle(kind: ShuffleKind, words: &[u64], lanes: &[u64], out: &mut [u64]) {
    for (own, (out, lane)) in out.iter_mut().zip(lanes).enumerate() {
        let (lane, me) = (*lane as u32, own as u32);
        let from = match kind {
            ShuffleKind::At => lane,
            ShuffleKind::Xor => me ^ lane,
            ShuffleKind::Up => me.wrapping_sub(lane),
            ShuffleKind::Down => me.wrapping_add(lane),
        };
        *out = words.get(from as usize).copied().unwrap_or(words[own]);
    }
}

fn ballot(words: &[u64]) -> [u64; 4] {
    let mut bits = [0; 4];
    for (i, _) in words.iter().enumerate().filter(|(_, w)| **w != 0) {
        bits[i / 32] |= 1 << (i % 32);
    }
    bits
}
