//! What kind of number a float is, and the simplest functions of one.

use crate::build::Val;

pub(super) fn is_nan(x: Val<'_>) -> Val<'_> {
    x.ne(x)
}

pub(super) fn is_inf(x: Val<'_>) -> Val<'_> {
    x.abs().eq(f32::INFINITY)
}

pub(super) fn is_finite(x: Val<'_>) -> Val<'_> {
    x.abs().lt(f32::INFINITY)
}

pub(super) fn sign(x: Val<'_>) -> Val<'_> {
    let y = x.lt(0.0).select(-1.0, x);
    x.gt(0.0).select(1.0, y)
}

pub(super) fn square(x: Val<'_>) -> Val<'_> {
    x * x
}

pub(super) fn reciprocal(x: Val<'_>) -> Val<'_> {
    1.0 / x
}
