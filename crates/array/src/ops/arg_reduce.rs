//! `argmin` and `argmax`: where the smallest or largest element is.

use crate::ops::catalogue::Entry;

pub(super) fn entries() -> Vec<Entry> {
    Vec::new()
}
