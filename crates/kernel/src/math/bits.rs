//! Floats taken apart and put together: the integer side of the mathematical functions.

use crate::build::Val;
use crate::types::Scalar;

/// The bit of the sign.
pub(super) const SIGN: i32 = i32::MIN;

/// Adding 1.5 · 2^23 rounds a float below 2^22 to an integer, which then stands in the low bits.
pub(super) const ROUNDER: f32 = 12_582_912.0;

/// The bits of an F32.
pub(super) fn bits(x: Val<'_>) -> Val<'_> {
    x.bitcast(Scalar::I32)
}

/// The F32 with these bits.
pub(super) fn float(bits: Val<'_>) -> Val<'_> {
    bits.bitcast(Scalar::F32)
}

/// `magnitude`, which must not be negative, with the sign of `sign`.
pub(super) fn with_sign<'k>(magnitude: Val<'k>, sign: Val<'k>) -> Val<'k> {
    float(bits(magnitude) | (bits(sign) & SIGN))
}

/// `-negative`, which must have its sign's bit, with the sign of `sign`.
pub(super) fn negated_with_sign<'k>(negative: Val<'k>, sign: Val<'k>) -> Val<'k> {
    float(bits(negative) & (bits(sign) | !SIGN))
}

/// `x` negated where the lowest bit of `flag` (I32) is set.
pub(super) fn negate_if_odd<'k>(x: Val<'k>, flag: Val<'k>) -> Val<'k> {
    float(bits(x) ^ (flag << 31))
}

/// 2^n for an I32 from -126 to 127; n may stand in the low bits of a rounded sum, the others vanish in the shift.
pub(super) fn power_of_two(n: Val<'_>) -> Val<'_> {
    float((n << 23) + 1f32.to_bits() as i32)
}

/// `x · 2^n` for an I32 from -252 to 254, rounded once if `x` is at least 1/2 and below 2: the first factor is exact.
pub(super) fn scale<'k>(x: Val<'k>, n: Val<'k>) -> Val<'k> {
    let (half, rest) = halves_of_power(n);
    x * half * rest
}

/// Two normal numbers whose product is 2^n, for an I32 from -252 to 254; n may stand in the low bits of a rounded sum.
pub(super) fn halves_of_power<'k>(n: Val<'k>) -> (Val<'k>, Val<'k>) {
    let half = n >> 1;
    (power_of_two(half), power_of_two(n - half))
}

/// The integer that was rounded by adding `ROUNDER`.
pub(super) fn rounded_integer(sum: Val<'_>) -> Val<'_> {
    bits(sum) - ROUNDER.to_bits() as i32
}
