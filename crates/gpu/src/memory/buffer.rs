//! A buffer: a range of device memory that somebody holds.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, RwLock};

use ash::vk;

use super::Memory;
use super::kinds::MemoryKind;
use super::mapped::Claims;
use super::pool::Range;

/// A handle to a piece of device memory. Clones share the memory; the last one to go returns it to the cache. Work in
/// flight holds clones of what it uses, so the memory is not reused under it.
#[derive(Clone)]
pub struct Buffer(Arc<Suballocation>);

pub(crate) struct Suballocation {
    /// None for an empty buffer, which has no memory.
    pub(crate) place: Option<Place>,
    pub(crate) len: u64,
    pub(crate) id: u64,
    /// Held while the host reads or writes the mapped bytes, so that threads do not race on them.
    pub(crate) host: RwLock<()>,
    /// Who reads the mapped bytes where they lie, or records a write of them.
    pub(crate) claims: Claims,
    pub(crate) memory: Arc<Memory>,
}

/// Where a buffer lies.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) kind: MemoryKind,
    pub(crate) range: Range,
    pub(crate) buffer: vk::Buffer,
    pub(crate) address: u64,
    pub(crate) mapped: Option<NonNull<u8>>,
}

// SAFETY: the mapped pointer is dereferenced only under the host lock, or by the one owner of an argument block.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

impl Buffer {
    pub(crate) fn new(suballocation: Suballocation) -> Self {
        Buffer(Arc::new(suballocation))
    }

    /// The device address of the first byte; 0 for an empty buffer.
    pub fn address(&self) -> u64 {
        self.0.place.map_or(0, |place| place.address)
    }

    /// How many bytes were asked for.
    pub fn len(&self) -> u64 {
        self.0.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// How many bytes were given: the length rounded up, or the size of the cached range that was reused.
    pub fn size(&self) -> u64 {
        self.0.place.map_or(0, |place| place.range.size)
    }

    /// A number no other allocation of the process has or had: the key by which hazards are tracked.
    pub fn allocation_id(&self) -> u64 {
        self.0.id
    }

    /// Whether nobody else holds this buffer: its memory may be given to another array.
    pub fn is_unique(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// How many handles there are.
    pub(crate) fn handles(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    pub(crate) fn claims(&self) -> &Claims {
        &self.0.claims
    }

    /// Whether the host can reach the bytes directly.
    pub fn is_mapped(&self) -> bool {
        self.mapped().is_some()
    }

    /// The VkBuffer this is a range of; null for an empty buffer.
    pub(crate) fn raw(&self) -> vk::Buffer {
        self.0.place.map_or(vk::Buffer::null(), |place| place.buffer)
    }

    /// Where the range begins in the VkBuffer.
    pub(crate) fn offset(&self) -> u64 {
        self.0.place.map_or(0, |place| place.range.offset)
    }

    /// The first byte as the host sees it, where it is mapped.
    pub(crate) fn mapped(&self) -> Option<NonNull<u8>> {
        self.0.place.and_then(|place| place.mapped)
    }

    /// The lock under which the host reads and writes mapped bytes.
    pub(crate) fn host(&self) -> &RwLock<()> {
        &self.0.host
    }
}

impl Drop for Suballocation {
    fn drop(&mut self) {
        self.memory.release(self.id, self.place);
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer(#{}, {} bytes at {:#x})", self.0.id, self.len(), self.address())
    }
}
