//! A kernel that tells what drivers do not say: whether fma rounds once, and whether long loops run to their end.
//!
//! Vulkan lets a driver multiply and add with two roundings, and lavapipe may; Mesa 22 ends shader loops after 65,535
//! iterations in all without a word. Both would be wrong results later, so one launch at start-up finds out.

use pumice_gpu::{Device, Stream};
use pumice_kernel::arguments::Argument;
use pumice_kernel::{Elem, Kernel, Target};

use super::compiled::{Build, Compiled};
use crate::error::{Error, Result};

/// More turns than a truncating driver makes.
const TURNS: i32 = 70_000;

const MULTIPLIER: i32 = 1_664_525;

/// `(1 + ε)² - (1 + 2ε)` is ε² when rounded once, and 0 when the product is rounded first.
const A: f32 = 1.0 + f32::EPSILON;
const C: f32 = -(1.0 + 2.0 * f32::EPSILON);

/// The target with what was found; an error if the driver cannot be used.
pub(super) fn examine(device: &Device, stream: &Stream, mut target: Target) -> Result<Target> {
    let out = device.allocate(8)?;
    let compiled = Compiled::new(device, &target, &canary()?, Build::Fast)?;
    let scalars = [Argument::F32(A), Argument::F32(C), Argument::I32(TURNS)];
    compiled.launch(stream, [1, 1, 1], &[&out], &scalars)?;
    let mut bytes = [0u8; 8];
    stream.download(&out, 0, &mut bytes)?;
    let [fused, state] = [0, 4].map(|at| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
    target.fused_fma = f32::from_bits(fused) == f32::EPSILON * f32::EPSILON;
    if state != (0..TURNS).fold(1, |state: i32, _| state.wrapping_mul(MULTIPLIER).wrapping_add(1)) as u32 {
        let name = &device.info().name;
        return Err(Error::Runtime(format!(
            "[gpu] a loop of {TURNS} turns must run to its end but {name} stopped before: its driver is too old."
        )));
    }
    Ok(target)
}

fn canary() -> Result<Kernel> {
    Ok(Kernel::build("canary", [1, 1, 1], |k| {
        let out = k.output("out", Elem::U32);
        let (a, c, turns) = (k.arg_f32("a"), k.arg_f32("c"), k.arg_i32("turns"));
        out.store(0, a.fma(a, c).bitcast(pumice_kernel::Scalar::I32));
        // A sequence without a closed form: a driver that ends the loop early shows.
        out.store(1, k.fold(turns, k.i32(1), |_, state| state * MULTIPLIER + 1));
    })?)
}
