//! The built-in kernels, written in the kernel language. Each file holds a kernel's formula, how it is laid out over
//! invocations, and its search space where it has one; `tests/kernels.rs` holds them against plain definitions.

pub mod binary;
pub mod copy;
pub mod matmul;
pub mod rows;
