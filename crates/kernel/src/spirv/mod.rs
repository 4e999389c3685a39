//! Emission: a kernel as a SPIR-V module.
//!
//! The module is SPIR-V 1.6 for Vulkan 1.3: the Vulkan memory model, physical addresses, no descriptors, one entry point
//! `main`, and one push constant, the address of the argument block (see `arguments`). It declares what it uses and nothing
//! more, and the same kernel and target give the same words. Words are written straight into sections; rspirv gives the
//! enumerants and the disassembler.
//!
//! Numerics are the language's, not the driver's: every float instruction forbids contraction, and what drivers get wrong is
//! done by functions of the module (`exact`). A verified kernel is trusted to be well formed; what it needs and the device
//! lacks is done another way, or is an error that names both.

mod arithmetic;
mod arrays;
mod assembly;
mod atomics;
mod bits;
mod buffers;
mod compare;
mod control;
mod convert;
mod dot;
mod emitter;
mod exact;
mod flushable;
mod launch;
mod matrix;
mod matrix_memory;
mod memory;
mod subgroups;
mod survey;
mod tiles;
mod words;

use assembly::Assembly;
use emitter::Emitter;
use survey::Survey;

use crate::error::Result;
use crate::ir::Kernel;
use crate::target::Target;

/// A kernel emitted for a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// The SPIR-V; its entry point is `main`.
    pub words: Vec<u32>,
    /// The subgroup size the pipeline must be created with, with full subgroups; none if the kernel does not depend on it.
    pub subgroup_size: Option<u32>,
}

/// Emits a verified kernel, or says what it needs that the device does not have.
pub fn emit(kernel: &Kernel, target: &Target) -> Result<Module> {
    let survey = Survey::of(kernel);
    let mut assembly = Assembly::default();
    let entry = Emitter::new(kernel, target, &mut assembly).entry_point(&survey)?;
    assembly.float_modes(entry, &target.float_controls);
    let subgroup_size = (survey.subgroups && target.subgroup_size > 1).then_some(target.subgroup_size);
    Ok(Module { words: assembly.finish(entry, &kernel.name), subgroup_size })
}

/// Emitted words as text, for people.
pub fn disassemble(words: &[u32]) -> String {
    use rspirv::binary::Disassemble;

    rspirv::dr::load_words(words).map_or_else(|error| format!("no SPIR-V: {error}"), |module| module.disassemble())
}
