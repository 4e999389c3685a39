//! Taking floats apart into integers, and rounding integers to floats.

use crate::build::Val;
use crate::types::Scalar::{F32, F64, I32, I64};

/// What a float format is made of.
#[derive(Clone, Copy)]
pub(super) struct Format {
    /// Bits after the leading one.
    pub fraction: i32,
    /// Added to the exponent.
    pub bias: i32,
}

impl Format {
    pub const F32: Format = Format { fraction: 23, bias: 127 };
    pub const F64: Format = Format { fraction: 52, bias: 1023 };

    /// The bits of infinity.
    pub fn infinity(self) -> u64 {
        (2 * self.bias as u64 + 1) << self.fraction
    }

    /// The bits of a quiet NaN.
    pub fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction - 1)
    }

    /// The exponent of the last place of the smallest numbers.
    fn least(self) -> i32 {
        1 - self.bias - self.fraction
    }
}

/// A finite number other than zero: `significand * 2^exponent`, the significand with its leading one at `fraction`.
#[derive(Clone, Copy)]
pub(super) struct Parts<'k> {
    /// I64.
    pub significand: Val<'k>,
    /// I32.
    pub exponent: Val<'k>,
}

/// Takes the bits of a magnitude (an I64 without sign) apart. Of zero the significand is 0.
pub(super) fn parts(format: Format, magnitude: Val<'_>) -> Parts<'_> {
    let field = magnitude.shr_u(format.fraction).to_u(I32);
    let fraction = magnitude & ((1u64 << format.fraction) - 1);
    let whole = fraction | (1u64 << format.fraction);
    let zeros = fraction.leading_zeros().to_u(I32) - (63 - format.fraction);
    let shifted = fraction << zeros.to_u(I64);
    let denormal = field.eq(0);
    Parts {
        significand: denormal.select(shifted, whole),
        exponent: denormal.select(1 - zeros, field) - (format.bias + format.fraction),
    }
}

/// The digits of an f32 as a number from 1 to 2, and the exponent's field they would have if that could be less than 1.
#[derive(Clone, Copy)]
pub(super) struct Digits<'k> {
    /// F32.
    pub number: Val<'k>,
    /// I32.
    pub exponent: Val<'k>,
}

/// Takes the bits of a magnitude (an I32 without sign) apart; of zero the digits are 1.
pub(super) fn digits(magnitude: Val<'_>) -> Digits<'_> {
    let field = magnitude.shr_u(23);
    let zeros = magnitude.leading_zeros() - 8;
    let denormal = field.eq(0);
    let fraction = denormal.select(magnitude << zeros, magnitude) & 0x7f_ffff;
    Digits { number: (fraction | (127 << 23)).bitcast(F32), exponent: denormal.select(1 - zeros, field) }
}

/// The bits (an I64 without sign) of `significand * 2^exponent`, rounded to nearest even: through denormals, to infinity on
/// overflow. The significand is between 1 and 2^63 - 1, and its lowest bit may stand for anything lost below it, as long
/// as it has two bits more than the format.
pub(super) fn round<'k>(format: Format, significand: Val<'k>, exponent: Val<'k>) -> Val<'k> {
    let up = significand.leading_zeros() - 1;
    let whole = significand << up;
    let exponent = exponent - up.to_u(I32);
    // The leading one is at bit 62 now. How many low bits go: those below the last place, more for a denormal result.
    let drop = (format.least() - exponent).max(62 - format.fraction);
    // A number far below the smallest is as good as any other that is less than half of it.
    let whole = drop.gt(63).select(whole.builder().i64(1), whole);
    let drop = drop.min(63).to_u(I64);
    let one = whole.builder().i64(1);
    let kept = whole.shr_u(drop);
    let rest = whole & ((one << drop) - 1);
    let half = one << (drop - 1);
    let away = rest.gt_u(half) | (rest.eq(half) & (kept & 1).ne(0));
    let kept = kept + away.to_u(I64);
    // The leading one adds 1 to the exponent's field, so the field is one short; of a denormal it is 0 already.
    let field = (exponent + (62 + format.bias - 1)).max(0).min(2 * format.bias);
    let bits = (field.to_u(I64) << format.fraction) + kept;
    bits.min_u(format.infinity())
}

/// The bits of a float as an I64 with its upper bits zero.
pub(super) fn to_bits(x: Val<'_>) -> Val<'_> {
    match x.ty().scalar() {
        Some(F32) => x.bitcast(I32).to_u(I64),
        _ => x.bitcast(I64),
    }
}

/// The float whose bits an I64 holds.
pub(super) fn from_bits(format: Format, bits: Val<'_>) -> Val<'_> {
    match format.fraction {
        23 => bits.to_u(I32).bitcast(F32),
        _ => bits.bitcast(F64),
    }
}
