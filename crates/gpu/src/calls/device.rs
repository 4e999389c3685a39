//! The device-level Vulkan calls, one row each.
//!
//! Every row becomes an `unsafe fn` of [`Calls`] whose contract is that of the Vulkan command it names: handles belong
//! to this device and are alive, external synchronisation is the caller's, the pointers inside the structs are valid.

use ash::vk;

use super::Calls;
use super::names::Call;
use crate::error::Result;

macro_rules! fallible {
    ($($name:ident($($arg:ident: $type:ty),*) -> $ret:ty = $call:ident $method:ident($($pass:expr),*);)*) => {
        impl Calls { $(
            #[doc = concat!("# Safety\nAs the Vulkan command behind `Call::", stringify!($call), "` asks.")]
            #[inline]
            pub(crate) unsafe fn $name(&self, $($arg: $type),*) -> Result<$ret> {
                self.shim.fallible(Call::$call, || {
                    // SAFETY: passed on to the caller.
                    unsafe { self.raw.$method($($pass),*) }
                })
            }
        )* }
    };
}

macro_rules! void {
    ($($name:ident($($arg:ident: $type:ty),*) $(-> $ret:ty)? = $call:ident $method:ident($($pass:expr),*);)*) => {
        impl Calls { $(
            #[doc = concat!("# Safety\nAs the Vulkan command behind `Call::", stringify!($call), "` asks.")]
            #[inline]
            pub(crate) unsafe fn $name(&self, $($arg: $type),*) $(-> $ret)? {
                self.shim.void(Call::$call);
                // SAFETY: passed on to the caller.
                unsafe { self.raw.$method($($pass),*) }
            }
        )* }
    };
}

fallible! {
    create_buffer(info: &vk::BufferCreateInfo<'_>) -> vk::Buffer = CreateBuffer create_buffer(info, None);
    allocate_memory(info: &vk::MemoryAllocateInfo<'_>) -> vk::DeviceMemory = AllocateMemory allocate_memory(info, None);
    bind_buffer_memory(buffer: vk::Buffer, memory: vk::DeviceMemory, offset: u64) -> () =
        BindBufferMemory bind_buffer_memory(buffer, memory, offset);
    map_memory(memory: vk::DeviceMemory, offset: u64, size: u64) -> *mut std::ffi::c_void =
        MapMemory map_memory(memory, offset, size, vk::MemoryMapFlags::empty());

    create_shader_module(info: &vk::ShaderModuleCreateInfo<'_>) -> vk::ShaderModule =
        CreateShaderModule create_shader_module(info, None);
    create_pipeline_layout(info: &vk::PipelineLayoutCreateInfo<'_>) -> vk::PipelineLayout =
        CreatePipelineLayout create_pipeline_layout(info, None);
    create_pipeline_cache(info: &vk::PipelineCacheCreateInfo<'_>) -> vk::PipelineCache =
        CreatePipelineCache create_pipeline_cache(info, None);
    pipeline_cache_data(cache: vk::PipelineCache) -> Vec<u8> = GetPipelineCacheData get_pipeline_cache_data(cache);
    merge_pipeline_caches(into: vk::PipelineCache, from: &[vk::PipelineCache]) -> () =
        MergePipelineCaches merge_pipeline_caches(into, from);

    create_semaphore(info: &vk::SemaphoreCreateInfo<'_>) -> vk::Semaphore = CreateSemaphore create_semaphore(info, None);
    semaphore_counter(semaphore: vk::Semaphore) -> u64 = GetSemaphoreCounter get_semaphore_counter_value(semaphore);
    wait_semaphores(info: &vk::SemaphoreWaitInfo<'_>, timeout_ns: u64) -> () = WaitSemaphores wait_semaphores(info, timeout_ns);
    queue_submit(queue: vk::Queue, submits: &[vk::SubmitInfo2<'_>], fence: vk::Fence) -> () =
        QueueSubmit queue_submit2(queue, submits, fence);

    create_command_pool(info: &vk::CommandPoolCreateInfo<'_>) -> vk::CommandPool = CreateCommandPool create_command_pool(info, None);
    reset_command_pool(pool: vk::CommandPool) -> () =
        ResetCommandPool reset_command_pool(pool, vk::CommandPoolResetFlags::empty());
    allocate_command_buffers(info: &vk::CommandBufferAllocateInfo<'_>) -> Vec<vk::CommandBuffer> =
        AllocateCommandBuffers allocate_command_buffers(info);
    begin_command_buffer(commands: vk::CommandBuffer, info: &vk::CommandBufferBeginInfo<'_>) -> () =
        BeginCommandBuffer begin_command_buffer(commands, info);
    end_command_buffer(commands: vk::CommandBuffer) -> () = EndCommandBuffer end_command_buffer(commands);

    create_query_pool(info: &vk::QueryPoolCreateInfo<'_>) -> vk::QueryPool = CreateQueryPool create_query_pool(info, None);
    query_results(pool: vk::QueryPool, first: u32, into: &mut [u64], flags: vk::QueryResultFlags) -> () =
        GetQueryPoolResults get_query_pool_results(pool, first, into, flags);
}

void! {
    device_queue(family: u32, index: u32) -> vk::Queue = GetDeviceQueue get_device_queue(family, index);
    destroy_buffer(buffer: vk::Buffer) = DestroyBuffer destroy_buffer(buffer, None);
    buffer_requirements(buffer: vk::Buffer) -> vk::MemoryRequirements =
        GetBufferRequirements get_buffer_memory_requirements(buffer);
    described_buffer_requirements(info: &vk::DeviceBufferMemoryRequirements<'_>, into: &mut vk::MemoryRequirements2<'_>) =
        GetDescribedBufferRequirements get_device_buffer_memory_requirements(info, into);
    buffer_address(info: &vk::BufferDeviceAddressInfo<'_>) -> u64 = GetBufferAddress get_buffer_device_address(info);
    free_memory(memory: vk::DeviceMemory) = FreeMemory free_memory(memory, None);

    destroy_shader_module(module: vk::ShaderModule) = DestroyShaderModule destroy_shader_module(module, None);
    destroy_pipeline_layout(layout: vk::PipelineLayout) = DestroyPipelineLayout destroy_pipeline_layout(layout, None);
    destroy_pipeline_cache(cache: vk::PipelineCache) = DestroyPipelineCache destroy_pipeline_cache(cache, None);
    destroy_pipeline(pipeline: vk::Pipeline) = DestroyPipeline destroy_pipeline(pipeline, None);
    destroy_semaphore(semaphore: vk::Semaphore) = DestroySemaphore destroy_semaphore(semaphore, None);
    destroy_command_pool(pool: vk::CommandPool) = DestroyCommandPool destroy_command_pool(pool, None);
    destroy_query_pool(pool: vk::QueryPool) = DestroyQueryPool destroy_query_pool(pool, None);

    cmd_bind_pipeline(commands: vk::CommandBuffer, pipeline: vk::Pipeline) =
        CmdBindPipeline cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
    cmd_push_constants(commands: vk::CommandBuffer, layout: vk::PipelineLayout, bytes: &[u8]) =
        CmdPushConstants cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
    cmd_dispatch(commands: vk::CommandBuffer, groups: [u32; 3]) =
        CmdDispatch cmd_dispatch(commands, groups[0], groups[1], groups[2]);
    cmd_pipeline_barrier(commands: vk::CommandBuffer, info: &vk::DependencyInfo<'_>) =
        CmdPipelineBarrier cmd_pipeline_barrier2(commands, info);
    cmd_copy_buffer(commands: vk::CommandBuffer, from: vk::Buffer, to: vk::Buffer, regions: &[vk::BufferCopy]) =
        CmdCopyBuffer cmd_copy_buffer(commands, from, to, regions);
    cmd_fill_buffer(commands: vk::CommandBuffer, buffer: vk::Buffer, offset: u64, size: u64, word: u32) =
        CmdFillBuffer cmd_fill_buffer(commands, buffer, offset, size, word);
    cmd_reset_query_pool(commands: vk::CommandBuffer, pool: vk::QueryPool, first: u32, count: u32) =
        CmdResetQueryPool cmd_reset_query_pool(commands, pool, first, count);
    cmd_write_timestamp(commands: vk::CommandBuffer, stage: vk::PipelineStageFlags2, pool: vk::QueryPool, query: u32) =
        CmdWriteTimestamp cmd_write_timestamp2(commands, stage, pool, query);
}

impl Calls {
    /// Builds one compute pipeline.
    ///
    /// # Safety
    /// As `vkCreateComputePipelines` asks.
    pub(crate) unsafe fn create_compute_pipeline(
        &self,
        cache: vk::PipelineCache,
        info: &vk::ComputePipelineCreateInfo<'_>,
    ) -> Result<vk::Pipeline> {
        self.shim.fallible(Call::CreateComputePipelines, || {
            // SAFETY: passed on to the caller.
            let built = unsafe { self.raw.create_compute_pipelines(cache, std::slice::from_ref(info), None) };
            built.map(|pipelines| pipelines[0]).map_err(|(_, code)| code)
        })
    }
}
