//! fmod, remainder, floor_div: exact, however far apart the operands are.

use super::bits::{bits, scale, with_sign};
use crate::build::Val;

/// The exponent of a positive number as it stands in its bits, going on below 1 for denormals.
fn exponent(x: Val<'_>) -> Val<'_> {
    let i = bits(x);
    let field = i >> 23;
    field.eq(0).select(9 - i.leading_zeros(), field)
}

/// The remainder of the quotient rounded towards zero, as C's fmod: it has the sign of `x` and is exact.
///
/// Each turn subtracts a multiple of `y · 2^k` that takes at least 22 bits off, so 13 turns are the most there are.
pub(super) fn fmod<'k>(x: Val<'k>, y: Val<'k>) -> Val<'k> {
    let k = x.builder();
    let (a, b) = (x.abs(), y.abs());
    let defined = a.lt(f32::INFINITY) & b.gt(0.0);
    let start = defined.select(a, 0.0);
    let r = k.while_(
        start,
        |r| defined & r.ge(b),
        |r| {
            let step = scale(b, (exponent(r) - exponent(b) - 22).max(0));
            // Rounded, the quotient can be one too large, never too small, and the remainder fits in either case.
            let q = (r / step).trunc();
            let rest = (-q).fma(step, r);
            rest.lt(0.0).select(rest + step, rest)
        },
    );
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
    let r = y.abs().eq(f32::INFINITY).select(x, (-q).fma(y, x));
    let too_far = r.ne(0.0) & r.lt(0.0).ne(y.lt(0.0)) & quotient.abs().lt(16_777_216.0);
    let q = too_far.select(q - 1.0, q);
    x.abs().eq(f32::INFINITY).select(f32::NAN, q)
}
