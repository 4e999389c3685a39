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

type Pass = fn(&mut Kernel);

/// In the order in which they are made.
const STANDARD: [(&str, Pass); 4] = [("fold", fold), ("cse", cse), ("vectorize", vectorize), ("dce", dce)];

/// The standard list.
pub fn optimize(kernel: &mut Kernel) {
    optimize_watched(kernel, |_, _| {});
}

/// The same, showing the kernel after each pass.
pub fn optimize_watched(kernel: &mut Kernel, mut show: impl FnMut(&str, &Kernel)) {
    for (name, pass) in STANDARD {
        pass(kernel);
        show(name, kernel);
    }
}
