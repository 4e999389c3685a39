//! Control flow at random: every loop ends, and it is known where all invocations still come together.

use super::Writer;
use crate::ir::{BinaryOp, Block, CompareOp, Op, Unroll, Value};
use crate::types::Type;

impl Writer<'_> {
    /// An if or a loop.
    pub(super) fn control(&mut self) {
        match self.source.below(4) {
            0..=1 => self.branch(),
            2 => self.counted(),
            _ => self.conditional(),
        }
    }

    /// Writes a block; gives what `write` yields.
    fn nested(&mut self, params: &[Value], together: bool, write: impl FnOnce(&mut Self) -> Vec<Value>) -> Block {
        let (pool, uniform, outer) = (self.pool.len(), self.uniform.len(), self.together);
        self.together = outer && together;
        self.open.push(Block { params: params.to_vec(), ..Block::default() });
        for &param in params {
            self.pool.push((param, self.kernel.type_of(param)));
        }
        let yields = write(self);
        let mut block = self.open.pop().expect("opened above");
        block.yields = yields;
        self.pool.truncate(pool);
        self.uniform.truncate(uniform);
        self.together = outer;
        block
    }

    /// Runs a statement where a condition holds.
    pub(super) fn when(&mut self, condition: Value, write: impl FnOnce(&mut Self)) {
        let then = self.nested(&[], false, |w| {
            write(w);
            Vec::new()
        });
        self.effect(Op::If { condition, then: then.into(), otherwise: Box::default() });
    }

    fn statements(&mut self) {
        for _ in 0..1 + self.source.below(5) {
            self.statement();
        }
    }

    fn types(&mut self) -> Vec<Type> {
        (0..self.source.below(3)).map(|_| self.ty()).collect()
    }

    fn pick_all(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|ty| self.pick(*ty)).collect()
    }

    fn fresh_all(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|ty| self.kernel.fresh(*ty)).collect()
    }

    /// Appends a control instruction, whose results may be used from here on.
    fn push_control(&mut self, types: &[Type], op: Op) {
        let results = self.fresh_all(types);
        self.pool.extend(results.iter().copied().zip(types.iter().copied()));
        self.push(results, op);
    }

    /// A bool that is the same in the whole workgroup.
    fn uniform_condition(&mut self) -> Value {
        let uniform = self.uniform.clone();
        let a = self.source.choose(&uniform);
        let b = if self.source.chance(1, 2) { self.source.choose(&uniform) } else { self.number(1) };
        let op = self.source.choose(&[CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::LeU]);
        self.hidden(Type::BOOL, Op::Compare(op, a, b))
    }

    fn branch(&mut self) {
        let together = self.source.chance(1, 2);
        let condition = if together { self.uniform_condition() } else { self.pick(Type::BOOL) };
        let types = self.types();
        let side = |w: &mut Self| {
            w.nested(&[], together, |w| {
                w.statements();
                w.pick_all(&types)
            })
        };
        let then = side(self);
        let empty = types.is_empty() && self.source.chance(1, 2);
        let otherwise = if empty { Block::default() } else { side(self) };
        self.push_control(&types, Op::If { condition, then: then.into(), otherwise: otherwise.into() });
    }

    /// A for loop of a few turns, the same for all or by the invocation's data.
    fn counted(&mut self) {
        let together = self.source.chance(2, 3);
        let wide = self.source.chance(1, 4);
        let ty = if wide { Type::I64 } else { Type::I32 };
        let bits = [self.source_below(3), self.source_below(4), 1 + self.source_below(2)];
        let [start, mut end, step] = bits.map(|b| self.hidden(ty, Op::Const(b as u64)));
        if !together {
            let data = self.pick(ty);
            let mask = self.hidden(ty, Op::Const(3));
            end = self.hidden(ty, Op::Binary(BinaryOp::And, data, mask));
        }
        let types = self.types();
        let init = self.pick_all(&types);
        let index = self.kernel.fresh(ty);
        let params: Vec<Value> = [index].into_iter().chain(self.fresh_all(&types)).collect();
        let body = self.nested(&params, together, |w| {
            if together && !wide {
                w.uniform.push(index);
            }
            w.statements();
            w.pick_all(&types)
        });
        let unroll = if self.source.chance(1, 4) { Unroll::Whole } else { Unroll::Free };
        self.push_control(&types, Op::For { start, end, step, init, body: body.into(), unroll });
    }

    /// A while loop that counts its turns, so that it ends whatever its data say.
    fn conditional(&mut self) {
        let together = self.source.chance(1, 2);
        let extra = self.ty();
        let types = [Type::I32, extra];
        let init = vec![self.number(0), self.pick(extra)];
        let turns = 1 + self.source_below(4);
        let most = self.number(turns);
        let params = self.fresh_all(&types);
        let test = self.nested(&params, together, |w| {
            let going = w.hidden(Type::BOOL, Op::Compare(CompareOp::Lt, params[0], most));
            if together {
                return vec![going];
            }
            w.value();
            let data = w.pick(Type::BOOL);
            vec![w.hidden(Type::BOOL, Op::Binary(BinaryOp::And, going, data))]
        });
        let params = self.fresh_all(&types);
        let body = self.nested(&params, together, |w| {
            if together {
                w.uniform.push(params[0]);
            }
            w.statements();
            let one = w.number(1);
            vec![w.integer(BinaryOp::Add, params[0], one), w.pick(extra)]
        });
        self.push_control(&types, Op::While { init, test: test.into(), body: body.into() });
    }
}
