//! `softmax`: exponentials along axes, scaled to sum to one.

use crate::ops::catalogue::Entry;

pub(super) fn entries() -> Vec<Entry> {
    Vec::new()
}
