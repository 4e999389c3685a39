//! f32 and f64 into each other, on devices that flush denormals on the way.

use super::function;
use crate::build::Builder;
use crate::types::Scalar::{F32, F64, I32, I64};

/// Denormals are a whole number of the smallest one.
pub(super) fn widen(k: &Builder) {
    function(k, F32, |[a]| {
        let bits = a.bitcast(I32);
        let small = (bits & 0x7f80_0000).eq(0);
        let tiny = (bits & 0x007f_ffff).to(F64) * k.f64(2f64.powi(-149));
        let signed = tiny.bitcast(I64) | (bits & i32::MIN).to_u(I64) << 32;
        small.select(signed.bitcast(F64), a.to(F64))
    });
}

/// What becomes a denormal is rounded to a whole number of the smallest one. The largest of those is the smallest normal
/// number, whose bits follow.
pub(super) fn narrow(k: &Builder) {
    function(k, F64, |[a]| {
        let small = a.abs().lt(k.f64(f32::MIN_POSITIVE as f64));
        // Adding 2^52 leaves the rounded whole number in the low bits.
        let whole = small.select(a.abs() * k.f64(2f64.powi(149)), k.f64(0.0)) + k.f64(2f64.powi(52));
        let sign = (a.bitcast(I64).shr_u(32).to_u(I32)) & i32::MIN;
        let tiny = (whole.bitcast(I64).to_u(I32) & 0x00ff_ffff) | sign;
        small.select(tiny.bitcast(F32), a.to(F32))
    });
}
