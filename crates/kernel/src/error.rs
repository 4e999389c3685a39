//! The one error type of the crate.

use crate::ir::Line;

/// A kernel that is not well formed, does not fit a device, or went wrong in the interpreter.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel was built wrongly: a type mismatch, a value used outside its block, and the like.
    #[error("[{kernel}] {message} ({line})")]
    Malformed {
        /// The kernel's name.
        kernel: String,
        /// Where it was written.
        line: Line,
        /// What must hold but what was found.
        message: String,
    },
    /// The kernel asks for something the device does not have.
    #[error("[{kernel}] {message}")]
    Unsupported {
        /// The kernel's name.
        kernel: String,
        /// What is needed and what the device has.
        message: String,
    },
    /// A launch whose arguments do not fit the kernel.
    #[error("[{kernel}] {message}")]
    Launch {
        /// The kernel's name.
        kernel: String,
        /// What must hold but what was found.
        message: String,
    },
    /// An index outside its buffer or array.
    #[error("[{kernel}] index {index} must be below {bound} in {place} ({line})")]
    OutOfBounds {
        /// The kernel's name.
        kernel: String,
        /// Where the access was written.
        line: Line,
        /// Which buffer or array.
        place: String,
        /// The index, in elements.
        index: u64,
        /// The number of elements there are.
        bound: u64,
    },
    /// Something else the language forbids happened while interpreting: a barrier that not all invocations reach, a data
    /// race in shared memory, a step limit.
    #[error("[{kernel}] {message} ({line})")]
    Execution {
        /// The kernel's name.
        kernel: String,
        /// Where it was written.
        line: Line,
        /// What must hold but what was found.
        message: String,
    },
}

/// The crate's result type.
pub type Result<T> = std::result::Result<T, Error>;
