//! One function being written: its instructions, the block that is open, and the ids of the kernel's values.
//!
//! The files beside this one each add the emission of one concern as methods; here are the state they share, the helpers
//! they write instructions with, and the table from instruction to method.

use rspirv::spirv::{Decoration, GlslStd450Op, Op as Code};

use super::assembly::Assembly;
use super::flushable::Flushable;
use super::memory::Memory;
use super::words::{Id, push, push_parts};
use crate::error::{Error, Result};
use crate::ir::{Block, Inst, Kernel, Op, UnaryOp, Value};
use crate::target::Target;
use crate::types::{Scalar, Type};

pub(super) struct Emitter<'a> {
    pub kernel: &'a Kernel,
    pub target: &'a Target,
    pub asm: &'a mut Assembly,
    /// The function's instructions so far.
    pub code: Vec<u32>,
    /// The label of the open block.
    pub open: Id,
    /// Where buffers and arrays are.
    pub memory: Memory,
    /// Whose denormals may be lost.
    pub flushable: Flushable,
    ids: Vec<Id>,
    constants: Vec<Option<u64>>,
    /// By value: what it is the square root of.
    radicands: Vec<Option<Value>>,
}

impl<'a> Emitter<'a> {
    pub fn new(kernel: &'a Kernel, target: &'a Target, asm: &'a mut Assembly) -> Emitter<'a> {
        let count = kernel.types.len();
        Emitter {
            kernel,
            target,
            asm,
            code: Vec::with_capacity(8 * count),
            open: 0,
            memory: Memory::default(),
            flushable: Flushable::default(),
            ids: vec![0; count],
            constants: vec![None; count],
            radicands: vec![None; count],
        }
    }

    /// The id of a value.
    pub fn id(&self, value: Value) -> Id {
        let id = self.ids[value.index()];
        debug_assert_ne!(id, 0, "value {} is used before it is defined", value.0);
        id
    }

    /// Says which id a value has.
    pub fn define(&mut self, value: Value, id: Id) {
        self.ids[value.index()] = id;
    }

    /// The bits of a value that is a constant.
    pub fn known(&self, value: Value) -> Option<u64> {
        self.constants[value.index()]
    }

    /// What a value is the square root of, if it is written as one.
    pub fn radicand(&self, value: Value) -> Option<Value> {
        self.radicands[value.index()]
    }

    pub fn type_of(&self, value: Value) -> Type {
        self.kernel.type_of(value)
    }

    /// The SPIR-V type of a scalar or vector type; a matrix's is made by `matrix`.
    pub fn ty(&mut self, ty: Type) -> Id {
        match ty {
            Type::Scalar(s) => self.asm.plain(s, 1),
            Type::Vector(s, n) => self.asm.plain(s, n as usize),
            Type::Matrix(m) => self.matrix_type(m),
        }
    }

    /// Writes an instruction with a result.
    pub fn op(&mut self, op: Code, ty: Type, operands: &[Id]) -> Id {
        let ty = self.ty(ty);
        self.raw(op, ty, operands)
    }

    /// Writes an instruction with a result of a SPIR-V type.
    pub fn raw(&mut self, op: Code, ty: Id, operands: &[Id]) -> Id {
        let id = self.asm.fresh();
        push_parts(&mut self.code, op, &[ty, id], operands);
        id
    }

    /// Writes an instruction without a result.
    pub fn effect(&mut self, op: Code, operands: &[Id]) {
        push(&mut self.code, op, operands);
    }

    /// Writes a float instruction that the driver must neither fuse nor rearrange.
    pub fn float(&mut self, op: Code, ty: Type, operands: &[Id]) -> Id {
        let id = self.op(op, ty, operands);
        self.asm.decorate(id, Decoration::NoContraction, &[]);
        id
    }

    /// Writes an instruction of GLSL.std.450.
    pub fn glsl(&mut self, op: GlslStd450Op, ty: Type, operands: &[Id]) -> Id {
        let set = self.asm.glsl();
        let ty = self.ty(ty);
        let id = self.asm.fresh();
        push_parts(&mut self.code, Code::ExtInst, &[ty, id, set, op as u32], operands);
        id
    }

    /// Writes an instruction of GLSL.std.450 that the driver must neither fuse nor rearrange.
    pub fn exact_glsl(&mut self, op: GlslStd450Op, ty: Type, operands: &[Id]) -> Id {
        let id = self.glsl(op, ty, operands);
        self.asm.decorate(id, Decoration::NoContraction, &[]);
        id
    }

    /// A constant; a vector type repeats it.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Id {
        self.asm.constant(ty, bits)
    }

    pub fn select(&mut self, ty: Type, condition: Id, a: Id, b: Id) -> Id {
        self.op(Code::Select, ty, &[condition, a, b])
    }

    /// One component of a vector; of a scalar, itself.
    pub fn component(&mut self, ty: Type, value: Id, lane: usize) -> Id {
        match ty {
            Type::Vector(s, _) => self.op(Code::CompositeExtract, Type::Scalar(s), &[value, lane as u32]),
            _ => value,
        }
    }

    /// Applies scalar code to each component of vectors of one length, or to scalars as they are.
    pub fn each_component<const N: usize>(
        &mut self,
        from: Type,
        to: Type,
        values: [Id; N],
        mut f: impl FnMut(&mut Self, [Id; N]) -> Id,
    ) -> Id {
        let Type::Vector(_, lanes) = to else { return f(self, values) };
        let mut parts = [0; 4];
        for (lane, part) in parts.iter_mut().enumerate().take(lanes as usize) {
            let components = values.map(|v| self.component(from, v, lane));
            *part = f(self, components);
        }
        self.op(Code::CompositeConstruct, to, &parts[..lanes as usize])
    }

    /// Starts a block.
    pub fn label(&mut self, id: Id) {
        push(&mut self.code, Code::Label, &[id]);
        self.open = id;
    }

    pub fn branch(&mut self, to: Id) {
        push(&mut self.code, Code::Branch, &[to]);
    }

    /// An error that the device lacks something.
    pub fn unsupported(&self, message: String) -> Error {
        Error::Unsupported { kernel: self.kernel.name.clone(), message }
    }

    /// Refuses a type the device does not compute in.
    pub fn require_type(&self, ty: Type) -> Result<()> {
        if ty.scalar() == Some(Scalar::F64) && !self.target.float64 {
            return Err(self.unsupported("64-bit floats must be offered by the device but are not.".into()));
        }
        Ok(())
    }

    pub fn block(&mut self, block: &Block) -> Result<()> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &Inst) -> Result<()> {
        for &result in &inst.results {
            self.require_type(self.type_of(result))?;
        }
        match &inst.op {
            Op::Load { place, elem, index } => self.load(inst, *place, *elem, *index),
            Op::Store { place, elem, index, values } => self.store(*place, *elem, *index, values),
            Op::Barrier(fence) => {
                self.barrier(*fence);
                Ok(())
            }
            Op::If { condition, then, otherwise } => self.if_(inst, *condition, then, otherwise),
            Op::For { .. } => self.for_(inst),
            Op::While { init, test, body } => self.while_(inst, init, test, body),
            Op::Matrix(op) => self.matrix(inst, op),
            _ => {
                let result = inst.results[0];
                let id = self.value(result, &inst.op)?;
                self.define(result, id);
                match inst.op {
                    Op::Const(bits) => self.constants[result.index()] = Some(bits),
                    Op::Unary(UnaryOp::Sqrt, a) => self.radicands[result.index()] = Some(a),
                    _ => {}
                }
                Ok(())
            }
        }
    }

    /// Instructions that give one value.
    fn value(&mut self, result: Value, op: &Op) -> Result<Id> {
        let ty = self.type_of(result);
        Ok(match op {
            Op::Const(bits) => self.literal(ty, *bits),
            Op::Builtin(builtin) => self.builtin(*builtin),
            Op::Arg { param, index } => self.argument(*param, *index),
            Op::Unary(op @ (UnaryOp::Neg | UnaryOp::Abs), a) if self.flushable.has(result) => {
                self.free_sign(*op, ty, self.id(*a))
            }
            Op::Unary(op, a) => self.unary(*op, ty, self.id(*a)),
            Op::Binary(op, a, b) => self.binary(*op, ty, *a, *b),
            Op::Fma(a, b, c) => self.fma(ty, [self.id(*a), self.id(*b), self.id(*c)]),
            Op::Compare(op, a, b) => self.compare_values(*op, *a, *b),
            Op::Select(condition, a, b) => self.select(ty, self.id(*condition), self.id(*a), self.id(*b)),
            Op::Convert { value, signed } => self.convert(self.type_of(*value), ty, self.id(*value), *signed),
            Op::Bitcast(a) => self.bitcast(self.type_of(*a), ty, self.id(*a)),
            Op::Narrow(elem, a) => self.narrow(*elem, ty, self.id(*a)),
            Op::Encode(elem, a) => self.encode(*elem, ty, self.id(*a)),
            Op::Decode(elem, a) => self.decode(*elem, ty, self.id(*a)),
            Op::Compose(parts) => {
                let ids: Vec<Id> = parts.iter().map(|&v| self.id(v)).collect();
                self.op(Code::CompositeConstruct, ty, &ids)
            }
            Op::Extract(a, lane) => self.component(self.type_of(*a), self.id(*a), *lane as usize),
            Op::Atomic { .. } => return self.atomic(ty, op),
            Op::Subgroup { op, kind, value } => self.subgroup(*op, *kind, ty, self.id(*value)),
            Op::Shuffle { kind, value, lane } => self.shuffle(*kind, ty, self.id(*value), *lane),
            Op::Ballot(a) => self.ballot(self.id(*a)),
            Op::Vote(vote, a) => self.vote(*vote, self.id(*a)),
            Op::Dot4 { signed_a, signed_b, a, b, accumulator } => {
                self.dot4([*signed_a, *signed_b], [self.id(*a), self.id(*b)], self.id(*accumulator))
            }
            _ => unreachable!("`inst` handles what does not give exactly one value"),
        })
    }
}
