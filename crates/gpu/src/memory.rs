//! Device memory: blocks, ranges of them, a cache of ranges, and MLX's limits and counters.
//!
//! A raw allocation costs 0.3 to 25 ms, so the driver is asked rarely: for blocks of 64 to 256 MiB that are divided,
//! and for large arrays. What is given up waits in a cache, keyed by size, until it is used again, until it is the
//! oldest of too much, or until memory runs out. When it does, in this order: the cache is freed, the device's pending
//! work is waited for (it holds buffers too), the cache is freed again, and only then the caller gets an error.
//!
//! Three kinds of memory have a pool each. Only the first, the arrays', has the cache, the limits and the counters.

mod block;
mod buffer;
mod cache;
mod free_list;
mod kinds;
mod mapped;
mod pool;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

pub(crate) use block::allowed_types;
pub use buffer::Buffer;
use buffer::{Place, Suballocation};
use cache::Cache;
pub(crate) use kinds::{MemoryKind, MemoryTypes, device_memory_bytes};
use mapped::Claims;
pub use mapped::Mapped;
pub(crate) use mapped::writing;
use pool::{Growth, Pool, Range};

use crate::calls::Calls;
use crate::error::{Error, Result};
use crate::probe::DeviceInfo;

/// MLX's counters and limits, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Held by buffers that are alive.
    pub active: u64,
    /// The highest `active` since the last reset.
    pub peak: u64,
    /// Given up and waiting to be used again.
    pub cached: u64,
    /// What evaluation should keep `active` under; a guideline, as in MLX.
    pub memory_limit: u64,
    /// The cache is not filled beyond this.
    pub cache_limit: u64,
    /// What may not be exceeded at all.
    pub capacity: u64,
    /// Obtained from the driver for arrays, in whole blocks.
    pub reserved: u64,
}

/// What is called when memory runs out: waits for the device and lets go of what its finished work held.
pub(crate) type Reclaim = Box<dyn Fn() -> Result<()> + Send + Sync>;

/// The memory of one device.
pub(crate) struct Memory {
    calls: Arc<Calls>,
    recommended: u64,
    state: Mutex<State>,
    reclaim: Mutex<Option<Arc<Reclaim>>>,
}

struct State {
    pools: [Pool; 3],
    cache: Cache,
    /// Size of every live buffer by its id.
    live: BTreeMap<u64, u64>,
    stats: MemoryStats,
    gc_limit: u64,
    /// The largest allocation the driver promises.
    promised: u64,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Memory {
    /// Memory of a device with `total` bytes; `unified` if that is the host's memory, of which some must be left.
    /// `capacity` replaces the bound on what arrays may hold.
    pub(crate) fn new(calls: Arc<Calls>, types: MemoryTypes, info: &DeviceInfo, capacity: Option<u64>) -> Self {
        let DeviceInfo { memory_bytes: total, unified, .. } = *info;
        let recommended = if unified { total / 4 * 3 } else { total };
        let share = total / 100 * 95;
        let memory_limit = (recommended / 2 * 3).min(share);
        let stats = MemoryStats {
            memory_limit,
            cache_limit: memory_limit,
            capacity: capacity.unwrap_or(if unified { share } else { total }),
            ..MemoryStats::default()
        };
        let pools = MemoryKind::ALL.map(|kind| Pool::new(types.of(kind), types.is_mapped(kind), growth(kind)));
        let gc_limit = gc_limit(recommended, memory_limit);
        let state = State {
            pools,
            cache: Cache::default(),
            live: BTreeMap::new(),
            stats,
            gc_limit,
            promised: info.limits.max_allocation_bytes,
        };
        Memory { calls, recommended, state: Mutex::new(state), reclaim: Mutex::new(None) }
    }

    /// Tells what to call when memory runs out.
    pub(crate) fn set_reclaim(&self, reclaim: Reclaim) {
        *self.reclaim.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(reclaim));
    }

    /// A buffer of `bytes` bytes, its content undefined. No bytes need no memory.
    pub(crate) fn allocate(self: &Arc<Self>, kind: MemoryKind, bytes: u64) -> Result<Buffer> {
        self.calls.working("allocate")?;
        let place = match bytes {
            0 => None,
            _ => Some(self.place(kind, bytes)?),
        };
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = place.filter(|_| kind == MemoryKind::Device) {
            self.lock().live.insert(id, place.range.size);
        }
        let (host, claims) = (RwLock::new(()), Claims::default());
        Ok(Buffer::new(Suballocation { place, len: bytes, id, host, claims, memory: self.clone() }))
    }

    /// Takes back what a dropped buffer held.
    pub(crate) fn release(&self, id: u64, place: Option<Place>) {
        let Some(place) = place else { return };
        let mut state = self.lock();
        if place.kind != MemoryKind::Device {
            return state.pools[place.kind as usize].give_back(&self.calls, place.range);
        }
        state.live.remove(&id);
        state.stats.active -= place.range.size;
        if state.cache.bytes() < state.stats.cache_limit {
            state.cache.put(place.range);
        } else {
            state.pools[MemoryKind::Device as usize].give_back(&self.calls, place.range);
        }
    }

    pub(crate) fn stats(&self) -> MemoryStats {
        let state = self.lock();
        let reserved = state.pools[MemoryKind::Device as usize].reserved();
        MemoryStats { cached: state.cache.bytes(), reserved, ..state.stats }
    }

    pub(crate) fn set_memory_limit(&self, limit: u64) -> u64 {
        let mut state = self.lock();
        state.gc_limit = gc_limit(self.recommended, limit);
        std::mem::replace(&mut state.stats.memory_limit, limit)
    }

    pub(crate) fn set_cache_limit(&self, limit: u64) -> u64 {
        let mut state = self.lock();
        std::mem::replace(&mut state.stats.cache_limit, limit)
    }

    pub(crate) fn clear_cache(&self) {
        self.lock().clear_cache(&self.calls);
    }

    pub(crate) fn reset_peak(&self) {
        self.lock().stats.peak = 0;
    }

    /// The id and size of every live array.
    pub(crate) fn live(&self) -> Vec<(u64, u64)> {
        self.lock().live.iter().map(|(&id, &size)| (id, size)).collect()
    }

    fn place(&self, kind: MemoryKind, bytes: u64) -> Result<Place> {
        let capacity = self.lock().capacity(kind);
        let size = cache::rounded(bytes).filter(|&size| size <= capacity);
        let size = size.ok_or(Error::TooLarge { requested: bytes, limit: capacity })?;
        match self.lock().take(&self.calls, kind, size) {
            Err(Error::OutOfMemory { .. }) => {}
            other => return other,
        }
        // Freeing the cache was part of the first try. What is left to gain is held by work in flight.
        self.reclaim()?;
        let mut state = self.lock();
        state.clear_cache(&self.calls);
        state.take(&self.calls, kind, size).map_err(|error| state.explain(error, kind, size))
    }

    fn reclaim(&self) -> Result<()> {
        let reclaim = self.reclaim.lock().unwrap_or_else(PoisonError::into_inner).clone();
        reclaim.map_or(Ok(()), |reclaim| reclaim())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A range from the cache or from the pool, freeing the cache where that helps.
    fn take(&mut self, calls: &Calls, kind: MemoryKind, size: u64) -> Result<Place> {
        if kind != MemoryKind::Device {
            let range = self.pools[kind as usize].take(calls, size, u64::MAX)?;
            return Ok(self.at(kind, range));
        }
        let range = match self.cache.take(size) {
            Some(range) => range,
            None => self.take_new(calls, size)?,
        };
        self.stats.active += range.size;
        self.stats.peak = self.stats.peak.max(self.stats.active);
        let excess = self.cache.bytes().saturating_sub(self.stats.cache_limit);
        self.evict(calls, excess);
        Ok(self.at(kind, range))
    }

    fn take_new(&mut self, calls: &Calls, size: u64) -> Result<Range> {
        let wanted = self.stats.active + self.cache.bytes() + size;
        if wanted >= self.gc_limit {
            self.evict(calls, wanted - self.gc_limit);
        }
        let capacity = self.stats.capacity;
        match self.pools[MemoryKind::Device as usize].take(calls, size, capacity) {
            Err(Error::OutOfMemory { .. }) => {
                self.clear_cache(calls);
                self.pools[MemoryKind::Device as usize].take(calls, size, capacity)
            }
            other => other,
        }
    }

    fn at(&self, kind: MemoryKind, range: Range) -> Place {
        let block = self.pools[kind as usize].block(range);
        // SAFETY: the range lies inside the block, so the pointer stays inside its mapping.
        let mapped = block.mapped.map(|start| unsafe { start.add(range.offset as usize) });
        Place { kind, range, buffer: block.buffer, address: block.address + range.offset, mapped }
    }

    fn evict(&mut self, calls: &Calls, excess: u64) {
        if excess == 0 {
            return;
        }
        for range in self.cache.evict(excess) {
            self.pools[MemoryKind::Device as usize].give_back(calls, range);
        }
    }

    fn clear_cache(&mut self, calls: &Calls) {
        self.evict(calls, self.cache.bytes());
        self.pools.iter_mut().for_each(|pool| pool.trim(calls));
    }

    fn capacity(&self, kind: MemoryKind) -> u64 {
        if kind == MemoryKind::Device { self.stats.capacity } else { u64::MAX }
    }

    /// Puts our numbers into the error of a driver that has none.
    fn explain(&self, error: Error, kind: MemoryKind, size: u64) -> Error {
        match error {
            // It was tried all the same.
            Error::OutOfMemory { .. } if size > self.promised => {
                Error::TooLarge { requested: size, limit: self.promised }
            }
            Error::OutOfMemory { during, .. } => Error::OutOfMemory {
                during,
                requested: size,
                available: self.capacity(kind).saturating_sub(self.stats.active),
                capacity: self.capacity(kind),
            },
            other => other,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.pools.iter_mut().for_each(|pool| pool.destroy(&self.calls));
    }
}

/// MLX's rule for when the cache starts to shrink.
fn gc_limit(recommended: u64, memory_limit: u64) -> u64 {
    (recommended / 100 * 95).min(memory_limit)
}

fn growth(kind: MemoryKind) -> Growth {
    const MIB: u64 = 1 << 20;
    match kind {
        MemoryKind::Device => Growth { first: 64 * MIB, largest: 256 * MIB, dedicated: 64 * MIB },
        MemoryKind::Mapped | MemoryKind::Staging => Growth { first: 4 * MIB, largest: 64 * MIB, dedicated: 64 * MIB },
    }
}
