//! The interpreter: what a kernel does, on the CPU. It defines the language, checks devices against itself, and runs users'
//! kernels where there is no GPU.
//!
//! A workgroup runs in lockstep. Every value is a column with a word per invocation, every instruction one loop over its
//! columns, and a mask says which invocations are active. Arithmetic ignores the mask: an inactive invocation's result is
//! never looked at, since values leave a block only through its yields, which are copied under the mask. Workgroups run
//! one after another, x fastest.
//!
//! What the language forbids and a device would not notice is an error here: an index outside its buffer or array, a barrier
//! or a subgroup operation that some invocations miss, and, where asked for, two invocations that touch the same element
//! without a barrier in between.

mod access;
mod arithmetic;
mod atomic;
mod control;
mod machine;
mod mask;
mod matrix;
mod matrix_access;
mod memory;
mod places;
mod prepare;
mod races;
mod subgroup;

pub use memory::{Binding, Memory, Plain};

use crate::arguments::Argument;
use crate::error::Result;
use crate::ir::Kernel;
use machine::Machine;

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// Workgroups along x, y, z.
    pub groups: [u32; 3],
    /// Every scalar value in the order of the kernel's parameters, arrays flattened.
    pub scalars: &'a [Argument],
    /// What each buffer parameter is. Empty: the memories themselves, one per parameter.
    pub bindings: &'a [Binding],
    /// Invocations in a subgroup: a power of two, at most 128.
    pub subgroup_size: u32,
    /// How many instructions one workgroup may execute before the kernel counts as endless.
    pub step_limit: u64,
    /// Whether fma takes f32 denormals for zeros, as some devices do (`Target::denormals`).
    pub flush_fma: bool,
    /// Whether to look for data races within a workgroup; slow.
    pub check_races: bool,
}

impl Default for Launch<'_> {
    /// One workgroup without arguments, subgroups of 32, a billion steps, no look at races.
    fn default() -> Self {
        Launch {
            groups: [1, 1, 1],
            scalars: &[],
            bindings: &[],
            subgroup_size: 32,
            step_limit: 1 << 30,
            flush_fma: false,
            check_races: false,
        }
    }
}

/// What a launch took.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Report {
    /// Workgroups that ran.
    pub groups: u64,
    /// Instructions they executed, each counted once for the whole workgroup.
    pub steps: u64,
}

/// Runs a kernel, which must be well formed (see `verify`), over memories.
pub fn run(kernel: &Kernel, launch: &Launch<'_>, memories: &mut [Memory<'_>]) -> Result<Report> {
    let mut machine = Machine::new(kernel, launch, memories)?;
    let [x, y, z] = launch.groups;
    let mut report = Report::default();
    for z in 0..z {
        for y in 0..y {
            for x in 0..x {
                report.steps += machine.run_group([x, y, z])?;
                report.groups += 1;
            }
        }
    }
    Ok(report)
}
