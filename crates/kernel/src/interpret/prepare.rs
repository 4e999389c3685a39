//! Before the first workgroup: checking the launch, making columns, filling those that never change.

use super::Launch;
use super::machine::Machine;
use super::memory::{Binding, Memory};
use crate::error::{Error, Result};
use crate::eval;
use crate::ir::{Block, Builtin, Kernel, Op};
use crate::types::{MatrixScope, Type};

fn refuse(kernel: &Kernel, message: String) -> Error {
    Error::Launch { kernel: kernel.name.clone(), message }
}

/// The values of every scalar parameter.
pub(super) fn scalars(kernel: &Kernel, launch: &Launch<'_>) -> Result<Vec<Vec<u64>>> {
    let wanted = kernel.scalars.iter().map(|p| p.len as usize).sum::<usize>();
    if wanted != launch.scalars.len() {
        let given = launch.scalars.len();
        return Err(refuse(kernel, format!("{wanted} scalar values must be given but {given} were.")));
    }
    let mut values = launch.scalars.iter();
    let mut all = Vec::with_capacity(kernel.scalars.len());
    for param in &kernel.scalars {
        let values: Vec<_> = values.by_ref().take(param.len as usize).collect();
        if let Some(other) = values.iter().find(|v| v.scalar() != param.scalar) {
            let (name, wanted, found) = (&param.name, param.scalar.name(), other.scalar().name());
            return Err(refuse(kernel, format!("{name} must be {wanted} but {found} was given.")));
        }
        all.push(values.into_iter().map(|v| v.bits()).collect());
    }
    Ok(all)
}

/// What every buffer parameter is.
pub(super) fn bindings(kernel: &Kernel, launch: &Launch<'_>, memories: &[Memory<'_>]) -> Result<Vec<Binding>> {
    let bindings = if launch.bindings.is_empty() {
        let whole = |(memory, m): (usize, &Memory<'_>)| Binding { memory, bytes: 0..m.bytes().len() };
        memories.iter().enumerate().map(whole).collect()
    } else {
        launch.bindings.to_vec()
    };
    if bindings.len() != kernel.buffers.len() {
        let (wanted, given) = (kernel.buffers.len(), bindings.len());
        return Err(refuse(kernel, format!("{wanted} buffers must be given but {given} were.")));
    }
    for (param, binding) in kernel.buffers.iter().zip(&bindings) {
        let held = memories.get(binding.memory).map_or(0, |m| m.bytes().len());
        let (start, end) = (binding.bytes.start, binding.bytes.end);
        if binding.memory >= memories.len() || start > end || end > held {
            let (name, memory) = (&param.name, binding.memory);
            let message = format!("{name} must lie within memory {memory}, {held} bytes, but is {start}..{end}.");
            return Err(refuse(kernel, message));
        }
        if !start.is_multiple_of(param.align as usize) {
            let (name, align) = (&param.name, param.align);
            let message = format!("{name} must start at a multiple of {align} but starts at {start}.");
            return Err(refuse(kernel, message));
        }
    }
    Ok(bindings)
}

/// Refuses a subgroup size no device has.
pub(super) fn subgroup_size(kernel: &Kernel, launch: &Launch<'_>) -> Result<()> {
    let size = launch.subgroup_size;
    if size.is_power_of_two() && size <= 128 {
        return Ok(());
    }
    let message = format!("the subgroup size must be a power of two up to 128 but is {size}.");
    Err(refuse(kernel, message))
}

/// A column for every value. A matrix has all its components for each subgroup, or once for the workgroup.
pub(super) fn columns(kernel: &Kernel, subgroup_size: usize) -> Vec<Vec<u64>> {
    let invocations = kernel.invocations() as usize;
    let words = |ty: &Type| match ty {
        Type::Matrix(m) => {
            let holders = match m.scope {
                MatrixScope::Subgroup => invocations.div_ceil(subgroup_size),
                MatrixScope::Workgroup => 1,
            };
            holders * m.rows as usize * m.cols as usize
        }
        ty => ty.lanes() * invocations,
    };
    kernel.types.iter().map(|ty| vec![0; words(ty)]).collect()
}

/// Fills constants, builtins and plain arguments; notes what is to be filled when a workgroup starts.
pub(super) fn fill_constants(machine: &mut Machine<'_, '_>, block: &Block, groups: [u32; 3]) {
    for inst in &block.insts {
        for nested in inst.op.blocks() {
            fill_constants(machine, nested, groups);
        }
        let Some(&result) = inst.results.first() else {
            continue;
        };
        match &inst.op {
            Op::Const(bits) => {
                let scalar = machine.kernel.type_of(result).scalar();
                let word = eval::low_bits(scalar.expect("a constant is never a matrix"), *bits);
                machine.columns[result.index()].fill(word);
            }
            Op::Arg { param, index: None } => {
                let word = machine.scalars[*param as usize][0];
                machine.columns[result.index()].fill(word);
            }
            Op::Builtin(Builtin::GroupId(axis)) => machine.group_id(result, *axis),
            Op::Builtin(builtin) => {
                let word = |i| machine.builtin(*builtin, i, groups) as u64;
                let column = (0..machine.invocations).map(word).collect();
                machine.columns[result.index()] = column;
            }
            _ => {}
        }
    }
}
