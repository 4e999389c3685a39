//! Constant folding: what is known while building is computed now, by the functions the interpreter computes with, and what
//! changes nothing is left out. Every rewrite keeps bits: integer identities hold modulo the width, float ones only where
//! they hold for negative zero, infinities and NaN as well.

mod evaluate;
mod identities;
mod integer;
#[cfg(test)]
mod tests;

use crate::eval;
use crate::ir::{BinaryOp, Block, Builtin, Inst, Kernel, Line, Op, Results, UnaryOp, Value};
use crate::types::{Elem, Scalar, Type};

/// Folds constants and identities, picks the side of an `If` with a known condition, drops loops that do not run, and writes
/// out loops that run once.
pub fn fold(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut folder = Folder::new(kernel);
    kernel.body = *folder.block(Box::new(body));
}

/// The components of a constant; those a type does not have mean nothing.
type Known = [u64; 4];

/// What a rewrite comes to.
enum Outcome {
    /// Nothing to gain.
    Keep,
    /// A constant.
    Known(Known),
    /// Another value.
    Same(Value),
    /// Another operation.
    Instead(Op),
}

/// What a rewrite may see of the operation behind an operand.
#[derive(Clone, Copy)]
enum Origin {
    Unseen,
    Unary(UnaryOp, Value),
    Binary(BinaryOp, Value, Value),
    Convert(Value),
    Bitcast(Value),
    Narrow(Elem, Value),
    Encode(Elem, Value),
    Decode(Elem),
    Load(Elem),
    Extract(Value, u8),
    /// The first of the parts, among the folder's.
    Compose(u32),
}

struct Folder<'a> {
    kernel: &'a mut Kernel,
    /// What stands for each value.
    alias: Vec<Value>,
    /// The constants among them.
    known: Vec<Option<Known>>,
    /// Where values come from, as far as a rewrite looks.
    origins: Vec<Origin>,
    /// The parts of vectors, which `Origin::Compose` points into.
    parts: Vec<Value>,
    /// The block being written.
    out: Vec<Inst>,
    /// Where the instruction at hand was written.
    line: Line,
}

impl<'a> Folder<'a> {
    fn new(kernel: &'a mut Kernel) -> Folder<'a> {
        let n = kernel.types.len();
        Folder {
            kernel,
            alias: (0..n as u32).map(Value).collect(),
            known: vec![None; n],
            origins: vec![Origin::Unseen; n],
            parts: Vec::new(),
            out: Vec::new(),
            line: Line { file: "", line: 0 },
        }
    }

    fn block(&mut self, mut block: Box<Block>) -> Box<Block> {
        let outer = std::mem::replace(&mut self.out, Vec::with_capacity(block.insts.len()));
        self.insts(std::mem::take(&mut block.insts));
        block.insts = std::mem::replace(&mut self.out, outer);
        self.resolve_all(&mut block.yields);
        block
    }

    fn insts(&mut self, insts: Vec<Inst>) {
        for mut inst in insts {
            inst.op.map_operands(|v| self.alias[v.index()]);
            self.line = inst.line;
            match inst.op {
                Op::If { .. } | Op::For { .. } | Op::While { .. } => self.control(inst),
                _ => self.plain(inst),
            }
        }
    }

    /// Rewrites an instruction until nothing is to be gained, then writes what is left of it.
    fn plain(&mut self, mut inst: Inst) {
        let [result] = inst.results[..] else {
            self.out.push(inst);
            return;
        };
        loop {
            match self.rewrite(result, &inst.op) {
                Outcome::Instead(op) => inst.op = op,
                Outcome::Same(value) => {
                    self.alias[result.index()] = value;
                    return;
                }
                Outcome::Known(components) => {
                    self.known[result.index()] = Some(components);
                    if let Some(bits) = self.splat(result) {
                        inst.op = Op::Const(bits);
                    }
                    break;
                }
                Outcome::Keep => break,
            }
        }
        self.origins[result.index()] = self.origin_of(&inst.op);
        self.out.push(inst);
    }

    fn rewrite(&mut self, result: Value, op: &Op) -> Outcome {
        if let Some(components) = self.evaluate(result, op) {
            return Outcome::Known(components);
        }
        match op {
            Op::Builtin(Builtin::LocalId(axis)) if self.kernel.workgroup[*axis as usize] == 1 => Outcome::Known([0; 4]),
            _ => self.identity(result, op),
        }
    }

    fn control(&mut self, mut inst: Inst) {
        match inst.op {
            Op::If { condition, then, otherwise } => {
                if let Some(components) = self.known[condition.index()] {
                    let taken = if components[0] != 0 { then } else { otherwise };
                    self.inline(&inst.results, *taken);
                    return;
                }
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                for (i, result) in inst.results.iter().enumerate() {
                    if then.yields[i] == otherwise.yields[i] {
                        self.alias[result.index()] = then.yields[i];
                    }
                }
                inst.op = Op::If { condition, then, otherwise };
            }
            Op::For { start, end, step, init, body, unroll } => match self.turns(start, end, step) {
                Some(0) => return self.replace(&inst.results, &init),
                Some(1) => {
                    let mut first = vec![start];
                    first.extend(init);
                    self.replace(&body.params, &first);
                    return self.inline(&inst.results, *body);
                }
                _ => {
                    let body = self.block(body);
                    inst.op = Op::For { start, end, step, init, body, unroll };
                }
            },
            Op::While { init, test, body } => {
                let test = self.block(test);
                let never = self.known[test.yields[0].index()].is_some_and(|known| known[0] == 0);
                if never && !test.insts.iter().any(|inst| inst.op.has_effect()) {
                    return self.replace(&inst.results, &init);
                }
                let body = self.block(body);
                inst.op = Op::While { init, test, body };
            }
            _ => unreachable!("called for control flow only"),
        }
        self.out.push(inst);
    }

    /// Writes a nested block's instructions into the block at hand.
    fn inline(&mut self, results: &[Value], block: Block) {
        self.insts(block.insts);
        self.replace(results, &block.yields);
    }

    /// How often a loop runs, where that is 0, or known.
    fn turns(&self, start: Value, end: Value, step: Value) -> Option<u64> {
        let number = |v: Value| {
            let word = self.known[v.index()]?[0];
            Some(if self.kernel.type_of(v) == Type::I64 { word as i64 as i128 } else { word as i32 as i128 })
        };
        let (start, end) = (number(start)?, number(end)?);
        if start >= end {
            return Some(0);
        }
        let step = number(step).filter(|step| *step > 0)?;
        Some(((end - start + step - 1) / step) as u64)
    }

    /// Lets other values stand for these.
    fn replace(&mut self, values: &[Value], by: &[Value]) {
        for (value, by) in values.iter().zip(by) {
            self.alias[value.index()] = self.alias[by.index()];
        }
    }

    fn resolve_all(&self, values: &mut [Value]) {
        values.iter_mut().for_each(|v| *v = self.alias[v.index()]);
    }

    /// A constant of a type with the same bits in all components.
    fn constant(&mut self, ty: Type, bits: u64) -> Value {
        let value = self.kernel.fresh(ty);
        let mut components = [0; 4];
        components[..ty.lanes()].fill(bits);
        self.alias.push(value);
        self.known.push(Some(components));
        self.origins.push(Origin::Unseen);
        self.out.push(Inst { results: Results::from_iter([value]), op: Op::Const(bits), line: self.line });
        value
    }

    /// The bits every component of a constant has, if they are the same.
    fn splat(&self, value: Value) -> Option<u64> {
        let components = self.known[value.index()]?;
        let lanes = self.kernel.type_of(value).lanes();
        components[..lanes].iter().all(|c| *c == components[0]).then_some(components[0])
    }

    /// The component type of a scalar or vector.
    fn scalar(&self, value: Value) -> Scalar {
        self.kernel.type_of(value).scalar().expect("verify keeps matrices out of arithmetic")
    }

    /// Where a value comes from.
    fn origin(&self, value: Value) -> Origin {
        self.origins[value.index()]
    }

    fn origin_of(&mut self, op: &Op) -> Origin {
        match *op {
            Op::Unary(op, a) => Origin::Unary(op, a),
            Op::Binary(op, a, b) => Origin::Binary(op, a, b),
            Op::Convert { value, .. } => Origin::Convert(value),
            Op::Bitcast(a) => Origin::Bitcast(a),
            Op::Narrow(elem, a) => Origin::Narrow(elem, a),
            Op::Encode(elem, a) => Origin::Encode(elem, a),
            Op::Decode(elem, _) => Origin::Decode(elem),
            Op::Load { elem, .. } => Origin::Load(elem),
            Op::Extract(a, lane) => Origin::Extract(a, lane),
            Op::Compose(ref parts) => {
                self.parts.extend(parts);
                Origin::Compose((self.parts.len() - parts.len()) as u32)
            }
            _ => Origin::Unseen,
        }
    }

    /// The bits of a constant of a type.
    fn low_bits(&self, value: Value, bits: u64) -> u64 {
        eval::low_bits(self.scalar(value), bits)
    }
}
