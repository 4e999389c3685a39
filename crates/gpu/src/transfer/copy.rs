//! Copying between the host's memory and a buffer's mapped bytes, by several threads where it is much.

use std::sync::PoisonError;
use std::thread;

use crate::memory::Buffer;

/// From this size on several threads copy: a thread costs about 50 µs, a mebibyte about 100.
const PARALLEL: usize = 4 << 20;
/// More do not make it faster.
const THREADS: usize = 4;

/// Copies into a mapped buffer. The range was checked, and the device does not use it.
pub(super) fn write(to: &Buffer, offset: u64, bytes: &[u8]) {
    let _lock = to.host().write().unwrap_or_else(PoisonError::into_inner);
    let Some(start) = to.mapped() else { return };
    // SAFETY: the range lies in the buffer, whose mapping lives as long as it. The lock keeps other threads of this
    // process away, and a slice of ordinary memory cannot overlap a mapping that no slice is ever made of.
    unsafe { copy(bytes.as_ptr(), start.as_ptr().add(offset as usize), bytes.len()) }
}

/// Copies out of a mapped buffer. The range was checked, and the device does not write it.
pub(super) fn read(from: &Buffer, offset: u64, into: &mut [u8]) {
    let _lock = from.host().read().unwrap_or_else(PoisonError::into_inner);
    let Some(start) = from.mapped() else { return };
    // SAFETY: as above, the other way round.
    unsafe { copy(start.as_ptr().add(offset as usize), into.as_mut_ptr(), into.len()) }
}

/// # Safety
/// Both ranges must be valid for `len` bytes and must not overlap, and nobody else may write them meanwhile.
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    let (from, to) = (Start(from.cast_mut()), Start(to));
    if len < PARALLEL {
        // SAFETY: passed on to the caller.
        return unsafe { copy_part(from, to, 0, len) };
    }
    let threads = THREADS.min(thread::available_parallelism().map_or(1, usize::from));
    let part = len.div_ceil(threads).next_multiple_of(4096);
    thread::scope(|scope| {
        for begin in (part..len).step_by(part) {
            // SAFETY: the part lies inside both ranges, and the parts are disjoint.
            scope.spawn(move || unsafe { copy_part(from, to, begin, part.min(len - begin)) });
        }
        // SAFETY: as above, for the first part.
        unsafe { copy_part(from, to, 0, part.min(len)) }
    });
}

/// A pointer that threads may share; what they do with it is disjoint.
#[derive(Clone, Copy)]
struct Start(*mut u8);

// SAFETY: see `copy`.
unsafe impl Send for Start {}

/// # Safety
/// Both ranges must be valid for `begin + len` bytes and not overlap.
unsafe fn copy_part(from: Start, to: Start, begin: usize, len: usize) {
    // SAFETY: passed on to the caller.
    unsafe { std::ptr::copy_nonoverlapping(from.0.add(begin), to.0.add(begin), len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_arrives_whatever_the_size() {
        for len in [0, 1, 4095, PARALLEL - 1, PARALLEL, PARALLEL + 1, 3 * PARALLEL + 12345] {
            let from: Vec<u8> = (0..len).map(|at| (at * 31 + at / 251) as u8).collect();
            let mut to = vec![0u8; len];
            // SAFETY: two vectors of this length.
            unsafe { copy(from.as_ptr(), to.as_mut_ptr(), len) };
            assert!(from == to, "{len} bytes");
        }
    }
}
