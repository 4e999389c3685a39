//! Conversions by value and by bits.
//!
//! SPIR-V leaves a float that does not fit the integer undefined; here it saturates, and NaN becomes 0.

use rspirv::spirv::Op as Code;

use super::arithmetic::bits_of;
use super::emitter::Emitter;
use super::words::Id;
use crate::types::{Scalar, Type};

/// The bits of a float constant.
fn float_bits(ty: Type, value: f64) -> u64 {
    match ty.scalar() {
        Some(Scalar::F32) => (value as f32).to_bits() as u64,
        _ => value.to_bits(),
    }
}

impl Emitter<'_> {
    pub fn convert(&mut self, from: Type, to: Type, a: Id, signed: bool) -> Id {
        let scalars = (from.scalar(), to.scalar());
        let (Some(source), Some(result)) = scalars else { unreachable!("verify keeps matrices out") };
        match (source, result) {
            _ if source == result => a,
            (Scalar::Bool, _) => {
                let one = if result.is_float() { float_bits(to, 1.0) } else { 1 };
                let [one, zero] = [one, 0].map(|bits| self.constant(to, bits));
                self.select(to, a, one, zero)
            }
            (s, Scalar::Bool) if s.is_float() => self.is_not_zero(from, a),
            (_, Scalar::Bool) => {
                let zero = self.constant(from, 0);
                self.op(Code::INotEqual, to, &[a, zero])
            }
            (s, r) if s.is_float() && r.is_float() => self.convert_width(from, to, a),
            (_, r) if r.is_float() => self.op(if signed { Code::ConvertSToF } else { Code::ConvertUToF }, to, &[a]),
            (s, _) if s.is_float() => self.saturate(from, to, a, signed),
            (Scalar::I32, _) if signed => self.op(Code::SConvert, to, &[a]),
            _ => self.op(Code::UConvert, to, &[a]),
        }
    }

    /// Whether a float is anything but a zero; NaN and denormals are.
    fn is_not_zero(&mut self, ty: Type, a: Id) -> Id {
        let int = bits_of(ty);
        let bits = self.op(Code::Bitcast, int, &[a]);
        let [one, zero] = [1, 0].map(|n| self.constant(int, n));
        // Without its sign: a zero of either sign is 0.
        let magnitude = self.op(Code::ShiftLeftLogical, int, &[bits, one]);
        self.op(Code::INotEqual, ty.with_scalar(Scalar::Bool), &[magnitude, zero])
    }

    /// Float to integer: towards zero, to the nearest end outside the range, 0 for NaN.
    fn saturate(&mut self, from: Type, to: Type, a: Id, signed: bool) -> Id {
        let bits = 8 * to.scalar().map_or(0, Scalar::bytes) as i32;
        let bools = from.with_scalar(Scalar::Bool);
        let (code, least, most, bottom, top) = match signed {
            true => {
                let edge = 1u64 << (bits - 1);
                (Code::ConvertFToS, -(2f64.powi(bits - 1)), 2f64.powi(bits - 1), edge, edge - 1)
            }
            false => (Code::ConvertFToU, 0.0, 2f64.powi(bits), 0, u64::MAX >> (64 - bits)),
        };
        let [least, most, zero] = [least, most, 0.0].map(|v| self.constant(from, float_bits(from, v)));
        let [bottom, top, nothing] = [bottom, top, 0].map(|v| self.constant(to, v));
        let above_least = self.op(Code::FOrdGreaterThanEqual, bools, &[a, least]);
        let below_most = self.op(Code::FOrdLessThan, bools, &[a, most]);
        let inside = self.op(Code::LogicalAnd, bools, &[above_least, below_most]);
        let safe = self.select(from, inside, a, zero);
        let converted = self.op(code, to, &[safe]);
        let too_large = self.op(Code::FOrdGreaterThanEqual, bools, &[a, most]);
        let outside = self.select(to, too_large, top, bottom);
        let nan = self.is_nan(from, a);
        let outside = self.select(to, nan, nothing, outside);
        self.select(to, inside, converted, outside)
    }

    pub fn bitcast(&mut self, from: Type, to: Type, a: Id) -> Id {
        if from == to { a } else { self.op(Code::Bitcast, to, &[a]) }
    }
}
