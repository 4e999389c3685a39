//! Counting, finding and reversing bits, and the high half of products. Vulkan has these for 32 bits only; 64-bit ones are
//! put together from halves.

use rspirv::spirv::{GlslStd450Op, Op as Code};

use super::emitter::Emitter;
use super::exact::Exact;
use super::words::Id;
use crate::types::{Scalar, Type};

impl Emitter<'_> {
    pub fn count_ones(&mut self, ty: Type, a: Id) -> Id {
        if ty.scalar() == Some(Scalar::I32) {
            return self.op(Code::BitCount, ty, &[a]);
        }
        let half = ty.with_scalar(Scalar::I32);
        let [low, high] = self.halves(ty, a);
        let [low, high] = [low, high].map(|h| self.op(Code::BitCount, half, &[h]));
        let sum = self.op(Code::IAdd, half, &[low, high]);
        self.op(Code::UConvert, ty, &[sum])
    }

    /// 31 minus the place of the highest one bit, which is -1 if there is none.
    pub fn leading_zeros(&mut self, ty: Type, a: Id) -> Id {
        let half = ty.with_scalar(Scalar::I32);
        let thirty_one = self.constant(half, 31);
        if ty == half {
            let highest = self.glsl(GlslStd450Op::FindUMsb, half, &[a]);
            return self.op(Code::ISub, half, &[thirty_one, highest]);
        }
        let [low, high] = self.halves(ty, a);
        let [of_low, of_high] = [low, high].map(|h| {
            let highest = self.glsl(GlslStd450Op::FindUMsb, half, &[h]);
            self.op(Code::ISub, half, &[thirty_one, highest])
        });
        self.first_half(ty, high, of_high, of_low)
    }

    /// The place of the lowest one bit, which is -1 if there is none: the width then.
    pub fn trailing_zeros(&mut self, ty: Type, a: Id) -> Id {
        let half = ty.with_scalar(Scalar::I32);
        if ty == half {
            return self.lowest(half, a);
        }
        let [low, high] = self.halves(ty, a);
        let [of_low, of_high] = [low, high].map(|h| self.lowest(half, h));
        self.first_half(ty, low, of_low, of_high)
    }

    fn lowest(&mut self, ty: Type, a: Id) -> Id {
        let [zero, all] = [0, 32].map(|n| self.constant(ty, n));
        let place = self.glsl(GlslStd450Op::FindILsb, ty, &[a]);
        let none = self.op(Code::IEqual, ty.with_scalar(Scalar::Bool), &[a, zero]);
        self.select(ty, none, all, place)
    }

    /// The count of the first half if that has a one, else 32 more than that of the second; widened.
    fn first_half(&mut self, ty: Type, first: Id, of_first: Id, of_second: Id) -> Id {
        let half = ty.with_scalar(Scalar::I32);
        let [zero, all] = [0, 32].map(|n| self.constant(half, n));
        let beyond = self.op(Code::IAdd, half, &[of_second, all]);
        let none = self.op(Code::IEqual, ty.with_scalar(Scalar::Bool), &[first, zero]);
        let count = self.select(half, none, beyond, of_first);
        self.op(Code::UConvert, ty, &[count])
    }

    pub fn reverse_bits(&mut self, ty: Type, a: Id) -> Id {
        if ty.scalar() == Some(Scalar::I32) {
            return self.op(Code::BitReverse, ty, &[a]);
        }
        let half = ty.with_scalar(Scalar::I32);
        let [low, high] = self.halves(ty, a);
        let [low, high] = [high, low].map(|h| self.op(Code::BitReverse, half, &[h]));
        self.join(ty, low, high)
    }

    pub fn mul_high(&mut self, signed: bool, ty: Type, a: Id, b: Id) -> Id {
        if ty.scalar() == Some(Scalar::I64) {
            let exact = if signed { Exact::MulHighS64 } else { Exact::MulHighU64 };
            return self.call_each(exact, ty, ty, [a, b]);
        }
        let wide = ty.with_scalar(Scalar::I64);
        let code = if signed { Code::SConvert } else { Code::UConvert };
        let [a, b] = [a, b].map(|v| self.op(code, wide, &[v]));
        let product = self.op(Code::IMul, wide, &[a, b]);
        let [_, high] = self.halves(wide, product);
        high
    }

    /// The low and high 32 bits of 64-bit components.
    pub fn halves(&mut self, ty: Type, a: Id) -> [Id; 2] {
        let half = ty.with_scalar(Scalar::I32);
        let low = self.op(Code::UConvert, half, &[a]);
        let by = self.constant(ty, 32);
        let shifted = self.op(Code::ShiftRightLogical, ty, &[a, by]);
        let high = self.op(Code::UConvert, half, &[shifted]);
        [low, high]
    }

    /// 64-bit components from their low and high 32 bits.
    fn join(&mut self, ty: Type, low: Id, high: Id) -> Id {
        let [low, high] = [low, high].map(|h| self.op(Code::UConvert, ty, &[h]));
        let by = self.constant(ty, 32);
        let high = self.op(Code::ShiftLeftLogical, ty, &[high, by]);
        self.op(Code::BitwiseOr, ty, &[low, high])
    }
}
