//! An open device: the root of everything that can be made on one.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ash::vk;

use crate::calls::{Calls, Health, Shim};
use crate::canary;
use crate::error::{Error, Result};
use crate::exit;
use crate::instance::Instance;
use crate::leaks::LeakLog;
use crate::limits::{Features, Limits};
use crate::memory::{self, Buffer, Memory, MemoryKind, MemoryStats, MemoryTypes};
use crate::options::{Options, Transfers, Validation};
use crate::pipeline::{PendingPipeline, Pipeline, PipelineRequest, Pipelines};
use crate::probe::{self, DeviceInfo, DeviceKind};
use crate::stats::Counters;
use crate::timeline::Timeline;
use crate::trace::Tracer;
use crate::transfer::Staging;
use crate::validation::ValidationLog;

/// An open device. Clones share it; it is closed when the last of its clones, buffers, pipelines and streams is gone.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

/// The parts of a device, in the order in which they must go.
pub(crate) struct Inner {
    timeline: Arc<Timeline>,
    staging: Staging,
    pipelines: Pipelines,
    memory: Arc<Memory>,
    counters: Arc<Counters>,
    tracer: Arc<Tracer>,
    calls: Arc<Calls>,
    queue_family: u32,
    info: DeviceInfo,
    options: Options,
}

impl Device {
    /// Opens a device. A software driver that ends loops early is refused, unless faults are wanted.
    pub fn open(info: &DeviceInfo, options: Options) -> Result<Device> {
        if !info.missing.is_empty() {
            let missing = info.missing.join(", ");
            return Err(Error::NoVulkan(format!("device {} must be usable but lacks {missing}.", info.name)));
        }
        if info.kind == DeviceKind::Software && options.faults.is_none() {
            // On a device of its own, so that nothing it does is counted on the one that is asked for.
            let plain = Options { cache_dir: None, validation: Validation::Off, ..Options::default() };
            canary::check(info, || Device::open_now(info, plain))?;
        }
        Device::open_now(info, options)
    }

    fn open_now(info: &DeviceInfo, options: Options) -> Result<Device> {
        let (calls, physical, queue_family) = open_calls(info, &options)?;
        let properties = calls.instance().calls.memory_properties(physical);
        let types = MemoryTypes::pick(&properties, memory::allowed_types(&calls), info.unified)?;
        let counters = Arc::new(Counters::default());
        // SAFETY: the device was created with one queue of this family.
        let queue = unsafe { calls.device_queue(queue_family, 0) };
        let timeline = Arc::new(Timeline::new(calls.clone(), counters.clone(), queue, info.kind, options.timeout)?);
        let memory = Memory::new(calls.clone(), types, info, options.memory_capacity);
        let memory = Arc::new(memory);
        let tracer = Arc::new(Tracer::default());
        let pipelines = Pipelines::new(calls.clone(), info, &options, counters.clone(), tracer.clone())?;
        let inner = Inner {
            timeline,
            staging: Staging::new(calls.clone(), memory.clone(), queue_family),
            pipelines,
            memory,
            counters,
            tracer,
            calls,
            queue_family,
            info: info.clone(),
            options,
        };
        inner.wait_for_work_when_memory_runs_out();
        let inner = Arc::new(inner);
        exit::watch(&inner);
        Ok(Device(inner))
    }

    /// The device that [`probe::devices`] marks as chosen, opened with the default options; shared while anybody holds
    /// it.
    pub fn chosen() -> Result<Device> {
        static CHOSEN: Mutex<Weak<Inner>> = Mutex::new(Weak::new());
        let mut shared = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(inner) = shared.upgrade() {
            return Ok(Device(inner));
        }
        let devices = probe::devices()?;
        let chosen = devices.iter().find(|info| info.chosen);
        let info = chosen.ok_or_else(|| Error::NoVulkan(nothing_usable(&devices)))?;
        let device = Device::open(info, Options::default())?;
        *shared = Arc::downgrade(&device.0);
        Ok(device)
    }

    /// What the device can do.
    pub fn limits(&self) -> &Limits {
        &self.0.info.limits
    }

    /// What the device is.
    pub fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    /// What it was opened with.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// The counted Vulkan calls, and the faults among them.
    pub fn calls(&self) -> &Calls {
        &self.0.calls
    }

    /// Whether host and device work on the same memory, so that nothing is copied.
    pub fn is_unified(&self) -> bool {
        self.0.info.unified && self.0.options.transfers == Transfers::Automatic
    }

    /// Whether two handles are one device.
    pub fn is_same(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Memory for an array; its content is undefined. No bytes need no memory.
    pub fn allocate(&self, bytes: u64) -> Result<Buffer> {
        self.0.memory.allocate(MemoryKind::Device, bytes)
    }

    /// MLX's counters and limits.
    pub fn memory(&self) -> MemoryStats {
        self.0.memory.stats()
    }

    /// Sets the guideline for memory in use and returns the old one. The cache shrinks when the sum of both comes near
    /// it.
    pub fn set_memory_limit(&self, bytes: u64) -> u64 {
        self.0.memory.set_memory_limit(bytes)
    }

    /// Sets how much memory may wait for reuse and returns the old limit.
    pub fn set_cache_limit(&self, bytes: u64) -> u64 {
        self.0.memory.set_cache_limit(bytes)
    }

    /// Returns all memory that waits for reuse to the driver.
    pub fn clear_cache(&self) {
        self.0.memory.clear_cache();
    }

    /// Forgets the peak of active memory.
    pub fn reset_peak(&self) {
        self.0.memory.reset_peak();
    }

    /// The pipeline for a kernel, built now if it does not exist yet.
    pub fn pipeline(&self, request: &PipelineRequest) -> Result<Pipeline> {
        self.0.pipelines.get(request)
    }

    /// The pipeline for a kernel, built in the background.
    pub fn pipeline_async(&self, request: &PipelineRequest) -> PendingPipeline {
        self.0.pipelines.get_async(request)
    }

    /// Writes the pipelines built so far to the cache on disk. Happens by itself a moment after building and when the
    /// device closes.
    pub fn save_pipelines(&self) -> Result<()> {
        self.0.pipelines.save()
    }

    /// Never touches the device again: calls fail, and objects are forgotten instead of destroyed. For processes made by `fork`,
    /// where the driver belongs to the parent; such a process ends without the clean-up of what was there before it.
    pub fn abandon(&self) {
        self.calls().mark(Health::Abandoned);
        exit::spare_the_parent();
    }

    /// What the validation layers said so far.
    pub fn validation_messages(&self) -> Vec<String> {
        self.validation_log().messages()
    }

    /// The validation layers' log, which outlives the device.
    pub fn validation_log(&self) -> ValidationLog {
        self.0.calls.instance().log().clone()
    }

    /// The leak detector's log, which outlives the device.
    pub fn leak_log(&self) -> LeakLog {
        self.0.calls.leaks().clone()
    }

    /// Memory the host writes and the device reads, such as argument blocks.
    pub(crate) fn allocate_mapped(&self, bytes: u64) -> Result<Buffer> {
        self.0.memory.allocate(MemoryKind::Mapped, bytes)
    }

    pub(crate) fn staging(&self) -> &Staging {
        &self.0.staging
    }

    pub(crate) fn timeline(&self) -> &Arc<Timeline> {
        &self.0.timeline
    }

    pub(crate) fn counters(&self) -> &Arc<Counters> {
        &self.0.counters
    }

    pub(crate) fn tracer(&self) -> &Tracer {
        &self.0.tracer
    }

    pub(crate) fn queue_family(&self) -> u32 {
        self.0.queue_family
    }
}

impl Inner {
    /// Ends background threads and waits for submitted work.
    pub(crate) fn rest(&self) {
        // The threads are the other process's too.
        if self.calls.health() == Health::Abandoned {
            return;
        }
        self.pipelines.rest();
        let _ = self.timeline.wait_idle("exit");
        self.timeline.stop();
    }

    /// Work in flight holds buffers. The timeline is held weakly: it holds buffers, which hold the memory.
    fn wait_for_work_when_memory_runs_out(&self) {
        let timeline = Arc::downgrade(&self.timeline);
        self.memory.set_reclaim(Box::new(move || match timeline.upgrade() {
            Some(timeline) => timeline.wait_idle("allocate"),
            None => Ok(()),
        }));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // What finished work still holds is no leak.
        let _ = self.timeline.wait_idle("close");
        if !self.calls.may_destroy() {
            return;
        }
        for (id, size) in self.memory.live() {
            self.calls.leaks().record(format!("buffer #{id} of {size} bytes alive when the device was dropped"));
        }
        if self.calls.health() == Health::Lost {
            self.calls.drain_lost();
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({}, {})", self.0.info.index, self.0.info.name)
    }
}

/// Creates the Vulkan device. One that wants validation or faults gets an instance of its own, so that messages and
/// call numbers are its own too.
fn open_calls(info: &DeviceInfo, options: &Options) -> Result<(Arc<Calls>, vk::PhysicalDevice, u32)> {
    let shim = Arc::new(Shim::new(options.faults.clone()));
    let instance = match options.validation != Validation::Off || !options.faults.is_none() {
        true => Arc::new(Instance::new(shim.clone(), options.validation)?),
        false => Instance::shared()?,
    };
    let physical = probe::physical_device(&instance.calls, info)?;
    let mut features = Features::wanted(&instance.calls, physical)?;
    let family = probe::compute_family(&instance.calls, physical);
    let (family, _) =
        family.ok_or_else(|| Error::NoVulkan(format!("device {} must have a compute queue.", info.name)))?;
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let extensions = features.extensions();
    let create = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
    // SAFETY: the family, the extensions and the features are the device's own; all structs live in this function.
    let raw = features.enable(create, |create| unsafe { instance.calls.create_device(physical, create) })?;
    Ok((Arc::new(Calls::new(raw, instance, shim, options.leak_log.clone())), physical, family))
}

fn nothing_usable(devices: &[DeviceInfo]) -> String {
    let lacking = devices.iter().map(|info| format!("{} lacks {}", info.name, info.missing.join(", ")));
    format!("a usable device must be present but {}.", lacking.collect::<Vec<_>>().join("; "))
}
