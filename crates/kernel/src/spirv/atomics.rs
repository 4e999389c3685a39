//! Atomic operations: the device's own, and compare-and-swap loops for the floats it has none for.

use rspirv::spirv::{Capability, LoopControl, Op as Code, Scope};

use super::emitter::Emitter;
use super::words::Id;
use crate::error::Result;
use crate::ir::{AtomicOp, BinaryOp, Op, Place, Value};
use crate::types::{Elem, Type};

/// Where an atomic works, and how widely it is seen.
#[derive(Clone, Copy)]
struct Spot {
    pointer: Id,
    scope: Id,
    relaxed: Id,
}

impl Emitter<'_> {
    pub fn atomic(&mut self, ty: Type, op: &Op) -> Result<Id> {
        let &Op::Atomic { op, place, elem, index, value, expected } = op else { unreachable!("called on atomics") };
        if ty == Type::I64 {
            self.require_wide_atomics(place)?;
        }
        let value = self.id(value);
        if elem != Elem::F32 {
            let spot = self.spot(place, elem, index, ty);
            let expected = expected.map(|v| self.id(v));
            return Ok(self.atomic_integer(op, elem, ty, spot, value, expected));
        }
        let native = self.target.atomic_f32_add && matches!(place, Place::Buffer(_));
        Ok(match op {
            AtomicOp::Add if native => {
                self.asm.need(Capability::AtomicFloat32AddEXT);
                self.asm.need_extension("SPV_EXT_shader_atomic_float_add");
                let spot = self.spot(place, elem, index, Type::F32);
                self.op(Code::AtomicFAddEXT, Type::F32, &[spot.pointer, spot.scope, spot.relaxed, value])
            }
            AtomicOp::Exchange => {
                let spot = self.spot(place, elem, index, Type::I32);
                let bits = self.op(Code::Bitcast, Type::I32, &[value]);
                let old = self.atomic_integer(op, elem, Type::I32, spot, bits, None);
                self.op(Code::Bitcast, Type::F32, &[old])
            }
            AtomicOp::Add => self.swap_loop(BinaryOp::Add, place, index, value),
            AtomicOp::Min => self.swap_loop(BinaryOp::Min, place, index, value),
            AtomicOp::Max => self.swap_loop(BinaryOp::Max, place, index, value),
            _ => unreachable!("verify keeps {op:?} to integers"),
        })
    }

    fn require_wide_atomics(&mut self, place: Place) -> Result<()> {
        match place {
            Place::Buffer(_) if self.target.atomic_i64 => {
                self.asm.need(Capability::Int64Atomics);
                Ok(())
            }
            Place::Buffer(_) => {
                Err(self.unsupported("64-bit atomics in buffers must be offered by the device but are not.".into()))
            }
            _ => Err(self.unsupported("64-bit atomics must be on buffers but one is on a shared array.".into())),
        }
    }

    fn spot(&mut self, place: Place, elem: Elem, index: Value, ty: Type) -> Spot {
        let (pointer, scope) = match place {
            Place::Buffer(buffer) => {
                let ty = self.ty(ty);
                (self.element_pointer(buffer, elem, index, ty), Scope::QueueFamily)
            }
            _ => (self.array_element(place, index, 0), Scope::Workgroup),
        };
        Spot { pointer, scope: self.asm.u32(scope as u32), relaxed: self.asm.u32(0) }
    }

    fn atomic_integer(
        &mut self,
        op: AtomicOp,
        elem: Elem,
        ty: Type,
        spot: Spot,
        value: Id,
        expected: Option<Id>,
    ) -> Id {
        let Spot { pointer, scope, relaxed } = spot;
        let code = match op {
            AtomicOp::Add => Code::AtomicIAdd,
            AtomicOp::Min if elem.is_signed() => Code::AtomicSMin,
            AtomicOp::Min => Code::AtomicUMin,
            AtomicOp::Max if elem.is_signed() => Code::AtomicSMax,
            AtomicOp::Max => Code::AtomicUMax,
            AtomicOp::And => Code::AtomicAnd,
            AtomicOp::Or => Code::AtomicOr,
            AtomicOp::Xor => Code::AtomicXor,
            AtomicOp::Exchange => Code::AtomicExchange,
            AtomicOp::CompareExchange => {
                let expected = expected.expect("verify wants what a compare-exchange expects");
                let operands = [pointer, scope, relaxed, relaxed, value, expected];
                return self.op(Code::AtomicCompareExchange, ty, &operands);
            }
        };
        self.op(code, ty, &[pointer, scope, relaxed, value])
    }

    /// Reads, combines, and tries to replace what was read, until nobody came between.
    fn swap_loop(&mut self, op: BinaryOp, place: Place, index: Value, value: Id) -> Id {
        let Spot { pointer, scope, relaxed } = self.spot(place, Elem::F32, index, Type::I32);
        let [header, body, resume, merge] = [(); 4].map(|()| self.asm.fresh());
        let first = self.op(Code::AtomicLoad, Type::I32, &[pointer, scope, relaxed]);
        let before = self.open;
        self.branch(header);
        self.label(header);
        let seen = self.op(Code::Phi, Type::I32, &[first, before, 0, resume]);
        let hole = self.code.len() - 2;
        self.effect(Code::LoopMerge, &[merge, resume, LoopControl::NONE.bits()]);
        self.branch(body);
        self.label(body);
        let old = self.op(Code::Bitcast, Type::F32, &[seen]);
        let new = self.combine(op, Type::F32, old, value);
        let new = self.op(Code::Bitcast, Type::I32, &[new]);
        let operands = [pointer, scope, relaxed, relaxed, new, seen];
        let found = self.op(Code::AtomicCompareExchange, Type::I32, &operands);
        self.code[hole] = found;
        let done = self.op(Code::IEqual, Type::BOOL, &[found, seen]);
        self.effect(Code::BranchConditional, &[done, merge, resume]);
        self.label(resume);
        self.branch(header);
        self.label(merge);
        old
    }
}
