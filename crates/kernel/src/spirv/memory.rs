//! Where a kernel's arguments, buffers and arrays are, and what a barrier makes of them.
//!
//! One push constant points to the argument block, a struct laid out as `arguments` says. The addresses of the buffers in use
//! are read at the start of the kernel, scalar arguments where they are used.

use rspirv::spirv::{Decoration, MemoryAccess, MemorySemantics, Op as Code, Scope, StorageClass};

use super::arrays::ArrayVariable;
use super::emitter::Emitter;
use super::survey::Survey;
use super::words::{Id, push};
use crate::arguments::ArgumentLayout;
use crate::error::Result;
use crate::ir::{Fence, Inst, Place, Value};
use crate::types::{Elem, Scalar, Type};

/// Where things are, in the function being written.
#[derive(Default)]
pub(super) struct Memory {
    /// The operands, in a function of exact arithmetic: its arguments come from there, and a store is its return.
    pub parameters: Option<Vec<Id>>,
    /// Pointer to the argument block.
    arguments: Id,
    /// The address of each buffer in use.
    pub addresses: Vec<Id>,
    pub shared: Vec<ArrayVariable>,
    pub private: Vec<ArrayVariable>,
    /// Whether a barrier orders buffers.
    orders_buffers: bool,
}

impl Emitter<'_> {
    /// Declares arrays and arguments, and reads the addresses of the buffers in use. Comes first in the entry point.
    pub fn open_memory(&mut self, survey: &Survey) -> Result<()> {
        self.memory.orders_buffers = survey.orders_buffers;
        self.memory.private = self.private_arrays();
        self.memory.shared = self.shared_arrays(survey)?;
        if self.kernel.buffers.is_empty() && self.kernel.scalars.is_empty() {
            return Ok(());
        }
        self.memory.arguments = self.argument_block();
        let wide = self.ty(Type::I64);
        let pointer = self.asm.pointer(StorageClass::PhysicalStorageBuffer, wide);
        self.memory.addresses = (survey.buffers.iter().enumerate())
            .map(|(i, &used)| if used { self.load_argument(pointer, wide, &[i as u32], 8) } else { 0 })
            .collect();
        Ok(())
    }

    /// Declares the push constant and the block, and reads the one from the other.
    fn argument_block(&mut self) -> Id {
        let block = self.argument_struct();
        let pointer = self.asm.pointer(StorageClass::PhysicalStorageBuffer, block);
        let constants = self.asm.declare_new(Code::TypeStruct, &[pointer]);
        self.asm.decorate(constants, Decoration::Block, &[]);
        self.asm.decorate_member(constants, 0, Decoration::Offset, &[0]);
        let variable = self.asm.variable(StorageClass::PushConstant, constants);
        let member = self.asm.pointer(StorageClass::PushConstant, pointer);
        let zero = self.asm.u32(0);
        let at = self.raw(Code::AccessChain, member, &[variable, zero]);
        self.raw(Code::Load, pointer, &[at])
    }

    fn argument_struct(&mut self) -> Id {
        let kernel = self.kernel;
        let layout = ArgumentLayout::of(kernel);
        let address = self.ty(Type::I64);
        let mut members = vec![address; kernel.buffers.len()];
        let mut offsets: Vec<u32> = (0..kernel.buffers.len() as u32).map(|i| layout.buffer(i)).collect();
        for (param, &offset) in kernel.scalars.iter().zip(&layout.scalars) {
            let scalar = self.ty(stored(param.scalar));
            members.push(match param.len {
                1 => scalar,
                n => self.strided_array(scalar, n, param.scalar.bytes() as u32),
            });
            offsets.push(offset);
        }
        let id = self.asm.declare_new(Code::TypeStruct, &members);
        self.asm.decorate(id, Decoration::Block, &[]);
        for (member, &offset) in offsets.iter().enumerate() {
            self.asm.decorate_member(id, member as u32, Decoration::Offset, &[offset]);
            self.asm.decorate_member(id, member as u32, Decoration::NonWritable, &[]);
        }
        id
    }

    fn strided_array(&mut self, element: Id, len: u32, stride: u32) -> Id {
        let len = self.asm.u32(len);
        let id = self.asm.declare_new(Code::TypeArray, &[element, len]);
        self.asm.decorate(id, Decoration::ArrayStride, &[stride]);
        id
    }

    /// A scalar argument.
    pub fn argument(&mut self, param: u32, index: Option<Value>) -> Id {
        if let Some(parameters) = &self.memory.parameters {
            return parameters[param as usize];
        }
        let declared = &self.kernel.scalars[param as usize];
        let (scalar, len) = (declared.scalar, declared.len);
        let member = self.asm.u32(self.kernel.buffers.len() as u32 + param);
        let ty = self.ty(stored(scalar));
        let pointer = self.asm.pointer(StorageClass::PhysicalStorageBuffer, ty);
        let mut path = vec![self.memory.arguments, member];
        path.extend(index.filter(|_| len > 1).map(|v| self.id(v)));
        let at = self.raw(Code::AccessChain, pointer, &path);
        let align = scalar.bytes() as u32;
        let value = self.raw(Code::Load, ty, &[at, MemoryAccess::ALIGNED.bits(), align]);
        if scalar != Scalar::Bool {
            return value;
        }
        let zero = self.asm.u32(0);
        self.op(Code::INotEqual, Type::BOOL, &[value, zero])
    }

    /// A zero of 64 bits that the driver does not know to be one: the highest bit of an address. None where there is no address,
    /// in a kernel without arguments and in a function of exact arithmetic.
    pub fn opaque_zero(&mut self) -> Option<Id> {
        if self.memory.arguments == 0 {
            return None;
        }
        let address = self.op(Code::ConvertPtrToU, Type::I64, &[self.memory.arguments]);
        let shift = self.asm.u32(63);
        Some(self.op(Code::ShiftRightLogical, Type::I64, &[address, shift]))
    }

    /// A member of the argument block.
    fn load_argument(&mut self, pointer: Id, ty: Id, path: &[u32], align: u32) -> Id {
        let mut operands = vec![self.memory.arguments];
        operands.extend(path.iter().map(|&n| self.asm.u32(n)));
        let at = self.raw(Code::AccessChain, pointer, &operands);
        self.raw(Code::Load, ty, &[at, MemoryAccess::ALIGNED.bits(), align])
    }

    pub fn load(&mut self, inst: &Inst, place: Place, elem: Elem, index: Value) -> Result<()> {
        let count = inst.results.len();
        let ids = match place {
            Place::Buffer(buffer) => self.load_buffer(buffer, elem, index, count)?,
            Place::Shared(_) | Place::Private(_) => self.load_array(place, index, count),
        };
        for (&result, id) in inst.results.iter().zip(ids) {
            self.define(result, id);
        }
        Ok(())
    }

    pub fn store(&mut self, place: Place, elem: Elem, index: Value, values: &[Value]) -> Result<()> {
        let ids: Vec<Id> = values.iter().map(|&v| self.id(v)).collect();
        if self.memory.parameters.is_some() {
            self.effect(Code::ReturnValue, &ids);
            return Ok(());
        }
        match place {
            Place::Buffer(buffer) => self.store_buffer(buffer, elem, index, &ids),
            Place::Shared(_) | Place::Private(_) => {
                self.store_array(place, index, &ids);
                Ok(())
            }
        }
    }

    /// The operands of a load or store through a buffer's address: its alignment, and whether barriers order it.
    pub fn buffer_access(&self, buffer: u32, align: u32) -> [u32; 2] {
        let ordered = self.memory.orders_buffers && self.kernel.buffers[buffer as usize].access.writes();
        let private = if ordered { MemoryAccess::NON_PRIVATE_POINTER } else { MemoryAccess::NONE };
        [(MemoryAccess::ALIGNED | private).bits(), align]
    }

    pub fn barrier(&mut self, fence: Fence) {
        let mut semantics = MemorySemantics::ACQUIRE_RELEASE
            | MemorySemantics::WORKGROUP_MEMORY
            | MemorySemantics::MAKE_AVAILABLE
            | MemorySemantics::MAKE_VISIBLE;
        if fence == Fence::All {
            semantics |= MemorySemantics::UNIFORM_MEMORY;
        }
        let scope = self.asm.u32(Scope::Workgroup as u32);
        let semantics = self.asm.u32(semantics.bits());
        push(&mut self.code, Code::ControlBarrier, &[scope, scope, semantics]);
    }
}

/// How a scalar argument lies in the block: a bool as a word.
fn stored(scalar: Scalar) -> Type {
    if scalar == Scalar::Bool { Type::I32 } else { Type::Scalar(scalar) }
}
