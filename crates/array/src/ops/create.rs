//! Arrays from a rule: `arange`, `linspace`, `eye`.

use crate::ops::catalogue::Entry;

pub(super) fn entries() -> Vec<Entry> {
    Vec::new()
}
