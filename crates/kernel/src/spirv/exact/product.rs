//! The high half of 64-bit products, from 32-bit halves.

use super::function;
use crate::build::{Builder, Val};
use crate::types::Scalar::I64;

pub(super) fn high_unsigned(k: &Builder) {
    function(k, I64, |[a, b]| wide(a, b).0);
}

/// As if unsigned, less what the signs had counted for.
pub(super) fn high_signed(k: &Builder) {
    function(k, I64, |[a, b]| wide(a, b).0 - ((a >> 63) & b) - ((b >> 63) & a));
}

/// The high and low halves of the unsigned product.
pub(super) fn wide<'k>(a: Val<'k>, b: Val<'k>) -> (Val<'k>, Val<'k>) {
    let low = |v: Val<'k>| v & 0xffff_ffffu64;
    let high = |v: Val<'k>| v.shr_u(32);
    let bottom = low(a) * low(b);
    let first = high(a) * low(b) + high(bottom);
    let second = low(a) * high(b) + low(first);
    (high(a) * high(b) + high(first) + high(second), low(bottom) | (second << 32))
}
