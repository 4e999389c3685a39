//! `a * b + c` of floats, rounded once.
//!
//! A processor known to have the instruction does it at once. Elsewhere an f32 fma is made in f64, where the product
//! is exact: the sum rounded to f64 and then to f32 is wrong only where the first rounding ends halfway between two
//! f32, which the bits of the sum show. Such chunks are done again by the language's definition; they are one in
//! millions.

use pumice_kernel::{Scalar, eval};

use super::loops::{Chunk, Function, LANES, Lanes, each};

/// Whether every processor this is compiled for has the instruction, so that `mul_add` is no call of the C library.
const INSTRUCTION: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

/// The loop. None where the type is no float, which `verify` refuses.
pub(super) fn fma(scalar: Scalar) -> Option<Function> {
    match scalar {
        Scalar::F32 if INSTRUCTION => Some(each!(Narrow3, |a: f32, b: f32, c: f32| a.mul_add(b, c))),
        Scalar::F32 => Some(Function::Narrow3(through_f64)),
        Scalar::F64 => Some(each!(Wide3, |a: f64, b: f64, c: f64| a.mul_add(b, c))),
        _ => None,
    }
}

fn through_f64(out: &mut [Chunk<u32>], a: Lanes<'_, u32>, b: Lanes<'_, u32>, c: Lanes<'_, u32>) {
    for (i, out) in out.iter_mut().enumerate() {
        let (a, b, c) = (a.at(i), b.at(i), c.at(i));
        if round_twice(out, a, b, c) {
            by_definition(out, a, b, c);
        }
    }
}

/// Rounds to f64 and to f32; says whether a lane may be wrong by that. Several short loops, because the compiler
/// vectorises each of them, and not all of it in one.
#[inline(always)]
fn round_twice(out: &mut Chunk<u32>, a: &Chunk<u32>, b: &Chunk<u32>, c: &Chunk<u32>) -> bool {
    let mut sums = [0f64; LANES];
    for lane in 0..LANES {
        let [a, b, c] = [a[lane], b[lane], c[lane]].map(|bits| f32::from_bits(bits) as f64);
        sums[lane] = a * b + c;
    }
    let rounded = sums.map(|sum| (sum as f32).to_bits());
    *out = rounded;
    let mut doubts = 0;
    for sum in sums {
        // What f32 has no room for, where the result is normal: 29 bits. Halfway is the highest of them alone.
        doubts |= (sum.to_bits() as u32 & 0x1fff_ffff == 0x1000_0000) as u32;
    }
    for bits in rounded {
        // Denormals, and the least normal number, have their halves elsewhere. A zero is right: a sum that small is
        // exact.
        doubts |= ((bits << 1).wrapping_sub(1) < 0x0100_0000) as u32;
    }
    doubts != 0
}

#[cold]
fn by_definition(out: &mut Chunk<u32>, a: &Chunk<u32>, b: &Chunk<u32>, c: &Chunk<u32>) {
    for lane in 0..LANES {
        out[lane] = eval::fma(Scalar::F32, a[lane] as u64, b[lane] as u64, c[lane] as u64) as u32;
    }
}
