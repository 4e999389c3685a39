//! Control flow by masks.

use super::machine::Machine;
use super::mask::Mask;
use crate::error::Result;
use crate::ir::{Block, Fence, Inst, Line, Value};
use crate::types::{MatrixScope, Type};

impl<'a> Machine<'a, '_> {
    /// `If`: each side for the invocations that take it.
    pub(super) fn branch(
        &mut self,
        inst: &'a Inst,
        condition: Value,
        then: &'a Block,
        otherwise: &'a Block,
        mask: &Mask,
    ) -> Result<()> {
        for (block, wanted) in [(then, true), (otherwise, false)] {
            let mut side = self.spare_masks.pop().unwrap_or_default();
            side.restrict(mask, self.column(condition), |word| (word != 0) == wanted);
            if !side.none() {
                self.block(block, &side)?;
                self.copy_all(&inst.results, &block.yields, &side, inst.line)?;
            }
            self.spare_masks.push(side);
        }
        Ok(())
    }

    /// `For`: until no invocation's index is below its end.
    pub(super) fn count(
        &mut self,
        inst: &'a Inst,
        [start, end, step]: [Value; 3],
        init: &[Value],
        body: &'a Block,
        mask: &Mask,
    ) -> Result<()> {
        let (index, carried) = body.params.split_first().expect("a loop's body has its index");
        let wide = self.kernel.type_of(*index) == Type::I64;
        self.check_steps(step, wide, mask, inst.line)?;
        let mut active = self.spare_masks.pop().unwrap_or_default();
        active.copy_from(mask);
        self.copy_all(&body.params[..1], &[start], mask, inst.line)?;
        self.copy_all(carried, init, mask, inst.line)?;
        loop {
            active.keep(self.column(*index), self.column(end), |i, end| less(i, end, wide));
            if active.none() {
                break;
            }
            self.block(body, &active)?;
            self.copy_at_once(carried, &body.yields, &active, inst.line)?;
            self.advance(*index, step, wide, &mut active);
            self.count_turn(inst.line)?;
        }
        self.copy_all(&inst.results, carried, mask, inst.line)?;
        self.spare_masks.push(active);
        Ok(())
    }

    /// `While`: until `test` holds in no invocation.
    pub(super) fn repeat(
        &mut self,
        inst: &'a Inst,
        init: &[Value],
        test: &'a Block,
        body: &'a Block,
        mask: &Mask,
    ) -> Result<()> {
        let mut active = self.spare_masks.pop().unwrap_or_default();
        active.copy_from(mask);
        self.copy_all(&test.params, init, mask, inst.line)?;
        loop {
            self.block(test, &active)?;
            let holds = self.column(test.yields[0]);
            active.keep(holds, holds, |word, _| word != 0);
            if active.none() {
                break;
            }
            self.copy_all(&body.params, &test.params, &active, inst.line)?;
            self.block(body, &active)?;
            self.copy_all(&test.params, &body.yields, &active, inst.line)?;
            self.count_turn(inst.line)?;
        }
        self.copy_all(&inst.results, &test.params, mask, inst.line)?;
        self.spare_masks.push(active);
        Ok(())
    }

    /// A barrier: every invocation must be here.
    pub(super) fn barrier(&mut self, fence: Fence, line: Line, mask: &Mask) -> Result<()> {
        if !mask.all() {
            let (all, here) = (self.invocations, mask.active());
            let message = format!("a barrier must be reached by all {all} invocations but was by {here}.");
            return Err(self.execution(line, message));
        }
        if let Some(races) = &mut self.races {
            races.pass_barrier(fence);
        }
        Ok(())
    }

    /// Adds the step to the index of active invocations. One whose index would overflow is done: the next index is past
    /// every end.
    fn advance(&mut self, index: Value, step: Value, wide: bool, active: &mut Mask) {
        let mut next = self.take(index);
        let mut held = self.spare_columns.pop().unwrap_or_default();
        held.clone_from(&next);
        for (i, step) in next.iter_mut().zip(self.column(step)) {
            let sum = i.wrapping_add(*step);
            *i = if wide { sum } else { sum & u32::MAX as u64 };
        }
        active.keep(&held, &next, |before, after| less(before, after, wide));
        self.put(index, next);
        self.spare_columns.push(held);
    }

    fn check_steps(&self, step: Value, wide: bool, mask: &Mask, line: Line) -> Result<()> {
        let column = self.column(step);
        match mask.iter().find(|i| !less(0, column[*i], wide)) {
            None => Ok(()),
            Some(i) => {
                let found = if wide { column[i] as i64 } else { column[i] as i32 as i64 };
                Err(self.execution(line, format!("a loop's step must be positive but is {found}.")))
            }
        }
    }

    /// Counts a turn of a loop, so that one with an empty body ends too.
    fn count_turn(&mut self, line: Line) -> Result<()> {
        self.steps += 1;
        if self.steps > self.step_limit {
            let limit = self.step_limit;
            let message = format!("a workgroup must end within {limit} steps but loops on.");
            return Err(self.execution(line, message));
        }
        Ok(())
    }

    /// Copies values one after another: none of `from` is among `to`.
    fn copy_all(&mut self, to: &[Value], from: &[Value], mask: &Mask, line: Line) -> Result<()> {
        for (to, from) in to.iter().zip(from) {
            let mut column = self.take(*to);
            let copied = self.copy_one(*to, &mut column, self.column(*from), mask, line);
            self.put(*to, column);
            copied?;
        }
        Ok(())
    }

    /// Copies values as if all at once: a loop's body may hand back its own parameters in another order.
    fn copy_at_once(&mut self, to: &[Value], from: &[Value], mask: &Mask, line: Line) -> Result<()> {
        let moved = |(i, v): (usize, &Value)| to.get(i) != Some(v) && to.contains(v);
        let few = to.len() <= 8;
        if few && !from.iter().enumerate().any(moved) {
            return self.copy_changed(to, from, mask, line);
        }
        let mut held = std::mem::take(&mut self.spare_columns);
        held.resize_with(held.len().max(from.len()), Vec::new);
        for (held, from) in held.iter_mut().zip(from) {
            held.clone_from(&self.columns[from.index()]);
        }
        let mut copied = Ok(());
        for (to, held) in to.iter().zip(&held) {
            let mut column = self.take(*to);
            copied = copied.and(self.copy_one(*to, &mut column, held, mask, line));
            self.put(*to, column);
        }
        self.spare_columns = held;
        copied
    }

    /// As `copy_all`, leaving alone what is handed back unchanged.
    fn copy_changed(&mut self, to: &[Value], from: &[Value], mask: &Mask, line: Line) -> Result<()> {
        for (to, from) in to.iter().zip(from).filter(|(to, from)| to != from) {
            self.copy_all(&[*to], &[*from], mask, line)?;
        }
        Ok(())
    }

    /// Copies one column where active; a matrix for those who hold it together.
    fn copy_one(&self, value: Value, to: &mut [u64], from: &[u64], mask: &Mask, line: Line) -> Result<()> {
        let Type::Matrix(matrix) = self.kernel.type_of(value) else {
            mask.copy(to, from);
            return Ok(());
        };
        let size = matrix.rows as usize * matrix.cols as usize;
        let holders = to.chunks_exact_mut(size).zip(from.chunks_exact(size)).enumerate();
        for (holder, (to, from)) in holders {
            if self.whole(matrix.scope, holder, mask, line)? {
                to.copy_from_slice(from);
            }
        }
        Ok(())
    }

    /// Whether the invocations of a subgroup, or of the workgroup, are active. All of them must be, or none.
    pub(super) fn whole(&self, scope: MatrixScope, holder: usize, mask: &Mask, line: Line) -> Result<bool> {
        let size = self.scope_size(scope);
        let range = holder * size..((holder + 1) * size).min(self.invocations);
        let all = range.len();
        let here = range.filter(|i| mask.is(*i)).count();
        if here != 0 && here != all {
            let scope = scope.name();
            let message = format!("all {all} invocations of a {scope} must come here but {here} did.");
            return Err(self.execution(line, message));
        }
        Ok(here != 0)
    }
}

/// Signed comparison of indices.
fn less(a: u64, b: u64, wide: bool) -> bool {
    if wide { (a as i64) < b as i64 } else { (a as i32) < b as i32 }
}
