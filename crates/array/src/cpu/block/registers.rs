//! Walking over what a step reads and writes.

use super::program::{Move, Reg, Step};

impl Step {
    /// Calls a function on every register the step itself reads; not on what nested steps read.
    pub(super) fn each_read(&self, mut f: impl FnMut(Reg)) {
        match self {
            Step::Apply { operands, .. } => operands.iter().copied().for_each(f),
            Step::Copy(m) => f(m.from),
            Step::Load { at, .. } => f(at.index),
            Step::Store { value, at } => [*value, at.index].into_iter().for_each(f),
            Step::If { condition, .. } => f(*condition),
            Step::For { start, end, step, enter, .. } => {
                [*start, *end, *step].into_iter().for_each(&mut f);
                enter.iter().for_each(|m| f(m.from));
            }
            Step::While { enter, .. } => enter.iter().for_each(|m| f(m.from)),
        }
    }

    /// As `each_read`, nested steps and the moves at their ends included.
    pub(super) fn each_read_within(&self, f: &mut impl FnMut(Reg)) {
        self.each_read(&mut *f);
        match self {
            Step::If { then, otherwise, .. } => {
                for sequence in [then, otherwise] {
                    sequence.steps.iter().for_each(|step| step.each_read_within(f));
                    sequence.moves.iter().for_each(|m| f(m.from));
                }
            }
            Step::For { body, .. } => {
                body.steps.iter().for_each(|step| step.each_read_within(f));
                body.moves.iter().for_each(|m| f(m.from));
            }
            Step::While { test, holds, body, .. } => {
                test.iter().chain(&body.steps).for_each(|step| step.each_read_within(f));
                body.moves.iter().for_each(|m| f(m.from));
                f(*holds);
            }
            _ => {}
        }
    }

    /// Replaces every register, nested steps included.
    pub(super) fn rename(&mut self, f: &impl Fn(Reg) -> Reg) {
        let each = |regs: &mut [&mut Reg]| regs.iter_mut().for_each(|reg| **reg = f(**reg));
        let moves = |list: &mut Vec<Move>| list.iter_mut().for_each(|m| each(&mut [&mut m.to, &mut m.from]));
        let steps = |list: &mut Vec<Step>| list.iter_mut().for_each(|step| step.rename(f));
        match self {
            Step::Apply { out, operands, .. } => {
                each(&mut [out]);
                operands.iter_mut().for_each(|reg| *reg = f(*reg));
            }
            Step::Copy(m) => each(&mut [&mut m.to, &mut m.from]),
            Step::Load { out, at } => each(&mut [out, &mut at.index]),
            Step::Store { value, at } => each(&mut [value, &mut at.index]),
            Step::If { condition, then, otherwise } => {
                each(&mut [condition]);
                for sequence in [then, otherwise] {
                    steps(&mut sequence.steps);
                    moves(&mut sequence.moves);
                }
            }
            Step::For { index, start, end, step, enter, body, .. } => {
                each(&mut [index, start, end, step]);
                moves(enter);
                steps(&mut body.steps);
                moves(&mut body.moves);
            }
            Step::While { enter, test, holds, body, .. } => {
                each(&mut [holds]);
                moves(enter);
                steps(test);
                steps(&mut body.steps);
                moves(&mut body.moves);
            }
        }
    }
}
