//! `Val`, the handle to a value, and its methods.

use super::{Builder, here};
use crate::ir::{BinaryOp, CompareOp, Op, UnaryOp, Value};
use crate::types::{Elem, Scalar, Type};

/// A value of a kernel being written: copy it freely.
#[derive(Clone, Copy)]
pub struct Val<'k> {
    pub(crate) k: &'k Builder,
    pub(crate) id: Value,
}

/// What an operator takes on its other side: a value, or a Rust number that becomes a constant of the value's type.
pub trait Operand<'k>: Copy {
    /// The operand as a value, a literal as a constant of the given type.
    #[track_caller]
    fn into_val(self, k: &'k Builder, ty: Type) -> Val<'k>;
}

impl<'k> Operand<'k> for Val<'k> {
    fn into_val(self, _: &'k Builder, _: Type) -> Val<'k> {
        self
    }
}

/// A Rust number or bool that can stand for a constant.
pub trait Literal: Copy + std::fmt::Display {
    /// Its bits as this type; none if it does not fit there.
    fn bits(self, scalar: Scalar) -> Option<u64>;
}

fn integer_bits(value: i128, scalar: Scalar) -> Option<u64> {
    match scalar {
        Scalar::Bool => None,
        Scalar::I32 => (i32::MIN as i128..=u32::MAX as i128).contains(&value).then_some(value as u32 as u64),
        Scalar::I64 => (i64::MIN as i128..=u64::MAX as i128).contains(&value).then_some(value as u64),
        Scalar::F32 => (value as f32 as i128 == value).then(|| (value as f32).to_bits() as u64),
        Scalar::F64 => (value as f64 as i128 == value).then(|| (value as f64).to_bits()),
    }
}

macro_rules! integer_literals {
    ($($t:ty),*) => {$(
        impl Literal for $t {
            fn bits(self, scalar: Scalar) -> Option<u64> {
                integer_bits(self as i128, scalar)
            }
        }
        impl<'k> Operand<'k> for $t {
            #[track_caller]
            fn into_val(self, k: &'k Builder, ty: Type) -> Val<'k> {
                literal(k, ty, self)
            }
        }
    )*};
}
integer_literals!(i32, u32, i64, u64, usize);

impl Literal for f32 {
    fn bits(self, scalar: Scalar) -> Option<u64> {
        match scalar {
            Scalar::F32 => Some(self.to_bits() as u64),
            Scalar::F64 => Some((self as f64).to_bits()),
            _ => None,
        }
    }
}

impl<'k> Operand<'k> for f32 {
    #[track_caller]
    fn into_val(self, k: &'k Builder, ty: Type) -> Val<'k> {
        literal(k, ty, self)
    }
}

impl Literal for bool {
    fn bits(self, scalar: Scalar) -> Option<u64> {
        (scalar == Scalar::Bool).then_some(self as u64)
    }
}

impl<'k> Operand<'k> for bool {
    #[track_caller]
    fn into_val(self, k: &'k Builder, ty: Type) -> Val<'k> {
        literal(k, ty, self)
    }
}

#[track_caller]
fn literal<'k>(k: &'k Builder, ty: Type, value: impl Literal) -> Val<'k> {
    match ty.scalar().and_then(|s| value.bits(s)) {
        Some(bits) => k.constant(ty, bits),
        None => k.fail(ty, format!("a literal must fit its place, {ty}, but {value} does not.")),
    }
}

/// Methods that emit `Op::Unary`.
macro_rules! unary_methods {
    ($($(#[$doc:meta])* $name:ident => $op:ident, $kinds:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(self) -> Val<'k> {
            self.unary(UnaryOp::$op, $kinds)
        }
    )*};
}

/// Methods that emit `Op::Binary`.
macro_rules! binary_methods {
    ($($(#[$doc:meta])* $name:ident => $op:ident, $kinds:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(self, other: impl Operand<'k>) -> Val<'k> {
            self.binary(BinaryOp::$op, other, $kinds)
        }
    )*};
}

/// Methods that emit `Op::Compare`.
macro_rules! compare_methods {
    ($($(#[$doc:meta])* $name:ident => $op:ident, $swap:literal, $kinds:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name(self, other: impl Operand<'k>) -> Val<'k> {
            let other = other.into_val(self.k, self.ty());
            let (a, b) = if $swap { (other, self) } else { (self, other) };
            a.compare(CompareOp::$op, b, $kinds)
        }
    )*};
}

/// Which component types an operation takes.
pub(super) type Kinds = (&'static str, fn(Scalar) -> bool);
pub(super) const FLOAT: Kinds = ("a float", Scalar::is_float);
pub(super) const INT: Kinds = ("an integer", Scalar::is_int);
pub(super) const NUMBER: Kinds = ("a number", |s| s != Scalar::Bool);
pub(super) const BITS: Kinds = ("a bool or an integer", |s| !s.is_float());
pub(super) const ANY: Kinds = ("anything", |_| true);

impl<'k> Val<'k> {
    /// The value's type.
    pub fn ty(self) -> Type {
        self.k.type_of(self.id)
    }

    /// The kernel being written.
    pub fn builder(self) -> &'k Builder {
        self.k
    }

    /// The value's name in the representation.
    pub fn id(self) -> Value {
        self.id
    }

    unary_methods! {
        /// Absolute value.
        abs => Abs, NUMBER;
        /// Towards negative infinity.
        floor => Floor, FLOAT;
        /// Towards positive infinity.
        ceil => Ceil, FLOAT;
        /// Towards zero.
        trunc => Trunc, FLOAT;
        /// To nearest, ties to even.
        round_even => RoundEven, FLOAT;
        /// Square root, correctly rounded.
        sqrt => Sqrt, FLOAT;
        /// Number of one bits.
        count_ones => CountOnes, INT;
        /// Zero bits above the highest one.
        leading_zeros => LeadingZeros, INT;
        /// Zero bits below the lowest one.
        trailing_zeros => TrailingZeros, INT;
        /// Bits in reverse order.
        reverse_bits => ReverseBits, INT;
    }

    binary_methods! {
        /// Unsigned quotient; 0 by zero.
        div_u => DivU, INT;
        /// Unsigned remainder; the dividend by zero.
        rem_u => RemU, INT;
        /// High half of the signed product.
        mul_high_s => MulHighS, INT;
        /// High half of the unsigned product.
        mul_high_u => MulHighU, INT;
        /// Unsigned minimum.
        min_u => MinU, INT;
        /// Unsigned maximum.
        max_u => MaxU, INT;
        /// Logical shift right.
        shr_u => ShrU, INT;
    }

    compare_methods! {
        /// Equality; false for NaN.
        eq => Eq, false, ANY;
        /// Inequality; true for NaN.
        ne => Ne, false, ANY;
        /// Less, signed or float.
        lt => Lt, false, NUMBER;
        /// Less or equal, signed or float.
        le => Le, false, NUMBER;
        /// Greater, signed or float.
        gt => Lt, true, NUMBER;
        /// Greater or equal, signed or float.
        ge => Le, true, NUMBER;
        /// Less, unsigned.
        lt_u => LtU, false, INT;
        /// Less or equal, unsigned.
        le_u => LeU, false, INT;
        /// Greater, unsigned.
        gt_u => LtU, true, INT;
        /// Greater or equal, unsigned.
        ge_u => LeU, true, INT;
    }

    /// Minimum: signed, or float where NaN on either side wins.
    #[track_caller]
    pub fn min(self, other: impl Operand<'k>) -> Val<'k> {
        self.binary(if self.is_float() { BinaryOp::Min } else { BinaryOp::MinS }, other, NUMBER)
    }

    /// Maximum: signed, or float where NaN on either side wins.
    #[track_caller]
    pub fn max(self, other: impl Operand<'k>) -> Val<'k> {
        self.binary(if self.is_float() { BinaryOp::Max } else { BinaryOp::MaxS }, other, NUMBER)
    }

    /// Whether the kernel so far shows that a float is negative, a zero or NaN.
    pub(crate) fn is_never_positive(self) -> bool {
        self.k.is_never_positive(self.id)
    }

    /// `self * b + c` of floats, rounded once.
    #[track_caller]
    pub fn fma(self, b: impl Operand<'k>, c: impl Operand<'k>) -> Val<'k> {
        let ty = self.ty();
        let (b, c) = (b.into_val(self.k, ty), c.into_val(self.k, ty));
        match self.agree(b, FLOAT).and_then(|_| self.agree(c, FLOAT)) {
            Ok(()) => self.k.emit_one(ty, Op::Fma(self.id, b.id, c.id)),
            Err(message) => self.k.fail(ty, message),
        }
    }

    /// `self ? a : b`; this value is one bool, or one per component.
    #[track_caller]
    pub fn select(self, a: impl Choice<'k>, b: impl Choice<'k>) -> Val<'k> {
        let ty = a.known_type().or(b.known_type()).unwrap_or(Type::F32);
        let (a, b) = (a.into_val(self.k, ty), b.into_val(self.k, ty));
        if self.ty().scalar() != Some(Scalar::Bool) {
            return self.k.fail(ty, format!("a condition must be bool but is {}.", self.ty()));
        }
        match a.agree(b, ANY) {
            Ok(()) => self.k.emit_one(ty, Op::Select(self.id, a.id, b.id)),
            Err(message) => self.k.fail(ty, message),
        }
    }

    /// Conversion by value, integers taken as signed.
    #[track_caller]
    pub fn to(self, scalar: Scalar) -> Val<'k> {
        self.convert(scalar, true)
    }

    /// Conversion by value, integers taken as unsigned.
    #[track_caller]
    pub fn to_u(self, scalar: Scalar) -> Val<'k> {
        self.convert(scalar, false)
    }

    #[track_caller]
    fn convert(self, scalar: Scalar, signed: bool) -> Val<'k> {
        let ty = self.ty();
        if ty.scalar() == Some(scalar) {
            return self;
        }
        if ty.scalar().is_none() {
            return self.k.fail(ty, format!("a conversion must take a scalar or vector but was given {ty}."));
        }
        self.k.emit_one(ty.with_scalar(scalar), Op::Convert { value: self.id, signed })
    }

    /// The same bits as a scalar type of the same width.
    #[track_caller]
    pub fn bitcast(self, scalar: Scalar) -> Val<'k> {
        let ty = self.ty();
        let to = ty.with_scalar(scalar);
        self.bitcast_type(to)
    }

    /// The same bits as a type of the same total size.
    #[track_caller]
    pub fn bitcast_type(self, to: Type) -> Val<'k> {
        let ty = self.ty();
        let size = |t: Type| t.scalar().filter(|s| *s != Scalar::Bool).map(|s| s.bytes() * t.lanes());
        if ty == to {
            return self;
        }
        if size(ty).is_none() || size(ty) != size(to) {
            return self.k.fail(to, format!("a bitcast must keep the size but goes from {ty} to {to}."));
        }
        self.k.emit_one(to, Op::Bitcast(self.id))
    }

    /// The value as it would come back from storage of this type.
    #[track_caller]
    pub fn narrow(self, elem: Elem) -> Val<'k> {
        let ty = self.ty();
        if ty.scalar() != elem.compute().scalar() {
            return self
                .k
                .fail(ty, format!("a value stored as {} must be {} but is {ty}.", elem.name(), elem.compute()));
        }
        let narrow = matches!(elem, Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16 | Elem::F16 | Elem::BF16);
        if narrow { self.k.emit_one(ty, Op::Narrow(elem, self.id)) } else { self }
    }

    /// F32 to the 16 bits of F16 or BF16, in an I32.
    #[track_caller]
    pub fn encode(self, elem: Elem) -> Val<'k> {
        self.code(elem, Scalar::F32, Scalar::I32, Op::Encode(elem, self.id))
    }

    /// The low 16 bits of an I32, as F16 or BF16, to F32.
    #[track_caller]
    pub fn decode(self, elem: Elem) -> Val<'k> {
        self.code(elem, Scalar::I32, Scalar::F32, Op::Decode(elem, self.id))
    }

    #[track_caller]
    fn code(self, elem: Elem, from: Scalar, to: Scalar, op: Op) -> Val<'k> {
        let ty = self.ty();
        if ty.scalar() != Some(from) || !matches!(elem, Elem::F16 | Elem::BF16) {
            let (from, elem) = (from.name(), elem.name());
            return self
                .k
                .fail(ty.with_scalar(to), format!("f16 or bf16 is coded from {from} but was {elem} from {ty}."));
        }
        self.k.emit_one(ty.with_scalar(to), op)
    }

    /// One component of a vector.
    #[track_caller]
    pub fn lane(self, lane: u8) -> Val<'k> {
        match self.ty() {
            Type::Vector(s, n) if lane < n => self.k.emit_one(Type::Scalar(s), Op::Extract(self.id, lane)),
            ty => self.k.fail(ty, format!("a vector must have component {lane} but is {ty}.")),
        }
    }

    /// The scalar in every component of a vector of two or four.
    #[track_caller]
    pub fn splat(self, lanes: u8) -> Val<'k> {
        let parts = vec![self; lanes as usize];
        self.k.vector(&parts)
    }

    /// `accumulator + Σ self[i] * b[i]` over four signed bytes packed in I32s.
    #[track_caller]
    pub fn dot4(self, b: Val<'k>, accumulator: Val<'k>) -> Val<'k> {
        self.dot4_signs(b, accumulator, true, true)
    }

    /// As `dot4`, saying which side is signed.
    #[track_caller]
    pub fn dot4_signs(self, b: Val<'k>, accumulator: Val<'k>, signed_a: bool, signed_b: bool) -> Val<'k> {
        let op = Op::Dot4 { signed_a, signed_b, a: self.id, b: b.id, accumulator: accumulator.id };
        self.k.emit_one(Type::I32, op)
    }

    pub(super) fn is_float(self) -> bool {
        self.ty().scalar().is_some_and(Scalar::is_float)
    }

    /// Whether another value has this one's type, of a kind the operation takes; the message if not.
    pub(super) fn agree(self, other: Val<'k>, kinds: Kinds) -> Result<(), String> {
        let (a, b) = (self.ty(), other.ty());
        match a.scalar() {
            Some(s) if kinds.1(s) && a == b => Ok(()),
            Some(s) if kinds.1(s) => Err(format!("operands must have one type but are {a} and {b}.")),
            _ => Err(format!("an operand must be {} but is {a}.", kinds.0)),
        }
    }

    #[track_caller]
    pub(super) fn unary(self, op: UnaryOp, kinds: Kinds) -> Val<'k> {
        match self.agree(self, kinds) {
            Ok(()) => self.k.emit_one(self.ty(), Op::Unary(op, self.id)),
            Err(message) => self.k.fail(self.ty(), message),
        }
    }

    #[track_caller]
    pub(super) fn binary(self, op: BinaryOp, other: impl Operand<'k>, kinds: Kinds) -> Val<'k> {
        let ty = self.ty();
        let other = other.into_val(self.k, ty);
        match self.agree(other, kinds) {
            Ok(()) => self.k.emit_one(ty, Op::Binary(op, self.id, other.id)),
            Err(message) => self.k.fail(ty, message),
        }
    }

    #[track_caller]
    fn compare(self, op: CompareOp, other: Val<'k>, kinds: Kinds) -> Val<'k> {
        let ty = self.ty().with_scalar(Scalar::Bool);
        match self.agree(other, kinds) {
            Ok(()) => self.k.emit_one(ty, Op::Compare(op, self.id, other.id)),
            Err(message) => self.k.fail(ty, message),
        }
    }
}

/// What `select` chooses between: values, or literals that take the other side's type.
pub trait Choice<'k>: Operand<'k> {
    /// The type, if it is a value's.
    fn known_type(self) -> Option<Type>;
}

impl<'k> Choice<'k> for Val<'k> {
    fn known_type(self) -> Option<Type> {
        Some(self.ty())
    }
}

macro_rules! literal_choices {
    ($($t:ty),*) => {$(
        impl<'k> Choice<'k> for $t {
            fn known_type(self) -> Option<Type> {
                None
            }
        }
    )*};
}
literal_choices!(i32, u32, i64, u64, usize, f32, bool);

impl std::fmt::Debug for Val<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "%{}: {}", self.id.0, self.ty())
    }
}

impl<'k> Val<'k> {
    /// Remembers a mistake at the caller's line.
    #[track_caller]
    pub(super) fn mistake(self, message: String) {
        self.k.note_mistake(here(), message);
    }
}
