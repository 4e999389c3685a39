//! Numbers as the bits of an element.

use crate::dtype::Dtype;

/// The bits of a number as an element of a type: rounded to nearest even, integers wrapped.
pub(crate) fn bits(x: f64, dtype: Dtype) -> u64 {
    match dtype {
        Dtype::Bool => (x != 0.0) as u64,
        Dtype::F16 => half::f16::from_f64(x).to_bits() as u64,
        Dtype::BF16 => half::bf16::from_f32(x as f32).to_bits() as u64,
        Dtype::F32 | Dtype::C64 => (x as f32).to_bits() as u64,
        Dtype::F64 => x.to_bits(),
        _ if dtype.size() == 8 => x as i64 as u64,
        _ => x as i64 as u64 & ((1 << (8 * dtype.size())) - 1),
    }
}
