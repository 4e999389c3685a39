//! The memory a launch works on.

use std::ops::Range;

use half::{bf16, f16};

/// Bytes a kernel reads and writes: owned, or borrowed from whoever holds them.
#[derive(Debug)]
pub enum Memory<'a> {
    /// Bytes of its own.
    Owned(Vec<u8>),
    /// Bytes that are only read; a store to them is an error.
    Shared(&'a [u8]),
    /// Bytes that are read and written in place.
    Mut(&'a mut [u8]),
}

impl Memory<'_> {
    /// This many zero bytes.
    pub fn zeros(bytes: usize) -> Memory<'static> {
        Memory::Owned(vec![0; bytes])
    }

    /// The bytes of these numbers, little-endian.
    pub fn of<T: Plain>(values: &[T]) -> Memory<'static> {
        Memory::Owned(values.iter().flat_map(|v| v.to_le()).collect())
    }

    /// The bytes read as numbers; a rest that does not fill one is left out.
    pub fn to_vec<T: Plain>(&self) -> Vec<T> {
        self.bytes().chunks_exact(T::BYTES).map(T::from_le).collect()
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Memory::Owned(bytes) => bytes,
            Memory::Shared(bytes) => bytes,
            Memory::Mut(bytes) => bytes,
        }
    }

    /// The bytes, to be written; none if they are only read.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Memory::Owned(bytes) => Some(bytes),
            Memory::Shared(_) => None,
            Memory::Mut(bytes) => Some(bytes),
        }
    }
}

/// Which bytes of which memory a buffer parameter is. Two parameters may name the same ones, under the rule of
/// [`Access`](crate::ir::Access).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binding {
    /// Index into the launch's memories.
    pub memory: usize,
    /// Bytes of it.
    pub bytes: Range<usize>,
}

/// A number with a fixed representation in memory.
pub trait Plain: Copy {
    /// Its size.
    const BYTES: usize;
    /// Its bytes, lowest first.
    fn to_le(self) -> Vec<u8>;
    /// The number with these bytes.
    fn from_le(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($ty:ty),*) => {$(
        impl Plain for $ty {
            const BYTES: usize = size_of::<$ty>();
            fn to_le(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn from_le(bytes: &[u8]) -> $ty {
                <$ty>::from_le_bytes(bytes.try_into().expect("as many bytes as the number has"))
            }
        }
    )*};
}
plain!(u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64);
