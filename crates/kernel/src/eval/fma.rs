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
fn add_to_odd(a: f64, b: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_bits(a: u32, b: u32, c: u32) -> f32 {
        f32::from_bits(fma(Scalar::F32, a as u64, b as u64, c as u64) as u32)
    }

    fn of(a: f32, b: f32, c: f32) -> f32 {
        of_bits(a.to_bits(), b.to_bits(), c.to_bits())
    }

    #[test]
    fn the_product_is_not_rounded() {
        let a = 1.0 + f32::EPSILON;
        assert_eq!(of(a, a, -1.0 - 2.0 * f32::EPSILON), f32::EPSILON * f32::EPSILON);
        // In f64 the sum falls on a tie between two f32, which what was lost decides.
        let (tiny, half) = (f32::from_bits(1), 2f32.powi(-24));
        assert_eq!(of(1.0 + f32::EPSILON, 1.0, half), 1.0 + 2.0 * f32::EPSILON);
        assert_eq!(of(tiny, tiny, 1.0), 1.0);
        assert_eq!(of(tiny, -tiny, 1.0), 1.0);
    }

    #[test]
    fn zeros_infinities_and_nan_are_as_in_a_sum() {
        assert_eq!(of(0.0, -1.0, 0.0).to_bits(), 0);
        assert_eq!(of(0.0, -1.0, -0.0).to_bits(), (-0f32).to_bits());
        assert_eq!(of(f32::MAX, 2.0, f32::MIN), f32::MAX);
        assert_eq!(of(f32::MAX, f32::MAX, 0.0), f32::INFINITY);
        assert!(of(f32::INFINITY, 1.0, f32::NEG_INFINITY).is_nan());
        assert!(of(0.0, f32::INFINITY, 1.0).is_nan());
        assert_eq!(of(1.0, 1.0, f32::NEG_INFINITY), f32::NEG_INFINITY);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn any_bits_agree_with_the_standard_library(a: u32, b: u32, c: u32) {
            let expected = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
            let found = of_bits(a, b, c);
            prop_assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan());
        }

        #[test]
        fn near_cancellation_agrees_with_the_standard_library(a: u32, b: u32, ulps in -3i32..4) {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            let c = f32::from_bits((-(a * b)).to_bits().wrapping_add_signed(ulps));
            let (expected, found) = (a.mul_add(b, c), of(a, b, c));
            prop_assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan());
        }

        #[test]
        fn ties_agree_with_the_standard_library(a in 0u32..1 << 24, b in 0u32..1 << 24, shift in 100u32..160) {
            let (a, b) = (a as f32, b as f32);
            let c = f32::from_bits(shift << 23 | (a.to_bits() & 0x7f_ffff));
            prop_assert_eq!(of(a, b, c).to_bits(), a.mul_add(b, c).to_bits());
            prop_assert_eq!(of(a, b, -c).to_bits(), a.mul_add(b, -c).to_bits());
        }
    }
}
