//! Instructions that only compute: a step for each component.

use pumice_kernel::Elem;
use pumice_kernel::ir::{Inst, Op, Value};
use smallvec::{SmallVec, smallvec};

use super::super::loops::Function;
use super::super::program::{Parts, Reg, Step, Width};
use super::super::{binary, convert, fma, unary};
use super::Lowering;

const DEFINED: &str = "verify keeps to operations the language defines";

impl Lowering<'_> {
    pub(super) fn arithmetic(&mut self, inst: &Inst, steps: &mut Vec<Step>) {
        let result = inst.results[0];
        let function = match &inst.op {
            Op::Compose(parts) => {
                self.values[result.index()] = parts.iter().map(|part| self.parts(*part)[0]).collect();
                return;
            }
            Op::Extract(a, lane) => {
                self.values[result.index()] = smallvec![self.parts(*a)[*lane as usize]];
                return;
            }
            Op::Bitcast(a) => return self.bitcast(*a, result, steps),
            Op::Fma(a, x, c) if self.polynomial(*a, *x, *c, result, steps) => return,
            Op::Narrow(elem, _) => convert::narrow(*elem),
            Op::Unary(op, a) => Some(unary::unary(*op, self.scalar(*a)).expect(DEFINED)),
            Op::Binary(op, a, _) => Some(binary::binary(*op, self.scalar(*a)).expect(DEFINED)),
            Op::Compare(op, a, _) => Some(binary::compare(*op, self.scalar(*a)).expect(DEFINED)),
            Op::Fma(a, ..) => Some(fma::fma(self.scalar(*a)).expect(DEFINED)),
            Op::Select(_, a, _) => Some(binary::select(self.scalar(*a))),
            Op::Convert { value, signed } => Some(convert::convert(self.scalar(*value), self.scalar(result), *signed)),
            Op::Encode(elem, _) => Some(convert::encode(*elem).expect(DEFINED)),
            Op::Decode(elem, _) => Some(convert::decode(*elem).expect(DEFINED)),
            Op::Dot4 { signed_a, signed_b, .. } => Some(binary::dot4(*signed_a, *signed_b)),
            op => unreachable!("{op:?} is no arithmetic"),
        };
        let operands = inst.op.operands();
        match function {
            Some(function) => self.each_part(function, result, &operands, steps),
            // Narrowing to a type that holds everything.
            None => self.values[result.index()] = self.parts(operands[0]).clone(),
        }
    }

    fn each_part(&mut self, function: Function, result: Value, operands: &[Value], steps: &mut Vec<Step>) {
        let out = self.fresh(self.kernel.type_of(result));
        for (part, out) in out.iter().enumerate() {
            // One condition may serve all components.
            let of = |value: &Value| self.parts(*value).get(part).copied().unwrap_or(self.parts(*value)[0]);
            let operands = operands.iter().map(of).collect();
            steps.push(Step::Apply { function, out: *out, operands });
        }
        self.values[result.index()] = out;
    }

    fn bitcast(&mut self, from: Value, result: Value, steps: &mut Vec<Step>) {
        let parts = self.parts(from).clone();
        let ty = self.kernel.type_of(result);
        let to = super::width(self.scalar(result));
        let mut push = |lowering: &mut Self, function, operands: SmallVec<[Reg; 3]>| {
            let out = lowering.register(to);
            steps.push(Step::Apply { function, out, operands });
            out
        };
        let out: Parts = match (parts[0].width, to) {
            (Width::Narrow, Width::Wide) => {
                parts.chunks(2).map(|pair| push(self, convert::join(), pair.iter().copied().collect())).collect()
            }
            (Width::Wide, Width::Narrow) => {
                parts.iter().flat_map(|part| convert::halves().map(|half| push(self, half, smallvec![*part]))).collect()
            }
            _ => parts,
        };
        debug_assert_eq!(out.len(), ty.lanes());
        self.values[result.index()] = out;
    }

    /// A register with the value as it comes back from storage of a type.
    pub(super) fn narrowed(&mut self, elem: Elem, from: Reg, steps: &mut Vec<Step>) -> Reg {
        let Some(function) = convert::narrow(elem) else {
            return from;
        };
        let out = self.register(from.width);
        steps.push(Step::Apply { function, out, operands: smallvec![from] });
        out
    }
}
