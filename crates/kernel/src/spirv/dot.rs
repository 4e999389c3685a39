//! The dot product of four packed bytes: the device's instruction, or shifts and products.

use rspirv::spirv::{Capability, Op as Code, PackedVectorFormat};

use super::emitter::Emitter;
use super::words::Id;
use crate::types::{Elem, Type};

impl Emitter<'_> {
    pub fn dot4(&mut self, signed: [bool; 2], [a, b]: [Id; 2], accumulator: Id) -> Id {
        let sum = match self.target.integer_dot {
            true => self.dot4_native(signed, a, b),
            false => self.dot4_by_bytes(signed, a, b),
        };
        self.op(Code::IAdd, Type::I32, &[sum, accumulator])
    }

    fn dot4_native(&mut self, signed: [bool; 2], a: Id, b: Id) -> Id {
        self.asm.need(Capability::DotProduct);
        self.asm.need(Capability::DotProductInput4x8BitPacked);
        // The mixed instruction takes the signed operand first.
        let (code, a, b) = match signed {
            [true, true] => (Code::SDot, a, b),
            [false, false] => (Code::UDot, a, b),
            [true, false] => (Code::SUDot, a, b),
            [false, true] => (Code::SUDot, b, a),
        };
        self.op(code, Type::I32, &[a, b, PackedVectorFormat::PackedVectorFormat4x8Bit as u32])
    }

    fn dot4_by_bytes(&mut self, signed: [bool; 2], a: Id, b: Id) -> Id {
        let mut sum = 0;
        for byte in 0..4 {
            let x = self.byte(signed[0], a, byte);
            let y = self.byte(signed[1], b, byte);
            let product = self.op(Code::IMul, Type::I32, &[x, y]);
            sum = if byte == 0 { product } else { self.op(Code::IAdd, Type::I32, &[sum, product]) };
        }
        sum
    }

    fn byte(&mut self, signed: bool, word: Id, byte: u32) -> Id {
        let by = self.asm.u32(8 * byte);
        let low = if byte == 0 { word } else { self.op(Code::ShiftRightLogical, Type::I32, &[word, by]) };
        self.narrow(if signed { Elem::I8 } else { Elem::U8 }, Type::I32, low)
    }
}
