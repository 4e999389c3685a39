//! Random numbers as MLX makes them: Threefry keys, and what is made of their bits.

use crate::ops::catalogue::Entry;

pub(crate) fn entries() -> Vec<Entry> {
    Vec::new()
}
