//! The CPU device: how arrays are computed where there is no GPU.

pub mod block;
pub(crate) mod copy;
pub(crate) mod half;
pub(crate) mod kept;
pub(crate) mod simd;
pub(crate) mod threads;
