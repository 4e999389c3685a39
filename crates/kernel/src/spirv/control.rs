//! Structured control flow: `If`, `For` and `While` as blocks, with phis for the values that leave or are carried.

use rspirv::spirv::{LoopControl, Op as Code, SelectionControl};

use super::emitter::Emitter;
use super::words::Id;
use crate::error::Result;
use crate::ir::{Block, Inst, Op, Unroll, Value};
use crate::types::Type;

/// A loop whose header is written and whose end is not: the phis still wait for what the body gives them.
struct OpenLoop {
    header: Id,
    merge: Id,
    resume: Id,
    /// Where in the code each phi's second value stands.
    holes: Vec<usize>,
}

impl Emitter<'_> {
    pub fn if_(&mut self, inst: &Inst, condition: Value, then: &Block, otherwise: &Block) -> Result<()> {
        let [yes, no, merge] = [(); 3].map(|()| self.asm.fresh());
        let condition = self.id(condition);
        self.effect(Code::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        // An empty side needs no block of its own.
        let skip = otherwise.insts.is_empty();
        let before = self.open;
        self.effect(Code::BranchConditional, &[condition, yes, if skip { merge } else { no }]);
        let (first, from_yes) = self.side(yes, merge, then)?;
        let (second, from_no) = match skip {
            true => (otherwise.yields.iter().map(|&v| self.id(v)).collect(), before),
            false => self.side(no, merge, otherwise)?,
        };
        self.label(merge);
        for (i, &result) in inst.results.iter().enumerate() {
            let ty = self.type_of(result);
            let id = self.op(Code::Phi, ty, &[first[i], from_yes, second[i], from_no]);
            self.define(result, id);
        }
        Ok(())
    }

    /// One side of an `If`: what it yields, and the block it leaves from.
    fn side(&mut self, label: Id, merge: Id, block: &Block) -> Result<(Vec<Id>, Id)> {
        self.label(label);
        self.block(block)?;
        let yields = block.yields.iter().map(|&v| self.id(v)).collect();
        let from = self.open;
        self.branch(merge);
        Ok((yields, from))
    }

    pub fn for_(&mut self, inst: &Inst) -> Result<()> {
        let Op::For { start, end, step, init, body, unroll } = &inst.op else { unreachable!("called on loops") };
        let ty = self.type_of(*start);
        let [first, last, stride] = [start, end, step].map(|v| self.id(*v));
        // When the index cannot pass the largest number it is compared with the end; otherwise turns are counted.
        let turns = match self.never_overflows(ty, *end, *step) {
            true => None,
            false => Some(self.turns(ty, first, last, stride)),
        };
        let zero = self.constant(ty, 0);
        let mut carried = vec![(ty, first)];
        carried.extend(turns.map(|_| (ty, zero)));
        carried.extend(init.iter().map(|&v| (self.type_of(v), self.id(v))));
        let (open, phis) = self.open_loop(&carried);
        let (index, mut values) = (phis[0], &phis[1..]);
        let condition = match turns {
            None => self.op(Code::SLessThan, Type::BOOL, &[index, last]),
            Some(turns) => {
                let count = values[0];
                values = &values[1..];
                self.op(Code::ULessThan, Type::BOOL, &[count, turns])
            }
        };
        let start_of_body = self.asm.fresh();
        self.loop_merge(&open, *unroll);
        self.effect(Code::BranchConditional, &[condition, start_of_body, open.merge]);
        self.label(start_of_body);
        self.define(body.params[0], index);
        for ((&param, &result), &id) in body.params[1..].iter().zip(&inst.results).zip(values) {
            self.define(param, id);
            self.define(result, id);
        }
        self.block(body)?;
        self.branch(open.resume);
        self.label(open.resume);
        let mut next = vec![self.op(Code::IAdd, ty, &[index, stride])];
        if turns.is_some() {
            let one = self.constant(ty, 1);
            next.push(self.op(Code::IAdd, ty, &[phis[1], one]));
        }
        next.extend(body.yields.iter().map(|&v| self.id(v)));
        self.close_loop(open, &next);
        Ok(())
    }

    /// Whether `index + step` stays representable for every index below the end.
    fn never_overflows(&self, ty: Type, end: Value, step: Value) -> bool {
        let most = if ty == Type::I32 { i32::MAX as i64 } else { i64::MAX };
        let signed = |bits: u64| if ty == Type::I32 { bits as u32 as i32 as i64 } else { bits as i64 };
        match (self.known(end).map(signed), self.known(step).map(signed)) {
            (_, Some(1)) => true,
            (Some(end), Some(step)) => step > 0 && end <= most - (step - 1),
            _ => false,
        }
    }

    /// `end > start ? (end - start - 1) / step + 1 : 0`, in unsigned arithmetic, where nothing overflows.
    fn turns(&mut self, ty: Type, start: Id, end: Id, step: Id) -> Id {
        let [zero, one] = [0, 1].map(|n| self.constant(ty, n));
        let any = self.op(Code::SLessThan, Type::BOOL, &[start, end]);
        let span = self.op(Code::ISub, ty, &[end, start]);
        let span = self.op(Code::ISub, ty, &[span, one]);
        let full = self.op(Code::UDiv, ty, &[span, step]);
        let turns = self.op(Code::IAdd, ty, &[full, one]);
        self.select(ty, any, turns, zero)
    }

    pub fn while_(&mut self, inst: &Inst, init: &[Value], test: &Block, body: &Block) -> Result<()> {
        let carried: Vec<(Type, Id)> = init.iter().map(|&v| (self.type_of(v), self.id(v))).collect();
        let (open, phis) = self.open_loop(&carried);
        let [start_of_test, start_of_body] = [(); 2].map(|()| self.asm.fresh());
        self.loop_merge(&open, Unroll::Free);
        self.branch(start_of_test);
        self.label(start_of_test);
        for (i, &id) in phis.iter().enumerate() {
            for value in [test.params[i], body.params[i], inst.results[i]] {
                self.define(value, id);
            }
        }
        self.block(test)?;
        let condition = self.id(test.yields[0]);
        self.effect(Code::BranchConditional, &[condition, start_of_body, open.merge]);
        self.label(start_of_body);
        self.block(body)?;
        self.branch(open.resume);
        self.label(open.resume);
        let next: Vec<Id> = body.yields.iter().map(|&v| self.id(v)).collect();
        self.close_loop(open, &next);
        Ok(())
    }

    /// Starts a loop's header, with a phi for each carried value.
    fn open_loop(&mut self, carried: &[(Type, Id)]) -> (OpenLoop, Vec<Id>) {
        let [header, merge, resume] = [(); 3].map(|()| self.asm.fresh());
        let before = self.open;
        self.branch(header);
        self.label(header);
        let mut holes = Vec::with_capacity(carried.len());
        let phis = carried
            .iter()
            .map(|&(ty, first)| {
                let id = self.op(Code::Phi, ty, &[first, before, 0, resume]);
                holes.push(self.code.len() - 2);
                id
            })
            .collect();
        (OpenLoop { header, merge, resume, holes }, phis)
    }

    fn loop_merge(&mut self, open: &OpenLoop, unroll: Unroll) {
        let control = match unroll {
            Unroll::Free => LoopControl::NONE,
            Unroll::Whole => LoopControl::UNROLL,
            Unroll::Never => LoopControl::DONT_UNROLL,
        };
        self.effect(Code::LoopMerge, &[open.merge, open.resume, control.bits()]);
    }

    /// Ends a loop: the phis get their next values, and what follows starts.
    fn close_loop(&mut self, open: OpenLoop, next: &[Id]) {
        debug_assert_eq!(open.holes.len(), next.len(), "every carried value has a next one");
        for (&hole, &id) in open.holes.iter().zip(next) {
            self.code[hole] = id;
        }
        self.branch(open.header);
        self.label(open.merge);
    }
}
