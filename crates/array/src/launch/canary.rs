//! A kernel that tells what drivers do not say: whether fma rounds once, what becomes of denormals, and whether long loops run to
//! their end.
//!
//! Vulkan lets a driver multiply and add with two roundings, and lavapipe does; NVIDIA's flushes the denormal operands of fma,
//! comparisons and conversions; Mesa 22 ends shader loops after 65,535 iterations in all without a word. All of these would be
//! wrong results later, so one launch at start-up finds out.

use pumice_gpu::{Device, Stream};
use pumice_kernel::arguments::Argument;
use pumice_kernel::target::Denormals;
use pumice_kernel::{Elem, Kernel, Scalar, Target};

use super::compiled::{Build, Compiled};
use crate::error::{Error, Result};

/// More turns than a truncating driver makes.
const TURNS: i32 = 70_000;
const MULTIPLIER: i32 = 1_664_525;

/// `(1 + ε)² - (1 + 2ε)` is ε² when rounded once, and 0 when the product is rounded first.
const A: f32 = 1.0 + f32::EPSILON;
const C: f32 = -(1.0 + 2.0 * f32::EPSILON);

/// Two denormals, the first the smaller.
const SMALL: f32 = 1e-40;
const LARGER: f32 = 3e-39;

/// What the kernel writes, in order.
const WORDS: usize = 6;

/// The target with what was found; an error if the driver cannot be used.
pub(super) fn examine(device: &Device, stream: &Stream, mut target: Target) -> Result<Target> {
    let out = device.allocate(4 * WORDS as u64)?;
    let compiled = Compiled::new(device, &target, &canary(target.float64)?, Build::Fast)?;
    let floats = [A, C, SMALL, LARGER].map(Argument::F32);
    let scalars = [floats[0], floats[1], floats[2], floats[3], Argument::I32(TURNS)];
    compiled.launch(stream, [1, 1, 1], &[&out], &scalars)?;
    let mut bytes = [0u8; 4 * WORDS];
    stream.download(&out, 0, &mut bytes)?;
    let word = |at: usize| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four bytes"));
    target.fused_fma = f32::from_bits(word(0)) == f32::EPSILON * f32::EPSILON;
    target.denormals = Denormals {
        // Without a fused fma ours is used, which keeps them.
        fma: !target.fused_fma || f32::from_bits(word(2)) == SMALL,
        compare: word(3) == 1 && word(4) == 0,
        convert: f32::from_bits(word(5)) == SMALL,
    };
    if word(1) != (0..TURNS).fold(1, |state: i32, _| state.wrapping_mul(MULTIPLIER).wrapping_add(1)) as u32 {
        let name = &device.info().name;
        return Err(Error::Runtime(format!(
            "[gpu] a loop of {TURNS} turns must run to its end but {name} stopped before: its driver is too old."
        )));
    }
    Ok(target)
}

fn canary(float64: bool) -> Result<Kernel> {
    Ok(Kernel::build("canary", [1, 1, 1], |k| {
        let out = k.output("out", Elem::U32);
        let [a, c, small, larger] = ["a", "c", "small", "larger"].map(|name| k.arg_f32(name));
        let turns = k.arg_i32("turns");
        out.store(0, a.fma(a, c).bitcast(Scalar::I32));
        // A sequence without a closed form: a driver that ends the loop early shows.
        out.store(1, k.fold(turns, k.i32(1), |_, state| state * MULTIPLIER + 1));
        out.store(2, a.fma(small, k.f32(0.0)).bitcast(Scalar::I32));
        out.store(3, small.lt(larger).to(Scalar::I32));
        out.store(4, small.eq(0.0).to(Scalar::I32));
        let wide = if float64 { (small.to(Scalar::F64) * k.f64(1.0 + f64::EPSILON)).to(Scalar::F32) } else { small };
        out.store(5, wide.bitcast(Scalar::I32));
    })?)
}
