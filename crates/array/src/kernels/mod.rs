//! The built-in kernels, written in the kernel language. Each file holds the kernel's formula, how it is laid out over
//! invocations, its search space and its test against a plain definition.

pub mod binary;
pub mod matmul;
pub mod rows;
