//! Pipelines: SPIR-V in, something that can be launched out.
//!
//! All kernels share one pipeline layout: no descriptor sets, and one push constant of eight bytes, the address of the argument block.

mod build;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use crate::calls::Calls;
use crate::error::Result;
use crate::limits::Limits;

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

pub(crate) struct Built {
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
pub(crate) struct Layout {
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
            // SAFETY: pipelines and command buffers hold the layout, so nobody uses it any more.
            unsafe { self.calls.destroy_pipeline_layout(self.raw) };
        }
    }
}

/// The pipelines of a device.
pub(crate) struct Pipelines {
    calls: Arc<Calls>,
    limits: Limits,
    layout: Arc<Layout>,
    built: Mutex<HashMap<Key, Pipeline>>,
}

/// What makes two requests the same kernel.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    spirv: Arc<[u32]>,
    subgroup_size: Option<u32>,
}

impl Pipelines {
    pub(crate) fn new(calls: Arc<Calls>, limits: Limits) -> Result<Self> {
        let layout = Arc::new(Layout::new(calls.clone())?);
        Ok(Pipelines { calls, limits, layout, built: Mutex::default() })
    }

    pub(crate) fn get(&self, request: &PipelineRequest) -> Result<Pipeline> {
        let key = Key { spirv: request.spirv.clone(), subgroup_size: request.subgroup_size };
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = built.get(&key) {
            return Ok(found.clone());
        }
        let raw = build::build(&self.calls, &self.limits, self.layout.raw, vk::PipelineCache::null(), request)?;
        let name = request.name.as_str().into();
        let pipeline = Pipeline(Arc::new(Built { calls: self.calls.clone(), layout: self.layout.clone(), raw, name }));
        built.insert(key, pipeline.clone());
        Ok(pipeline)
    }
}
