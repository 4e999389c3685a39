//! One Vulkan command buffer with its pool: the commands this crate records, and nothing that decides about them.
//!
//! Streams and replay plans both write through here, so what a barrier means is said once.

use std::sync::Arc;

use ash::vk;

use crate::calls::Calls;
use crate::error::Result;
use crate::memory::Buffer;
use crate::pipeline::Pipeline;

/// Everything that moves memory: kernels, copies and fills.
const WORK: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::from_raw(
    vk::PipelineStageFlags2::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags2::ALL_TRANSFER.as_raw(),
);
const WRITES: vk::AccessFlags2 =
    vk::AccessFlags2::from_raw(vk::AccessFlags2::SHADER_WRITE.as_raw() | vk::AccessFlags2::TRANSFER_WRITE.as_raw());
const READS: vk::AccessFlags2 =
    vk::AccessFlags2::from_raw(vk::AccessFlags2::SHADER_READ.as_raw() | vk::AccessFlags2::TRANSFER_READ.as_raw());

/// A command buffer that is being recorded, waits to be recorded again, or is owned by a plan.
pub(crate) struct Commands {
    calls: Arc<Calls>,
    pool: vk::CommandPool,
    raw: vk::CommandBuffer,
    bound: vk::Pipeline,
}

/// How often a recording will be submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// Once, then it is recorded anew.
    Once,
    /// Again and again, also while an earlier submission is still running.
    Replayed,
}

/// A part of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a> {
    pub(crate) buffer: &'a Buffer,
    pub(crate) offset: u64,
}

impl Commands {
    /// A fresh command buffer. It has a pool of its own: resetting a whole pool is the cheapest way to start anew.
    pub(crate) fn new(calls: &Arc<Calls>, queue_family: u32) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(queue_family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the family belongs to the device's queue.
        let pool = unsafe { calls.create_command_pool(&info) }?;
        let mut commands =
            Self { calls: calls.clone(), pool, raw: vk::CommandBuffer::null(), bound: vk::Pipeline::null() };
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool was just created and is used by nobody else.
        commands.raw = unsafe { calls.allocate_command_buffers(&info) }?[0];
        Ok(commands)
    }

    /// Starts recording, forgetting what was recorded before. The device must be done with it.
    pub(crate) fn begin(&mut self, usage: Usage) -> Result<()> {
        self.bound = vk::Pipeline::null();
        let flags = match usage {
            Usage::Once => vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT,
            Usage::Replayed => vk::CommandBufferUsageFlags::SIMULTANEOUS_USE,
        };
        // SAFETY: the caller waited for the last submission; the pool has this one command buffer.
        unsafe {
            self.calls.reset_command_pool(self.pool)?;
            self.calls.begin_command_buffer(self.raw, &vk::CommandBufferBeginInfo::default().flags(flags))
        }
    }

    /// Ends recording.
    pub(crate) fn end(&mut self) -> Result<()> {
        // SAFETY: recording was begun.
        unsafe { self.calls.end_command_buffer(self.raw) }
    }

    /// Everything recorded later waits for everything submitted earlier and sees what it wrote.
    pub(crate) fn barrier(&mut self) {
        self.memory_barrier(WORK, READS | WRITES);
    }

    /// What was written so far becomes visible to the host once this submission is done.
    pub(crate) fn host_barrier(&mut self) {
        self.memory_barrier(vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ);
    }

    /// Runs a kernel on the argument block at `arguments`.
    pub(crate) fn dispatch(&mut self, pipeline: &Pipeline, groups: [u32; 3], arguments: u64) {
        // SAFETY: recording was begun; the submission holds the pipeline; its layout has one range of 8 bytes.
        unsafe {
            if self.bound != pipeline.raw() {
                self.bound = pipeline.raw();
                self.calls.cmd_bind_pipeline(self.raw, pipeline.raw());
            }
            self.calls.cmd_push_constants(self.raw, pipeline.layout(), &arguments.to_ne_bytes());
            self.calls.cmd_dispatch(self.raw, groups);
        }
    }

    /// Copies bytes between buffers.
    pub(crate) fn copy(&mut self, from: Span<'_>, to: Span<'_>, len: u64) {
        let region = vk::BufferCopy { src_offset: from.at(), dst_offset: to.at(), size: len };
        // SAFETY: recording was begun; the ranges were checked and do not overlap; the submission holds both buffers.
        unsafe { self.calls.cmd_copy_buffer(self.raw, from.buffer.raw(), to.buffer.raw(), &[region]) }
    }

    /// Fills bytes with a repeated word; offset and length are multiples of four.
    pub(crate) fn fill(&mut self, to: Span<'_>, len: u64, word: u32) {
        // SAFETY: recording was begun; range and alignment were checked; the submission holds the buffer.
        unsafe { self.calls.cmd_fill_buffer(self.raw, to.buffer.raw(), to.at(), len, word) }
    }

    /// Empties all queries of a pool, in order with the other commands.
    pub(crate) fn reset_queries(&mut self, pool: vk::QueryPool, count: u32) {
        // SAFETY: recording was begun; the pool has this many queries and outlives the submission.
        unsafe { self.calls.cmd_reset_query_pool(self.raw, pool, 0, count) }
    }

    /// Writes the time at which everything recorded before is done.
    pub(crate) fn timestamp(&mut self, pool: vk::QueryPool, query: u32) {
        // SAFETY: recording was begun; the query was reset before and is written once; the queue has timestamps.
        unsafe { self.calls.cmd_write_timestamp(self.raw, vk::PipelineStageFlags2::ALL_COMMANDS, pool, query) }
    }

    /// The handle to submit.
    pub(crate) fn raw(&self) -> vk::CommandBuffer {
        self.raw
    }

    fn memory_barrier(&mut self, stages: vk::PipelineStageFlags2, accesses: vk::AccessFlags2) {
        let barrier = [vk::MemoryBarrier2::default()
            .src_stage_mask(WORK)
            .src_access_mask(WRITES)
            .dst_stage_mask(stages)
            .dst_access_mask(accesses)];
        let info = vk::DependencyInfo::default().memory_barriers(&barrier);
        // SAFETY: recording was begun; the info lives until the call returns.
        unsafe { self.calls.cmd_pipeline_barrier(self.raw, &info) }
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        if self.calls.may_destroy() {
            // SAFETY: owners drop a command buffer only when the device is done with it; the pool frees it.
            unsafe { self.calls.destroy_command_pool(self.pool) }
        }
    }
}

impl Span<'_> {
    /// Where the part begins in the VkBuffer that the buffer is a range of.
    fn at(&self) -> u64 {
        self.buffer.offset() + self.offset
    }
}
