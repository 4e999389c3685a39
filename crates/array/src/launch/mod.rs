//! Where kernels meet a device: emission, pipelines, argument blocks, launches, checked builds.
//!
//! A kernel is compiled once per device and build ([`Gpu::compile`]), then launched any number of times with buffers and scalars.
//! Shapes are scalars, so one compiled kernel serves them all.

mod canary;
mod compiled;
mod target;

use std::sync::Arc;

use pumice_gpu::{Buffer, Device, Stream};
use pumice_kernel::{Kernel, Target};

pub use compiled::{Build, Compiled, Part, PendingCompiled};

use crate::error::Result;

/// A device that runs kernels: cheap to clone.
#[derive(Clone)]
pub struct Gpu {
    inner: Arc<Inner>,
}

struct Inner {
    device: Device,
    target: Target,
    stream: Stream,
}

impl Gpu {
    /// The device `pumice devices` marks as chosen.
    pub fn chosen() -> Result<Gpu> {
        Gpu::new(Device::chosen()?)
    }

    /// Makes a device ready: asks what it can do and runs a kernel that tells what drivers do not say.
    pub fn new(device: Device) -> Result<Gpu> {
        let stream = device.stream()?;
        let claimed = target::of(device.limits());
        let target = canary::examine(&device, &stream, claimed)?;
        Ok(Gpu { inner: Arc::new(Inner { device, target, stream }) })
    }

    /// The same device with kernels emitted for another target: to see what a device with less would run.
    pub fn with_target(&self, target: Target) -> Result<Gpu> {
        let device = self.inner.device.clone();
        let stream = device.stream()?;
        Ok(Gpu { inner: Arc::new(Inner { device, target, stream }) })
    }

    /// The Vulkan device.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// What kernels are emitted for.
    pub fn target(&self) -> &Target {
        &self.inner.target
    }

    /// The device's own stream; others are made by `device().stream()`.
    pub fn stream(&self) -> &Stream {
        &self.inner.stream
    }

    /// A new buffer of this many bytes; its content is undefined.
    pub fn allocate(&self, bytes: u64) -> Result<Buffer> {
        Ok(self.inner.device.allocate(bytes)?)
    }

    /// Compiles a kernel, or finds it compiled.
    pub fn compile(&self, kernel: &Kernel, build: Build) -> Result<Compiled> {
        Compiled::new(&self.inner.device, &self.inner.target, kernel, build)
    }

    /// Compiles a kernel in the background.
    pub fn compile_later(&self, kernel: &Kernel, build: Build) -> Result<PendingCompiled> {
        PendingCompiled::new(&self.inner.device, &self.inner.target, kernel, build)
    }
}

/// Workgroups that cover `count` of them in x and y together: at most 65,535 in each. Kernels number them by
/// `Builder::group_index` and ignore what is too much.
pub fn fold_groups(count: u64) -> [u32; 3] {
    const MOST: u64 = 65_535;
    let count = count.max(1);
    let y = count.div_ceil(MOST);
    [count.div_ceil(y) as u32, y as u32, 1]
}
