//! Operations on constants.

use super::{Folder, Known};
use crate::eval;
use crate::ir::{Op, Value};
use crate::types::Scalar;

impl Folder<'_> {
    /// The result of an operation whose operands are all known.
    pub(super) fn evaluate(&self, result: Value, op: &Op) -> Option<Known> {
        let known = |v: &Value| self.known[v.index()];
        let lanes = self.kernel.type_of(result).lanes();
        match op {
            Op::Const(bits) => Some(each(lanes, |_| self.low_bits(result, *bits))),
            Op::Unary(op, a) => {
                let (scalar, a) = (self.scalar(*a), known(a)?);
                Some(each(lanes, |i| eval::unary(*op, scalar, a[i])))
            }
            Op::Binary(op, a, b) => {
                let (scalar, a, b) = (self.scalar(*a), known(a)?, known(b)?);
                Some(each(lanes, |i| eval::binary(*op, scalar, a[i], b[i])))
            }
            Op::Compare(op, a, b) => {
                let (scalar, a, b) = (self.scalar(*a), known(a)?, known(b)?);
                Some(each(lanes, |i| eval::compare(*op, scalar, a[i], b[i])))
            }
            Op::Fma(a, b, c) => {
                let (scalar, a, b, c) = (self.scalar(*a), known(a)?, known(b)?, known(c)?);
                let result = each(lanes, |i| eval::fma(scalar, a[i], b[i], c[i]));
                // Devices differ on denormals here, so theirs is the result.
                let denormal = |bits: &u64| scalar == Scalar::F32 && bits & 0x7f80_0000 == 0 && bits & 0x7f_ffff != 0;
                let differs = [&a, &b, &c, &result].into_iter().any(|list| list[..lanes].iter().any(denormal));
                (!differs).then_some(result)
            }
            Op::Select(condition, a, b) => {
                let per_component = self.kernel.type_of(*condition).lanes() > 1;
                let (condition, a, b) = (known(condition)?, known(a)?, known(b)?);
                let holds = |i: usize| condition[if per_component { i } else { 0 }] != 0;
                Some(each(lanes, |i| if holds(i) { a[i] } else { b[i] }))
            }
            Op::Convert { value, signed } => {
                let (from, to, a) = (self.scalar(*value), self.scalar(result), known(value)?);
                Some(each(lanes, |i| eval::convert(from, to, *signed, a[i])))
            }
            Op::Bitcast(a) => {
                let (from, to) = (self.kernel.type_of(*a), self.kernel.type_of(result));
                let bits = eval::bitcast(from, to, &known(a)?[..from.lanes()]);
                Some(each(lanes, |i| bits[i]))
            }
            Op::Narrow(elem, a) => known(a).map(|a| each(lanes, |i| eval::narrow(*elem, a[i]))),
            Op::Encode(elem, a) => known(a).map(|a| each(lanes, |i| eval::encode(*elem, a[i]))),
            Op::Decode(elem, a) => known(a).map(|a| each(lanes, |i| eval::decode(*elem, a[i]))),
            Op::Dot4 { signed_a, signed_b, a, b, accumulator } => {
                let (a, b, c) = (known(a)?, known(b)?, known(accumulator)?);
                Some(each(lanes, |i| eval::dot4(*signed_a, *signed_b, a[i], b[i], c[i])))
            }
            Op::Compose(parts) => {
                let mut components = [0; 4];
                for (component, part) in components.iter_mut().zip(parts) {
                    *component = known(part)?[0];
                }
                Some(components)
            }
            Op::Extract(a, lane) => known(a).map(|a| each(1, |_| a[*lane as usize])),
            _ => None,
        }
    }
}

fn each(lanes: usize, f: impl Fn(usize) -> u64) -> Known {
    std::array::from_fn(|i| if i < lanes { f(i) } else { 0 })
}
