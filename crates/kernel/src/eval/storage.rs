//! Rounding and wrapping to storage types: `narrow`, `encode`, `decode`.
//!
//! The 16-bit floats are rounded by integer arithmetic: to nearest even, through denormals, to infinity on overflow; a NaN
//! stays a NaN, made quiet.

use super::word::{Apply, Visit1, lift1};
use crate::types::Elem;

/// An I32 or F32 component as it would come back from storage of the type; other types leave it as it is.
pub fn narrow(elem: Elem, a: u64) -> u64 {
    visit_narrow(elem, Apply([a]))
}

/// An F32 component as 16 bits of F16 or BF16.
///
/// # Panics
/// If the type is another; `verify` refuses such kernels.
pub fn encode(elem: Elem, a: u64) -> u64 {
    visit_encode(elem, Apply([a]))
}

/// The low 16 bits read as F16 or BF16, as an F32 component.
///
/// # Panics
/// If the type is another; `verify` refuses such kernels.
pub fn decode(elem: Elem, a: u64) -> u64 {
    visit_decode(elem, Apply([a]))
}

/// A number rounded once to F16, BF16 or F32, as an f32.
///
/// # Panics
/// If the type is another.
pub fn round_to_elem(elem: Elem, value: f64) -> f32 {
    match elem {
        Elem::F32 => value as f32,
        Elem::F16 => f16_to_f32(f32_to_f16(to_f32_odd(value))),
        Elem::BF16 => bf16_to_f32(f32_to_bf16(to_f32_odd(value))),
        _ => panic!("rounding to {}, which is no float of a matrix", elem.name()),
    }
}

/// Finds the function and visits it.
pub(crate) fn visit_narrow<V: Visit1>(elem: Elem, v: V) -> V::Out {
    match elem {
        Elem::I8 => v.visit(lift1(|a: i32| a as i8 as i32)),
        Elem::U8 => v.visit(lift1(|a: u32| a as u8 as u32)),
        Elem::I16 => v.visit(lift1(|a: i32| a as i16 as i32)),
        Elem::U16 => v.visit(lift1(|a: u32| a as u16 as u32)),
        Elem::F16 => v.visit(lift1(|a: f32| f16_to_f32(f32_to_f16(a)))),
        Elem::BF16 => v.visit(lift1(|a: f32| bf16_to_f32(f32_to_bf16(a)))),
        _ => v.visit(|a| a),
    }
}

/// Finds the function and visits it.
pub(crate) fn visit_encode<V: Visit1>(elem: Elem, v: V) -> V::Out {
    match elem {
        Elem::F16 => v.visit(lift1(|a: f32| f32_to_f16(a) as u32)),
        Elem::BF16 => v.visit(lift1(|a: f32| f32_to_bf16(a) as u32)),
        _ => panic!("encode is not defined on {}; verify refuses it", elem.name()),
    }
}

/// Finds the function and visits it.
pub(crate) fn visit_decode<V: Visit1>(elem: Elem, v: V) -> V::Out {
    match elem {
        Elem::F16 => v.visit(lift1(|a: u32| f16_to_f32(a as u16))),
        Elem::BF16 => v.visit(lift1(|a: u32| bf16_to_f32(a as u16))),
        _ => panic!("decode is not defined on {}; verify refuses it", elem.name()),
    }
}

/// f32 to bf16: the upper half, rounded.
#[inline(always)]
pub(crate) fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let rounded = (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16;
    let quiet = (bits >> 16) as u16 | 0x40;
    if value.is_nan() { quiet } else { rounded }
}

/// bf16 to f32: the upper half.
#[inline(always)]
pub(crate) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

/// f32 to f16. Without a branch, so that a column's loop can be vectorised.
#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    // Normal results: the exponent's bias drops by 112, the mantissa by 13 bits, rounded; a carry walks into the exponent.
    let odd = magnitude >> 13 & 1;
    let normal = (magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13) as u16;
    // Below 2^-14: the addition of 1/2 aligns the last place of the sum with the last place of f16 (2^-24) and rounds there.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits()) as u16;
    let special = if magnitude > 0x7f80_0000 { 0x7e00 | (magnitude >> 13 & 0x3ff) as u16 } else { 0x7c00 };
    let finite = if magnitude < 113 << 23 { denormal } else { normal };
    // From 65520, halfway to 65536, it is infinity.
    sign | if magnitude >= 0x477f_f000 { special } else { finite }
}

/// f16 to f32, exactly.
#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    let sign = ((bits & 0x8000) as u32) << 16;
    let magnitude = ((bits & 0x7fff) as u32) << 13;
    let special = magnitude >= 0x7c00 << 13;
    let rebased = magnitude + (112 << 23) + if special { 112 << 23 } else { 0 };
    // Denormals: the bits count units of 2^-24.
    let denormal = ((bits & 0x7fff) as f32 * f32::from_bits(103 << 23)).to_bits();
    f32::from_bits(sign | if magnitude < 1 << 23 { denormal } else { rebased })
}

/// f64 to f32 rounded to odd, so that a second rounding to fewer bits is as if it were the only one.
fn to_f32_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = near as f64;
    if near.is_nan() || back == value {
        return near;
    }
    if near.is_infinite() {
        return f32::MAX.copysign(near);
    }
    let bits = near.to_bits();
    let toward_zero = if back.abs() > value.abs() { bits - 1 } else { bits };
    f32::from_bits(toward_zero | 1)
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};
    use proptest::prelude::*;

    use super::*;

    fn agree(found: u16, expected: u16, nan: impl Fn(u16) -> bool) -> bool {
        found == expected || nan(found) && nan(expected)
    }

    #[test]
    fn every_f16_and_bf16_comes_back_from_f32() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(agree(f32_to_f16(f16_to_f32(bits)), bits, |b| f16::from_bits(b).is_nan()), "f16 {bits:#x}");
            assert!(agree(f32_to_bf16(bf16_to_f32(bits)), bits, |b| bf16::from_bits(b).is_nan()), "bf16 {bits:#x}");
            assert!(
                half.is_nan() && f16_to_f32(bits).is_nan() || f16_to_f32(bits).to_bits() == half.to_f32().to_bits()
            );
            assert!(brain.is_nan() || bf16_to_f32(bits).to_bits() == brain.to_f32().to_bits());
        }
    }

    #[test]
    fn midpoints_between_neighbours_go_to_the_even_one() {
        for bits in 0..0x7c00u16 {
            let next = if bits == 0x7bff { 65536.0 } else { f16_to_f32(bits + 1) };
            let middle = (f16_to_f32(bits) + next) / 2.0;
            let even = bits + (bits & 1);
            assert_eq!(f32_to_f16(middle), even, "{middle}");
            assert_eq!(f32_to_f16(f32::from_bits(middle.to_bits() - 1)), bits, "below {middle}");
            assert_eq!(f32_to_f16(f32::from_bits(middle.to_bits() + 1)), bits + 1, "above {middle}");
            assert_eq!(f32_to_f16(-middle), even | 0x8000, "-{middle}");
        }
    }

    #[test]
    fn integers_wrap_and_extend_by_the_storage_types_sign() {
        let of = |elem, a: i32| narrow(elem, a as u32 as u64) as u32 as i32;
        assert_eq!([of(Elem::I8, 200), of(Elem::U8, 200), of(Elem::U8, -1)], [-56, 200, 255]);
        assert_eq!([of(Elem::I16, 40000), of(Elem::U16, -1), of(Elem::I32, -1)], [-25536, 65535, -1]);
    }

    #[test]
    fn encoding_leaves_the_upper_half_zero_and_decoding_ignores_it() {
        let one = 1f32.to_bits() as u64;
        assert_eq!([encode(Elem::F16, one), encode(Elem::BF16, one)], [0x3c00, 0x3f80]);
        assert_eq!([decode(Elem::F16, 0xffff_3c00), decode(Elem::BF16, 0xffff_3f80)], [one, one]);
    }

    #[test]
    fn a_signalling_nan_becomes_a_quiet_one() {
        assert_eq!(encode(Elem::F16, 0x7f80_0001), 0x7e00);
        assert_eq!(encode(Elem::BF16, 0xff80_0001), 0xffc0);
    }

    #[test]
    fn rounding_a_double_happens_once() {
        // Just above the midpoint of two f16, but the midpoint itself once rounded to f32.
        let value = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(round_to_elem(Elem::F16, value), 1.0 + 2f32.powi(-10));
        assert_eq!(round_to_elem(Elem::F16, 1.0 + 2f64.powi(-11)), 1.0);
        assert_eq!(round_to_elem(Elem::F16, -value), -1.0 - 2f32.powi(-10));
        assert_eq!(round_to_elem(Elem::BF16, 1e300), f32::INFINITY);
        assert_eq!(round_to_elem(Elem::F32, 0.1), 0.1);
        assert!(round_to_elem(Elem::F16, f64::NAN).is_nan());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn any_f32_is_rounded_as_the_half_crate_does(bits: u32) {
            let value = f32::from_bits(bits);
            let nan16 = |b| f16::from_bits(b).is_nan();
            prop_assert!(agree(f32_to_f16(value), f16::from_f32_const(value).to_bits(), nan16));
            prop_assert!(agree(f32_to_bf16(value), bf16::from_f32(value).to_bits(), |b| bf16::from_bits(b).is_nan()));
        }

        #[test]
        fn the_range_of_f16_is_rounded_as_the_half_crate_does(exponent in 98u32..145, mantissa in 0u32..1 << 23, sign: bool) {
            let value = f32::from_bits((sign as u32) << 31 | exponent << 23 | mantissa);
            prop_assert_eq!(f32_to_f16(value), f16::from_f32_const(value).to_bits());
        }

        #[test]
        fn narrowing_is_encoding_and_decoding(bits: u32) {
            for elem in [Elem::F16, Elem::BF16] {
                let (narrowed, coded) = (narrow(elem, bits as u64), decode(elem, encode(elem, bits as u64)));
                prop_assert_eq!(narrowed, coded);
                prop_assert_eq!(narrow(elem, narrowed), narrowed);
            }
        }
    }
}
