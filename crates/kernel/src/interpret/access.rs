//! Loads, stores and argument arrays: indices are checked first, then bytes are moved.

use super::machine::Machine;
use super::mask::Mask;
use super::places::Shape;
use super::races::Touch;
use crate::error::{Error, Result};
use crate::eval;
use crate::ir::{Inst, Line, Place, Value};
use crate::types::Elem;

/// An access: where, to what, by which index.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) place: Place,
    pub(super) elem: Elem,
    pub(super) index: Value,
    pub(super) line: Line,
}

impl<'a> Machine<'a, '_> {
    /// An argument out of an array.
    pub(super) fn argument(&mut self, inst: &'a Inst, param: u32, index: Value, mask: &Mask) -> Result<()> {
        let mut out = self.take(inst.results[0]);
        let values = &self.scalars[param as usize];
        let indices = self.column(index);
        for i in mask.iter() {
            let Some(value) = values.get(indices[i] as usize) else {
                let name = &self.kernel.scalars[param as usize].name;
                return Err(self.out_of_bounds(inst.line, name, indices[i], values.len() as u64));
            };
            out[i] = *value;
        }
        self.put(inst.results[0], out);
        Ok(())
    }

    /// `Load`: each result is the next element.
    pub(super) fn load(&mut self, inst: &'a Inst, at: At, mask: &Mask) -> Result<()> {
        let shape = self.places.shape(at.place, at.elem, inst.results.len());
        self.locate(at, shape, mask)?;
        self.note(Touch::Read, at.place, shape.bytes() * shape.count, mask, at.line)?;
        let bytes = self.places.bytes(at.place);
        for (i, result) in inst.results.iter().enumerate() {
            let out = &mut self.columns[result.index()];
            for (c, out) in out.chunks_exact_mut(self.invocations).enumerate() {
                let offset = i * shape.bytes() + c * shape.component.bytes();
                gather(shape.component, bytes, &self.addresses, offset, out, mask);
            }
        }
        Ok(())
    }

    /// `Store`: invocations write in order, so that of several to one element the last stays.
    pub(super) fn store(&mut self, at: At, values: &[Value], mask: &Mask) -> Result<()> {
        let shape = self.places.shape(at.place, at.elem, values.len());
        self.locate(at, shape, mask)?;
        self.note(Touch::Write, at.place, shape.bytes() * shape.count, mask, at.line)?;
        let Some(bytes) = self.places.bytes_mut(at.place) else {
            return Err(self.not_writable(at.place, at.line));
        };
        for (i, value) in values.iter().enumerate() {
            let column = &self.columns[value.index()];
            for (c, column) in column.chunks_exact(self.invocations).enumerate() {
                let offset = i * shape.bytes() + c * shape.component.bytes();
                scatter(shape.component, bytes, &self.addresses, offset, column, mask);
            }
        }
        Ok(())
    }

    /// Checks the indices of active invocations and leaves their byte addresses in `addresses`.
    pub(super) fn locate(&mut self, at: At, shape: Shape, mask: &Mask) -> Result<()> {
        let stride = self.places.copy_stride(at.place);
        let size = shape.bytes();
        let (bound, count) = ((self.places.len(at.place) / size) as u64, shape.count as u64);
        let indices = &self.columns[at.index.index()];
        let mut all_inside = true;
        for (i, (address, index)) in self.addresses.iter_mut().zip(indices).enumerate() {
            let inside = is_inside(*index, bound, count);
            *address = (*index as usize).wrapping_mul(size).wrapping_add(stride * i);
            all_inside &= inside | !mask.is(i);
        }
        if all_inside {
            return Ok(());
        }
        let bad = mask.iter().find(|i| !is_inside(indices[*i], bound, count));
        Err(self.bad_index(at, indices[bad.expect("not all are inside")], bound, count))
    }

    #[cold]
    fn bad_index(&self, at: At, index: u64, bound: u64, count: u64) -> Error {
        let name = self.places.name(at.place);
        if !index.is_multiple_of(count) {
            let message =
                format!("the index of {count} elements of {name} must be a multiple of {count} but is {index}.");
            return self.execution(at.line, message);
        }
        // Of a wide access that begins inside, the first element outside.
        self.out_of_bounds(at.line, name, index.max(bound), bound)
    }

    #[cold]
    pub(super) fn not_writable(&self, place: Place, line: Line) -> Error {
        let name = self.places.name(place);
        self.execution(line, format!("the memory of {name} must be writable but is only read."))
    }
}

/// Whether this many elements from an index lie below the bound, and the index is a multiple of their number, a power of two.
#[inline(always)]
fn is_inside(index: u64, bound: u64, count: u64) -> bool {
    (index < bound) & (bound.wrapping_sub(index) >= count) & (index & (count - 1) == 0)
}

/// Reads one component for each that the mask names.
pub(super) fn gather(elem: Elem, bytes: &[u8], addresses: &[usize], offset: usize, out: &mut [u64], mask: &Mask) {
    macro_rules! read {
        (|$b:ident: $size:literal| $value:expr) => {{
            let read = |address: usize| {
                let at = address + offset;
                let $b: [u8; $size] = bytes[at..at + $size].try_into().expect("as long as the range");
                $value as u64
            };
            if mask.all() {
                out.iter_mut().zip(addresses).for_each(|(out, address)| *out = read(*address));
            } else {
                mask.iter().for_each(|i| out[i] = read(addresses[i]));
            }
        }};
    }
    match elem {
        Elem::Bool => read!(|b: 1| b[0] != 0),
        Elem::I8 => read!(|b: 1| b[0] as i8 as u32),
        Elem::U8 => read!(|b: 1| b[0]),
        Elem::I16 => read!(|b: 2| i16::from_le_bytes(b) as u32),
        Elem::U16 => read!(|b: 2| u16::from_le_bytes(b)),
        Elem::F16 => read!(|b: 2| eval::f16_to_f32(u16::from_le_bytes(b)).to_bits()),
        Elem::BF16 => read!(|b: 2| eval::bf16_to_f32(u16::from_le_bytes(b)).to_bits()),
        Elem::I32 | Elem::U32 | Elem::F32 => read!(|b: 4| u32::from_le_bytes(b)),
        Elem::I64 | Elem::U64 | Elem::F64 => read!(|b: 8| u64::from_le_bytes(b)),
        Elem::C64 => unreachable!("a complex number is two components"),
    }
}

/// Writes one component for each that the mask names.
pub(super) fn scatter(elem: Elem, bytes: &mut [u8], addresses: &[usize], offset: usize, column: &[u64], mask: &Mask) {
    macro_rules! write {
        (|$word:ident: $size:literal| $value:expr) => {{
            let mut write = |address: usize, $word: u64| {
                let at = address + offset;
                bytes[at..at + $size].copy_from_slice(&$value.to_le_bytes());
            };
            if mask.all() {
                column.iter().zip(addresses).for_each(|(word, address)| write(*address, *word));
            } else {
                mask.iter().for_each(|i| write(addresses[i], column[i]));
            }
        }};
    }
    match elem {
        Elem::Bool | Elem::I8 | Elem::U8 => write!(|word: 1| (word as u8)),
        Elem::I16 | Elem::U16 => write!(|word: 2| (word as u16)),
        Elem::F16 => write!(|word: 2| eval::f32_to_f16(f32::from_bits(word as u32))),
        Elem::BF16 => write!(|word: 2| eval::f32_to_bf16(f32::from_bits(word as u32))),
        Elem::I32 | Elem::U32 | Elem::F32 => write!(|word: 4| (word as u32)),
        Elem::I64 | Elem::U64 | Elem::F64 => write!(|word: 8| word),
        Elem::C64 => unreachable!("a complex number is two components"),
    }
}
