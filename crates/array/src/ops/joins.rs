//! Arrays put together: `concatenate` and `stack`.

use crate::ops::catalogue::Entry;

pub(super) fn entries() -> Vec<Entry> {
    Vec::new()
}
