//! How much memory arrays hold, and how much they may: MLX's counters and limits, over the host's memory and the GPU's.
//!
//! The host's memory is asked for so that it can be refused: a shape that no memory could hold is an error, not the end of the process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cpu::kept;
use crate::device::{open_gpu, the_gpu};
use crate::error::{Error, Result};
use crate::gpu::MemoryStats;

static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// The limit that was set; none yet is 0.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// Requests from here on are compared with what the system says is free: asking it takes some 20 µs.
const LARGE: usize = 256 << 20;

/// Bytes that arrays hold.
pub fn get_active_memory() -> usize {
    ACTIVE.load(Ordering::Relaxed) + on_gpu(|stats| stats.active)
}

/// The most bytes that arrays held at once since the last reset: on the host and on the GPU, each at its own highest.
pub fn get_peak_memory() -> usize {
    PEAK.load(Ordering::Relaxed) + on_gpu(|stats| stats.peak)
}

/// Forgets the highest so far.
pub fn reset_peak_memory() {
    PEAK.store(0, Ordering::Relaxed);
    if let Some(gpu) = open_gpu() {
        gpu.device().reset_peak();
    }
}

/// Bytes that no array holds but that are kept for new ones.
pub fn get_cache_memory() -> usize {
    kept::bytes() + on_gpu(|stats| stats.cached)
}

/// Gives back to the system what is kept for new arrays.
pub fn clear_cache() {
    kept::clear();
    if let Some(gpu) = open_gpu() {
        gpu.device().clear_cache();
    }
}

/// Bytes that evaluation should stay under: a guideline, as in MLX. Only what does not exist is refused.
pub fn get_memory_limit() -> usize {
    match (the_gpu().ok(), LIMIT.load(Ordering::Relaxed)) {
        (Some(gpu), _) => gpu.device().memory().memory_limit as usize,
        (None, 0) => system().total / 5 * 4,
        (None, limit) => limit,
    }
}

/// Sets the guideline and gives the one before.
pub fn set_memory_limit(bytes: usize) -> usize {
    let before = get_memory_limit();
    LIMIT.store(bytes, Ordering::Relaxed);
    if let Ok(gpu) = the_gpu() {
        gpu.device().set_memory_limit(bytes as u64);
    }
    before
}

/// Says how many bytes may be kept for new arrays, on the host and on the GPU each, and gives what was said before.
pub fn set_cache_limit(bytes: usize) -> usize {
    let before = kept::set_limit(bytes);
    the_gpu().map_or(before, |gpu| gpu.device().set_cache_limit(bytes as u64) as usize)
}

/// Memory that stays with the device is the driver's business: nothing is limited, and none was before, as in MLX's Linux builds.
pub fn set_wired_limit(_bytes: usize) -> usize {
    0
}

fn on_gpu(part: impl FnOnce(&MemoryStats) -> u64) -> usize {
    open_gpu().map_or(0, |gpu| part(&gpu.device().memory()) as usize)
}

/// 16 bytes: what host memory is counted in, so that every type in it is aligned. More would cost the system's way to give zeroed
/// memory without writing it.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(16))]
pub(crate) struct Line([u8; 16]);

/// Bytes of the host, counted while they are held.
#[derive(Default)]
pub(crate) struct HostMemory {
    lines: Vec<Line>,
    len: usize,
}

impl HostMemory {
    /// So many bytes, whatever they are: for what is written before it is read.
    pub fn unwritten(len: usize) -> Result<HostMemory> {
        let count = kept::size_class(len.div_ceil(size_of::<Line>()));
        let mut lines = match kept::take(count) {
            Some(lines) => lines,
            None => fresh(len, count)?,
        };
        if cfg!(debug_assertions) {
            // Nobody may rely on zeros.
            lines.iter_mut().take(POISONED).for_each(|line| *line = Line([0xa5; 16]));
        }
        PEAK.fetch_max(ACTIVE.fetch_add(len, Ordering::Relaxed) + len, Ordering::Relaxed);
        Ok(HostMemory { lines, len })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }

    /// The bytes to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        ACTIVE.fetch_sub(self.len, Ordering::Relaxed);
        kept::give_back(std::mem::take(&mut self.lines));
    }
}

/// Lines that are overwritten in debug builds: not all of gigabytes.
const POISONED: usize = 1 << 20;

/// Memory from the system; what is kept is given up for it if need be.
fn fresh(len: usize, lines: usize) -> Result<Vec<Line>> {
    if len > available(len) {
        kept::clear();
    }
    let available = available(len);
    let zeroed = || bytemuck::allocation::try_zeroed_vec(lines).ok();
    let memory = if len <= available { zeroed() } else { None };
    memory.ok_or_else(|| refused(len, available))
}

/// Room for so many bytes that are no array's.
pub(crate) fn room(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let available = available(len);
    match len <= available && bytes.try_reserve_exact(len).is_ok() {
        true => Ok(bytes),
        false => Err(refused(len, available)),
    }
}

fn refused(len: usize, available: usize) -> Error {
    let total = system().total;
    Error::Memory(format!(
        "[allocate] {len} bytes must fit into the host's memory but {available} are free of {total}."
    ))
}

/// Bytes that a request of this size could have.
fn available(len: usize) -> usize {
    let left = system().total.saturating_sub(ACTIVE.load(Ordering::Relaxed));
    if len < LARGE { left } else { left.min(System::read().free) }
}

/// What the system says about its memory, swap included.
#[derive(Clone, Copy)]
struct System {
    total: usize,
    free: usize,
}

fn system() -> System {
    static SYSTEM: OnceLock<System> = OnceLock::new();
    *SYSTEM.get_or_init(System::read)
}

impl System {
    /// Where the system does not say, only its refusals bound what can be had.
    fn read() -> System {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kibibytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<usize>().ok())
        };
        let sum = |memory: &str, swap: &str| {
            kibibytes(memory).map_or(isize::MAX as usize, |n| (n + kibibytes(swap).unwrap_or(0)) * 1024)
        };
        System { total: sum("MemTotal", "SwapTotal"), free: sum("MemAvailable", "SwapFree") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_exist_is_refused_with_its_size() {
        for len in [1 << 45, isize::MAX as usize, usize::MAX] {
            let Err(Error::Memory(text)) = HostMemory::unwritten(len) else { panic!("{len} bytes must be refused") };
            assert!(
                text.starts_with(&format!("[allocate] {len} bytes must fit into the host's memory but ")),
                "{text}"
            );
            assert!(matches!(room(len), Err(Error::Memory(_))));
        }
    }

    #[test]
    fn memory_is_as_long_as_asked_for_and_aligned_for_every_type() {
        for len in [0, 1, 15, 16, 17, 100_000] {
            let memory = HostMemory::unwritten(len).expect("there is room");
            assert_eq!(memory.bytes().len(), len);
            assert_eq!(memory.bytes().as_ptr().align_offset(16), 0);
        }
    }
}
