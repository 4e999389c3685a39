//! Instructions that only compute: one loop over whole columns each.

use super::machine::Machine;
use crate::eval::{self, Visit1, Visit2, Visit3};
use crate::ir::{Inst, Op, Value};
use crate::types::Scalar;

/// Applies a function to columns.
struct Each1<'c> {
    out: &'c mut [u64],
    a: &'c [u64],
}

struct Each2<'c> {
    out: &'c mut [u64],
    a: &'c [u64],
    b: &'c [u64],
}

struct Each3<'c> {
    out: &'c mut [u64],
    a: &'c [u64],
    b: &'c [u64],
    c: &'c [u64],
}

impl Visit1 for Each1<'_> {
    type Out = ();
    fn visit(self, f: impl Fn(u64) -> u64) {
        for (out, a) in self.out.iter_mut().zip(self.a) {
            *out = f(*a);
        }
    }
}

impl Visit2 for Each2<'_> {
    type Out = ();
    fn visit(self, f: impl Fn(u64, u64) -> u64) {
        for ((out, a), b) in self.out.iter_mut().zip(self.a).zip(self.b) {
            *out = f(*a, *b);
        }
    }
}

impl Visit3 for Each3<'_> {
    type Out = ();
    fn visit(self, f: impl Fn(u64, u64, u64) -> u64) {
        for (((out, a), b), c) in self.out.iter_mut().zip(self.a).zip(self.b).zip(self.c) {
            *out = f(*a, *b, *c);
        }
    }
}

impl<'a> Machine<'a, '_> {
    /// Computes an instruction without side effects for every invocation, active or not.
    pub(super) fn arithmetic(&mut self, inst: &'a Inst) {
        let result = inst.results[0];
        let mut column = self.take(result);
        self.compute(result, &inst.op, &mut column);
        self.put(result, column);
    }

    fn compute(&self, result: Value, op: &Op, out: &mut [u64]) {
        let column = |v: &Value| self.column(*v);
        match op {
            Op::Unary(op, a) => eval::visit_unary(*op, self.scalar(*a), Each1 { out, a: column(a) }),
            Op::Binary(op, a, b) => eval::visit_binary(*op, self.scalar(*a), Each2 { out, a: column(a), b: column(b) }),
            Op::Compare(op, a, b) => {
                eval::visit_compare(*op, self.scalar(*a), Each2 { out, a: column(a), b: column(b) })
            }
            Op::Fma(a, b, c) => {
                let (scalar, a, b, c) = (self.scalar(*a), column(a), column(b), column(c));
                if self.flush_fma && scalar == Scalar::F32 {
                    let each = |a, b, c| flush(eval::fma(scalar, flush(a), flush(b), flush(c)));
                    return Each3 { out, a, b, c }.visit(each);
                }
                eval::visit_fma(scalar, Each3 { out, a, b, c })
            }
            Op::Select(condition, a, b) => select(out, column(condition), column(a), column(b)),
            Op::Convert { value, signed } => {
                let (from, to) = (self.scalar(*value), self.scalar(result));
                eval::visit_convert(from, to, *signed, Each1 { out, a: column(value) })
            }
            Op::Narrow(elem, a) => eval::visit_narrow(*elem, Each1 { out, a: column(a) }),
            Op::Encode(elem, a) => eval::visit_encode(*elem, Each1 { out, a: column(a) }),
            Op::Decode(elem, a) => eval::visit_decode(*elem, Each1 { out, a: column(a) }),
            Op::Dot4 { signed_a, signed_b, a, b, accumulator } => {
                let (a, b, c) = (column(a), column(b), column(accumulator));
                Each3 { out, a, b, c }.visit(|a, b, c| eval::dot4(*signed_a, *signed_b, a, b, c))
            }
            Op::Bitcast(a) => self.bitcast(*a, result, out),
            Op::Compose(parts) => {
                for (out, part) in out.chunks_exact_mut(self.invocations).zip(parts) {
                    out.copy_from_slice(self.column(*part));
                }
            }
            Op::Extract(a, lane) => {
                let start = *lane as usize * self.invocations;
                out.copy_from_slice(&column(a)[start..start + self.invocations]);
            }
            op => unreachable!("{op:?} is no arithmetic"),
        }
    }

    /// The component type of a scalar or vector.
    fn scalar(&self, value: Value) -> Scalar {
        self.kernel.type_of(value).scalar().expect("verify keeps matrices out of arithmetic")
    }

    fn bitcast(&self, from: Value, to: Value, out: &mut [u64]) {
        let (n, a) = (self.invocations, self.column(from));
        match (self.scalar(from).bytes(), self.scalar(to).bytes()) {
            (4, 8) => {
                for (out, halves) in out.chunks_exact_mut(n).zip(a.chunks_exact(2 * n)) {
                    let (a, b) = halves.split_at(n);
                    Each2 { out, a, b }.visit(|low, high| low | high << 32);
                }
            }
            (8, 4) => {
                for (halves, a) in out.chunks_exact_mut(2 * n).zip(a.chunks_exact(n)) {
                    let (low, high) = halves.split_at_mut(n);
                    Each1 { out: low, a }.visit(|word| word & u32::MAX as u64);
                    Each1 { out: high, a }.visit(|word| word >> 32);
                }
            }
            _ => out.copy_from_slice(a),
        }
    }
}

/// An f32 denormal as the zero of its sign.
fn flush(bits: u64) -> u64 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// One condition for all components, or one for each.
fn select(out: &mut [u64], condition: &[u64], a: &[u64], b: &[u64]) {
    let n = condition.len();
    for ((out, a), b) in out.chunks_exact_mut(n).zip(a.chunks_exact(n)).zip(b.chunks_exact(n)) {
        let choose = Each3 { out, a: condition, b: a, c: b };
        choose.visit(|condition, a, b| if condition != 0 { a } else { b });
    }
}
