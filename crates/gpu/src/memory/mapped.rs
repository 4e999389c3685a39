//! A buffer's bytes read by the host where they lie, without a copy.
//!
//! A slice of device memory is sound only while the device does not write it. So it is given out only for a buffer that nothing
//! else holds (work that is recorded or in flight holds what it uses), and while it lives, whatever would write the buffer is
//! refused. Both sides meet in one number per buffer: how many read it, or how many are about to write it.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, Ordering, fence};

use super::Buffer;
use crate::error::{Error, Result};

/// Readers of a buffer's mapped bytes, as a positive number, or, negative, calls that are recording a write of it.
#[derive(Default)]
pub(crate) struct Claims(AtomicI32);

impl Claims {
    fn change(&self, by: i32) -> bool {
        let same_side = |now: i32| (now == 0 || (now > 0) == (by > 0)).then_some(now + by);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, same_side).is_ok()
    }

    fn undo(&self, by: i32) {
        self.0.fetch_sub(by, Ordering::Release);
    }
}

/// A buffer's bytes as the host sees them. Until it is dropped, nothing can write them.
pub struct Mapped {
    buffer: Buffer,
    start: NonNull<u8>,
}

// SAFETY: it only reads, and the buffer it keeps alive may be used by any thread.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// None if the bytes are not mapped, or somebody else holds the buffer.
    pub(crate) fn of(buffer: &Buffer) -> Option<Mapped> {
        let start = buffer.mapped()?;
        if !buffer.claims().change(1) {
            return None;
        }
        let mapped = Mapped { buffer: buffer.clone(), start };
        // The caller's handle, and one for each reader. Whoever lets go of others' handles does so after their last access.
        let readers = buffer.claims().0.load(Ordering::Acquire);
        let alone = buffer.handles() == 1 + readers as usize;
        fence(Ordering::Acquire);
        alone.then_some(mapped)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping has the buffer's length and lives as long as the buffer, which is held here. Nobody held the buffer
        // when this was made, so no work that writes it was recorded or in flight, and none is recorded while the claim stands.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.buffer.len() as usize) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.buffer.claims().undo(1);
    }
}

/// Runs what records or makes writes of buffers; refused if the host is reading one of them.
pub(crate) fn writing<R>(op: &str, buffers: &[&Buffer], record: impl FnOnce() -> Result<R>) -> Result<R> {
    let claimed = buffers.iter().take_while(|buffer| buffer.claims().change(-1)).count();
    let result = match claimed == buffers.len() {
        true => record(),
        false => Err(Error::InvalidArgument(format!(
            "[{op}] a buffer that is written must not be read by the host but {:?} is.",
            buffers[claimed]
        ))),
    };
    buffers[..claimed].iter().for_each(|buffer| buffer.claims().undo(-1));
    result
}
