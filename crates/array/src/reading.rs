//! Looking at an array's values: they are computed first.

use std::sync::Arc;

use crate::array::{Array, Data};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::eval::{eval, site};
use crate::memory;
use crate::shape::Layout;
use crate::storage::{Source, Storage};

impl Array {
    /// Computes the array, and waits until it is there.
    pub fn eval(&self) -> Result<()> {
        eval(std::slice::from_ref(self))
    }

    /// The elements in order, as the Rust type that they are.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if T::DTYPE != self.dtype() {
            let (have, want) = (self.dtype(), T::DTYPE);
            return Err(Error::Type(format!("[to_vec] the elements must be {want} but are {have}.")));
        }
        let bytes = self.to_bytes()?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }

    /// The elements in order, of an array of bools.
    pub fn to_bools(&self) -> Result<Vec<bool>> {
        match self.dtype() {
            Dtype::Bool => Ok(self.to_bytes()?.into_iter().map(|byte| byte != 0).collect()),
            other => Err(Error::Type(format!("[to_bools] the elements must be bool but are {other}."))),
        }
    }

    /// The one element of an array of size one.
    pub fn item<T: Element>(&self) -> Result<T> {
        if self.size() != 1 {
            return Err(Error::Value(format!("[item] the array must have one element but has {}.", self.size())));
        }
        Ok(self.to_vec()?[0])
    }

    /// The host's memory of the array, computed first. Whoever holds it may read and write the elements there.
    pub fn shared_memory(&self) -> Result<SharedMemory> {
        self.eval()?;
        let data = self.data().expect("it was just computed");
        let (storage, layout) = match data.source {
            Source::Memory(storage) => (storage, data.layout),
            Source::Value(_) => {
                let (storage, layout) =
                    (Arc::new(Storage::from_bytes(&self.to_bytes()?)?), Layout::contiguous(self.shape()));
                self.set_data(Data { source: Source::Memory(storage.clone()), layout: layout.clone() });
                (storage, layout)
            }
        };
        let address = storage.share()?.wrapping_add_signed(layout.offset as isize * self.dtype().size() as isize);
        Ok(SharedMemory { _array: self.clone(), storage, layout, address })
    }

    /// The bytes of the elements in order.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.eval()?;
        if self.size() == 0 {
            return Ok(Vec::new());
        }
        let data = self.data().expect("it was just computed");
        let size = self.dtype().size();
        match &data.source {
            Source::Value(bits) => {
                let (mut bytes, value) = (memory::room(self.nbytes())?, &bits.to_le_bytes()[..size]);
                (0..self.size()).for_each(|_| bytes.extend_from_slice(value));
                Ok(bytes)
            }
            Source::Memory(storage) => elements(storage, &data.layout, size),
        }
    }
}

/// The bytes of elements of a size that lie somewhere in memory, in order.
fn elements(storage: &Storage, layout: &Layout, size: usize) -> Result<Vec<u8>> {
    let mut bytes = memory::room(layout.size().saturating_mul(size))?;
    let Some((low, high)) = layout.extent() else { return Ok(bytes) };
    let part = storage.read_part(low as usize * size, (high - low + 1) as usize * size)?;
    if layout.is_row_contiguous() {
        bytes.extend_from_slice(part.bytes());
        return Ok(bytes);
    }
    let moved = Layout { offset: layout.offset - low, ..layout.clone() };
    for at in site::offsets(&moved) {
        bytes.extend_from_slice(&part.bytes()[at * size..][..size]);
    }
    Ok(bytes)
}

/// The memory of an array on the host. It stays where it is, and nobody but the holder writes it, as long as this lives.
pub struct SharedMemory {
    _array: Array,
    storage: Arc<Storage>,
    layout: Layout,
    address: usize,
}

impl SharedMemory {
    /// The address of the first element.
    pub fn address(&self) -> usize {
        self.address
    }

    /// From one element to the next along each axis, in elements.
    pub fn strides(&self) -> &[i64] {
        &self.layout.strides
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        self.storage.unshare();
    }
}
