//! Atomics: invocations in order, one after another.

use super::access::At;
use super::machine::Machine;
use super::mask::Mask;
use super::races::Touch;
use crate::error::Result;
use crate::eval;
use crate::ir::{AtomicOp, BinaryOp, Inst, Value};
use crate::types::Elem;

impl<'a> Machine<'a, '_> {
    /// `Atomic`: what was there goes to the result, the combination with `value` to memory.
    pub(super) fn atomic(
        &mut self,
        inst: &'a Inst,
        op: AtomicOp,
        at: At,
        [value, expected]: [Value; 2],
        mask: &Mask,
    ) -> Result<()> {
        let shape = self.places.shape(at.place, at.elem, 1);
        self.locate(at, shape, mask)?;
        self.note(Touch::Atomic, at.place, shape.bytes(), mask, at.line)?;
        let mut old = inst.results.first().map(|result| self.take(*result));
        let (value, expected) = (&self.columns[value.index()], &self.columns[expected.index()]);
        let Some(bytes) = self.places.bytes_mut(at.place) else {
            return Err(self.not_writable(at.place, at.line));
        };
        let size = at.elem.bytes();
        for i in mask.iter() {
            let slot = &mut bytes[self.addresses[i]..self.addresses[i] + size];
            let mut word = [0; 8];
            word[..size].copy_from_slice(slot);
            let before = u64::from_le_bytes(word);
            let after = combine(op, at.elem, before, value[i], expected[i]);
            slot.copy_from_slice(&after.to_le_bytes()[..size]);
            if let Some(old) = &mut old {
                old[i] = before;
            }
        }
        if let (Some(old), Some(result)) = (old, inst.results.first()) {
            self.put(*result, old);
        }
        Ok(())
    }
}

fn combine(op: AtomicOp, elem: Elem, before: u64, value: u64, expected: u64) -> u64 {
    let scalar = elem.compute().scalar().expect("elements are never matrices");
    let binary = |op| eval::binary(op, scalar, before, value);
    match op {
        AtomicOp::Add => binary(BinaryOp::Add),
        AtomicOp::Min if scalar.is_float() => binary(BinaryOp::Min),
        AtomicOp::Max if scalar.is_float() => binary(BinaryOp::Max),
        AtomicOp::Min if elem.is_signed() => binary(BinaryOp::MinS),
        AtomicOp::Max if elem.is_signed() => binary(BinaryOp::MaxS),
        AtomicOp::Min => binary(BinaryOp::MinU),
        AtomicOp::Max => binary(BinaryOp::MaxU),
        AtomicOp::And => binary(BinaryOp::And),
        AtomicOp::Or => binary(BinaryOp::Or),
        AtomicOp::Xor => binary(BinaryOp::Xor),
        AtomicOp::Exchange => value,
        AtomicOp::CompareExchange if expected == before => value,
        AtomicOp::CompareExchange => before,
    }
}
