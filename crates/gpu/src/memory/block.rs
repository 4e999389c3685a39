//! A block: one allocation of device memory, covered by one buffer with an address.

use std::ptr::NonNull;

use ash::vk;

use super::free_list::FreeList;
use crate::calls::Calls;
use crate::error::Result;

/// The memory types that blocks may use, one bit each.
pub(crate) fn allowed_types(calls: &Calls) -> u32 {
    let (info, mut needs) = (description(1 << 20), vk::MemoryRequirements2::default());
    // SAFETY: the description is the one that blocks are created by.
    unsafe {
        calls.described_buffer_requirements(
            &vk::DeviceBufferMemoryRequirements::default().create_info(&info),
            &mut needs,
        )
    };
    needs.memory_requirements.memory_type_bits
}

fn description(size: u64) -> vk::BufferCreateInfo<'static> {
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    vk::BufferCreateInfo::default().size(size).usage(usage)
}

/// One raw allocation. Arrays are ranges of it; a large array has one of its own.
pub(crate) struct Block {
    pub(crate) buffer: vk::Buffer,
    pub(crate) address: u64,
    pub(crate) mapped: Option<NonNull<u8>>,
    pub(crate) size: u64,
    pub(crate) free: FreeList,
    memory: vk::DeviceMemory,
}

// SAFETY: the mapped pointer is only a number here; whoever dereferences it holds a range of the block and its lock.
unsafe impl Send for Block {}

impl Block {
    /// Allocates `size` bytes of the memory type, mapped if asked.
    pub(crate) fn new(calls: &Calls, size: u64, memory_type: u32, mapped: bool) -> Result<Block> {
        // SAFETY: a buffer of non-zero size without sharing.
        let buffer = unsafe { calls.create_buffer(&description(size)) }?;
        let block = Block {
            buffer,
            address: 0,
            mapped: None,
            size,
            free: FreeList::new(size),
            memory: vk::DeviceMemory::null(),
        };
        block.back(calls, memory_type, mapped)
    }

    /// Gives the buffer its memory, address and mapping, or destroys it.
    fn back(mut self, calls: &Calls, memory_type: u32, mapped: bool) -> Result<Block> {
        match self.try_back(calls, memory_type, mapped) {
            Ok(()) => Ok(self),
            Err(error) => {
                self.destroy(calls);
                Err(error)
            }
        }
    }

    fn try_back(&mut self, calls: &Calls, memory_type: u32, mapped: bool) -> Result<()> {
        // SAFETY: the buffer is alive.
        let needs = unsafe { calls.buffer_requirements(self.buffer) };
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(memory_type)
            .push_next(&mut flags);
        // SAFETY: the type exists on this device; buffer and memory are new and belong together.
        unsafe {
            self.memory = calls.allocate_memory(&info)?;
            calls.bind_buffer_memory(self.buffer, self.memory, 0)?;
            if mapped {
                self.mapped = NonNull::new(calls.map_memory(self.memory, 0, vk::WHOLE_SIZE)?.cast());
            }
            self.address = calls.buffer_address(&vk::BufferDeviceAddressInfo::default().buffer(self.buffer));
        }
        Ok(())
    }

    /// Gives the memory back to the driver. Nothing may use the block any more, neither here nor on the device.
    pub(crate) fn destroy(self, calls: &Calls) {
        if !calls.may_destroy() {
            return;
        }
        // SAFETY: the caller promises that nobody uses the block. Freeing unmaps.
        unsafe {
            calls.destroy_buffer(self.buffer);
            if self.memory != vk::DeviceMemory::null() {
                calls.free_memory(self.memory);
            }
        }
    }
}
