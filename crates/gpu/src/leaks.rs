//! The leak detector's memory: what was still alive when a device went away.
//!
//! A device cannot complain when it is dropped, so it writes down what it found; whoever holds the log can read it
//! afterwards. Tests do, and fail on anything in it.

use std::sync::{Arc, Mutex};

/// A list of leaks that outlives the device it belongs to. Clones share the list.
#[derive(Clone, Debug, Default)]
pub struct LeakLog(Arc<Mutex<Vec<String>>>);

impl LeakLog {
    /// What was found so far.
    pub fn entries(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Notes a leak.
    pub(crate) fn record(&self, entry: String) {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(entry);
    }

    /// Notes Vulkan objects that were not destroyed before their device.
    pub(crate) fn record_objects(&self, live: &[(&'static str, u64)]) {
        for (kind, count) in live {
            self.record(format!("{count} {kind} alive when the device was destroyed"));
        }
    }
}
