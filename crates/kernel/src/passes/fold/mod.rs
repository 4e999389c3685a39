//! Constant folding: what is known while building is computed now, by the functions the interpreter computes with, and what
//! changes nothing is left out. Every rewrite keeps bits: integer identities hold modulo the width, float ones only where
//! they hold for negative zero, infinities and NaN as well.

mod evaluate;
mod identities;
mod integer;
#[cfg(test)]
mod tests;

use crate::eval;
use crate::ir::{Block, Builtin, Inst, Kernel, Line, Op, Value};
use crate::types::{Scalar, Type};

/// Folds constants and identities, picks the side of an `If` with a known condition, drops loops that do not run, and writes
/// out loops that run once.
pub fn fold(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut folder = Folder::new(kernel);
    kernel.body = folder.block(body);
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

struct Folder<'a> {
    kernel: &'a mut Kernel,
    /// What stands for each value.
    alias: Vec<Value>,
    /// The constants among them.
    known: Vec<Option<Known>>,
    /// The operations behind values, where a rewrite looks through them.
    ops: Vec<Option<Op>>,
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
            ops: vec![None; n],
            out: Vec::new(),
            line: Line { file: "", line: 0 },
        }
    }

    fn block(&mut self, mut block: Block) -> Block {
        let outer = std::mem::take(&mut self.out);
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
        if is_looked_through(&inst.op) {
            self.ops[result.index()] = Some(inst.op.clone());
        }
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
                    self.inline(&inst.results, taken);
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
                    return self.inline(&inst.results, body);
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
        self.ops.push(None);
        self.out.push(Inst { results: vec![value], op: Op::Const(bits), line: self.line });
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

    /// The operation behind a value, if a rewrite may look through it.
    fn op(&self, value: Value) -> Option<&Op> {
        self.ops[value.index()].as_ref()
    }

    /// The bits of a constant of a type.
    fn low_bits(&self, value: Value, bits: u64) -> u64 {
        eval::low_bits(self.scalar(value), bits)
    }
}

/// Whether some rewrite looks at the operation behind an operand.
fn is_looked_through(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(..)
            | Op::Binary(..)
            | Op::Convert { .. }
            | Op::Bitcast(_)
            | Op::Narrow(..)
            | Op::Encode(..)
            | Op::Decode(..)
            | Op::Compose(_)
            | Op::Extract(..)
            | Op::Load { .. }
    )
}
