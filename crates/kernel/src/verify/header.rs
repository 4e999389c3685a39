//! The rules of what a kernel declares before its first instruction.

use super::Rule;
use crate::ir::{ArrayDecl, BufferParam, Kernel};
use crate::types::Elem;

pub(super) fn check(kernel: &Kernel) -> Rule {
    workgroup(kernel)?;
    kernel.buffers.iter().try_for_each(buffer)?;
    for param in &kernel.scalars {
        if param.len == 0 {
            return Err(format!("scalar {} must hold at least one value but holds none.", param.name));
        }
    }
    kernel.shared.iter().chain(&kernel.private).try_for_each(array)?;
    checked(kernel)
}

fn workgroup(kernel: &Kernel) -> Rule {
    let [x, y, z] = kernel.workgroup;
    let product = [y, z].into_iter().try_fold(x, |all, n| all.checked_mul(n));
    match product {
        Some(n) if n > 0 => Ok(()),
        _ => Err(format!("a workgroup must have between 1 and 2^32 - 1 invocations but is {x} x {y} x {z}.")),
    }
}

fn buffer(buffer: &BufferParam) -> Rule {
    let BufferParam { name, elem, align, .. } = buffer;
    let least = elem.bytes() as u32;
    if !align.is_power_of_two() || *align < least {
        return Err(format!(
            "the alignment of buffer {name} must be a power of two of at least {least} bytes but is {align}."
        ));
    }
    Ok(())
}

fn array(array: &ArrayDecl) -> Rule {
    let ArrayDecl { name, elem, lanes, len } = array;
    if *len == 0 {
        return Err(format!("array {name} must have elements but has none."));
    }
    if !matches!(lanes, 1 | 2 | 4) {
        return Err(format!("array {name} must have 1, 2 or 4 components per element but has {lanes}."));
    }
    if *elem == Elem::C64 && *lanes != 1 {
        return Err(format!("array {name} of c64 must have 1 component per element but has {lanes}."));
    }
    if (elem.bytes() as u64 * *lanes as u64 * *len as u64) > u32::MAX as u64 {
        return Err(format!("array {name} must be smaller than 4 GiB but has {len} elements."));
    }
    Ok(())
}

fn checked(kernel: &Kernel) -> Rule {
    let Some(checked) = &kernel.checked else { return Ok(()) };
    if checked.report as usize >= kernel.buffers.len() {
        return Err(format!(
            "the report of a checked kernel must be one of its {} buffers but is number {}.",
            kernel.buffers.len(),
            checked.report
        ));
    }
    if checked.bounds as usize >= kernel.scalars.len() {
        return Err(format!(
            "the bounds of a checked kernel must be one of its {} scalars but are number {}.",
            kernel.scalars.len(),
            checked.bounds
        ));
    }
    Ok(())
}
