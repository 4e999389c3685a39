//! What the runtime did, in numbers: look at these first, then optimise what dominates.
//!
//! Counting must not cost: streams count in their own memory and hand the sums over once per submission.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::device::Device;

/// A snapshot of a device's counters since it was opened or since they were last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Launches per kernel name, replayed ones included.
    pub launches: BTreeMap<String, u64>,
    /// The same by size: per kernel name, launches per number of workgroups, rounded up to a power of two.
    pub launch_sizes: BTreeMap<String, BTreeMap<u64, u64>>,
    /// Copies recorded, uploads and downloads through staging included.
    pub copies: u64,
    /// Fills recorded.
    pub fills: u64,
    /// Global memory barriers, replayed ones included.
    pub barriers: u64,
    /// Submissions to the queue.
    pub submits: u64,
    /// Replays of recorded plans.
    pub replays: u64,
    /// Times the host had to wait for the device.
    pub waits: u64,
    /// Pipelines that were asked for and already there.
    pub pipeline_hits: u64,
    /// Pipelines that had to be created.
    pub pipeline_misses: u64,
    /// Pipelines that the driver compiled: of those created, the ones that the cache on disk did not have.
    pub pipelines_compiled: u64,
    /// Bytes that went from the host to the device.
    pub bytes_uploaded: u64,
    /// Bytes that came from the device to the host.
    pub bytes_downloaded: u64,
}

impl Device {
    /// What was done on this device since it was opened or since the last reset.
    pub fn stats(&self) -> Statistics {
        self.counters().snapshot()
    }

    /// Starts counting anew.
    pub fn reset_stats(&self) {
        self.counters().reset();
    }
}

impl Statistics {
    /// Launches of all kernels together.
    pub fn total_launches(&self) -> u64 {
        self.launches.values().sum()
    }
}

/// How often a kernel was launched with about as many workgroups.
pub(crate) struct LaunchCount<'a> {
    pub(crate) kernel: &'a Arc<str>,
    /// Workgroups, rounded up to a power of two.
    pub(crate) groups: u64,
    pub(crate) count: u64,
}

/// The live counters behind `Statistics`.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Per kernel, launches per number of workgroups.
    launches: Mutex<BTreeMap<Arc<str>, BTreeMap<u64, u64>>>,
    pub(crate) copies: Counter,
    pub(crate) fills: Counter,
    pub(crate) barriers: Counter,
    pub(crate) submits: Counter,
    pub(crate) replays: Counter,
    pub(crate) waits: Counter,
    pub(crate) pipeline_hits: Counter,
    pub(crate) pipeline_misses: Counter,
    pub(crate) pipelines_compiled: Counter,
    pub(crate) bytes_uploaded: Counter,
    pub(crate) bytes_downloaded: Counter,
}

impl Counters {
    /// Adds a submission's launches.
    pub(crate) fn add_launches<'a>(&self, launches: impl Iterator<Item = LaunchCount<'a>>) {
        let mut sums = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        for LaunchCount { kernel, groups, count } in launches {
            match sums.get_mut(kernel) {
                Some(sizes) => *sizes.entry(groups).or_default() += count,
                None => {
                    sums.insert(kernel.clone(), BTreeMap::from([(groups, count)]));
                }
            }
        }
    }

    /// The counters at this moment.
    pub(crate) fn snapshot(&self) -> Statistics {
        let launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        Statistics {
            launches: launches.iter().map(|(name, sizes)| (name.to_string(), sizes.values().sum())).collect(),
            launch_sizes: launches.iter().map(|(name, sizes)| (name.to_string(), sizes.clone())).collect(),
            copies: self.copies.get(),
            fills: self.fills.get(),
            barriers: self.barriers.get(),
            submits: self.submits.get(),
            replays: self.replays.get(),
            waits: self.waits.get(),
            pipeline_hits: self.pipeline_hits.get(),
            pipeline_misses: self.pipeline_misses.get(),
            pipelines_compiled: self.pipelines_compiled.get(),
            bytes_uploaded: self.bytes_uploaded.get(),
            bytes_downloaded: self.bytes_downloaded.get(),
        }
    }

    /// Starts counting anew.
    pub(crate) fn reset(&self) {
        self.launches.lock().unwrap_or_else(PoisonError::into_inner).clear();
        for counter in [
            &self.copies,
            &self.fills,
            &self.barriers,
            &self.submits,
            &self.replays,
            &self.waits,
            &self.pipeline_hits,
            &self.pipeline_misses,
            &self.pipelines_compiled,
            &self.bytes_uploaded,
            &self.bytes_downloaded,
        ] {
            counter.0.store(0, Ordering::Relaxed);
        }
    }
}

/// One number that many threads add to.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds to the number.
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kernel: &Arc<str>, groups: u64, count: u64) -> LaunchCount<'_> {
        LaunchCount { kernel, groups, count }
    }

    #[test]
    fn launches_add_up_per_kernel() {
        let counters = Counters::default();
        let (add, copy): (Arc<str>, Arc<str>) = ("add".into(), "copy".into());
        counters.add_launches([of(&add, 4, 2), of(&copy, 4, 1)].into_iter());
        counters.add_launches([of(&add, 4, 3), of(&add, 8, 1)].into_iter());
        let statistics = counters.snapshot();
        assert_eq!(statistics.launches["add"], 6);
        assert_eq!(statistics.launch_sizes["add"], BTreeMap::from([(4, 5), (8, 1)]));
        assert_eq!(statistics.launches["copy"], 1);
        assert_eq!(statistics.total_launches(), 7);
    }

    #[test]
    fn a_reset_forgets_everything() {
        let counters = Counters::default();
        counters.add_launches([of(&"add".into(), 1, 2)].into_iter());
        counters.barriers.add(3);
        counters.bytes_uploaded.add(4);
        assert_eq!(counters.snapshot().barriers, 3);
        counters.reset();
        assert_eq!(counters.snapshot(), Statistics::default());
    }
}
