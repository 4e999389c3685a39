//! The argument block: what a kernel finds at the one address it is given.
//!
//! First the buffers' addresses, eight bytes each, then the scalar arguments at their natural alignment, padded to sixteen
//! bytes at the end. Shapes, strides and scalars are arguments, so one kernel serves every shape.

use crate::ir::Kernel;
use crate::types::Scalar;

/// Where each argument stands in the block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArgumentLayout {
    /// Byte offset of each scalar parameter's first value.
    pub scalars: Vec<u32>,
    /// Size of the block in bytes, a multiple of 16.
    pub size: u32,
    buffers: u32,
}

impl ArgumentLayout {
    /// The layout of a kernel's arguments.
    pub fn of(kernel: &Kernel) -> ArgumentLayout {
        let buffers = kernel.buffers.len() as u32;
        let mut at = 8 * buffers;
        let scalars = kernel
            .scalars
            .iter()
            .map(|p| {
                let size = p.scalar.bytes() as u32;
                let offset = at.next_multiple_of(size);
                at = offset + size * p.len;
                offset
            })
            .collect();
        ArgumentLayout { scalars, size: at.next_multiple_of(16), buffers }
    }

    /// Byte offset of a buffer's address.
    pub fn buffer(&self, buffer: u32) -> u32 {
        debug_assert!(buffer < self.buffers, "buffer {buffer} of {}", self.buffers);
        8 * buffer
    }
}

/// A scalar argument.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Argument {
    Bool(bool),
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
}

impl Argument {
    /// Its type.
    pub fn scalar(self) -> Scalar {
        match self {
            Argument::Bool(_) => Scalar::Bool,
            Argument::I32(_) => Scalar::I32,
            Argument::I64(_) => Scalar::I64,
            Argument::F32(_) => Scalar::F32,
            Argument::F64(_) => Scalar::F64,
        }
    }

    /// Its bits, in the low end.
    pub fn bits(self) -> u64 {
        match self {
            Argument::Bool(v) => v as u64,
            Argument::I32(v) => v as u32 as u64,
            Argument::I64(v) => v as u64,
            Argument::F32(v) => v.to_bits() as u64,
            Argument::F64(v) => v.to_bits(),
        }
    }
}

/// Lays out an argument block: addresses in the order of the kernel's buffers, then every scalar value in the order of its
/// parameters, arrays flattened.
///
/// # Panics
/// If the numbers or types do not match the kernel's parameters.
pub fn argument_block(kernel: &Kernel, addresses: &[u64], scalars: &[Argument]) -> Vec<u8> {
    let layout = ArgumentLayout::of(kernel);
    assert_eq!(addresses.len(), kernel.buffers.len(), "[{}] takes as many addresses as it has buffers", kernel.name);
    let mut block = vec![0u8; layout.size as usize];
    for (slot, address) in block.chunks_exact_mut(8).zip(addresses) {
        slot.copy_from_slice(&address.to_le_bytes());
    }
    let mut values = scalars.iter();
    for (param, &offset) in kernel.scalars.iter().zip(&layout.scalars) {
        let size = param.scalar.bytes();
        for i in 0..param.len as usize {
            let value = values.next().unwrap_or_else(|| panic!("[{}] needs a value for {}", kernel.name, param.name));
            assert_eq!(value.scalar(), param.scalar, "[{}] the type of {} must match", kernel.name, param.name);
            let at = offset as usize + i * size;
            block[at..at + size].copy_from_slice(&value.bits().to_le_bytes()[..size]);
        }
    }
    assert!(values.next().is_none(), "[{}] takes fewer scalar values than given", kernel.name);
    block
}
