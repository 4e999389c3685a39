//! Elements written by index: `scatter`, `put_along_axis`.

use crate::ops::catalogue::Entry;

pub(super) fn entries() -> Vec<Entry> {
    Vec::new()
}
