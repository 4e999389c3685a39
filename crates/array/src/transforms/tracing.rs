//! Whether a transform is tracing a function on this thread.
//!
//! Arrays remember that a transform followed them for good, but that only matters while one is at work: afterwards evaluation lets
//! go of their graphs as of any other, or a training loop would keep everything it ever computed.

use std::cell::Cell;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Whether a transform is tracing a function on this thread.
pub(crate) fn active() -> bool {
    DEPTH.get() > 0
}

/// Runs a closure that is being traced.
pub(crate) fn traced<R>(body: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    DEPTH.set(DEPTH.get() + 1);
    let _leave = Leave;
    body()
}
