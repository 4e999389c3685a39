//! Passes: kernels rewritten into better kernels with the same bits.
//!
//! Each takes a well-formed kernel and leaves a well-formed one. [`optimize`] is what every kernel goes through before it
//! is emitted; [`checked`] is the build that reports accesses out of bounds, and comes first where it is wanted.

mod affine;
mod checked;
mod fold;
mod guard;
mod vectorize;

pub use checked::{REPORT_WORDS, checked, read_report};
pub use fold::fold;
pub use vectorize::vectorize;

use crate::ir::Kernel;

/// The standard list.
pub fn optimize(kernel: &mut Kernel) {
    fold(kernel);
    vectorize(kernel);
}
