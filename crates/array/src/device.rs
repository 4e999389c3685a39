//! Devices and streams as MLX has them: a CPU, at most one GPU, and numbered streams of work on each.
//!
//! The default device is the process's, the GPU where there is one. Every thread has a default stream per device, made when it is
//! first asked for, and a stream made by [`new_stream`] belongs to the thread that made it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::error::{Error, Result};
use crate::gpu;
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

/// A sequence of work on a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stream {
    /// Its number, over all devices.
    pub index: u32,
    /// Where its work is done.
    pub device: Device,
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({}, {})", self.device, self.index)
    }
}

/// The GPU, opened when it is first asked for, or why there is none.
pub fn the_gpu() -> Result<&'static Gpu> {
    static GPU: OnceLock<Result<Gpu>> = OnceLock::new();
    GPU.get_or_init(Gpu::chosen).as_ref().map_err(Clone::clone)
}

/// The device that work goes to unless a stream is named.
pub fn default_device() -> Device {
    *default().read().unwrap_or_else(PoisonError::into_inner)
}

/// Sends work to another device from now on, in all threads.
pub fn set_default_device(device: Device) -> Result<()> {
    if !device.is_available() {
        return Err(Error::Value(format!("[set_default_device] the device must be available but {device} is not.")));
    }
    *default().write().unwrap_or_else(PoisonError::into_inner) = device;
    Ok(())
}

fn default() -> &'static RwLock<Device> {
    static DEFAULT: OnceLock<RwLock<Device>> = OnceLock::new();
    DEFAULT.get_or_init(|| RwLock::new(if Device::GPU.is_available() { Device::GPU } else { Device::CPU }))
}

/// What a thread has: its default streams, the stream it is told to use, and the streams it made.
#[derive(Default)]
struct Mine {
    defaults: HashMap<Device, Stream>,
    made: Vec<Stream>,
}

impl Drop for Mine {
    fn drop(&mut self) {
        let mut open = gpu_streams().write().unwrap_or_else(PoisonError::into_inner);
        self.made.iter().for_each(|stream| drop(open.remove(&stream.index)));
    }
}

thread_local! {
    static MINE: RefCell<Mine> = RefCell::default();
    static SCOPED: Cell<Option<Stream>> = const { Cell::new(None) };
}

/// The calling thread's default stream of a device.
pub fn default_stream(device: Device) -> Result<Stream> {
    if let Some(stream) = MINE.with_borrow(|mine| mine.defaults.get(&device).copied()) {
        return Ok(stream);
    }
    let stream = new_stream(device)?;
    MINE.with_borrow_mut(|mine| mine.defaults.insert(device, stream));
    Ok(stream)
}

/// Makes a stream the calling thread's default of its device.
pub fn set_default_stream(stream: Stream) {
    MINE.with_borrow_mut(|mine| mine.defaults.insert(stream.device, stream));
}

/// A new stream; it belongs to the calling thread.
pub fn new_stream(device: Device) -> Result<Stream> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    if !device.is_available() {
        return Err(Error::Value(format!("[new_stream] the device must be available but {device} is not.")));
    }
    let stream = Stream { index: NEXT.fetch_add(1, Ordering::Relaxed), device };
    if device.kind == DeviceKind::Gpu {
        let open = Arc::new(the_gpu()?.device().stream()?);
        gpu_streams().write().unwrap_or_else(PoisonError::into_inner).insert(stream.index, open);
    }
    MINE.with_borrow_mut(|mine| mine.made.push(stream));
    Ok(stream)
}

/// Runs the closure with this stream as the one that new arrays are computed on.
pub fn with_stream<R>(stream: Stream, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<Stream>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SCOPED.set(self.0);
        }
    }
    let _restore = Restore(SCOPED.replace(Some(stream)));
    body()
}

/// The stream that a new array is computed on.
pub fn current_stream() -> Result<Stream> {
    match SCOPED.get() {
        Some(stream) => Ok(stream),
        None => default_stream(default_device()),
    }
}

type GpuStreams = RwLock<HashMap<u32, Arc<gpu::Stream>>>;

fn gpu_streams() -> &'static GpuStreams {
    static STREAMS: OnceLock<GpuStreams> = OnceLock::new();
    STREAMS.get_or_init(RwLock::default)
}

/// The runtime's stream behind one of ours.
pub(crate) fn gpu_stream(stream: Stream) -> Result<Arc<gpu::Stream>> {
    let open = gpu_streams().read().unwrap_or_else(PoisonError::into_inner);
    open.get(&stream.index).cloned().ok_or_else(|| {
        let kind = if stream.device.kind == DeviceKind::Cpu { "cpu" } else { "gpu" };
        Error::Runtime(format!("[eval] the stream must exist but there is no Stream({kind}, {}).", stream.index))
    })
}

/// Waits until everything given to a stream is done.
pub fn synchronize(stream: Stream) -> Result<()> {
    match stream.device.kind {
        DeviceKind::Cpu => Ok(()),
        DeviceKind::Gpu => Ok(gpu_stream(stream)?.synchronize()?),
    }
}

/// The devices that tests run on: without a GPU the CPU alone, but where `PUMICE_REQUIRE_VULKAN=1` asks for one.
#[cfg(test)]
pub(crate) fn test_devices() -> Vec<Device> {
    let required = std::env::var("PUMICE_REQUIRE_VULKAN").as_deref() == Ok("1");
    assert!(!required || Device::GPU.is_available(), "PUMICE_REQUIRE_VULKAN=1 asks for a Vulkan device");
    [Device::CPU, Device::GPU].into_iter().filter(|device| device.is_available()).collect()
}
