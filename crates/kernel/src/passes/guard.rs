//! Writing the instructions of a guard: a list that is filled in order, each with the line of the access it guards.

use crate::ir::{AtomicOp, BinaryOp, CompareOp, Inst, Kernel, Line, MatrixOp, Op, Place, Results, Value};
use crate::types::{Elem, Type};

pub(super) struct Writer<'k> {
    pub kernel: &'k mut Kernel,
    pub line: Line,
    pub out: Vec<Inst>,
}

impl<'k> Writer<'k> {
    pub fn new(kernel: &'k mut Kernel, line: Line) -> Writer<'k> {
        Writer { kernel, line, out: Vec::new() }
    }

    pub fn push(&mut self, results: impl Into<Results>, op: Op) {
        self.out.push(Inst { results: results.into(), op, line: self.line });
    }

    pub fn emit(&mut self, ty: Type, op: Op) -> Value {
        let value = self.kernel.fresh(ty);
        self.push(vec![value], op);
        value
    }

    pub fn i32(&mut self, value: u32) -> Value {
        self.emit(Type::I32, Op::Const(value as u64))
    }

    pub fn i64(&mut self, value: u64) -> Value {
        self.emit(Type::I64, Op::Const(value))
    }

    /// Zero of any type.
    pub fn zero(&mut self, ty: Type) -> Value {
        match ty {
            Type::Matrix(m) => {
                let zero = self.emit(m.elem.compute(), Op::Const(0));
                self.emit(ty, Op::Matrix(MatrixOp::Fill(m, zero)))
            }
            _ => self.emit(ty, Op::Const(0)),
        }
    }

    /// An index as I64.
    pub fn widened(&mut self, value: Value, signed: bool) -> Value {
        match self.kernel.type_of(value) {
            Type::I64 => value,
            _ => self.emit(Type::I64, Op::Convert { value, signed }),
        }
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.emit(Type::I64, Op::Binary(BinaryOp::Add, a, b))
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.emit(Type::I64, Op::Binary(BinaryOp::Sub, a, b))
    }

    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.emit(Type::I64, Op::Binary(BinaryOp::Mul, a, b))
    }

    pub fn least(&mut self, a: Value, b: Value) -> Value {
        self.emit(Type::I64, Op::Binary(BinaryOp::MinS, a, b))
    }

    /// An I64 shifted right by a constant.
    pub fn shift_right(&mut self, a: Value, bits: u32) -> Value {
        if bits == 0 {
            return a;
        }
        let bits = self.i64(bits as u64);
        self.emit(Type::I64, Op::Binary(BinaryOp::ShrU, a, bits))
    }

    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.emit(Type::BOOL, Op::Binary(BinaryOp::And, a, b))
    }

    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.emit(Type::BOOL, Op::Binary(BinaryOp::Or, a, b))
    }

    pub fn equal(&mut self, a: Value, b: Value) -> Value {
        self.emit(Type::BOOL, Op::Compare(CompareOp::Eq, a, b))
    }

    /// Unsigned `a < b`.
    pub fn below(&mut self, a: Value, b: Value) -> Value {
        self.emit(Type::BOOL, Op::Compare(CompareOp::LtU, a, b))
    }

    /// Unsigned `a <= b`.
    pub fn at_most(&mut self, a: Value, b: Value) -> Value {
        self.emit(Type::BOOL, Op::Compare(CompareOp::LeU, a, b))
    }

    pub fn signed_at_most(&mut self, a: Value, b: Value) -> Value {
        self.emit(Type::BOOL, Op::Compare(CompareOp::Le, a, b))
    }

    pub fn select(&mut self, ty: Type, condition: Value, a: Value, b: Value) -> Value {
        self.emit(ty, Op::Select(condition, a, b))
    }

    /// The low and the high word of an I64.
    pub fn halves(&mut self, value: Value) -> (Value, Value) {
        let low = self.emit(Type::I32, Op::Convert { value, signed: false });
        let high = self.shift_right(value, 32);
        (low, self.emit(Type::I32, Op::Convert { value: high, signed: false }))
    }

    /// Puts `value` in a buffer's first word if `expected` is there; gives what was.
    pub fn claim(&mut self, buffer: u32, expected: Value, value: Value) -> Value {
        let (op, place, elem) = (AtomicOp::CompareExchange, Place::Buffer(buffer), Elem::U32);
        self.emit(Type::I32, Op::Atomic { op, place, elem, index: expected, value, expected: Some(expected) })
    }

    /// Writes a word of a buffer.
    pub fn store(&mut self, buffer: u32, at: u32, word: Value) {
        let index = self.i32(at);
        self.push(vec![], Op::Store { place: Place::Buffer(buffer), elem: Elem::U32, index, values: vec![word] });
    }
}
