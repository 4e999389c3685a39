//! An array's memory: on the host, on the GPU, or on both, and which of the two is valid.
//!
//! What one side computes is copied to the other when it is first asked for there, and not again; where the host can read the
//! GPU's memory as fast as its own, it reads it there. Nobody writes memory that somebody
//! else may read: an op writes memory that it was just given, or that an input nobody else holds gave up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::device::the_gpu;
use crate::error::Result;
use crate::eval::cache::violations;
use crate::gpu::{Buffer, Event, Mapped};
use crate::memory::HostMemory;

/// Memory of one or several arrays.
pub(crate) struct Storage {
    len: usize,
    host: RwLock<HostMemory>,
    sides: Mutex<Sides>,
    /// How many outside hold the address of the host's bytes, and may write them.
    shared: AtomicUsize,
}

struct Sides {
    host_valid: bool,
    gpu: Option<GpuSide>,
}

impl Sides {
    /// The GPU's bytes where the host has none of its own but can read those.
    fn mapped(&self) -> Result<Option<Mapped>> {
        let Some(side) = self.gpu.as_ref().filter(|_| !self.host_valid) else { return Ok(None) };
        let gpu = the_gpu()?;
        if let Some(event) = &side.ready {
            event.wait()?;
        }
        let mapped = gpu.device().read_mapped(&side.buffer);
        if mapped.is_some() {
            violations()?;
        }
        Ok(mapped)
    }
}

/// Bytes on the GPU.
#[derive(Clone)]
pub(crate) struct GpuSide {
    pub buffer: Buffer,
    /// The streams that use them.
    pub users: Users,
    /// When they are written; none if they are already, or if the work that writes them is not committed yet.
    pub ready: Option<Event>,
}

impl GpuSide {
    /// Copies bytes to the host once they are written.
    fn download(&self, start: usize, into: &mut [u8]) -> Result<()> {
        let gpu = the_gpu()?;
        match &self.ready {
            Some(event) => event.download(&self.buffer, start as u64, into)?,
            None => gpu.device().download(&self.buffer, start as u64, into)?,
        }
        violations()
    }
}

/// Which GPU streams use some memory: what one of them overwrites, another may still be reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Users {
    #[default]
    Nobody,
    One(u32),
    Many,
}

impl Users {
    /// With one more.
    pub fn and(self, stream: u32) -> Users {
        match self {
            Users::Nobody => Users::One(stream),
            Users::One(one) if one == stream => self,
            _ => Users::Many,
        }
    }
}

impl Storage {
    /// Host memory of `len` bytes that will be written before they are read.
    pub fn on_host(len: usize) -> Result<Storage> {
        let host = RwLock::new(HostMemory::unwritten(len)?);
        Ok(Storage { len, host, sides: Mutex::new(Sides { host_valid: true, gpu: None }), shared: AtomicUsize::new(0) })
    }

    /// Host memory with these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Storage> {
        let storage = Storage::on_host(bytes.len())?;
        storage.write().bytes().copy_from_slice(bytes);
        Ok(storage)
    }

    /// Memory of the GPU.
    pub fn on_gpu(buffer: Buffer) -> Storage {
        let len = buffer.len() as usize;
        let sides = Sides { host_valid: false, gpu: Some(GpuSide { buffer, users: Users::Nobody, ready: None }) };
        Storage { len, host: RwLock::default(), sides: Mutex::new(sides), shared: AtomicUsize::new(0) }
    }

    /// Bytes it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Says when the GPU will have written it.
    pub fn set_ready(&self, event: &Event) {
        if let Some(side) = &mut self.lock().gpu {
            side.ready = Some(event.clone());
        }
    }

    /// When the GPU will have written it; none if it has, or if it was not given the work yet.
    pub fn unfinished(&self) -> Option<Event> {
        let sides = self.lock();
        let event = sides.gpu.as_ref()?.ready.as_ref()?;
        if event.is_done().unwrap_or(false) { None } else { Some(event.clone()) }
    }

    /// The bytes on the GPU, copied there if they are not yet.
    pub fn gpu(&self) -> Result<GpuSide> {
        let mut sides = self.lock();
        if let Some(side) = sides.gpu.as_ref().filter(|_| self.shared.load(Ordering::Relaxed) == 0) {
            return Ok(side.clone());
        }
        let gpu = the_gpu()?;
        let buffer = gpu.allocate(self.len as u64)?;
        let host = self.host.read().unwrap_or_else(PoisonError::into_inner);
        gpu.device().upload(&buffer, 0, host.bytes())?;
        let side = GpuSide { buffer, users: Users::Nobody, ready: None };
        sides.gpu = Some(side.clone());
        Ok(side)
    }

    /// The bytes, waited for and, where the host cannot read the GPU's, copied to the host's own.
    pub fn read(&self) -> Result<HostBytes<'_>> {
        if let Some(mapped) = self.lock().mapped()? {
            return Ok(HostBytes::Mapped(mapped));
        }
        self.to_host()?;
        Ok(HostBytes::Own(self.host.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Waits for the bytes and copies them to the host's memory if they are not there yet: to be written there.
    pub fn to_host(&self) -> Result<()> {
        let mut sides = self.lock();
        if !sides.host_valid {
            self.download(&sides)?;
            sides.host_valid = true;
        }
        Ok(())
    }

    /// Some of the bytes, from `start` on. Where only the GPU has them all, these alone are copied: one element of a large array
    /// must not cost the host as much memory again.
    pub fn read_part(&self, start: usize, len: usize) -> Result<HostPart<'_>> {
        let sides = self.lock();
        if let Some(mapped) = sides.mapped()? {
            return Ok(HostPart::Of(HostBytes::Mapped(mapped), start, len));
        }
        let (false, Some(side), true) = (sides.host_valid, &sides.gpu, len <= self.len / 2) else {
            drop(sides);
            return Ok(HostPart::Of(self.read()?, start, len));
        };
        let mut part = HostMemory::unwritten(len)?;
        side.download(start, part.bytes_mut())?;
        Ok(HostPart::Own(part))
    }

    fn download(&self, sides: &Sides) -> Result<()> {
        let Some(side) = &sides.gpu else { return Ok(()) };
        let mut host = self.host.write().unwrap_or_else(PoisonError::into_inner);
        *host = HostMemory::unwritten(self.len)?;
        side.download(0, host.bytes_mut())
    }

    /// The host's bytes to write. What the GPU has of them is out of date from then on.
    pub fn write(&self) -> HostBytesMut<'_> {
        let mut sides = self.lock();
        sides.gpu = None;
        sides.host_valid = true;
        drop(sides);
        HostBytesMut(self.host.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// The address of the host's bytes, for somebody outside who may write them until `unshare`: as long as that may
    /// be, what the GPU has of them does not count.
    pub fn share(&self) -> Result<usize> {
        self.to_host()?;
        let address = self.host.read().unwrap_or_else(PoisonError::into_inner).bytes().as_ptr() as usize;
        self.shared.fetch_add(1, Ordering::Relaxed);
        self.lock().gpu = None;
        Ok(address)
    }

    /// Nobody writes through the address that `share` gave any more.
    pub fn unshare(&self) {
        self.shared.fetch_sub(1, Ordering::Relaxed);
        self.lock().gpu = None;
    }

    /// Forgets the host's copy: the GPU is about to write its own.
    pub fn invalidate_host(&self) {
        self.lock().host_valid = false;
        *self.host.write().unwrap_or_else(PoisonError::into_inner) = HostMemory::default();
    }

    /// Notes that a stream uses the bytes on the GPU.
    pub fn used_by(&self, stream: u32) {
        if let Some(side) = &mut self.lock().gpu {
            side.users = side.users.and(stream);
        }
    }

    /// The streams that use the bytes on the GPU.
    pub fn users(&self) -> Users {
        self.lock().gpu.as_ref().map(|side| side.users).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Sides> {
        self.sides.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that are being read.
pub(crate) enum HostBytes<'a> {
    /// The host's own.
    Own(RwLockReadGuard<'a, HostMemory>),
    /// The GPU's, where they lie.
    Mapped(Mapped),
}

impl HostBytes<'_> {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            HostBytes::Own(memory) => memory.bytes(),
            HostBytes::Mapped(mapped) => mapped.bytes(),
        }
    }
}

/// Some bytes that are being read: a part of all, or a copy.
pub(crate) enum HostPart<'a> {
    Of(HostBytes<'a>, usize, usize),
    Own(HostMemory),
}

impl HostPart<'_> {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            HostPart::Of(all, start, len) => &all.bytes()[*start..start + len],
            HostPart::Own(part) => part.bytes(),
        }
    }
}

/// Bytes that are being written.
pub(crate) struct HostBytesMut<'a>(RwLockWriteGuard<'a, HostMemory>);

impl HostBytesMut<'_> {
    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

/// Where the elements of an evaluated array are.
#[derive(Clone)]
pub(crate) enum Source {
    /// In memory.
    Memory(Arc<Storage>),
    /// Nowhere: all are this value, its bits in the low end.
    Value(u64),
}
