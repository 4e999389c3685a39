//! The Vulkan runtime of Pumice: bytes and SPIR-V in, bytes and nanoseconds out.
//!
//! This crate turns a Vulkan driver into what an array library needs: a device, memory with addresses, kernels, streams
//! of launches that run in the right order, recordings that replay, and time. It knows nothing of arrays, of operations
//! or of the kernel language, and it is the one crate of the runtime that contains `unsafe`.
//!
//! # A session
//! ```no_run
//! # fn main() -> pumice_gpu::Result<()> {
//! # let words: Vec<u32> = Vec::new();
//! use pumice_gpu::{Device, Launch, PipelineRequest};
//!
//! let device = Device::chosen()?;
//! let x = device.allocate(4096)?;
//! let kernel = device.pipeline(&PipelineRequest { name: "double".into(), spirv: words.into(), subgroup_size: None })?;
//! let stream = device.stream()?;
//! stream.upload(&x, 0, &[1; 4096])?;
//! let arguments = x.address().to_ne_bytes();
//! stream.launch(&Launch { pipeline: &kernel, groups: [4, 1, 1], arguments: &arguments, reads: &[&x], writes: &[&x] })?;
//! let mut bytes = [0; 4096];
//! stream.download(&x, 0, &mut bytes)?;
//! # Ok(()) }
//! ```
//!
//! # The parts
//! - `probe`, `limits`: which devices there are, what each can do, which is used and why. Nothing panics without a
//!   driver: [`devices`] answers [`Error::NoVulkan`] with what to install.
//! - `canary`: refuses a software driver that is known to compute long loops wrongly.
//! - `calls`: the shim. Every driver call goes through it, is counted by name, and can be made to fail by a
//!   [`FaultPlan`].
//! - `memory`: blocks divided into buffers, a cache of buffers given up, MLX's limits and counters.
//! - `transfer`: uploads and downloads, directly where host and device share memory, through staging elsewhere.
//! - `pipeline`: kernels, built once per content, in the background where wanted, kept on disk per device and driver.
//! - `stream`, `encoder`, `hazards`, `timeline`: launches, barriers only where buffers are shared, submissions, events.
//! - `replay`: command buffers recorded once and submitted again for 15 µs, whatever their length.
//! - `timestamps`, `trace`, `stats`: what the device's clock says, and what was done how often.
//! - `exit`: brings what is still open to rest when the process ends.
//! - `watchdog`, `checker`, `leaks`, `validation`: the detectors. No wait is endless; recorded streams are proven free
//!   of hazards; what is not destroyed is named; what the Khronos layers say is collected.
//!
//! # Who promises what
//! A kernel gets one push constant, the address of its argument block, and reaches memory by address alone. No driver
//! checks such accesses. So the *caller* promises that the SPIR-V is valid, that it stays within the buffers named in
//! `reads` and `writes`, and that it writes only the latter. *This crate* promises everything else: launches that share
//! buffers are ordered; whatever a submission uses lives until the device is done with it; what the host reads is what
//! the device wrote; every failure of a driver is an [`Error`] and never an abort, and no wait outlasts
//! [`Options::timeout`] without progress.
//!
//! A device that was lost, or did not answer in time, fails every later call at once. A lost device is destroyed as
//! usual; of one that hangs everything is left behind, because a kernel that never ended may still be writing.
//!
//! # Lifetimes
//! Handles are cheap to clone and keep alive what they need: a buffer its memory, a stream its device, everything the
//! Vulkan device and that the instance. There is no order in which a user must drop them.
//!
//! # Safety
//! `unsafe` has four uses here: calling the driver, whose commands are wrapped one by one in `calls`; the structs the
//! driver fills; memory that the driver maps; and sharing pointers into such memory between threads. Each block names
//! the reason why it is sound.

mod arguments;
mod calls;
mod canary;
pub mod checker;
mod commands;
mod device;
mod encoder;
mod error;
mod event;
mod exit;
mod extensions;
mod hazards;
mod instance;
mod leaks;
mod limits;
mod memory;
mod options;
mod pipeline;
mod probe;
mod recording;
mod replay;
mod stats;
mod stream;
mod timeline;
mod timestamps;
pub mod trace;
mod transfer;
mod validation;
mod watchdog;

pub use calls::{Calls, Fault, FaultPlan, Health};
pub use device::Device;
pub use encoder::Launch;
pub use error::{Error, Result};
pub use event::Event;
pub use exit::at_exit;
pub use leaks::LeakLog;
pub use limits::{
    ComponentType, CooperativeMatrix2, CooperativeShape, FlexibleShape, FloatControls, Independence, Limits,
    MatrixScope,
};
pub use memory::{Buffer, Mapped, MemoryStats};
pub use options::{Options, Transfers, Validation};
pub use pipeline::{PendingPipeline, Pipeline, PipelineRequest};
pub use probe::{DeviceInfo, DeviceKind, devices};
pub use replay::{Plan, Recorder};
pub use stats::Statistics;
pub use stream::{Stream, StreamOptions};
pub use timestamps::Timestamp;
pub use validation::ValidationLog;
