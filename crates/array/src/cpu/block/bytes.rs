//! One operation on elements of a byte, which most maps of int8, uint8 and bool are: in lanes of a byte, four times as many
//! as where elements are widened.

use pumice_kernel::ir::{BinaryOp, CompareOp, Inst, Op, Place, UnaryOp, Value};
use pumice_kernel::{Access, Elem, Kernel};

use super::repeat::{Column, repeat_all, repeat_each};
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
    operands: [Operand; 2],
    /// How many inputs it is given.
    inputs: usize,
}

/// What the operation is done on.
#[derive(Clone, Copy)]
enum Operand {
    Input(usize),
    Constant(u8),
}

impl ByteMap {
    /// The map of a kernel that loads bytes, does a single operation, and stores a byte.
    pub(super) fn of(kernel: &Kernel) -> Option<ByteMap> {
        let is_input = |buffer: &usize| kernel.buffers[*buffer].access == Access::Read;
        let inputs: Vec<usize> = (0..kernel.buffers.len()).filter(is_input).collect();
        let elem = kernel.buffers[*inputs.first()?].elem;
        let same = inputs.iter().all(|&input| kernel.buffers[input].elem == elem);
        let is_constant = |inst: &&Inst| matches!(inst.op, Op::Const(_));
        let (constants, insts): (Vec<&Inst>, Vec<&Inst>) = kernel.body.insts.iter().partition(is_constant);
        let (loads, rest) =
            insts.split_at_checked(inputs.len()).filter(|_| same && kernel.buffers.len() == inputs.len() + 1)?;
        let [made, store] = rest else { return None };
        let Op::Store { place: Place::Buffer(output), values, .. } = &store.op else { return None };
        let stored = kernel.buffers[*output as usize].elem;
        let operand = |value: Value| {
            let makes = |inst: &&&Inst| inst.results.first() == Some(&value);
            match loads.iter().chain(&constants).find(makes)?.op {
                Op::Load { place: Place::Buffer(buffer), .. } => {
                    inputs.iter().position(|&input| input == buffer as usize).map(Operand::Input)
                }
                Op::Const(bits) if is_byte(bits, elem) => Some(Operand::Constant(bits as u8)),
                _ => None,
            }
        };
        let result = made.results.first()?;
        let (function, [a, b]) = operation(&made.op, elem, stored).filter(|_| values[..] == [*result])?;
        Some(ByteMap { function, operands: [operand(a)?, operand(b)?], inputs: inputs.len() })
    }

    /// Runs it if all elements stand one after another, or are one for all or for rows, or a row for all; says whether they do.
    pub(super) fn run(&self, count: usize, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> bool {
        let [Some(a), Some(b)] = self.operands.map(|operand| Bytes::of(inputs, operand, count)) else { return false };
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
        let mut rooms = [a, b].map(|bytes| match bytes {
            Bytes::Each(_) => Vec::new(),
            Bytes::One(byte) => vec![byte; BLOCK.min(out.len())],
            Bytes::Column(..) | Bytes::Row(_) => vec![0; BLOCK.min(out.len())],
        });
        for (i, out) in out.chunks_mut(BLOCK).enumerate() {
            let (at, count) = (first + i * BLOCK, out.len());
            let [room_a, room_b] = &mut rooms;
            (self.function)(out, a.lanes(at, count, room_a), b.lanes(at, count, room_b));
        }
    }
}

/// An operand.
#[derive(Clone, Copy)]
enum Bytes<'a> {
    Each(&'a [u8]),
    One(u8),
    /// One for each row.
    Column(&'a [u8], Column),
    /// A row for all.
    Row(&'a [u8]),
}

impl<'a> Bytes<'a> {
    fn of(inputs: &[Input<'a>], operand: Operand, count: usize) -> Option<Bytes<'a>> {
        let number = match operand {
            Operand::Input(number) => number,
            Operand::Constant(byte) => return Some(Bytes::One(byte)),
        };
        match *inputs.get(number)? {
            Input::Contiguous(bytes) => bytes.get(..count).map(Bytes::Each),
            Input::Scalar(bytes) => bytes.first().map(|byte| Bytes::One(*byte)),
            Input::Strided { bytes, start, shape: &[rows, row], strides: &[stride, 0] } if rows * row == count => {
                let column = Column { first: start, stride, row };
                let ends = [start, start + (rows as i64 - 1) * stride];
                ends.iter().all(|&end| 0 <= end && end < bytes.len() as i64).then_some(Bytes::Column(bytes, column))
            }
            Input::Strided { bytes, start, shape: &[rows, row], strides: &[0, 1] } if rows * row == count => {
                bytes.get(usize::try_from(start).ok()?..)?.get(..row).map(Bytes::Row)
            }
            Input::Strided { .. } | Input::InPlace(_) => None,
        }
    }

    /// So many bytes from a place on; what is repeated is written into the room.
    fn lanes<'r>(self, at: usize, count: usize, room: &'r mut [u8]) -> &'r [u8]
    where
        'a: 'r,
    {
        match self {
            Bytes::Each(bytes) => return &bytes[at..at + count],
            Bytes::One(_) => {}
            Bytes::Column(bytes, column) => repeat_each(bytes, column, at, &mut room[..count], |byte| byte),
            Bytes::Row(row) => repeat_all(row, at, &mut room[..count], |byte| byte),
        }
        &room[..count]
    }
}

/// Whether a constant is what a byte of a type is where it is computed with.
fn is_byte(bits: u64, elem: Elem) -> bool {
    match elem {
        Elem::I8 => bits as u32 as i32 == bits as i8 as i32,
        Elem::U8 => bits as u32 <= u8::MAX as u32,
        _ => false,
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
        Op::Convert { value, .. } if elem == Elem::Bool && matches!(stored, Elem::I8 | Elem::U8) => {
            (each!(|a, _b| (a != 0) as u8), [value, value])
        }
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
