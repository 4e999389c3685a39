//! The argument block: what a kernel finds at the one address it is given.
//!
//! First the buffers' addresses, eight bytes each, then the scalar arguments at their natural alignment, padded to sixteen
//! bytes at the end. Shapes, strides and scalars are arguments, so one kernel serves every shape.

use crate::error::{Error, Result};
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

/// Writes an argument block of `layout.size` zero bytes: addresses in the order of the kernel's buffers, then every scalar value in
/// the order of its parameters, arrays flattened.
pub fn write_arguments(
    kernel: &Kernel,
    layout: &ArgumentLayout,
    addresses: &[u64],
    scalars: &[Argument],
    block: &mut [u8],
) -> Result<()> {
    let wrong = |message| Err(Error::Launch { kernel: kernel.name.clone(), message });
    let wanted: usize = kernel.scalars.iter().map(|p| p.len as usize).sum();
    if addresses.len() != kernel.buffers.len() {
        return wrong(format!("must be given {} buffers but was given {}.", kernel.buffers.len(), addresses.len()));
    }
    if scalars.len() != wanted {
        return wrong(format!("must be given {wanted} scalar values but was given {}.", scalars.len()));
    }
    for (slot, address) in block.chunks_exact_mut(8).zip(addresses) {
        slot.copy_from_slice(&address.to_le_bytes());
    }
    let mut values = scalars.iter();
    for (param, &offset) in kernel.scalars.iter().zip(&layout.scalars) {
        let size = param.scalar.bytes();
        for (i, value) in values.by_ref().take(param.len as usize).enumerate() {
            if value.scalar() != param.scalar {
                let (name, wanted, given) = (&param.name, param.scalar.name(), value.scalar().name());
                return wrong(format!("argument {name} must be {wanted} but is {given}."));
            }
            let at = offset as usize + i * size;
            block[at..at + size].copy_from_slice(&value.bits().to_le_bytes()[..size]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Elem;

    fn kernel() -> Kernel {
        Kernel::build("k", [1, 1, 1], |k| {
            k.input("a", Elem::F32);
            k.arg_i32("n");
            k.arg_i64("big");
            k.arg_array("shape", Scalar::I32, 3);
        })
        .expect("the kernel is well formed")
    }

    #[test]
    fn values_stand_at_their_natural_alignment() {
        let kernel = kernel();
        let layout = ArgumentLayout::of(&kernel);
        assert_eq!((layout.scalars.clone(), layout.size), (vec![8, 16, 24], 48));
        let scalars = [7, 1, 2, 3].map(Argument::I32);
        let given = [scalars[0], Argument::I64(-1), scalars[1], scalars[2], scalars[3]];
        let mut block = [0u8; 48];
        write_arguments(&kernel, &layout, &[0x1122], &given, &mut block).expect("the arguments fit");
        assert_eq!(block[..8], 0x1122u64.to_le_bytes());
        assert_eq!(block[8..12], 7i32.to_le_bytes());
        assert_eq!(block[16..24], [0xff; 8]);
        assert_eq!(block[24..36], [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    }

    #[test]
    fn a_wrong_number_or_type_of_arguments_is_an_error() {
        let kernel = kernel();
        let layout = ArgumentLayout::of(&kernel);
        let write = |addresses: &[u64], scalars: &[Argument]| {
            write_arguments(&kernel, &layout, addresses, scalars, &mut [0; 48]).expect_err("wrong").to_string()
        };
        assert_eq!(write(&[], &[]), "[k] must be given 1 buffers but was given 0.");
        assert_eq!(write(&[0], &[]), "[k] must be given 5 scalar values but was given 0.");
        let floats = [Argument::F32(0.0); 5];
        assert_eq!(write(&[0], &floats), "[k] argument n must be i32 but is f32.");
    }
}
