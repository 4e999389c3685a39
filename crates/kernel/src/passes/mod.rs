//! Passes: kernels rewritten into better kernels with the same bits.
//!
//! Each takes a well-formed kernel and leaves a well-formed one. [`optimize`] is what every kernel goes through before it
//! is emitted; [`checked`](checked::checked) is the build that reports accesses out of bounds.

mod affine;
mod fold;
mod vectorize;

pub use fold::fold;
pub use vectorize::vectorize;
