//! Elements read by index: `gather`, `take`, `take_along_axis`.

use crate::ops::catalogue::Entry;

pub(super) fn entries() -> Vec<Entry> {
    Vec::new()
}
