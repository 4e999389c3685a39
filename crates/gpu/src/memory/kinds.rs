//! The three kinds of memory this crate uses, and which of a device's memory types serves each.

use ash::vk;

use crate::error::{Error, Result};

/// What a piece of memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub(crate) enum MemoryKind {
    /// Arrays: the device's own memory, also visible to the host where that costs nothing.
    Device = 0,
    /// Written by the host, read by the device: argument blocks, staging for uploads. In device memory where it can be
    /// mapped.
    Mapped = 1,
    /// Staging, written by the device and read by the host through its caches, or written by the host for large
    /// uploads.
    Staging = 2,
}

impl MemoryKind {
    pub(crate) const ALL: [MemoryKind; 3] = [MemoryKind::Device, MemoryKind::Mapped, MemoryKind::Staging];
}

/// The memory type for each kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryTypes {
    types: [u32; 3],
    device_mapped: bool,
}

const LOCAL: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::DEVICE_LOCAL;
const CACHED: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::HOST_CACHED;
const HOST: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw() | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);

/// Memory that needs a feature we do not switch on, or that has none behind it.
const SPECIAL: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::DEVICE_COHERENT_AMD.as_raw()
        | vk::MemoryPropertyFlags::DEVICE_UNCACHED_AMD.as_raw()
        | vk::MemoryPropertyFlags::PROTECTED.as_raw()
        | vk::MemoryPropertyFlags::LAZILY_ALLOCATED.as_raw(),
);

impl MemoryTypes {
    /// Picks among the types that buffers may use, as `allowed` says bit by bit. On unified devices all kinds want the host's caches; on others device memory is mapped where
    /// its largest heap can be (a resizable BAR).
    pub(crate) fn pick(memory: &vk::PhysicalDeviceMemoryProperties, allowed: u32, unified: bool) -> Result<Self> {
        let heap = largest_local_heap(memory);
        let cached = if unified { CACHED } else { vk::MemoryPropertyFlags::empty() };
        let wishes = [LOCAL | HOST | cached, LOCAL | HOST, LOCAL];
        let device =
            first(memory, allowed, &wishes, Some(heap)).or_else(|| first(memory, allowed, &[LOCAL, HOST], None));
        let device = device.ok_or_else(|| none("local to the device"))?;
        let device_mapped = flags(memory, device).contains(HOST);
        let staging =
            first(memory, allowed, &[HOST | CACHED, HOST], None).ok_or_else(|| none("visible to the host"))?;
        let mapped = if device_mapped { device } else { staging };
        Ok(MemoryTypes { types: [device, mapped, staging], device_mapped })
    }

    pub(crate) fn of(&self, kind: MemoryKind) -> u32 {
        self.types[kind as usize]
    }

    /// Whether memory of this kind is mapped.
    pub(crate) fn is_mapped(&self, kind: MemoryKind) -> bool {
        kind != MemoryKind::Device || self.device_mapped
    }
}

/// The size of the largest heap that is local to the device.
pub(crate) fn device_memory_bytes(memory: &vk::PhysicalDeviceMemoryProperties) -> u64 {
    memory.memory_heaps_as_slice().get(largest_local_heap(memory) as usize).map_or(0, |heap| heap.size)
}

fn largest_local_heap(memory: &vk::PhysicalDeviceMemoryProperties) -> u32 {
    let heaps = memory.memory_heaps_as_slice().iter().enumerate();
    let local = heaps.filter(|(_, heap)| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    local.max_by_key(|(_, heap)| heap.size).map_or(0, |(at, _)| at as u32)
}

/// The first type that has all flags of the first wish that any has.
fn first(
    memory: &vk::PhysicalDeviceMemoryProperties,
    allowed: u32,
    wishes: &[vk::MemoryPropertyFlags],
    heap: Option<u32>,
) -> Option<u32> {
    let fits = |wish: &vk::MemoryPropertyFlags| {
        memory.memory_types_as_slice().iter().enumerate().position(|(at, kind)| {
            allowed >> at & 1 == 1
                && kind.property_flags.contains(*wish)
                && !kind.property_flags.intersects(SPECIAL)
                && heap.is_none_or(|heap| kind.heap_index == heap)
        })
    };
    wishes.iter().find_map(fits).map(|at| at as u32)
}

fn flags(memory: &vk::PhysicalDeviceMemoryProperties, kind: u32) -> vk::MemoryPropertyFlags {
    memory.memory_types[kind as usize].property_flags
}

fn none(what: &str) -> Error {
    Error::NoVulkan(format!("the device must have memory {what} but has none."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(heaps: &[(u64, bool)], types: &[(u32, vk::MemoryPropertyFlags)]) -> vk::PhysicalDeviceMemoryProperties {
        let mut memory = vk::PhysicalDeviceMemoryProperties {
            memory_heap_count: heaps.len() as u32,
            memory_type_count: types.len() as u32,
            ..Default::default()
        };
        for (at, &(size, local)) in heaps.iter().enumerate() {
            let flags = if local { vk::MemoryHeapFlags::DEVICE_LOCAL } else { vk::MemoryHeapFlags::empty() };
            memory.memory_heaps[at] = vk::MemoryHeap { size, flags };
        }
        for (at, &(heap_index, property_flags)) in types.iter().enumerate() {
            memory.memory_types[at] = vk::MemoryType { property_flags, heap_index };
        }
        memory
    }

    #[test]
    fn a_card_with_a_full_window_is_mapped() {
        let memory = memory(
            &[(140 << 30, true), (128 << 30, false)],
            &[(1, HOST), (1, HOST | CACHED), (0, LOCAL), (0, LOCAL | HOST)],
        );
        let types = MemoryTypes::pick(&memory, !0, false).expect("all kinds exist");
        assert_eq!(MemoryKind::ALL.map(|kind| types.of(kind)), [3, 3, 1]);
        assert!(types.is_mapped(MemoryKind::Device));
        assert_eq!(device_memory_bytes(&memory), 140 << 30);
    }

    #[test]
    fn a_card_with_a_small_window_keeps_arrays_out_of_it() {
        let heaps = [(8 << 30, true), (32 << 30, false), (256 << 20, true)];
        let memory = memory(&heaps, &[(0, LOCAL), (1, HOST), (1, HOST | CACHED), (2, LOCAL | HOST)]);
        let types = MemoryTypes::pick(&memory, !0, false).expect("all kinds exist");
        assert_eq!(MemoryKind::ALL.map(|kind| types.of(kind)), [0, 2, 2]);
        assert!(!types.is_mapped(MemoryKind::Device));
    }

    #[test]
    fn unified_memory_is_cached_for_every_kind() {
        let memory = memory(&[(16 << 30, true)], &[(0, LOCAL | HOST), (0, LOCAL | HOST | CACHED)]);
        let types = MemoryTypes::pick(&memory, !0, true).expect("all kinds exist");
        assert_eq!(MemoryKind::ALL.map(|kind| types.of(kind)), [1, 1, 1]);
    }

    #[test]
    fn types_that_buffers_may_not_use_are_passed_over() {
        let special = vk::MemoryPropertyFlags::DEVICE_COHERENT_AMD;
        let types = [(0, LOCAL | HOST | special), (0, LOCAL | HOST), (0, LOCAL | HOST), (0, HOST | CACHED)];
        let memory = memory(&[(16 << 30, true)], &types);
        let types = MemoryTypes::pick(&memory, 0b1101, false).expect("all kinds exist");
        assert_eq!(MemoryKind::ALL.map(|kind| types.of(kind)), [2, 2, 3]);
    }
}
