//! Argument blocks of single launches: where a kernel's addresses, shapes and scalars lie while it runs.
//!
//! Blocks are written one after the other into mapped memory. On a discrete GPU that is device memory behind the BAR,
//! write-combined: written in order, never read. A full chunk stays with the submissions that use it and comes back
//! through the allocator's cache when they are done, so the ring has as many chunks as are in flight.

use std::ptr::NonNull;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::Buffer;

/// Bytes of one chunk: two thousand launches with the usual block.
const CHUNK: u64 = 256 << 10;
/// Blocks do not share a line of the device's cache.
pub(crate) const BLOCK_ALIGNMENT: u64 = 64;

/// Hands out argument blocks in mapped memory.
#[derive(Default)]
pub(crate) struct ArgumentRing {
    chunk: Option<MappedBuffer>,
    used: u64,
}

/// A buffer the host writes and the device reads.
pub(crate) struct MappedBuffer {
    buffer: Buffer,
    pointer: NonNull<u8>,
}

// SAFETY: the pointer is into memory that the buffer keeps mapped; writes need a mutable reference.
unsafe impl Send for MappedBuffer {}
// SAFETY: as above; a shared reference allows no access to the bytes.
unsafe impl Sync for MappedBuffer {}

impl ArgumentRing {
    /// Copies a block into the ring and returns its address. `hold` must keep what it is given until the open command
    /// buffer is done.
    pub(crate) fn write(&mut self, device: &Device, bytes: &[u8], hold: impl FnOnce(Buffer)) -> Result<u64> {
        let len = bytes.len() as u64;
        if self.chunk.as_ref().is_none_or(|chunk| self.used + len > chunk.buffer.len()) {
            self.next_chunk(device, len, hold)?;
        }
        let chunk = self.chunk.as_mut().expect("a chunk was just made where there was none");
        chunk.write(self.used, bytes);
        let address = chunk.buffer.address() + self.used;
        self.used = (self.used + len).next_multiple_of(BLOCK_ALIGNMENT);
        Ok(address)
    }

    fn next_chunk(&mut self, device: &Device, len: u64, hold: impl FnOnce(Buffer)) -> Result<()> {
        let next = MappedBuffer::new(device, CHUNK.max(len))?;
        if let Some(full) = self.chunk.replace(next) {
            hold(full.buffer);
        }
        self.used = 0;
        Ok(())
    }
}

impl MappedBuffer {
    /// Memory that the device reads fast and the host can write.
    pub(crate) fn new(device: &Device, bytes: u64) -> Result<Self> {
        let buffer = device.allocate_mapped(bytes)?;
        let Some(pointer) = buffer.mapped() else {
            return Err(Error::InvalidArgument("[arguments] the argument block must be mapped but is not.".into()));
        };
        Ok(Self { buffer, pointer })
    }

    /// Copies bytes to an offset. The device must not be using that part.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        assert!(offset + bytes.len() as u64 <= self.buffer.len(), "the block was sized for its arguments");
        // SAFETY: the range was just checked to lie in the mapping, which lives as long as the buffer; the caller's
        // slice cannot overlap memory that only this type writes.
        unsafe {
            let to = self.pointer.as_ptr().add(offset as usize);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
    }

    /// Where the device finds it.
    pub(crate) fn address(&self) -> u64 {
        self.buffer.address()
    }
}
