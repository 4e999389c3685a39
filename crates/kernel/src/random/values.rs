//! Arithmetic at random: every operation on one, two or three values, with operands from what is in scope.

use super::Writer;
use crate::ir::{BinaryOp, CompareOp, Op, UnaryOp, Value};
use crate::types::{Elem, Scalar, Type};

const ANY_UNARY: [UnaryOp; 3] = [UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Neg];
const INT_UNARY: [UnaryOp; 7] = [
    UnaryOp::Neg,
    UnaryOp::Abs,
    UnaryOp::Not,
    UnaryOp::CountOnes,
    UnaryOp::LeadingZeros,
    UnaryOp::TrailingZeros,
    UnaryOp::ReverseBits,
];
const FLOAT_UNARY: [UnaryOp; 5] = [UnaryOp::Floor, UnaryOp::Ceil, UnaryOp::Trunc, UnaryOp::RoundEven, UnaryOp::Sqrt];
const FLOAT_BINARY: [BinaryOp; 6] =
    [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Min, BinaryOp::Max];
const INT_BINARY: [BinaryOp; 19] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::DivS,
    BinaryOp::DivU,
    BinaryOp::RemS,
    BinaryOp::RemU,
    BinaryOp::MulHighS,
    BinaryOp::MulHighU,
    BinaryOp::MinS,
    BinaryOp::MaxS,
    BinaryOp::MinU,
    BinaryOp::MaxU,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::ShrS,
    BinaryOp::ShrU,
];
const BOOL_BINARY: [BinaryOp; 3] = [BinaryOp::And, BinaryOp::Or, BinaryOp::Xor];

impl Writer<'_> {
    /// A new value by some operation.
    pub(super) fn value(&mut self) {
        let ty = self.ty();
        match self.source.below(16) {
            0..=1 => self.unary(ty),
            2..=5 => self.binary(ty),
            6 => self.fma(),
            7..=8 => self.compare(ty),
            9 => self.select(ty),
            10..=11 => self.convert(ty),
            12 => self.bitcast(ty),
            13 => self.narrowing(ty),
            14 => self.vectors(ty),
            _ => self.dot(),
        }
    }

    /// A scalar type the limits allow.
    pub(super) fn scalar(&mut self) -> Scalar {
        let all = [Scalar::I32, Scalar::F32, Scalar::Bool, Scalar::I64, Scalar::I32, Scalar::F32, Scalar::F64];
        let scalar = self.source.choose(&all);
        if scalar == Scalar::F64 && !self.limits.f64 { Scalar::F32 } else { scalar }
    }

    /// A storage type the limits allow.
    pub(super) fn elem(&mut self) -> Elem {
        let elem = self.source.choose(&Elem::ALL);
        if elem == Elem::F64 && !self.limits.f64 { Elem::F32 } else { elem }
    }

    /// A type, usually of one component.
    pub(super) fn ty(&mut self) -> Type {
        let scalar = self.scalar();
        match self.source.below(8) {
            0 => Type::Vector(scalar, 2),
            1 => Type::Vector(scalar, 4),
            _ => Type::Scalar(scalar),
        }
    }

    /// A value of a type: one in scope, or a constant.
    pub(super) fn pick(&mut self, ty: Type) -> Value {
        let found: Vec<Value> = self.pool.iter().filter(|(_, t)| *t == ty).map(|(v, _)| *v).collect();
        if found.is_empty() || self.source.chance(1, 8) {
            let scalar = ty.scalar().expect("no matrices here");
            let bits = self.source.scalar(scalar);
            return self.emit(ty, Op::Const(bits));
        }
        // Recent values twice as often, so that results are used.
        let from = if self.source.chance(1, 2) { found.len() / 2 } else { 0 };
        let list = found[from..].to_vec();
        self.source.choose(&list)
    }

    /// An I32 constant that is used by who asked alone.
    pub(super) fn number(&mut self, value: u32) -> Value {
        self.hidden(Type::I32, Op::Const(value as u64))
    }

    /// An I32 operation whose result is used by who asked alone.
    pub(super) fn integer(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.hidden(Type::I32, Op::Binary(op, a, b))
    }

    pub(super) fn source_below(&mut self, n: u32) -> u32 {
        self.source.below(n as usize) as u32
    }

    fn unary(&mut self, ty: Type) {
        let op = match ty.scalar() {
            Some(Scalar::Bool) => UnaryOp::Not,
            Some(s) if s.is_int() => self.source.choose(&INT_UNARY),
            _ if self.source.chance(1, 3) => self.source.choose(&ANY_UNARY),
            _ => self.source.choose(&FLOAT_UNARY),
        };
        let a = self.pick(ty);
        self.emit(ty, Op::Unary(op, a));
    }

    fn binary(&mut self, ty: Type) {
        let op = match ty.scalar() {
            Some(Scalar::Bool) => self.source.choose(&BOOL_BINARY),
            Some(s) if s.is_int() => self.source.choose(&INT_BINARY),
            _ => self.source.choose(&FLOAT_BINARY),
        };
        let (a, b) = (self.pick(ty), self.pick(ty));
        self.emit(ty, Op::Binary(op, a, b));
    }

    fn fma(&mut self) {
        let scalar = if self.limits.f64 && self.source.chance(1, 3) { Scalar::F64 } else { Scalar::F32 };
        let ty = self.ty().with_scalar(scalar);
        let (a, b, c) = (self.pick(ty), self.pick(ty), self.pick(ty));
        self.emit(ty, Op::Fma(a, b, c));
    }

    fn compare(&mut self, ty: Type) {
        let op = match ty.scalar() {
            Some(Scalar::Bool) => self.source.choose(&[CompareOp::Eq, CompareOp::Ne]),
            Some(s) if s.is_int() => self.source.choose(&[
                CompareOp::Eq,
                CompareOp::Ne,
                CompareOp::Lt,
                CompareOp::Le,
                CompareOp::LtU,
                CompareOp::LeU,
            ]),
            _ => self.source.choose(&[CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le]),
        };
        let (a, b) = (self.pick(ty), self.pick(ty));
        self.emit(ty.with_scalar(Scalar::Bool), Op::Compare(op, a, b));
    }

    fn select(&mut self, ty: Type) {
        let condition = if self.source.chance(1, 2) { Type::BOOL } else { ty.with_scalar(Scalar::Bool) };
        let (condition, a, b) = (self.pick(condition), self.pick(ty), self.pick(ty));
        self.emit(ty, Op::Select(condition, a, b));
    }

    fn convert(&mut self, ty: Type) {
        let to = ty.with_scalar(self.scalar());
        let value = self.pick(ty);
        let signed = self.source.chance(1, 2);
        self.emit(to, Op::Convert { value, signed });
    }

    /// The value with every NaN replaced, so that its bits are the same everywhere.
    fn canonical(&mut self, value: Value, ty: Type) -> Value {
        if !ty.scalar().is_some_and(Scalar::is_float) {
            return value;
        }
        let nan = self.hidden(ty.with_scalar(Scalar::Bool), Op::Compare(CompareOp::Ne, value, value));
        let zero = self.hidden(ty, Op::Const(0));
        self.hidden(ty, Op::Select(nan, zero, value))
    }

    fn bitcast(&mut self, ty: Type) {
        let from = if ty.scalar() == Some(Scalar::Bool) { ty.with_scalar(Scalar::I32) } else { ty };
        let size = |ty: Type| ty.scalar().map_or(0, Scalar::bytes) * ty.lanes();
        let mut targets = Vec::new();
        for scalar in [Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64] {
            for to in [Type::Scalar(scalar), Type::Vector(scalar, 2), Type::Vector(scalar, 4)] {
                if size(to) == size(from) && (scalar != Scalar::F64 || self.limits.f64) {
                    targets.push(to);
                }
            }
        }
        let value = self.pick(from);
        let value = self.canonical(value, from);
        let to = self.source.choose(&targets);
        self.emit(to, Op::Bitcast(value));
    }

    fn narrowing(&mut self, ty: Type) {
        let (ints, floats) = (ty.with_scalar(Scalar::I32), ty.with_scalar(Scalar::F32));
        let half = self.source.choose(&[Elem::F16, Elem::BF16]);
        match self.source.below(4) {
            0 => {
                let a = self.pick(ints);
                let elem = self.source.choose(&[Elem::I8, Elem::U8, Elem::I16, Elem::U16]);
                self.emit(ints, Op::Narrow(elem, a));
            }
            1 => {
                let a = self.pick(floats);
                self.emit(floats, Op::Narrow(half, a));
            }
            2 => {
                let a = self.pick(floats);
                let a = self.canonical(a, floats);
                self.emit(ints, Op::Encode(half, a));
            }
            _ => {
                let a = self.pick(ints);
                self.emit(floats, Op::Decode(half, a));
            }
        }
    }

    fn vectors(&mut self, ty: Type) {
        let scalar = ty.scalar().expect("no matrices here");
        let lanes = if ty.lanes() > 1 { ty.lanes() as u8 } else { 4 };
        if self.source.chance(1, 2) {
            let parts = (0..lanes).map(|_| self.pick(Type::Scalar(scalar))).collect();
            self.emit(Type::Vector(scalar, lanes), Op::Compose(parts));
        } else {
            let a = self.pick(Type::Vector(scalar, lanes));
            let at = self.source.below(lanes as usize) as u8;
            self.emit(Type::Scalar(scalar), Op::Extract(a, at));
        }
    }

    fn dot(&mut self) {
        let [a, b, accumulator] = [Type::I32; 3].map(|ty| self.pick(ty));
        let (signed_a, signed_b) = (self.source.chance(1, 2), self.source.chance(1, 2));
        self.emit(Type::I32, Op::Dot4 { signed_a, signed_b, a, b, accumulator });
    }
}
