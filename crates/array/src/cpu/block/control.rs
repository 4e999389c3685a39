//! Control flow by masks: a side, or a turn, is skipped where no lane takes it, and computed for the whole block where
//! one does. Arithmetic is defined for every operand, so what inactive lanes compute harms nobody; only moves look at
//! the mask.

use pumice_kernel::ir::Line;

use super::loops::{Chunk, LANES, Lane, Lanes};
use super::machine::{Lanewise, Machine};
use super::mask::Mask;
use super::program::{Move, Reg, Sequence, Step, Width};
use crate::error::{Error, Result};

/// Turns of loops after which a block counts as endless.
const TURN_LIMIT: u64 = 1 << 30;

impl<'a> Machine<'a> {
    pub(super) fn branch(
        &mut self,
        condition: Reg,
        then: &'a Sequence,
        otherwise: &'a Sequence,
        mask: &Mask,
    ) -> Result<()> {
        for (sequence, wanted) in [(then, true), (otherwise, false)] {
            let mut side = mask.clone();
            let column = self.column::<u32>(condition);
            if side.keep_where(self.chunks, column.is_uniform(), column.lanes(), wanted) {
                self.sequence(sequence, &side)?;
            }
        }
        Ok(())
    }

    fn sequence(&mut self, sequence: &'a Sequence, mask: &Mask) -> Result<()> {
        self.steps(&sequence.steps, mask)?;
        sequence.moves.iter().for_each(|m| self.transfer(m, mask));
        Ok(())
    }

    pub(super) fn count(&mut self, step: &'a Step, mask: &Mask) -> Result<()> {
        let Step::For { index, .. } = step else { unreachable!("only called with a counted loop") };
        match index.width {
            Width::Narrow => self.count_by::<u32, i32>(step, mask),
            Width::Wide => self.count_by::<u64, i64>(step, mask),
        }
    }

    /// A counted loop whose index is a `T`, signed an `S`.
    fn count_by<T, S>(&mut self, loop_: &'a Step, mask: &Mask) -> Result<()>
    where
        T: Lanewise,
        S: Lane<Bits = T> + Ord + Default + Wrapping,
    {
        let Step::For { index, start, end, step, enter, body, line } = loop_ else {
            unreachable!("only called with a counted loop")
        };
        self.check_steps::<T, S>(*step, mask, *line)?;
        let all = Mask::first(LANES);
        self.transfer(&Move { to: *index, from: *start, last: false }, &all);
        enter.iter().for_each(|m| self.transfer(m, mask));
        let mut active = mask.clone();
        loop {
            let (i, end) = (self.column::<T>(*index), self.column::<T>(*end));
            let uniform = i.is_uniform() && end.is_uniform();
            let less = |chunk| less::<T, S>(i.lanes(), end.lanes(), chunk);
            if !active.keep(self.chunks, uniform, less) {
                return Ok(());
            }
            self.sequence(body, &active)?;
            if !self.advance::<T, S>(*index, *step, &mut active) {
                return Ok(());
            }
            self.count_turn(*line)?;
        }
    }

    /// Adds the step to the index. A lane whose index would overflow is done: the next one is past every end.
    fn advance<T: Lanewise, S: Lane<Bits = T> + Ord + Wrapping>(
        &mut self,
        index: Reg,
        step: Reg,
        active: &mut Mask,
    ) -> bool {
        let mut column = self.take::<T>(index);
        let by = self.column::<T>(step);
        let uniform = column.is_uniform() && by.is_uniform();
        let memory = if uniform { column.overwrite(self.chunks, true) } else { column.change(self.chunks) };
        let before = memory.to_vec();
        for (i, chunk) in memory.iter_mut().enumerate() {
            for (lane, by) in chunk.iter_mut().zip(by.lanes().at(i)) {
                *lane = S::of(*lane).plus(S::of(*by)).bits();
            }
        }
        let (before, after) = (Lanes::new(&before, uniform), Lanes::new(memory, uniform));
        let any = active.keep(self.chunks, uniform, |chunk| less::<T, S>(before, after, chunk));
        self.put(index, column);
        any
    }

    fn check_steps<T: Lanewise, S: Lane<Bits = T> + Ord + Default>(
        &self,
        step: Reg,
        mask: &Mask,
        line: Line,
    ) -> Result<()> {
        let lanes = self.column::<T>(step).lanes();
        let positive = |lane: usize| S::of(lanes.at(lane / LANES)[lane % LANES]) > S::default();
        if (0..self.chunks * LANES).all(|lane| positive(lane) || !mask.holds(lane)) {
            return Ok(());
        }
        Err(Error::Runtime(format!("[{}] a loop's step must be positive but is not ({line}).", self.program.name)))
    }

    pub(super) fn repeat(&mut self, step: &'a Step, mask: &Mask) -> Result<()> {
        let Step::While { enter, test, holds, body, line } = step else {
            unreachable!("only called with a loop by a test")
        };
        enter.iter().for_each(|m| self.transfer(m, mask));
        let mut active = mask.clone();
        loop {
            self.steps(test, &active)?;
            let column = self.column::<u32>(*holds);
            if !active.keep_where(self.chunks, column.is_uniform(), column.lanes(), true) {
                return Ok(());
            }
            self.sequence(body, &active)?;
            self.count_turn(*line)?;
        }
    }

    fn count_turn(&mut self, line: Line) -> Result<()> {
        self.turns += 1;
        if self.turns <= TURN_LIMIT {
            return Ok(());
        }
        let name = &self.program.name;
        Err(Error::Runtime(format!("[{name}] loops must end within {TURN_LIMIT} turns but go on ({line}).")))
    }
}

/// A mask of the lanes in which an index is below another, signed.
fn less<T: Copy, S: Lane<Bits = T> + Ord>(a: Lanes<'_, T>, b: Lanes<'_, T>, chunk: usize) -> Chunk<u32> {
    let (a, b) = (a.at(chunk), b.at(chunk));
    std::array::from_fn(|lane| (S::of(a[lane]) < S::of(b[lane])).bits())
}

/// Sums modulo the width.
trait Wrapping: Copy {
    fn plus(self, other: Self) -> Self;
}

impl Wrapping for i32 {
    fn plus(self, other: i32) -> i32 {
        self.wrapping_add(other)
    }
}

impl Wrapping for i64 {
    fn plus(self, other: i64) -> i64 {
        self.wrapping_add(other)
    }
}
