//! `a * b + c`, rounded once.

use super::word::{Apply, Visit3, lift3};
use crate::types::Scalar;

/// `a * b + c` of one component of each, rounded once.
///
/// # Panics
/// If the type is not a float; `verify` refuses such kernels.
pub fn fma(scalar: Scalar, a: u64, b: u64, c: u64) -> u64 {
    visit_fma(scalar, Apply([a, b, c]))
}

/// Finds the function and visits it.
pub(crate) fn visit_fma<V: Visit3>(scalar: Scalar, v: V) -> V::Out {
    match scalar {
        Scalar::F32 => v.visit(lift3(fma_f32)),
        Scalar::F64 => v.visit(lift3(f64::mul_add)),
        _ => panic!("fma is not defined on {}; verify refuses it", scalar.name()),
    }
}

/// The f32 fma through f64: the product of two f32 is exact there, and rounding their sum to odd keeps enough of it for the
/// second rounding to be the only one. Inlined into a column's loop this is several times faster than a call of the C
/// library's function, and it does not depend on that being right.
#[inline(always)]
fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
    let (product, c) = (a as f64 * b as f64, c as f64);
    add_to_odd(product, c) as f32
}

/// `a + b` rounded to odd: truncated, with the last bit set if anything was lost. Infinities and NaN as in `a + b`.
#[inline(always)]
pub(super) fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let shift = sum - a;
    let lost = (a - (sum - shift)) + (b - shift);
    // `lost` is NaN where the sum is not finite: nothing to mend there.
    let inexact = (lost != 0.0) & !lost.is_nan();
    let bits = sum.to_bits();
    let even = bits & 1 == 0;
    // An even sum lies one step off the odd neighbour in the direction of what was lost. Growing magnitude is adding one to
    // the bits, and a sum of zero is never inexact.
    let outward = (lost > 0.0) == (sum > 0.0);
    let step = if outward { 1u64 } else { u64::MAX };
    f64::from_bits(bits.wrapping_add(if inexact & even { step } else { 0 }))
}
