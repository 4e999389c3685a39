//! Ranges that were given up and wait to be used again: MLX's buffer cache, keyed by size, oldest out first.

use std::collections::{BTreeMap, VecDeque};

use super::pool::Range;

/// Sizes above one page are rounded up to pages. Apple silicon's page size, so that sizes and counters behave as MLX's
/// do.
pub(crate) const PAGE: u64 = 16 * 1024;

/// The cache of one pool.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    by_size: BTreeMap<u64, VecDeque<(u64, Range)>>,
    by_age: BTreeMap<u64, u64>,
    next_age: u64,
    bytes: u64,
}

impl Cache {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A range for `size` bytes that wastes less than the size itself and less than two pages.
    pub(crate) fn take(&mut self, size: u64) -> Option<Range> {
        let bound = (2 * size).min(size + 2 * PAGE);
        let (&found, ranges) = self.by_size.range_mut(size..bound).next()?;
        let (age, range) = ranges.pop_back().expect("a size without ranges is removed");
        if ranges.is_empty() {
            self.by_size.remove(&found);
        }
        self.by_age.remove(&age);
        self.bytes -= found;
        Some(range)
    }

    pub(crate) fn put(&mut self, range: Range) {
        let age = self.next_age;
        self.next_age += 1;
        self.by_size.entry(range.size).or_default().push_back((age, range));
        self.by_age.insert(age, range.size);
        self.bytes += range.size;
    }

    /// Removes the oldest ranges until `excess` bytes are out; all of them if that is 90 % of the cache.
    pub(crate) fn evict(&mut self, excess: u64) -> Vec<Range> {
        let excess = if excess as f64 >= 0.9 * self.bytes as f64 { self.bytes } else { excess };
        let mut evicted = Vec::new();
        let mut freed = 0;
        while freed < excess {
            let Some((age, size)) = self.by_age.pop_first() else { break };
            let ranges = self.by_size.get_mut(&size).expect("an age has a range");
            let at = ranges.iter().position(|&(found, _)| found == age).expect("an age has a range");
            let (_, range) = ranges.remove(at).expect("the position was just found");
            if ranges.is_empty() {
                self.by_size.remove(&size);
            }
            self.bytes -= size;
            freed += size;
            evicted.push(range);
        }
        evicted
    }
}

/// The size an allocation really gets: a multiple of the alignment, whole pages above one page.
pub(crate) fn rounded(bytes: u64) -> Option<u64> {
    let unit = if bytes > PAGE { PAGE } else { super::free_list::ALIGNMENT };
    bytes.checked_next_multiple_of(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(block: usize, size: u64) -> Range {
        Range { block, offset: 0, size }
    }

    #[test]
    fn small_sizes_round_to_the_alignment_and_large_ones_to_pages() {
        assert_eq!([1, 256, 257, 16384, 16385].map(rounded), [256, 256, 512, 16384, 32768].map(Some));
        assert_eq!(rounded(u64::MAX), None);
    }

    #[test]
    fn a_range_is_reused_only_below_twice_the_size_and_two_pages_more() {
        let mut cache = Cache::default();
        cache.put(range(0, 1024));
        assert_eq!(cache.take(512), None, "1024 is not below 2 * 512");
        assert_eq!(cache.take(768), Some(range(0, 1024)));
        cache.put(range(1, 20 * PAGE));
        assert_eq!(cache.take(18 * PAGE), None, "20 pages are not below 18 + 2");
        assert_eq!(cache.take(19 * PAGE), Some(range(1, 20 * PAGE)));
        assert_eq!(cache.bytes(), 0);
    }

    #[test]
    fn the_smallest_sufficient_range_is_taken() {
        let mut cache = Cache::default();
        cache.put(range(0, 1280));
        cache.put(range(1, 1024));
        assert_eq!(cache.take(1024), Some(range(1, 1024)));
        assert_eq!(cache.take(1024), Some(range(0, 1280)));
    }

    #[test]
    fn the_oldest_go_first() {
        let mut cache = Cache::default();
        (0..20).for_each(|at| cache.put(range(at, 1024)));
        assert_eq!(cache.evict(1500), [range(0, 1024), range(1, 1024)]);
        assert_eq!(cache.bytes(), 18 * 1024);
    }

    #[test]
    fn nine_tenths_of_the_cache_are_the_whole() {
        let mut cache = Cache::default();
        (0..10).for_each(|at| cache.put(range(at, 1024)));
        assert_eq!(cache.evict(9 * 1024).len(), 10);
        assert_eq!(cache.bytes(), 0);
        assert!(cache.take(1024).is_none());
    }
}
