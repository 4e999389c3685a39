//! Pipelines: SPIR-V in, something that can be launched out.
//!
//! All kernels share one pipeline layout: no descriptor sets, and one push constant of eight bytes, the address of the
//! argument block. A driver takes 7 ms to seconds to build a pipeline, so each is built once per content, on the
//! caller's thread or in the background, and what the driver made of it is kept on disk for the next process.

mod build;
mod file;
mod registry;
mod slot;
mod store;
mod workers;

use std::fmt;
use std::sync::Arc;

use ash::vk;

pub(crate) use registry::Pipelines;
pub use slot::PendingPipeline;

use crate::calls::Calls;
use crate::error::Result;

/// A kernel to build.
#[derive(Clone, Debug)]
pub struct PipelineRequest {
    /// What errors, statistics and profiles call it.
    pub name: String,
    /// Its SPIR-V, with one entry point called `main`.
    pub spirv: Arc<[u32]>,
    /// How many invocations a subgroup must have, where the kernel depends on it.
    pub subgroup_size: Option<u32>,
}

/// A kernel that can be launched. Clones share it.
#[derive(Clone)]
pub struct Pipeline(Arc<Built>);

struct Built {
    calls: Arc<Calls>,
    layout: Arc<Layout>,
    raw: vk::Pipeline,
    name: Arc<str>,
}

impl Pipeline {
    /// What the request called it.
    pub fn name(&self) -> &Arc<str> {
        &self.0.name
    }

    pub(crate) fn raw(&self) -> vk::Pipeline {
        self.0.raw
    }

    pub(crate) fn layout(&self) -> vk::PipelineLayout {
        self.0.layout.raw
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pipeline({})", self.0.name)
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        if self.calls.may_destroy() {
            // SAFETY: submissions hold the pipelines they use, so the device is done with it.
            unsafe { self.calls.destroy_pipeline(self.raw) };
        }
    }
}

/// The layout that all pipelines of a device share.
struct Layout {
    calls: Arc<Calls>,
    raw: vk::PipelineLayout,
}

impl Layout {
    fn new(calls: Arc<Calls>) -> Result<Self> {
        let range = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(8)];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&range);
        // SAFETY: every device has at least 128 bytes of push constants.
        let raw = unsafe { calls.create_pipeline_layout(&info) }?;
        Ok(Layout { calls, raw })
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        if self.calls.may_destroy() {
            // SAFETY: pipelines hold the layout and submissions hold pipelines, so nobody uses it any more.
            unsafe { self.calls.destroy_pipeline_layout(self.raw) };
        }
    }
}
