//! fmod, remainder, floor_div: exact, however far apart the operands are.

use super::bits::{bits, float, with_sign};
use crate::build::Val;

/// A positive number taken apart: `significand · 2^(exponent - 150)`, the significand from 2^23 to below 2^24. The exponent is
/// the one in the number's bits, going on below 1 for denormals.
struct Parts<'k> {
    significand: Val<'k>,
    exponent: Val<'k>,
}

fn parts(x: Val<'_>) -> Parts<'_> {
    let i = bits(x);
    let (field, above) = (i >> 23, i.leading_zeros() - 8);
    let denormal = field.eq(0);
    let significand = denormal.select(i << above, (i & 0x007f_ffff) | 0x0080_0000);
    Parts { significand, exponent: denormal.select(1 - above, field) }
}

/// `significand · 2^(exponent - 150)` for a significand below 2^24, exactly representable.
fn whole<'k>(significand: Val<'k>, exponent: Val<'k>) -> Val<'k> {
    let above = significand.leading_zeros() - 8;
    let top = exponent - above;
    let leading = significand << above;
    let normal = (top << 23) | (leading & 0x007f_ffff);
    let denormal = leading.shr_u((1 - top).max(0));
    float(significand.eq(0).select(significand, top.gt(0).select(normal, denormal)))
}

/// The remainder of the quotient rounded towards zero, as C's fmod: it has the sign of `x` and is exact.
///
/// Long division of the significands, eight bits of the quotient a turn: 35 turns are the most there are.
pub(super) fn fmod<'k>(x: Val<'k>, y: Val<'k>) -> Val<'k> {
    let k = x.builder();
    let (a, b) = (x.abs(), y.abs());
    let defined = bits(a).lt(f32::INFINITY.to_bits() as i32) & (bits(b) - 1).lt_u(f32::INFINITY.to_bits());
    let (of_a, of_b) = (parts(a), parts(b));
    let smaller = bits(a).lt(bits(b));
    let distance = (defined & !smaller).select(of_a.exponent - of_b.exponent, 0);
    let first = of_a.significand.rem_u(of_b.significand);
    let (rest, _) = k.while_(
        (first, distance),
        |(_, distance)| distance.gt(0),
        |(rest, distance)| {
            let digits = distance.min(8);
            ((rest << digits).rem_u(of_b.significand), distance - digits)
        },
    );
    let r = smaller.select(a, whole(rest, of_b.exponent));
    defined.select(with_sign(r, x), f32::NAN)
}

/// The remainder of the quotient rounded down, as Python's `%`: it has the sign of `y`.
pub(super) fn remainder<'k>(x: Val<'k>, y: Val<'k>) -> Val<'k> {
    let r = fmod(x, y);
    let wrong_sign = r.ne(0.0) & r.lt(0.0).ne(y.lt(0.0));
    wrong_sign.select(r + y, r)
}

/// The quotient rounded down, as Python's `//`; `x / y` by zero.
pub(super) fn floor_div<'k>(x: Val<'k>, y: Val<'k>) -> Val<'k> {
    let quotient = x / y;
    // Rounding may have taken the quotient up to the next integer; then the remainder has the wrong sign. From 2^24 on
    // every float is an integer, and the next one is further away than that.
    let q = quotient.floor();
    // Large enough for an fma that takes the smallest numbers for zeros; an x that overflows is too far away to matter.
    let tiny = y.abs().lt(1e-18);
    let [large_x, large_y] = [x, y].map(|v| tiny.select(v * 2f32.powi(100), v));
    let nothing_off = q.eq(0.0) | y.abs().eq(f32::INFINITY);
    let r = nothing_off.select(x, (-q).fma(large_y, large_x));
    let too_far = r.ne(0.0) & r.lt(0.0).ne(y.lt(0.0)) & quotient.abs().lt(16_777_216.0);
    let q = too_far.select(q - 1.0, q);
    x.abs().eq(f32::INFINITY).select(f32::NAN, q)
}
