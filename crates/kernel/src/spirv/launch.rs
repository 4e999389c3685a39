//! The entry point: what the kernel asks of the device, the workgroup's size, and where an invocation stands.

use rspirv::spirv::{BuiltIn, Capability, Decoration, ExecutionMode, FunctionControl, Op as Code, StorageClass};

use super::emitter::Emitter;
use super::flushable::Flushable;
use super::survey::Survey;
use super::words::{Id, push};
use crate::error::Result;
use crate::ir::Builtin;
use crate::types::Type;

/// The variables of the built-in inputs in use.
#[derive(Default)]
pub(super) struct Inputs(Vec<(BuiltIn, Id)>);

impl Emitter<'_> {
    /// Writes the kernel as the module's entry point and gives its id.
    pub fn entry_point(mut self, survey: &Survey) -> Result<Id> {
        self.check_launch(survey)?;
        let kernel = self.kernel;
        let nothing = self.asm.declare(Code::TypeVoid, &[]);
        let signature = self.asm.declare(Code::TypeFunction, &[nothing]);
        let entry = self.asm.fresh();
        self.asm.execution_mode(entry, ExecutionMode::LocalSize, &kernel.workgroup);
        push(&mut self.code, Code::Function, &[nothing, entry, FunctionControl::NONE.bits(), signature]);
        let first = self.asm.fresh();
        self.label(first);
        self.flushable = Flushable::of(kernel, self.target);
        self.open_memory(survey)?;
        self.block(&kernel.body)?;
        self.effect(Code::Return, &[]);
        self.effect(Code::FunctionEnd, &[]);
        self.asm.append_function(&self.code);
        Ok(entry)
    }

    /// Refuses a workgroup that the device cannot run.
    fn check_launch(&self, survey: &Survey) -> Result<()> {
        let (size, most) = (self.kernel.workgroup, self.target.max_workgroup);
        let (all, all_most) = (self.kernel.invocations(), self.target.max_invocations);
        if all > all_most {
            return Err(self.unsupported(format!(
                "a workgroup must have at most the device's {all_most} invocations but has {all}."
            )));
        }
        for axis in 0..3 {
            if size[axis] > most[axis] {
                return Err(self.unsupported(format!(
                    "a workgroup must have at most the device's {} invocations along {} but has {}.",
                    most[axis],
                    ["x", "y", "z"][axis],
                    size[axis]
                )));
            }
        }
        let subgroup = self.target.subgroup_size;
        if survey.subgroups && all % subgroup != 0 {
            return Err(self.unsupported(format!(
                "a workgroup that uses subgroups must be a multiple of the device's {subgroup} invocations but has {all}."
            )));
        }
        Ok(())
    }

    pub fn builtin(&mut self, builtin: Builtin) -> Id {
        let alone = self.target.subgroup_size == 1;
        match builtin {
            Builtin::LocalId(axis) => self.input_axis(BuiltIn::LocalInvocationId, axis),
            Builtin::GroupId(axis) => self.input_axis(BuiltIn::WorkgroupId, axis),
            Builtin::GroupCount(axis) => self.input_axis(BuiltIn::NumWorkgroups, axis),
            Builtin::LocalIndex => self.input(BuiltIn::LocalInvocationIndex),
            Builtin::SubgroupId if alone => self.input(BuiltIn::LocalInvocationIndex),
            Builtin::Lane if alone => self.asm.u32(0),
            Builtin::SubgroupId => self.subgroup_input(BuiltIn::SubgroupId),
            Builtin::Lane => self.subgroup_input(BuiltIn::SubgroupLocalInvocationId),
            Builtin::SubgroupSize => self.asm.u32(self.target.subgroup_size),
            Builtin::SubgroupCount => self.asm.u32(self.kernel.invocations() / self.target.subgroup_size),
        }
    }

    fn subgroup_input(&mut self, builtin: BuiltIn) -> Id {
        self.asm.need(Capability::GroupNonUniform);
        self.input(builtin)
    }

    fn input(&mut self, builtin: BuiltIn) -> Id {
        let ty = self.ty(Type::I32);
        let variable = self.input_variable(builtin, ty);
        self.raw(Code::Load, ty, &[variable])
    }

    fn input_axis(&mut self, builtin: BuiltIn, axis: u8) -> Id {
        let scalar = self.ty(Type::I32);
        let ty = self.asm.declare(Code::TypeVector, &[scalar, 3]);
        let variable = self.input_variable(builtin, ty);
        let all = self.raw(Code::Load, ty, &[variable]);
        self.raw(Code::CompositeExtract, scalar, &[all, axis as u32])
    }

    fn input_variable(&mut self, builtin: BuiltIn, ty: Id) -> Id {
        if let Some(&(_, id)) = self.asm.inputs.0.iter().find(|(known, _)| *known == builtin) {
            return id;
        }
        let id = self.asm.variable(StorageClass::Input, ty);
        self.asm.decorate(id, Decoration::BuiltIn, &[builtin as u32]);
        self.asm.inputs.0.push((builtin, id));
        id
    }
}
