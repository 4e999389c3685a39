//! Parts of arrays: `slice` and `split`, which look at them, and `slice_update`, which writes one.

mod range;
mod slice;
mod split;
mod update;

use crate::ops::catalogue::Entry;

pub use slice::slice;
pub use split::{split, split_at};
pub use update::slice_update;

pub(super) fn entries() -> Vec<Entry> {
    let mut all = slice::entries();
    all.extend(split::entries());
    all.extend(update::entries());
    all
}

#[cfg(test)]
mod tests;
