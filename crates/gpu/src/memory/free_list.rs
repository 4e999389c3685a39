//! Which parts of a block are free: best fit, neighbours merged.

use std::collections::{BTreeMap, BTreeSet};

/// Every range starts and ends at a multiple of this many bytes.
pub(crate) const ALIGNMENT: u64 = 256;

/// The free ranges of one block, by place and by size.
#[derive(Debug)]
pub(crate) struct FreeList {
    size: u64,
    by_offset: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
}

impl FreeList {
    pub(crate) fn new(size: u64) -> Self {
        let mut list = FreeList { size, by_offset: BTreeMap::new(), by_size: BTreeSet::new() };
        list.insert(0, size);
        list
    }

    /// Takes a range of `size` bytes (a multiple of [`ALIGNMENT`]) out of the smallest free range that holds it.
    pub(crate) fn take(&mut self, size: u64) -> Option<u64> {
        let &(found, offset) = self.by_size.range((size, 0)..).next()?;
        self.remove(offset, found);
        if found > size {
            self.insert(offset + size, found - size);
        }
        Some(offset)
    }

    /// Gives back a range that was taken.
    pub(crate) fn give_back(&mut self, offset: u64, size: u64) {
        let (mut start, mut end) = (offset, offset + size);
        if let Some((&before, &len)) = self.by_offset.range(..offset).next_back() {
            debug_assert!(before + len <= offset, "a range must be given back once");
            if before + len == offset {
                self.remove(before, len);
                start = before;
            }
        }
        if let Some(&len) = self.by_offset.get(&end) {
            self.remove(end, len);
            end += len;
        }
        self.insert(start, end - start);
    }

    /// Whether nothing is taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_offset.get(&0) == Some(&self.size)
    }

    fn insert(&mut self, offset: u64, size: u64) {
        self.by_offset.insert(offset, size);
        self.by_size.insert((size, offset));
    }

    fn remove(&mut self, offset: u64, size: u64) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(size, offset));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_range_that_fits_is_taken() {
        let mut list = FreeList::new(4096);
        let offsets: Vec<_> = (0..4).map(|_| list.take(1024).expect("there is room")).collect();
        assert_eq!(offsets, [0, 1024, 2048, 3072]);
        list.give_back(0, 1024);
        list.give_back(2048, 1024);
        list.give_back(3072, 1024);
        assert_eq!(list.take(512), Some(0), "the hole of 1024, not the one of 2048");
    }

    #[test]
    fn a_full_list_gives_nothing() {
        let mut list = FreeList::new(512);
        assert_eq!(list.take(512), Some(0));
        assert_eq!(list.take(256), None);
        assert!(!list.is_empty());
    }

    #[test]
    fn neighbours_merge_whatever_the_order_of_return() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut list = FreeList::new(768);
            (0..3).for_each(|_| assert!(list.take(256).is_some()));
            order.iter().for_each(|&at| list.give_back(at * 256, 256));
            assert!(list.is_empty(), "{order:?}");
            assert_eq!(list.take(768), Some(0));
        }
    }

    #[test]
    fn taken_ranges_never_overlap() {
        let mut list = FreeList::new(1 << 20);
        let mut taken: Vec<(u64, u64)> = Vec::new();
        let mut seed = 1u64;
        for _ in 0..5000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let size = ((seed >> 33) % 64 + 1) * ALIGNMENT;
            if seed >> 63 == 0 {
                if let Some(offset) = list.take(size) {
                    assert!(taken.iter().all(|&(o, s)| offset + size <= o || o + s <= offset));
                    taken.push((offset, size));
                }
            } else if !taken.is_empty() {
                let (offset, size) = taken.swap_remove((seed >> 20) as usize % taken.len());
                list.give_back(offset, size);
            }
        }
        taken.drain(..).for_each(|(offset, size)| list.give_back(offset, size));
        assert!(list.is_empty());
    }
}
