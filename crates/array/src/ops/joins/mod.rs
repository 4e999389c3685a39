//! Arrays put together: `concatenate` and `stack`; arrays put beside themselves: `repeat`, `tile` and `roll`.

mod concatenate;
mod repeat;
mod roll;

use crate::ops::catalogue::Entry;

pub use concatenate::{concatenate, stack};
pub use repeat::{repeat, tile};
pub use roll::{roll, roll_flat};

pub(super) fn entries() -> Vec<Entry> {
    let mut all = concatenate::entries();
    all.extend(repeat::entries());
    all.extend(roll::entries());
    all
}

#[cfg(test)]
mod tests;
