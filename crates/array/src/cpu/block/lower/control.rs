//! Control flow: blocks become sequences, yields become moves.

use pumice_kernel::ir::{Block, Inst, Value};

use super::super::program::{Move, Parts, Reg, Sequence, Step};
use super::Lowering;
use crate::error::Result;

impl<'k> Lowering<'k> {
    pub(super) fn branch(
        &mut self,
        inst: &Inst,
        condition: Value,
        then: &'k Block,
        otherwise: &'k Block,
        steps: &mut Vec<Step>,
    ) -> Result<()> {
        let results = self.define(&inst.results);
        let then = self.sequence(then, &results)?;
        let otherwise = self.sequence(otherwise, &results)?;
        steps.push(Step::If { condition: self.parts(condition)[0], then, otherwise });
        Ok(())
    }

    pub(super) fn count(
        &mut self,
        inst: &Inst,
        [start, end, step]: [Value; 3],
        init: &[Value],
        body: &'k Block,
        steps: &mut Vec<Step>,
    ) -> Result<()> {
        let params = self.define(&body.params);
        let (index, carried) = (params[0], &params[1..]);
        let enter = self.moves(carried, init);
        self.alias(&inst.results, &body.params[1..]);
        let body = self.sequence(body, carried)?;
        let [start, end, step] = [start, end, step].map(|value| self.parts(value)[0]);
        steps.push(Step::For { index, start, end, step, enter, body, line: inst.line });
        Ok(())
    }

    pub(super) fn repeat(
        &mut self,
        inst: &Inst,
        init: &[Value],
        test: &'k Block,
        body: &'k Block,
        steps: &mut Vec<Step>,
    ) -> Result<()> {
        let carried = self.define(&test.params);
        let enter = self.moves(&carried, init);
        self.alias(&body.params, &test.params);
        self.alias(&inst.results, &test.params);
        self.depth += 1;
        let tests = self.block(test)?;
        self.depth -= 1;
        let holds = self.parts(test.yields[0])[0];
        let body = self.sequence(body, &carried)?;
        steps.push(Step::While { enter, test: tests, holds, body, line: inst.line });
        Ok(())
    }

    /// New registers for values, all in a row.
    fn define(&mut self, values: &[Value]) -> Parts {
        let mut all = Parts::new();
        for value in values {
            let parts = self.fresh(self.kernel.type_of(*value));
            all.extend_from_slice(&parts);
            self.values[value.index()] = parts;
        }
        all
    }

    /// Lets values be others: a loop's results are what it carries.
    fn alias(&mut self, values: &[Value], others: &[Value]) {
        for (value, other) in values.iter().zip(others) {
            self.values[value.index()] = self.parts(*other).clone();
        }
    }

    fn moves(&self, to: &[Reg], from: &[Value]) -> Vec<Move> {
        let from = from.iter().flat_map(|value| self.parts(*value).iter().copied());
        to.iter().zip(from).map(|(to, from)| Move { to: *to, from, last: false }).collect()
    }

    /// A nested block whose yields move to registers. The moves happen one after another, so what one of them
    /// overwrites and a later one needs is copied before.
    fn sequence(&mut self, block: &'k Block, to: &[Reg]) -> Result<Sequence> {
        self.depth += 1;
        let mut steps = self.block(block)?;
        self.depth -= 1;
        let mut moves = self.moves(to, &block.yields);
        for i in 0..moves.len() {
            let from = moves[i].from;
            if moves[..i].iter().any(|earlier| earlier.to == from) {
                let copy = self.register(from.width);
                steps.push(Step::Copy(Move { to: copy, from, last: false }));
                moves[i].from = copy;
            }
        }
        moves.retain(|m| m.to != m.from);
        let once = |reg: Reg| moves.iter().filter(|m| m.from == reg).count() == 1;
        let made_here = |reg: Reg| steps.iter().any(|step| matches!(step, Step::Apply { out, .. } if *out == reg));
        let last: Vec<bool> = moves.iter().map(|m| once(m.from) && made_here(m.from)).collect();
        moves.iter_mut().zip(last).for_each(|(m, last)| m.last = last);
        Ok(Sequence { steps, moves })
    }
}
