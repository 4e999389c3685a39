//! Passes: kernels rewritten into better kernels with the same bits.
//!
//! Each takes a well-formed kernel and leaves a well-formed one. [`optimize`] is what every kernel goes through before it
//! is emitted; [`checked`] is the build that reports accesses out of bounds, and comes first where it is wanted.

mod affine;
mod checked;
mod cse;
mod dce;
mod fold;
mod guard;
mod key;
mod vectorize;

pub use checked::{REPORT_WORDS, checked, read_report};
pub use cse::cse;
pub use dce::dce;
pub use fold::fold;
pub use vectorize::vectorize;

use crate::ir::Kernel;

/// The standard list.
pub fn optimize(kernel: &mut Kernel) {
    fold(kernel);
    cse(kernel);
    vectorize(kernel);
    dce(kernel);
}
