//! Processes made by `fork`: they have the parent's memory, but none of its threads, and its GPU is the parent's.
//!
//! The CPU computes there as always, each thread on its own. The GPU is refused if the parent had opened it: drivers do not survive
//! a fork, and would hang or crash.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::open_gpu;
use crate::error::{Error, Result};
use crate::trace;

/// Whether this process was made by a fork, and with an open GPU.
static FORKED: AtomicBool = AtomicBool::new(false);
static LOST_GPU: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread knows that it works alone.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Tells that this process was just made by `fork`. To be called in the child before it computes; Python's package does.
pub fn forked() {
    FORKED.store(true, Ordering::Relaxed);
    trace::forget();
    if let Some(gpu) = open_gpu() {
        gpu.device().abandon();
        LOST_GPU.store(true, Ordering::Relaxed);
    }
}

/// Whether work can be given to other threads.
pub(crate) fn has_helpers() -> bool {
    !FORKED.load(Ordering::Relaxed)
}

/// Refuses the GPU where it is another process's.
pub(super) fn refuse_gpu() -> Result<()> {
    match LOST_GPU.load(Ordering::Relaxed) {
        false => Ok(()),
        true => Err(Error::Runtime(
            "[fork] a GPU must be used by the process that opened it but this one was forked from it; start processes by \
             spawn, or use the CPU."
                .into(),
        )),
    }
}

/// Makes sure that a thread which is about to compute does not count on the parent's threads: it works alone. Helpers of its own
/// would be missing again in a process that it forks.
pub(crate) fn expect_no_helpers() {
    if FORKED.load(Ordering::Relaxed) && !ALONE.replace(true) {
        // It stays as long as the process. A thread that a forked child was forked from is in one already.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        std::mem::forget(pool);
    }
}
