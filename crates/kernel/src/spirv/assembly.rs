//! The module being put together: its sections, its ids, and the types and constants it has declared so far.
//!
//! Types and constants are declared on first use and found again after that, capabilities and extensions are remembered
//! when something needs them, and everything is written out in the order SPIR-V wants. Nothing depends on the order of a
//! hash table, so the same kernel gives the same words.

use std::collections::{BTreeSet, HashMap};

use rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, MemoryModel, Op, StorageClass,
};

use super::exact::Library;
use super::launch::Inputs;
use super::words::{Id, push, push_parts, string};
use crate::target::FloatControls;
use crate::types::{Scalar, Type};

/// SPIR-V 1.6, what Vulkan 1.3 takes.
const VERSION: u32 = 0x0001_0600;

/// The number of the instruction set's generator; 0 is for tools that have not registered one.
const GENERATOR: u32 = 0;

#[derive(Default)]
pub(super) struct Assembly {
    bound: Id,
    capabilities: BTreeSet<u32>,
    extensions: BTreeSet<&'static str>,
    imports: Option<Id>,
    modes: Vec<u32>,
    decorations: Vec<u32>,
    /// Types, constants and variables.
    globals: Vec<u32>,
    functions: Vec<u32>,
    interface: Vec<Id>,
    scalars: [[Id; 3]; 5],
    declared: HashMap<Box<[u32]>, Id>,
    constants: HashMap<(Id, u64), Id>,
    /// Blocks of an array of unknown length, by its element.
    pub runtime_arrays: Vec<(Id, Id)>,
    /// The variables of built-in inputs.
    pub inputs: Inputs,
    /// The functions of exact arithmetic written so far.
    pub library: Library,
}

impl Assembly {
    /// A new id.
    pub fn fresh(&mut self) -> Id {
        self.bound += 1;
        self.bound
    }

    /// Says that the module uses a capability.
    pub fn need(&mut self, capability: Capability) {
        self.capabilities.insert(capability as u32);
    }

    /// Says that the module uses an extension.
    pub fn need_extension(&mut self, name: &'static str) {
        self.extensions.insert(name);
    }

    /// The GLSL.std.450 instruction set.
    pub fn glsl(&mut self) -> Id {
        if let Some(id) = self.imports {
            return id;
        }
        let id = self.fresh();
        self.imports = Some(id);
        id
    }

    /// Adds a decoration.
    pub fn decorate(&mut self, id: Id, decoration: Decoration, operands: &[u32]) {
        push_parts(&mut self.decorations, Op::Decorate, &[id, decoration as u32], operands);
    }

    /// Adds a decoration of a struct's member.
    pub fn decorate_member(&mut self, id: Id, member: u32, decoration: Decoration, operands: &[u32]) {
        push_parts(&mut self.decorations, Op::MemberDecorate, &[id, member, decoration as u32], operands);
    }

    /// Appends finished functions.
    pub fn append_function(&mut self, words: &[u32]) {
        self.functions.extend_from_slice(words);
    }

    /// A type that is the same wherever its operands are; declared once.
    pub fn declare(&mut self, op: Op, operands: &[u32]) -> Id {
        let key = [&[op as u32], operands].concat();
        if let Some(&id) = self.declared.get(&key[..]) {
            return id;
        }
        let id = self.declare_new(op, operands);
        self.declared.insert(key.into(), id);
        id
    }

    /// A type with decorations of its own: structs, and arrays laid out in memory.
    pub fn declare_new(&mut self, op: Op, operands: &[u32]) -> Id {
        let id = self.fresh();
        push_parts(&mut self.globals, op, &[id], operands);
        id
    }

    /// The SPIR-V type of a scalar or vector.
    pub fn plain(&mut self, scalar: Scalar, lanes: usize) -> Id {
        let slot = lanes / 2;
        let known = self.scalars[scalar as usize][slot];
        if known != 0 {
            return known;
        }
        let id = match (scalar, lanes) {
            (_, 2 | 4) => {
                let component = self.plain(scalar, 1);
                self.declare(Op::TypeVector, &[component, lanes as u32])
            }
            (Scalar::Bool, _) => self.declare(Op::TypeBool, &[]),
            (Scalar::I32, _) => self.declare(Op::TypeInt, &[32, 0]),
            (Scalar::I64, _) => {
                self.need(Capability::Int64);
                self.declare(Op::TypeInt, &[64, 0])
            }
            (Scalar::F32, _) => self.declare(Op::TypeFloat, &[32]),
            (Scalar::F64, _) => {
                self.need(Capability::Float64);
                self.declare(Op::TypeFloat, &[64])
            }
        };
        self.scalars[scalar as usize][slot] = id;
        id
    }

    /// An unsigned integer type of 8 or 16 bits.
    pub fn narrow_int(&mut self, bits: u32) -> Id {
        self.declare(Op::TypeInt, &[bits, 0])
    }

    /// A pointer type.
    pub fn pointer(&mut self, class: StorageClass, to: Id) -> Id {
        self.declare(Op::TypePointer, &[class as u32, to])
    }

    /// A constant of a scalar or vector type, from its bits; a vector repeats it.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Id {
        let scalar = ty.scalar().expect("constants are scalars and vectors");
        let id = self.plain(scalar, ty.lanes());
        if let Some(&known) = self.constants.get(&(id, bits)) {
            return known;
        }
        let result = match (ty, scalar) {
            (Type::Vector(..), _) => {
                let part = self.constant(Type::Scalar(scalar), bits);
                let parts = [part; 4];
                self.global(Op::ConstantComposite, id, &parts[..ty.lanes()])
            }
            (_, Scalar::Bool) if bits == 0 => self.global(Op::ConstantFalse, id, &[]),
            (_, Scalar::Bool) => self.global(Op::ConstantTrue, id, &[]),
            (_, Scalar::I32 | Scalar::F32) => self.global(Op::Constant, id, &[bits as u32]),
            (_, Scalar::I64 | Scalar::F64) => self.global(Op::Constant, id, &[bits as u32, (bits >> 32) as u32]),
        };
        self.constants.insert((id, bits), result);
        result
    }

    /// A 32-bit constant.
    pub fn u32(&mut self, value: u32) -> Id {
        self.constant(Type::I32, value as u64)
    }

    /// The value of a type that is all zero bits.
    pub fn null(&mut self, ty: Id) -> Id {
        let key = [Op::ConstantNull as u32, ty];
        if let Some(&id) = self.declared.get(&key[..]) {
            return id;
        }
        let id = self.global(Op::ConstantNull, ty, &[]);
        self.declared.insert(key.into(), id);
        id
    }

    /// A constant or variable of the module.
    fn global(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.fresh();
        push_parts(&mut self.globals, op, &[ty, id], operands);
        id
    }

    /// A variable of the module, listed in the entry point's interface.
    pub fn variable(&mut self, class: StorageClass, ty: Id) -> Id {
        let pointer = self.pointer(class, ty);
        let id = self.global(Op::Variable, pointer, &[class as u32]);
        self.interface.push(id);
        id
    }

    /// Declares what the device offers of exact arithmetic, for the widths in use.
    pub fn float_modes(&mut self, entry: Id, controls: &FloatControls) {
        let has = |s: Scalar| self.scalars[s as usize][0] != 0;
        let (f32, f64) = (has(Scalar::F32), has(Scalar::F64));
        let modes = [
            (f32 && controls.denorm_preserve_32, 32, Capability::DenormPreserve, ExecutionMode::DenormPreserve),
            (f64 && controls.denorm_preserve_64, 64, Capability::DenormPreserve, ExecutionMode::DenormPreserve),
            (f32 && controls.round_to_even_32, 32, Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE),
            (f64 && controls.round_to_even_64, 64, Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE),
            (
                f32 && controls.keep_nan_32,
                32,
                Capability::SignedZeroInfNanPreserve,
                ExecutionMode::SignedZeroInfNanPreserve,
            ),
            (
                f64 && controls.keep_nan_64,
                64,
                Capability::SignedZeroInfNanPreserve,
                ExecutionMode::SignedZeroInfNanPreserve,
            ),
        ];
        for (offered, width, capability, mode) in modes {
            if offered {
                self.need(capability);
                self.execution_mode(entry, mode, &[width]);
            }
        }
    }

    /// Adds an execution mode.
    pub fn execution_mode(&mut self, entry: Id, mode: ExecutionMode, operands: &[u32]) {
        push_parts(&mut self.modes, Op::ExecutionMode, &[entry, mode as u32], operands);
    }

    /// The finished module.
    pub fn finish(mut self, entry: Id, name: &str) -> Vec<u32> {
        for capability in
            [Capability::Shader, Capability::VulkanMemoryModel, Capability::PhysicalStorageBufferAddresses]
        {
            self.need(capability);
        }
        let mut out = Vec::with_capacity(self.functions.len() + self.globals.len() + self.decorations.len() + 128);
        out.extend([rspirv::spirv::MAGIC_NUMBER, VERSION, GENERATOR, self.bound + 1, 0]);
        for &capability in &self.capabilities {
            push(&mut out, Op::Capability, &[capability]);
        }
        for extension in &self.extensions {
            push(&mut out, Op::Extension, &string(extension));
        }
        if let Some(id) = self.imports {
            push_parts(&mut out, Op::ExtInstImport, &[id], &string("GLSL.std.450"));
        }
        let model = [AddressingModel::PhysicalStorageBuffer64 as u32, MemoryModel::Vulkan as u32];
        push(&mut out, Op::MemoryModel, &model);
        let mut head = vec![ExecutionModel::GLCompute as u32, entry];
        head.extend(string("main"));
        push_parts(&mut out, Op::EntryPoint, &head, &self.interface);
        out.extend(&self.modes);
        push_parts(&mut out, Op::Name, &[entry], &string(name));
        out.extend(&self.decorations);
        out.extend(&self.globals);
        out.extend(&self.functions);
        out
    }
}
