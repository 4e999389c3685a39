//! A kernel that tells what drivers do not say: whether fma rounds once, what becomes of denormals and of the signs of zeros
//! and of what is no number.
//!
//! Vulkan lets a driver multiply and add with two roundings, and lavapipe does; NVIDIA's flushes the denormal operands of fma,
//! comparisons and conversions; lavapipe leaves out the addition of a constant zero. All of these would be wrong results later, so one launch at start-up finds out.

use pumice_gpu::{Device, Stream};
use pumice_kernel::arguments::Argument;
use pumice_kernel::target::Denormals;
use pumice_kernel::{Elem, Kernel, Scalar, Target};

use super::compiled::{Build, Compiled};
use crate::error::Result;

/// `(1 + ε)² - (1 + 2ε)` is ε² when rounded once, and 0 when the product is rounded first.
const A: f32 = 1.0 + f32::EPSILON;
const C: f32 = -(1.0 + 2.0 * f32::EPSILON);

/// Two denormals, the first the smaller.
const SMALL: f32 = 1e-40;
const LARGER: f32 = 3e-39;

/// What the kernel writes, in order.
const WORDS: usize = 9;

/// The target with what was found.
pub(super) fn examine(device: &Device, stream: &Stream, mut target: Target) -> Result<Target> {
    let out = device.allocate(4 * WORDS as u64)?;
    let compiled = Compiled::new(device, &target, &canary(target.float64)?, Build::Fast)?;
    let scalars = [A, C, SMALL, LARGER, -0.0, f32::INFINITY, -f32::NAN.abs()].map(Argument::F32);
    compiled.launch(stream, [1, 1, 1], &[&out], &scalars)?;
    let mut bytes = [0u8; 4 * WORDS];
    stream.download(&out, 0, &mut bytes)?;
    let word = |at: usize| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four bytes"));
    target.fused_fma = f32::from_bits(word(0)) == f32::EPSILON * f32::EPSILON;
    target.signed_zeros = word(5) == 0;
    target.positive_nan = (6..WORDS).all(|at| word(at) > f32::INFINITY.to_bits() && word(at) >> 31 == 0);
    target.denormals = Denormals {
        // Without a fused fma ours is used, which keeps them.
        fma: !target.fused_fma || f32::from_bits(word(1)) == SMALL,
        compare: word(2) == 1 && word(3) == 0,
        convert: f32::from_bits(word(4)) == SMALL,
    };
    Ok(target)
}

fn canary(float64: bool) -> Result<Kernel> {
    Ok(Kernel::build("canary", [1, 1, 1], |k| {
        let out = k.output("out", Elem::U32);
        let names = ["a", "c", "small", "larger", "zero", "infinity", "negative_nan"];
        let [a, c, small, larger, zero, infinity, negative_nan] = names.map(|name| k.arg_f32(name));
        out.store(0, a.fma(a, c).bitcast(Scalar::I32));
        out.store(1, a.fma(small, k.f32(0.0)).bitcast(Scalar::I32));
        out.store(2, small.lt(larger).to(Scalar::I32));
        out.store(3, small.eq(0.0).to(Scalar::I32));
        let wide = if float64 { (small.to(Scalar::F64) * k.f64(1.0 + f64::EPSILON)).to(Scalar::F32) } else { small };
        out.store(4, wide.bitcast(Scalar::I32));
        out.store(5, (zero + 0.0).bitcast(Scalar::I32));
        let apart = [(infinity, infinity), (negative_nan, a), (a, negative_nan)];
        for (at, (x, y)) in apart.into_iter().enumerate() {
            out.store(6 + at as i32, (x - y).bitcast(Scalar::I32));
        }
    })?)
}
