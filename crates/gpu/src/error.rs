//! What can go wrong, as a caller of this crate sees it.
//!
//! Every Vulkan result code ends up as one of these variants, so that the layers above can tell what is worth retrying
//! (memory), what ends the device (loss, timeout), and what is a mistake of the caller.

use std::fmt::{self, Display};
use std::time::Duration;

use ash::vk;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call of this crate failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no Vulkan loader, no driver, or no device that meets the baseline; the text says what to install.
    #[error("[gpu] {0}")]
    NoVulkan(String),

    /// The device (or our limit on it) has no room, also after the cache was freed and pending work was waited for.
    #[error("[{during}] {requested} bytes must fit into the device's memory but {available} are free of {capacity}.")]
    OutOfMemory {
        /// What was being done: `allocate`, or the Vulkan call.
        during: &'static str,
        /// How many bytes were asked for, rounded as the allocator rounds; 0 where the driver ran out on its own
        /// account.
        requested: u64,
        /// How many bytes our accounting believed to be free.
        available: u64,
        /// How many bytes this device may hold in all.
        capacity: u64,
    },

    /// One allocation is larger than the device could ever hold.
    #[error("[allocate] an allocation must have at most {limit} bytes but {requested} were requested.")]
    TooLarge {
        /// How many bytes were asked for.
        requested: u64,
        /// The most that one allocation may have.
        limit: u64,
    },

    /// The driver gave up on the device. Everything on it is lost; the process may go on without it.
    #[error("[{during}] the device must be working but it is lost.{}", Kernels(.last_kernels))]
    DeviceLost {
        /// The Vulkan call or the wait that noticed.
        during: &'static str,
        /// The kernels that were last handed to the device, the latest last.
        last_kernels: Vec<String>,
    },

    /// The device did not finish in time. It is treated as lost from then on.
    #[error("[{during}] the device must answer within {after:?} but has not.{}", Kernels(.last_kernels))]
    Timeout {
        /// The Vulkan call or the wait that ran out of time.
        during: &'static str,
        /// How long it was waited.
        after: Duration,
        /// The kernels that were last handed to the device, the latest last.
        last_kernels: Vec<String>,
    },

    /// A Vulkan call failed in a way that has no better name here.
    #[error("[{call}] the call must succeed but returned {} ({code}).", vk::Result::from_raw(*.code))]
    Vulkan {
        /// The Vulkan call.
        call: &'static str,
        /// The `VkResult` it returned.
        code: i32,
    },

    /// The caller asked for something that cannot be done.
    #[error("{0}")]
    InvalidArgument(String),

    /// The driver refused to build a pipeline.
    #[error("[pipeline] kernel {kernel} must compile but {reason}.")]
    Pipeline {
        /// The name the request carried.
        kernel: String,
        /// What was found.
        reason: String,
    },

    /// The pipeline cache could not be written. Reading never fails: a damaged file counts as none.
    #[error("[pipeline cache] {path} must be writable but {reason}.")]
    Cache {
        /// The file or folder.
        path: String,
        /// What the system said.
        reason: String,
    },
}

impl Error {
    /// The error for a Vulkan call that returned `code`.
    pub(crate) fn from_call(call: &'static str, code: vk::Result) -> Self {
        match code {
            vk::Result::ERROR_DEVICE_LOST => Error::DeviceLost { during: call, last_kernels: Vec::new() },
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                Error::OutOfMemory { during: call, requested: 0, available: 0, capacity: 0 }
            }
            vk::Result::TIMEOUT => Error::Timeout { during: call, after: Duration::ZERO, last_kernels: Vec::new() },
            other => Error::Vulkan { call, code: other.as_raw() },
        }
    }

    /// Whether the device is of no use any more after this error.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Error::DeviceLost { .. } | Error::Timeout { .. })
    }
}

/// Writes the kernels that were in flight, or nothing when none are known.
struct Kernels<'a>(&'a [String]);

impl Display for Kernels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, " The last kernels were {}.", self.0.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_device_names_the_last_kernels() {
        let error =
            Error::DeviceLost { during: "vkQueueSubmit2", last_kernels: vec!["add_f32".into(), "sum_f32".into()] };
        assert_eq!(
            error.to_string(),
            "[vkQueueSubmit2] the device must be working but it is lost. The last kernels were add_f32, sum_f32."
        );
    }

    #[test]
    fn a_result_code_without_a_better_name_keeps_its_number() {
        let error = Error::from_call("vkCreateBuffer", vk::Result::ERROR_FRAGMENTATION);
        assert!(matches!(error, Error::Vulkan { call: "vkCreateBuffer", code: -1000161000 }));
    }

    #[test]
    fn only_loss_and_timeout_end_the_device() {
        assert!(Error::from_call("vkWaitSemaphores", vk::Result::TIMEOUT).is_fatal());
        assert!(Error::from_call("vkQueueSubmit2", vk::Result::ERROR_DEVICE_LOST).is_fatal());
        assert!(!Error::from_call("vkAllocateMemory", vk::Result::ERROR_OUT_OF_DEVICE_MEMORY).is_fatal());
    }
}
