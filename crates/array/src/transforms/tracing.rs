//! Whether a transform is tracing a function on this thread.
//!
//! Arrays remember that a transform followed them for good, but that only matters while one is at work: afterwards evaluation lets
//! go of their graphs as of any other, or a training loop would keep everything it ever computed.

use std::cell::Cell;

use crate::array::Array;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static SHAPELESS: Cell<bool> = const { Cell::new(false) };
}

/// Whether what is being traced is to serve inputs of any sizes: what depends on sizes is then a call, not a number.
pub(crate) fn shapeless() -> bool {
    SHAPELESS.get()
}

/// Whether an array may have other sizes where what is being traced is used: then it is not by its size that a call gives it as it is.
pub(crate) fn depends_on_sizes(array: &Array) -> bool {
    shapeless() && array.is_tracer()
}

/// Runs a closure that is being traced for inputs of any sizes, or of those that it has.
pub(crate) fn for_sizes<R>(shapeless: bool, body: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            SHAPELESS.set(self.0);
        }
    }
    let _restore = Restore(SHAPELESS.replace(shapeless));
    body()
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
