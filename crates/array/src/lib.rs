//! MLX for every GPU, in Rust.
//!
//! What stands today: the built-in kernels ([`kernels`]) and what runs them on a Vulkan device ([`launch`]). Kernels are written in
//! the kernel language ([`kernel`]) and run by the Vulkan runtime ([`gpu`]); this crate is where the two meet, and nothing
//! else knows both.

pub use pumice_gpu as gpu;
pub use pumice_kernel as kernel;

pub mod cpu;
mod error;
pub mod kernels;
pub mod launch;

pub use error::{Error, Result};
