//! Devices as MLX has them: a CPU, at most one GPU, and numbered streams of work on each ([`stream`]).
//!
//! The default device is the process's, the GPU where there is one.

mod fork;
mod stream;
mod worker;

use std::fmt;
use std::sync::{OnceLock, PoisonError, RwLock};

pub use fork::forked;
pub(crate) use fork::{expect_no_helpers, has_helpers};
pub use stream::{
    Stream, ThreadLocalStream, clear_streams, current_stream, default_stream, new_stream, new_stream_with,
    new_thread_local_stream, new_thread_unsafe_stream, set_default_stream, synchronize, with_stream,
};
pub(crate) use stream::{cpu_worker, expect_stream, gpu_stream};
pub(crate) use worker::Worker;

use crate::error::{Error, Result};
use crate::launch::Gpu;

/// What computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DeviceKind {
    /// The processor.
    Cpu,
    /// A Vulkan device.
    Gpu,
}

/// A device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Device {
    /// What computes.
    pub kind: DeviceKind,
    /// Which of its kind; 0 is the only one so far.
    pub index: u32,
}

impl Device {
    /// The processor.
    pub const CPU: Device = Device { kind: DeviceKind::Cpu, index: 0 };
    /// The GPU.
    pub const GPU: Device = Device { kind: DeviceKind::Gpu, index: 0 };

    /// Whether work can be given to it.
    pub fn is_available(self) -> bool {
        self.index == 0 && (self.kind == DeviceKind::Cpu || the_gpu().is_ok())
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind == DeviceKind::Cpu { "cpu" } else { "gpu" };
        write!(f, "Device({kind}, {})", self.index)
    }
}

/// The GPU, opened when it is first asked for, or why there is none.
pub fn the_gpu() -> Result<&'static Gpu> {
    fork::refuse_gpu()?;
    GPU.get_or_init(Gpu::chosen).as_ref().map_err(Clone::clone)
}

static GPU: OnceLock<Result<Gpu>> = OnceLock::new();

/// The GPU, if anybody has asked for it.
pub(crate) fn open_gpu() -> Option<&'static Gpu> {
    GPU.get()?.as_ref().ok()
}

/// The device that work goes to unless a stream is named.
pub fn default_device() -> Device {
    *default().read().unwrap_or_else(PoisonError::into_inner)
}

/// Sends work to another device from now on, in all threads.
pub fn set_default_device(device: Device) -> Result<()> {
    // A forked process may have come to where its parent was, and be told when it computes.
    let was_there = device == Device::GPU && fork::refuse_gpu().is_err();
    if !was_there && !device.is_available() {
        return Err(Error::Value(format!("[set_default_device] the device must be available but {device} is not.")));
    }
    // Whoever asks for the CPU before anything else never opens the GPU.
    let known = DEFAULT.get_or_init(|| RwLock::new(device));
    *known.write().unwrap_or_else(PoisonError::into_inner) = device;
    Ok(())
}

static DEFAULT: OnceLock<RwLock<Device>> = OnceLock::new();

fn default() -> &'static RwLock<Device> {
    DEFAULT.get_or_init(|| RwLock::new(if Device::GPU.is_available() { Device::GPU } else { Device::CPU }))
}

/// The devices that tests run on: without a GPU the CPU alone, but where `PUMICE_REQUIRE_VULKAN=1` asks for one.
#[cfg(test)]
pub(crate) fn test_devices() -> Vec<Device> {
    let required = std::env::var("PUMICE_REQUIRE_VULKAN").as_deref() == Ok("1");
    assert!(!required || Device::GPU.is_available(), "PUMICE_REQUIRE_VULKAN=1 asks for a Vulkan device");
    [Device::CPU, Device::GPU].into_iter().filter(|device| device.is_available()).collect()
}
