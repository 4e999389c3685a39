//! 16-bit floats, without branches, so that loops over them become vector instructions: to nearest even, through
//! denormals, to infinity on overflow; a NaN stays one, made quiet.

/// The upper half of an f32, rounded.
#[inline(always)]
pub(crate) fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let quiet = bits | 0x40_0000;
    ((if value.is_nan() { quiet } else { rounded }) >> 16) as u16
}

/// The upper half of an f32.
#[inline(always)]
pub(crate) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

/// Rounded to f16.
#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    // The exponent's bias drops by 112, the mantissa by 13 bits; a carry of the rounding walks into the exponent.
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + (magnitude >> 13 & 1)) >> 13;
    // The last place of a sum with 1/2 is that of f16's denormals, 2^-24.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    let special = if magnitude > 0x7f80_0000 { nan } else { 0x7c00 };
    let finite = if magnitude < 113 << 23 { denormal } else { normal };
    // From 65520, halfway to 65536, it is infinity.
    let found = if magnitude >= 0x477f_f000 { special } else { finite };
    (found | (bits >> 16 & 0x8000)) as u16
}

/// An f16 as f32, exactly.
#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    let sign = (bits as u32 & 0x8000) << 16;
    let magnitude = (bits as u32 & 0x7fff) << 13;
    let special = if magnitude >= 0x1f << 23 { 112 << 23 } else { 0 };
    let normal = magnitude + (112 << 23) + special;
    // The bits of a denormal count units of 2^-24.
    let denormal = ((bits & 0x7fff) as i32 as f32 * f32::from_bits(103 << 23)).to_bits();
    f32::from_bits(sign | if magnitude < 1 << 23 { denormal } else { normal })
}
