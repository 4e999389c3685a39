//! The one error type, its variants named by what Python raises for them.

use pumice_gpu as gpu;
use pumice_kernel as kernel;

/// What went wrong. The text says `[op] what must hold but what was found.`
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument that cannot be.
    #[error("{0}")]
    Value(String),
    /// An argument of the wrong type.
    #[error("{0}")]
    Type(String),
    /// An index or axis out of range.
    #[error("{0}")]
    Index(String),
    /// No memory left.
    #[error("{0}")]
    Memory(String),
    /// A file that cannot be read or written.
    #[error("{0}")]
    Io(String),
    /// A device or driver that failed, or is not there.
    #[error("{0}")]
    Runtime(String),
}

/// The crate's result type.
pub type Result<T> = std::result::Result<T, Error>;

impl From<gpu::Error> for Error {
    fn from(error: gpu::Error) -> Error {
        match error {
            gpu::Error::OutOfMemory { .. } | gpu::Error::TooLarge { .. } => Error::Memory(error.to_string()),
            gpu::Error::InvalidArgument(_) => Error::Value(error.to_string()),
            _ => Error::Runtime(error.to_string()),
        }
    }
}

impl From<kernel::Error> for Error {
    fn from(error: kernel::Error) -> Error {
        match error {
            kernel::Error::OutOfBounds { .. } => Error::Index(error.to_string()),
            kernel::Error::Execution { .. } => Error::Runtime(error.to_string()),
            _ => Error::Value(error.to_string()),
        }
    }
}
