//! No wait is endless, and a device that stopped answering is remembered with the kernels it was running.
//!
//! The limit counts from the last progress, not from the start of the wait: a long queue of honest work is no hang.
//! Once the device has failed, every later call fails at once with the same error, and what the device may still be
//! touching is leaked rather than freed under its feet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// How many kernels of one submission are remembered.
const KERNELS_PER_SUBMISSION: usize = 8;
/// How many kernels an error names.
const KERNELS_NAMED: usize = 16;

/// Knows what is in flight on a queue and whether the device still answers.
#[derive(Debug)]
pub(crate) struct Watchdog {
    limit: Duration,
    failure: OnceLock<Error>,
    in_flight: Mutex<VecDeque<InFlight>>,
}

#[derive(Debug)]
struct InFlight {
    value: u64,
    kernels: Vec<Arc<str>>,
}

impl Watchdog {
    /// A watchdog that gives the device `limit` to make any progress.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, failure: OnceLock::new(), in_flight: Mutex::default() }
    }

    /// How long the device may take to make any progress.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Remembers the last kernels of a submission and forgets the submissions that are done.
    pub(crate) fn submitted<'a>(
        &self,
        value: u64,
        completed: u64,
        kernels: impl DoubleEndedIterator<Item = &'a Arc<str>>,
    ) {
        let mut last: Vec<_> = kernels.rev().take(KERNELS_PER_SUBMISSION).cloned().collect();
        last.reverse();
        // One kernel launched in several sizes.
        last.dedup();
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        while in_flight.front().is_some_and(|oldest| oldest.value <= completed) {
            in_flight.pop_front();
        }
        in_flight.push_back(InFlight { value, kernels: last });
    }

    /// Fails when the device has failed before.
    pub(crate) fn check(&self) -> Result<()> {
        match self.failure.get() {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    /// Passes an error on. A fatal one gets the names of the kernels not known to be done and ends the device.
    pub(crate) fn report(&self, error: Error, completed: u64) -> Error {
        let named = match error {
            Error::DeviceLost { during, .. } => {
                Error::DeviceLost { during, last_kernels: self.last_kernels(completed) }
            }
            Error::Timeout { during, after, .. } => {
                Error::Timeout { during, after, last_kernels: self.last_kernels(completed) }
            }
            other => return other,
        };
        self.failure.get_or_init(|| named).clone()
    }

    /// The kernels of unfinished submissions that would finish first: the stuck one is among them.
    fn last_kernels(&self, completed: u64) -> Vec<String> {
        let in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        let unfinished = in_flight.iter().filter(|submission| submission.value > completed);
        let mut names: Vec<String> = Vec::new();
        for name in unfinished.flat_map(|submission| &submission.kernels) {
            if names.last().is_none_or(|last| **last != **name) && names.len() < KERNELS_NAMED {
                names.push(name.to_string());
            }
        }
        names
    }
}

/// The clock of one wait: expires when the device has not made progress for too long.
pub(crate) struct Patience {
    limit: Duration,
    since: Instant,
    seen: u64,
}

impl Patience {
    /// Starts the clock at the progress `seen`.
    pub(crate) fn new(limit: Duration, seen: u64) -> Self {
        Self { limit, since: Instant::now(), seen }
    }

    /// How much longer to wait, given the progress now; `None` when the device has had its time.
    pub(crate) fn left(&mut self, progress: u64) -> Option<Duration> {
        if progress != self.seen {
            self.seen = progress;
            self.since = Instant::now();
        }
        self.limit.checked_sub(self.since.elapsed()).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<Arc<str>> {
        list.iter().map(|&name| name.into()).collect()
    }

    fn timeout() -> Error {
        Error::Timeout { during: "synchronize", after: Duration::from_secs(1), last_kernels: vec![] }
    }

    #[test]
    fn a_timeout_names_the_kernels_that_are_not_done() {
        let watchdog = Watchdog::new(Duration::from_secs(1));
        watchdog.submitted(1, 0, names(&["add"]).iter());
        watchdog.submitted(2, 0, names(&["sum", "spin"]).iter());
        let Error::Timeout { last_kernels, .. } = watchdog.report(timeout(), 1) else { panic!("not a timeout") };
        assert_eq!(last_kernels, ["sum", "spin"]);
    }

    #[test]
    fn after_a_fatal_error_every_check_fails_with_it() {
        let watchdog = Watchdog::new(Duration::from_secs(1));
        assert!(watchdog.check().is_ok());
        watchdog.report(timeout(), 0);
        assert!(matches!(watchdog.check(), Err(Error::Timeout { during: "synchronize", .. })));
        let lost = Error::DeviceLost { during: "vkQueueSubmit2", last_kernels: vec![] };
        assert!(matches!(watchdog.report(lost, 0), Error::Timeout { .. }));
    }

    #[test]
    fn running_out_of_memory_does_not_end_the_device() {
        let watchdog = Watchdog::new(Duration::from_secs(1));
        let error = Error::OutOfMemory { during: "allocate", requested: 1, available: 0, capacity: 0 };
        assert!(matches!(watchdog.report(error, 0), Error::OutOfMemory { .. }));
        assert!(watchdog.check().is_ok());
    }

    #[test]
    fn what_is_done_is_forgotten() {
        let watchdog = Watchdog::new(Duration::from_secs(1));
        for value in 1..=1000 {
            watchdog.submitted(value, value - 1, names(&["add"]).iter());
        }
        assert_eq!(watchdog.in_flight.lock().unwrap().len(), 1);
    }

    #[test]
    fn progress_renews_patience() {
        let mut patience = Patience::new(Duration::from_millis(20), 0);
        for progress in 1..=4 {
            std::thread::sleep(Duration::from_millis(10));
            assert!(patience.left(progress).is_some());
        }
        std::thread::sleep(Duration::from_millis(30));
        assert!(patience.left(4).is_none());
    }
}
