//! Loads and stores through buffer addresses.
//!
//! An access is one instruction: several elements travel as one word, two or four, and are taken apart and put together with
//! shifts. Where the device has no 8- or 16-bit accesses, a narrow element is cut out of its word, and written into it with
//! two atomics, so that neighbours written by other invocations stay whole.

use rspirv::spirv::{Capability, Op as Code, Scope, StorageClass};

use super::emitter::Emitter;
use super::words::Id;
use crate::error::Result;
use crate::ir::Value;
use crate::types::{Elem, Scalar, Type};

impl Emitter<'_> {
    pub fn load_buffer(&mut self, buffer: u32, elem: Elem, index: Value, count: usize) -> Result<Vec<Id>> {
        self.require_type(elem.compute())?;
        let bytes = elem.bytes() * count;
        Ok(match (count, elem.bytes()) {
            (1, 4 | 8) => {
                let ty = self.ty(elem.compute());
                vec![self.load_at(buffer, elem, index, ty, bytes as u32)]
            }
            _ if bytes < 4 => {
                let first = self.wide_index(index);
                (0..count as u64).map(|i| self.load_narrow(buffer, elem, first, i)).collect()
            }
            _ => {
                let words = self.load_words(buffer, elem, index, bytes / 4);
                self.unpack(elem, &words)
            }
        })
    }

    pub fn store_buffer(&mut self, buffer: u32, elem: Elem, index: Value, values: &[Id]) -> Result<()> {
        let bytes = elem.bytes() * values.len();
        match (values.len(), elem.bytes()) {
            (1, 4 | 8) => {
                let ty = self.ty(elem.compute());
                self.store_at(buffer, elem, index, ty, values[0], bytes as u32);
            }
            _ if bytes < 4 => {
                let first = self.wide_index(index);
                for (i, &value) in values.iter().enumerate() {
                    self.store_narrow(buffer, elem, first, i as u64, value);
                }
            }
            _ => {
                let words = self.pack(elem, values);
                self.store_words(buffer, elem, index, &words);
            }
        }
        Ok(())
    }

    /// Whether elements of this narrow type can be accessed on their own. Says that they are, if so.
    fn has_narrow_storage(&mut self, elem: Elem) -> bool {
        let (has, capability) = match elem.bytes() {
            1 => (self.target.storage8, Capability::StorageBuffer8BitAccess),
            _ => (self.target.storage16, Capability::StorageBuffer16BitAccess),
        };
        if has {
            self.asm.need(capability);
        }
        has
    }

    /// An index as an unsigned 64-bit number.
    pub fn wide_index(&mut self, index: Value) -> Id {
        match (self.known(index), self.type_of(index)) {
            (Some(bits), _) => self.constant(Type::I64, bits),
            (None, Type::I64) => self.id(index),
            (None, _) => {
                let id = self.id(index);
                self.op(Code::UConvert, Type::I64, &[id])
            }
        }
    }

    /// The address of a narrow element some places after an index.
    fn narrow_address(&mut self, buffer: u32, elem: Elem, index: Id, more: u64) -> Id {
        let mut at = index;
        if more > 0 {
            let more = self.constant(Type::I64, more);
            at = self.op(Code::IAdd, Type::I64, &[index, more]);
        }
        self.address(buffer, elem, at)
    }

    /// The address of the element at a 64-bit index.
    pub fn address(&mut self, buffer: u32, elem: Elem, index: Id) -> Id {
        let base = self.memory.addresses[buffer as usize];
        let offset = match elem.bytes() {
            1 => index,
            bytes => {
                let bytes = self.constant(Type::I64, bytes as u64);
                self.op(Code::IMul, Type::I64, &[index, bytes])
            }
        };
        self.op(Code::IAdd, Type::I64, &[base, offset])
    }

    /// A pointer to something of a SPIR-V type at an address.
    pub fn pointer_at(&mut self, address: Id, ty: Id) -> Id {
        let pointer = self.asm.pointer(StorageClass::PhysicalStorageBuffer, ty);
        self.raw(Code::ConvertUToPtr, pointer, &[address])
    }

    /// A pointer to the element at an index of the kernel.
    pub fn element_pointer(&mut self, buffer: u32, elem: Elem, index: Value, ty: Id) -> Id {
        let index = self.wide_index(index);
        let address = self.address(buffer, elem, index);
        self.pointer_at(address, ty)
    }

    fn load_at(&mut self, buffer: u32, elem: Elem, index: Value, ty: Id, align: u32) -> Id {
        let pointer = self.element_pointer(buffer, elem, index, ty);
        let [access, align] = self.buffer_access(buffer, align);
        self.raw(Code::Load, ty, &[pointer, access, align])
    }

    fn store_at(&mut self, buffer: u32, elem: Elem, index: Value, ty: Id, value: Id, align: u32) {
        let pointer = self.element_pointer(buffer, elem, index, ty);
        let [access, align] = self.buffer_access(buffer, align);
        self.effect(Code::Store, &[pointer, value, access, align]);
    }

    /// A narrow element on its own: accessed as it is, or cut out of the word that holds it.
    fn load_narrow(&mut self, buffer: u32, elem: Elem, index: Id, more: u64) -> Id {
        let address = self.narrow_address(buffer, elem, index, more);
        if self.has_narrow_storage(elem) {
            let ty = self.asm.narrow_int(8 * elem.bytes() as u32);
            let pointer = self.pointer_at(address, ty);
            let [access, align] = self.buffer_access(buffer, elem.bytes() as u32);
            let narrow = self.raw(Code::Load, ty, &[pointer, access, align]);
            let extend = if elem.is_signed() { Code::SConvert } else { Code::UConvert };
            let bits = self.op(extend, Type::I32, &[narrow]);
            return self.widen(elem, bits);
        }
        let (word, shift) = self.word_of(address);
        let ty = self.ty(Type::I32);
        let pointer = self.pointer_at(word, ty);
        let [access, align] = self.buffer_access(buffer, 4);
        let word = self.raw(Code::Load, ty, &[pointer, access, align]);
        let shifted = self.op(Code::ShiftRightLogical, Type::I32, &[word, shift]);
        self.low_bits_value(elem, shifted)
    }

    fn store_narrow(&mut self, buffer: u32, elem: Elem, index: Id, more: u64, value: Id) {
        let bits = self.narrow_bits(elem, value);
        let address = self.narrow_address(buffer, elem, index, more);
        if !self.has_narrow_storage(elem) {
            return self.store_into_word(elem, address, bits);
        }
        let ty = self.asm.narrow_int(8 * elem.bytes() as u32);
        let narrow = self.raw(Code::UConvert, ty, &[bits]);
        let pointer = self.pointer_at(address, ty);
        let [access, align] = self.buffer_access(buffer, elem.bytes() as u32);
        self.effect(Code::Store, &[pointer, narrow, access, align]);
    }

    /// The address of the word around an address, and where in it the element's bits start.
    fn word_of(&mut self, address: Id) -> (Id, Id) {
        let [inside, outside] = [3, !3u64].map(|mask| self.constant(Type::I64, mask));
        let word = self.op(Code::BitwiseAnd, Type::I64, &[address, outside]);
        let byte = self.op(Code::BitwiseAnd, Type::I64, &[address, inside]);
        let byte = self.op(Code::UConvert, Type::I32, &[byte]);
        let three = self.asm.u32(3);
        let shift = self.op(Code::ShiftLeftLogical, Type::I32, &[byte, three]);
        (word, shift)
    }

    /// Clears a narrow element's bits in its word, then sets them.
    fn store_into_word(&mut self, elem: Elem, address: Id, bits: Id) {
        let (word, shift) = self.word_of(address);
        let ty = self.ty(Type::I32);
        let pointer = self.pointer_at(word, ty);
        let ones = self.asm.u32((1 << (8 * elem.bytes())) - 1);
        let low = self.op(Code::BitwiseAnd, Type::I32, &[bits, ones]);
        let set = self.op(Code::ShiftLeftLogical, Type::I32, &[low, shift]);
        let field = self.op(Code::ShiftLeftLogical, Type::I32, &[ones, shift]);
        let keep = self.op(Code::Not, Type::I32, &[field]);
        let [scope, relaxed] = [Scope::QueueFamily as u32, 0].map(|n| self.asm.u32(n));
        self.raw(Code::AtomicAnd, ty, &[pointer, scope, relaxed, keep]);
        self.raw(Code::AtomicOr, ty, &[pointer, scope, relaxed, set]);
    }

    /// Reads one, two or four words.
    fn load_words(&mut self, buffer: u32, elem: Elem, index: Value, count: usize) -> Vec<Id> {
        let ty = words(elem, count);
        let id = self.ty(ty);
        let whole = self.load_at(buffer, elem, index, id, 4 * count as u32);
        (0..count).map(|i| self.component(ty, whole, i)).collect()
    }

    fn store_words(&mut self, buffer: u32, elem: Elem, index: Value, parts: &[Id]) {
        let ty = words(elem, parts.len());
        let whole = match parts {
            [one] => *one,
            _ => self.op(Code::CompositeConstruct, ty, parts),
        };
        let id = self.ty(ty);
        self.store_at(buffer, elem, index, id, whole, 4 * parts.len() as u32);
    }

    /// Values from the words they were stored in.
    fn unpack(&mut self, elem: Elem, words: &[Id]) -> Vec<Id> {
        match elem.bytes() {
            8 => words.chunks_exact(2).map(|pair| self.join_words(elem, pair)).collect(),
            4 => words.to_vec(),
            bytes => {
                let each = 4 / bytes;
                (0..words.len() * each)
                    .map(|i| {
                        let by = self.asm.u32((i % each * 8 * bytes) as u32);
                        let word = words[i / each];
                        let shifted = match i % each {
                            0 => word,
                            _ => self.op(Code::ShiftRightLogical, Type::I32, &[word, by]),
                        };
                        self.low_bits_value(elem, shifted)
                    })
                    .collect()
            }
        }
    }

    /// The words that values are stored in.
    fn pack(&mut self, elem: Elem, values: &[Id]) -> Vec<Id> {
        match elem.bytes() {
            8 => values.iter().flat_map(|&v| self.split_words(elem, v)).collect(),
            4 => values.to_vec(),
            bytes => values.chunks_exact(4 / bytes).map(|part| self.pack_word(elem, part)).collect(),
        }
    }

    /// A 64-bit element from its two words.
    fn join_words(&mut self, elem: Elem, pair: &[Id]) -> Id {
        let ty = words(elem, 2);
        let both = self.op(Code::CompositeConstruct, ty, pair);
        self.bitcast(ty, elem.compute(), both)
    }

    fn split_words(&mut self, elem: Elem, value: Id) -> [Id; 2] {
        let ty = words(elem, 2);
        let both = self.bitcast(elem.compute(), ty, value);
        [0, 1].map(|i| self.component(ty, both, i))
    }

    fn pack_word(&mut self, elem: Elem, values: &[Id]) -> Id {
        let bits = 8 * elem.bytes() as u32;
        let mask = self.asm.u32((1 << bits) - 1);
        let mut word = 0;
        for (i, &value) in values.iter().enumerate() {
            let mut part = self.narrow_bits(elem, value);
            // The last one's upper bits are shifted out.
            if matches!(elem, Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16) && i + 1 < values.len() {
                part = self.op(Code::BitwiseAnd, Type::I32, &[part, mask]);
            }
            if i == 0 {
                word = part;
                continue;
            }
            let by = self.asm.u32(bits * i as u32);
            let placed = self.op(Code::ShiftLeftLogical, Type::I32, &[part, by]);
            word = self.op(Code::BitwiseOr, Type::I32, &[word, placed]);
        }
        word
    }

    /// The value of a narrow element whose bits are the lowest of a word.
    fn low_bits_value(&mut self, elem: Elem, word: Id) -> Id {
        match elem {
            Elem::Bool => {
                let cut = self.narrow(Elem::U8, Type::I32, word);
                self.widen(elem, cut)
            }
            // Decoding looks at the low half alone.
            Elem::F16 | Elem::BF16 => self.widen(elem, word),
            _ => self.narrow(elem, Type::I32, word),
        }
    }

    /// The value of a narrow element from its extended bits.
    pub fn widen(&mut self, elem: Elem, bits: Id) -> Id {
        match elem {
            Elem::Bool => {
                let zero = self.asm.u32(0);
                self.op(Code::INotEqual, Type::BOOL, &[bits, zero])
            }
            Elem::F16 | Elem::BF16 => self.decode(elem, Type::F32, bits),
            _ => bits,
        }
    }

    /// The bits of a value as a narrow element, in the low end of a word; above them bools and floats leave zeros.
    pub fn narrow_bits(&mut self, elem: Elem, value: Id) -> Id {
        match elem {
            Elem::Bool => {
                let [one, zero] = [1, 0].map(|n| self.asm.u32(n));
                self.select(Type::I32, value, one, zero)
            }
            Elem::F16 | Elem::BF16 => self.encode(elem, Type::I32, value),
            _ => value,
        }
    }
}

/// The type of one, two or four words: those of floats are floats.
fn words(elem: Elem, count: usize) -> Type {
    let scalar = if matches!(elem, Elem::F32 | Elem::C64) { Scalar::F32 } else { Scalar::I32 };
    if count == 1 { Type::Scalar(scalar) } else { Type::Vector(scalar, count as u8) }
}
