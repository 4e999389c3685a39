//! The rules of instructions that compute values from values: types in, types out.

use super::{Rule, gives, gives_nothing, single, takes};
use crate::ir::{BinaryOp, CompareOp, Inst, Kernel, Op, ReduceOp, UnaryOp, Value};
use crate::types::{Elem, Scalar, Type};

pub(super) fn check(kernel: &Kernel, inst: &Inst) -> Rule {
    let name = inst.op.name();
    match &inst.op {
        Op::Const(bits) => constant(single(kernel, inst)?, *bits),
        Op::Builtin(builtin) => match builtin.axis() {
            Some(axis) if axis > 2 => Err(format!("the axis of {name} must be 0, 1 or 2 but is {axis}.")),
            _ => gives(kernel, inst, Type::I32),
        },
        Op::Unary(op, a) => {
            let ty = plain(kernel, name, *a)?;
            kinds(name, unary_kinds(*op), ty)?;
            gives(kernel, inst, ty)
        }
        Op::Binary(op, a, b) => {
            let ty = equal(kernel, name, &[*a, *b])?;
            kinds(name, binary_kinds(*op), ty)?;
            gives(kernel, inst, ty)
        }
        Op::Fma(a, b, c) => {
            let ty = equal(kernel, name, &[*a, *b, *c])?;
            kinds(name, Kinds::FLOAT, ty)?;
            gives(kernel, inst, ty)
        }
        Op::Compare(op, a, b) => {
            let ty = equal(kernel, name, &[*a, *b])?;
            kinds(name, compare_kinds(*op), ty)?;
            gives(kernel, inst, ty.with_scalar(Scalar::Bool))
        }
        Op::Select(condition, a, b) => select(kernel, inst, *condition, *a, *b),
        Op::Convert { value, .. } => {
            let from = plain(kernel, name, *value)?;
            let to = single(kernel, inst)?;
            match to.lanes() == from.lanes() {
                true => Ok(()),
                false => Err(format!("convert must keep the number of components but takes {from} to {to}.")),
            }
        }
        Op::Bitcast(a) => bitcast(plain(kernel, name, *a)?, single(kernel, inst)?),
        Op::Narrow(elem, a) => {
            let ty = plain(kernel, name, *a)?;
            narrowed(name, *elem, ty)?;
            gives(kernel, inst, ty)
        }
        Op::Encode(elem, a) => {
            let ty = plain(kernel, name, *a)?;
            half(name, *elem)?;
            kinds(name, Kinds::F32, ty)?;
            gives(kernel, inst, ty.with_scalar(Scalar::I32))
        }
        Op::Decode(elem, a) => {
            let ty = plain(kernel, name, *a)?;
            half(name, *elem)?;
            kinds(name, Kinds::I32, ty)?;
            gives(kernel, inst, ty.with_scalar(Scalar::F32))
        }
        Op::Compose(parts) => compose(kernel, inst, parts),
        Op::Extract(a, at) => extract(kernel, inst, *a, *at),
        Op::Barrier(_) => gives_nothing(inst),
        _ => across(kernel, inst),
    }
}

/// Operations across the subgroup, and the dot product.
fn across(kernel: &Kernel, inst: &Inst) -> Rule {
    let name = inst.op.name();
    match &inst.op {
        Op::Subgroup { op: ReduceOp(op), value, .. } => {
            let ty = plain(kernel, name, *value)?;
            if !combines(*op) {
                return Err(format!(
                    "a subgroup operation must combine by add, mul, min, max, and, or or xor but combines by {}.",
                    op.name()
                ));
            }
            kinds(op.name(), binary_kinds(*op), ty)?;
            gives(kernel, inst, ty)
        }
        Op::Shuffle { value, lane, .. } => {
            takes(kernel, "the lane of a shuffle", *lane, Type::I32)?;
            gives(kernel, inst, plain(kernel, name, *value)?)
        }
        Op::Ballot(a) => {
            takes(kernel, "the operand of ballot", *a, Type::BOOL)?;
            gives(kernel, inst, Type::Vector(Scalar::I32, 4))
        }
        Op::Vote(_, a) => {
            takes(kernel, "the operand of a vote", *a, Type::BOOL)?;
            gives(kernel, inst, Type::BOOL)
        }
        Op::Dot4 { a, b, accumulator, .. } => {
            [a, b, accumulator].into_iter().try_for_each(|v| takes(kernel, "an operand of dot4", *v, Type::I32))?;
            gives(kernel, inst, Type::I32)
        }
        _ => unreachable!("`rules` sends every other instruction elsewhere"),
    }
}

/// Which scalar types an operation works on.
#[derive(Clone, Copy)]
struct Kinds(&'static [Scalar], &'static str);

impl Kinds {
    const ANY: Kinds = Kinds(&[Scalar::Bool, Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64], "scalars");
    const NUMBER: Kinds = Kinds(&[Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64], "numbers");
    const BITS: Kinds = Kinds(&[Scalar::Bool, Scalar::I32, Scalar::I64], "bools or integers");
    const INT: Kinds = Kinds(&[Scalar::I32, Scalar::I64], "integers");
    const FLOAT: Kinds = Kinds(&[Scalar::F32, Scalar::F64], "floats");
    const F32: Kinds = Kinds(&[Scalar::F32], "f32");
    const I32: Kinds = Kinds(&[Scalar::I32], "i32");
}

fn kinds(name: &str, Kinds(allowed, words): Kinds, ty: Type) -> Rule {
    match ty.scalar() {
        Some(scalar) if allowed.contains(&scalar) => Ok(()),
        _ => Err(format!("the operands of {name} must be {words} but are {ty}.")),
    }
}

fn unary_kinds(op: UnaryOp) -> Kinds {
    match op {
        UnaryOp::Neg | UnaryOp::Abs => Kinds::NUMBER,
        UnaryOp::Not => Kinds::BITS,
        UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::RoundEven | UnaryOp::Sqrt => Kinds::FLOAT,
        UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros | UnaryOp::ReverseBits => Kinds::INT,
    }
}

fn binary_kinds(op: BinaryOp) -> Kinds {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => Kinds::NUMBER,
        BinaryOp::Div | BinaryOp::Min | BinaryOp::Max => Kinds::FLOAT,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Kinds::BITS,
        _ => Kinds::INT,
    }
}

fn compare_kinds(op: CompareOp) -> Kinds {
    match op {
        CompareOp::Eq | CompareOp::Ne => Kinds::ANY,
        CompareOp::Lt | CompareOp::Le => Kinds::NUMBER,
        CompareOp::LtU | CompareOp::LeU => Kinds::INT,
    }
}

/// Whether the order of combination does not matter but for rounding, so that a subgroup may combine by it.
fn combines(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Add | Mul | Min | Max | MinS | MaxS | MinU | MaxU | And | Or | Xor)
}

/// The type of a scalar or vector operand.
fn plain(kernel: &Kernel, name: &str, value: Value) -> Result<Type, String> {
    match kernel.type_of(value) {
        ty @ Type::Matrix(_) => Err(format!("the operands of {name} must be scalars or vectors but are {ty}.")),
        ty => Ok(ty),
    }
}

/// The one type of several operands.
fn equal(kernel: &Kernel, name: &str, values: &[Value]) -> Result<Type, String> {
    let first = plain(kernel, name, values[0])?;
    for &value in &values[1..] {
        let other = kernel.type_of(value);
        if other != first {
            return Err(format!("the operands of {name} must have equal types but are {first} and {other}."));
        }
    }
    Ok(first)
}

fn constant(ty: Type, bits: u64) -> Rule {
    let most = match ty.scalar() {
        None => return Err(format!("a constant must be a scalar or vector but is {ty}.")),
        Some(Scalar::Bool) => 1,
        Some(Scalar::I32 | Scalar::F32) => u32::MAX as u64,
        Some(Scalar::I64 | Scalar::F64) => u64::MAX,
    };
    match bits <= most {
        true => Ok(()),
        false => Err(format!("the bits of a constant of {ty} must be at most {most:#x} but are {bits:#x}.")),
    }
}

fn select(kernel: &Kernel, inst: &Inst, condition: Value, a: Value, b: Value) -> Rule {
    let ty = equal(kernel, "select", &[a, b])?;
    let found = kernel.type_of(condition);
    if found != Type::BOOL && found != ty.with_scalar(Scalar::Bool) {
        return Err(format!(
            "the condition of select must be bool or {} but is {found}.",
            ty.with_scalar(Scalar::Bool)
        ));
    }
    gives(kernel, inst, ty)
}

fn bitcast(from: Type, to: Type) -> Rule {
    let size = |ty: Type| match ty.scalar() {
        None | Some(Scalar::Bool) => None,
        Some(scalar) => Some(scalar.bytes() * ty.lanes()),
    };
    match (size(from), size(to)) {
        (Some(a), Some(b)) if a == b => Ok(()),
        _ => Err(format!("bitcast must keep the size of numbers but takes {from} to {to}.")),
    }
}

fn narrowed(name: &str, elem: Elem, ty: Type) -> Rule {
    match elem {
        Elem::F16 | Elem::BF16 => kinds(name, Kinds::F32, ty),
        Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16 => kinds(name, Kinds::I32, ty),
        _ => Err(format!("narrow must go to an 8- or 16-bit type but goes to {}.", elem.name())),
    }
}

fn half(name: &str, elem: Elem) -> Rule {
    match elem {
        Elem::F16 | Elem::BF16 => Ok(()),
        _ => Err(format!("{name} must name f16 or bf16 but names {}.", elem.name())),
    }
}

fn compose(kernel: &Kernel, inst: &Inst, parts: &[Value]) -> Rule {
    if !matches!(parts.len(), 2 | 4) {
        return Err(format!("compose must take 2 or 4 components but takes {}.", parts.len()));
    }
    match equal(kernel, "compose", parts)? {
        Type::Scalar(scalar) => gives(kernel, inst, Type::Vector(scalar, parts.len() as u8)),
        other => Err(format!("the operands of compose must be scalars but are {other}.")),
    }
}

fn extract(kernel: &Kernel, inst: &Inst, a: Value, at: u8) -> Rule {
    match kernel.type_of(a) {
        Type::Vector(scalar, lanes) if at < lanes => gives(kernel, inst, Type::Scalar(scalar)),
        found @ Type::Vector(..) => Err(format!("extract must name a component of {found} but names {at}.")),
        found => Err(format!("the operand of extract must be a vector but is {found}.")),
    }
}
