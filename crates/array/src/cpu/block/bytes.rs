//! One operation on elements of a byte, which most maps of int8, uint8 and bool are: in lanes of a byte, four times as many
//! as where elements are widened.

use pumice_kernel::ir::{BinaryOp, CompareOp, Inst, Op, Place, UnaryOp, Value};
use pumice_kernel::{Access, Elem, Kernel};

use super::{Input, Output};
use crate::cpu::simd::vectorised;
use crate::cpu::threads::share;

/// Elements that a thread takes at least.
const TASK: usize = 1 << 18;
/// Elements that are worked on at a time where an operand is one for all.
const BLOCK: usize = 4096;

/// The loop of an operation; one of a single operand is given it twice.
type Loop = fn(&mut [u8], &[u8], &[u8]);

/// A map that is one operation.
pub(super) struct ByteMap {
    function: Loop,
    /// Which of how many inputs are its operands.
    operands: [usize; 2],
    inputs: usize,
}

impl ByteMap {
    /// The map of a kernel that loads bytes, does a single operation, and stores a byte.
    pub(super) fn of(kernel: &Kernel) -> Option<ByteMap> {
        let is_input = |buffer: &usize| kernel.buffers[*buffer].access == Access::Read;
        let inputs: Vec<usize> = (0..kernel.buffers.len()).filter(is_input).collect();
        let elem = kernel.buffers[*inputs.first()?].elem;
        let same = inputs.iter().all(|&input| kernel.buffers[input].elem == elem);
        let insts: Vec<&Inst> = kernel.body.insts.iter().filter(|inst| !matches!(inst.op, Op::Const(_))).collect();
        let (loads, rest) =
            insts.split_at_checked(inputs.len()).filter(|_| same && kernel.buffers.len() == inputs.len() + 1)?;
        let (made, result, store) = match rest {
            [made, store] => (made, made.results.first()?, store),
            [made, narrow, store] if matches!(&narrow.op, Op::Narrow(to, of) if *to == elem && Some(of) == made.results.first()) => {
                (made, narrow.results.first()?, store)
            }
            _ => return None,
        };
        let Op::Store { place: Place::Buffer(output), values, .. } = &store.op else { return None };
        let stored = kernel.buffers[*output as usize].elem;
        let number = |value: Value| {
            let load = loads.iter().find(|load| load.results.first() == Some(&value))?;
            let Op::Load { place: Place::Buffer(buffer), .. } = load.op else { return None };
            inputs.iter().position(|&input| input == buffer as usize)
        };
        let (function, [a, b]) = operation(&made.op, elem, stored).filter(|_| values[..] == [*result])?;
        Some(ByteMap { function, operands: [number(a)?, number(b)?], inputs: inputs.len() })
    }

    /// Runs it if all elements stand one after another, or are one for all; says whether they do.
    pub(super) fn run(&self, count: usize, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> bool {
        let (Some(a), Some(b)) =
            (Bytes::of(inputs, self.operands[0], count), Bytes::of(inputs, self.operands[1], count))
        else {
            return false;
        };
        let [Output::Contiguous(out)] = outputs else { return false };
        if inputs.len() != self.inputs {
            return false;
        }
        let Some(out) = out.get_mut(..count) else { return false };
        match count < 2 * TASK {
            true => self.task(0, out, a, b),
            false => {
                let tasks = out.chunks_mut(TASK).enumerate().collect();
                share(tasks, |(i, out)| {
                    self.task(i * TASK, out, a, b);
                    Ok(())
                })
                .expect("no task fails");
            }
        }
        true
    }

    fn task(&self, first: usize, out: &mut [u8], a: Bytes<'_>, b: Bytes<'_>) {
        let splats = [a, b].map(|bytes| match bytes {
            Bytes::Each(_) => Vec::new(),
            Bytes::One(byte) => vec![byte; BLOCK.min(out.len())],
        });
        for (i, out) in out.chunks_mut(BLOCK).enumerate() {
            let at = first + i * BLOCK;
            let [a, b] = [(a, &splats[0]), (b, &splats[1])].map(|(bytes, splat)| match bytes {
                Bytes::Each(bytes) => &bytes[at..at + out.len()],
                Bytes::One(_) => &splat[..out.len()],
            });
            (self.function)(out, a, b);
        }
    }
}

/// An operand.
#[derive(Clone, Copy)]
enum Bytes<'a> {
    Each(&'a [u8]),
    One(u8),
}

impl<'a> Bytes<'a> {
    fn of(inputs: &[Input<'a>], number: usize, count: usize) -> Option<Bytes<'a>> {
        match inputs.get(number)? {
            Input::Contiguous(bytes) => bytes.get(..count).map(Bytes::Each),
            Input::Scalar(bytes) => bytes.first().map(|byte| Bytes::One(*byte)),
            Input::Strided { .. } | Input::InPlace(_) => None,
        }
    }
}

/// A row of a table: the loop of a function of two bytes.
macro_rules! each {
    (|$a:ident, $b:ident| $f:expr) => {
        |out, a, b| {
            vectorised(
                out,
                (a, b),
                #[inline(always)]
                |out, (a, b)| out.iter_mut().zip(a).zip(b).for_each(|((out, &$a), &$b)| *out = $f),
            )
        }
    };
}

/// The loop of an operation on a type, and its operands.
fn operation(op: &Op, elem: Elem, stored: Elem) -> Option<(Loop, [Value; 2])> {
    let is_same = stored == elem;
    Some(match *op {
        Op::Unary(op, a) if is_same => (unary(op, elem)?, [a, a]),
        Op::Binary(op, a, b) if is_same => (binary(op, elem)?, [a, b]),
        Op::Compare(op, a, b) if stored == Elem::Bool => (compare(op, elem)?, [a, b]),
        _ => return None,
    })
}

fn unary(op: UnaryOp, elem: Elem) -> Option<Loop> {
    Some(match (op, elem) {
        (UnaryOp::Not, Elem::Bool) => each!(|a, _b| (a == 0) as u8),
        (UnaryOp::Not, Elem::I8 | Elem::U8) => each!(|a, _b| !a),
        (UnaryOp::Neg, Elem::I8 | Elem::U8) => each!(|a, _b| a.wrapping_neg()),
        (UnaryOp::Abs, Elem::I8) => each!(|a, _b| (a as i8).wrapping_abs() as u8),
        _ => return None,
    })
}

/// The low byte of a sum, a difference or a product needs no more than the low bytes of the operands.
fn binary(op: BinaryOp, elem: Elem) -> Option<Loop> {
    Some(match (op, elem) {
        (BinaryOp::And, Elem::Bool) => each!(|a, b| ((a != 0) & (b != 0)) as u8),
        (BinaryOp::Or, Elem::Bool) => each!(|a, b| ((a != 0) | (b != 0)) as u8),
        (BinaryOp::Xor, Elem::Bool) => each!(|a, b| ((a != 0) ^ (b != 0)) as u8),
        (BinaryOp::And, Elem::I8 | Elem::U8) => each!(|a, b| a & b),
        (BinaryOp::Or, Elem::I8 | Elem::U8) => each!(|a, b| a | b),
        (BinaryOp::Xor, Elem::I8 | Elem::U8) => each!(|a, b| a ^ b),
        (BinaryOp::Add, Elem::I8 | Elem::U8) => each!(|a, b| a.wrapping_add(b)),
        (BinaryOp::Sub, Elem::I8 | Elem::U8) => each!(|a, b| a.wrapping_sub(b)),
        (BinaryOp::Mul, Elem::I8 | Elem::U8) => each!(|a, b| a.wrapping_mul(b)),
        (BinaryOp::MinS, Elem::I8) => each!(|a, b| (a as i8).min(b as i8) as u8),
        (BinaryOp::MaxS, Elem::I8) => each!(|a, b| (a as i8).max(b as i8) as u8),
        (BinaryOp::MinS | BinaryOp::MinU, Elem::U8) => each!(|a, b| a.min(b)),
        (BinaryOp::MaxS | BinaryOp::MaxU, Elem::U8) => each!(|a, b| a.max(b)),
        _ => return None,
    })
}

fn compare(op: CompareOp, elem: Elem) -> Option<Loop> {
    Some(match (op, elem) {
        (CompareOp::Eq, Elem::Bool) => each!(|a, b| ((a != 0) == (b != 0)) as u8),
        (CompareOp::Ne, Elem::Bool) => each!(|a, b| ((a != 0) != (b != 0)) as u8),
        (CompareOp::Eq, Elem::I8 | Elem::U8) => each!(|a, b| (a == b) as u8),
        (CompareOp::Ne, Elem::I8 | Elem::U8) => each!(|a, b| (a != b) as u8),
        (CompareOp::Lt, Elem::I8) => each!(|a, b| ((a as i8) < b as i8) as u8),
        (CompareOp::Le, Elem::I8) => each!(|a, b| (a as i8 <= b as i8) as u8),
        (CompareOp::Lt | CompareOp::LtU, Elem::U8) => each!(|a, b| (a < b) as u8),
        (CompareOp::Le | CompareOp::LeU, Elem::U8) => each!(|a, b| (a <= b) as u8),
        _ => return None,
    })
}
