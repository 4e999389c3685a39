//! `a * b + c` of floats, rounded once.
//!
//! A processor that has the instruction does it at once. Elsewhere an f32 fma is made in f64, where the product
//! is exact: the sum rounded to f64 and then to f32 is wrong only where the first rounding ends halfway between two
//! f32, which the bits of the sum show. Such chunks are done again by the language's definition; they are one in
//! millions.

use pumice_kernel::{Scalar, eval};

use super::loops::{Chunk, Function, LANES, Lanes, each, map2, map3};
use crate::cpu::simd::has_fused_products;

/// The loop. None where the type is no float, which `verify` refuses.
pub(super) fn fma(scalar: Scalar) -> Option<Function> {
    match scalar {
        Scalar::F32 => Some(Function::Narrow3(match has_fused_products() {
            true => |out, a, b, c| map3(out, a, b, c, |a: f32, b: f32, c: f32| a.mul_add(b, c)),
            false => through_f64,
        })),
        Scalar::F64 => Some(each!(Wide3, |a: f64, b: f64, c: f64| a.mul_add(b, c))),
        _ => None,
    }
}

/// The most coefficients of a [`polynomial`].
pub(super) const MOST_COEFFICIENTS: usize = 8;

/// A polynomial: a first value, as often multiplied and added to as there are coefficients, without leaving the processor's
/// registers. Only for processors that have the instruction.
pub(super) fn polynomial(out: &mut [Chunk<u32>], first: Lanes<'_, u32>, x: Lanes<'_, u32>, coefficients: &[f32]) {
    match *coefficients {
        [a] => horner(out, first, x, [a]),
        [a, b] => horner(out, first, x, [a, b]),
        [a, b, c] => horner(out, first, x, [a, b, c]),
        [a, b, c, d] => horner(out, first, x, [a, b, c, d]),
        [a, b, c, d, e] => horner(out, first, x, [a, b, c, d, e]),
        [a, b, c, d, e, f] => horner(out, first, x, [a, b, c, d, e, f]),
        [a, b, c, d, e, f, g] => horner(out, first, x, [a, b, c, d, e, f, g]),
        [a, b, c, d, e, f, g, h] => horner(out, first, x, [a, b, c, d, e, f, g, h]),
        _ => unreachable!("lowering begins another polynomial"),
    }
}

fn horner<const N: usize>(out: &mut [Chunk<u32>], first: Lanes<'_, u32>, x: Lanes<'_, u32>, coefficients: [f32; N]) {
    map2(out, first, x, |first: f32, x: f32| coefficients.iter().fold(first, |sum, c| sum.mul_add(x, *c)));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all exponents, sums that nearly vanish and sums that end halfway among them.
    fn numbers(seed: u32) -> Vec<Chunk<u32>> {
        let bits = |i: u32| {
            (i.wrapping_mul(0x9e37_79b9) ^ seed).wrapping_mul(0x85eb_ca6b)
                & if i.is_multiple_of(3) { 0xfff0_0000 } else { !0 }
        };
        (0..2000).map(|chunk| std::array::from_fn(|lane| bits(chunk * LANES as u32 + lane as u32))).collect()
    }

    #[test]
    fn without_the_instruction_it_is_rounded_once_too() {
        let [a, b, c] = [1, 2, 3].map(numbers);
        let mut found = vec![[0; LANES]; a.len()];
        through_f64(&mut found, Lanes::new(&a, false), Lanes::new(&b, false), Lanes::new(&c, false));
        for (i, found) in found.as_flattened().iter().enumerate() {
            let [a, b, c] = [&a, &b, &c].map(|x| x.as_flattened()[i] as u64);
            let (found, wanted) = (f32::from_bits(*found), f32::from_bits(eval::fma(Scalar::F32, a, b, c) as u32));
            assert!(found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan(), "{a:#x} {b:#x} {c:#x}");
        }
    }
}
