//! Rounding f64 to whole numbers. lavapipe's truncation and rounding to even give back what is 2^31 or more; floor, ceil and
//! addition are right.

use super::function;
use crate::build::Builder;
use crate::types::Scalar::{F64, I64};

pub(super) fn trunc(k: &Builder) {
    function(k, F64, |[x]| x.lt(k.f64(0.0)).select(x.ceil(), x.floor()));
}

/// The last place of 2^52 is 1, so adding it rounds to a whole number. What is larger is whole already.
pub(super) fn round_even(k: &Builder) {
    function(k, F64, |[x]| {
        let limit = k.f64((1u64 << 52) as f64);
        let rounded = (x.abs() + limit) - limit;
        let sign = x.bitcast(I64) & (1u64 << 63);
        let signed = (rounded.bitcast(I64) | sign).bitcast(F64);
        x.abs().lt(limit).select(signed, x)
    });
}
