//! Which registers share a slot: those that are never alive at once.
//!
//! Steps are numbered in the order they stand in. A register is alive from the step that first writes it to the last
//! that reads it, and to the end of every loop that reads it but does not make it. Intervals on one line are enough
//! because control flow is nested.

use std::collections::HashMap;

use super::program::{Move, Program, Reg, Sequence, Step, Width};

/// Gives every register its slot. Ports, constants and the element's number keep one for themselves.
pub(super) fn allocate(mut program: Program) -> Program {
    let mut lives = Lives::default();
    lives.steps(&program.steps);
    program.cost = lives.now;
    let mut slots = Slots::default();
    let ports = program.inputs.iter().chain(&program.outputs).flat_map(|port| port.parts.iter().copied());
    let constants = program.constants.iter().map(|(reg, _)| *reg);
    for reg in ports.chain(constants).chain(program.index) {
        let slot = slots.open(reg.width);
        slots.of.insert(reg, slot);
    }
    let kept = [slots.narrow, slots.wide];
    slots.share(&lives);
    program.lane_bytes = 4 * (slots.narrow - kept[0]) as usize + 8 * (slots.wide - kept[1]) as usize;
    let slot = |reg: Reg| *slots.of.get(&reg).unwrap_or(&reg);
    program.steps.iter_mut().for_each(|step| step.rename(&slot));
    for port in program.inputs.iter_mut().chain(&mut program.outputs) {
        port.parts.iter_mut().for_each(|reg| *reg = slot(*reg));
    }
    program.constants.iter_mut().for_each(|(reg, _)| *reg = slot(*reg));
    program.index = program.index.map(slot);
    (program.narrow, program.wide) = (slots.narrow as usize, slots.wide as usize);
    program
}

/// From when to when every register is alive.
#[derive(Default)]
struct Lives {
    now: usize,
    spans: HashMap<Reg, (usize, usize)>,
    /// Registers in the order they are first written.
    order: Vec<Reg>,
    /// What was read, in order: loops look back at it.
    read: Vec<Reg>,
}

impl Lives {
    fn steps(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.step(step));
    }

    fn step(&mut self, step: &Step) {
        self.now += 1;
        step.each_read(|reg| self.reads(reg));
        match step {
            Step::Apply { out, .. } | Step::Load { out, .. } => self.writes(*out),
            Step::Copy(m) => self.writes(m.to),
            Step::Store { .. } => {}
            Step::If { condition, then, otherwise } => {
                self.targets(&then.moves);
                self.sequence(then);
                // The other side is chosen by it too.
                self.reads(*condition);
                self.sequence(otherwise);
            }
            Step::For { index, end, step, enter, body, .. } => {
                self.writes(*index);
                self.targets(enter);
                self.turn(|lives| {
                    lives.sequence(body);
                    [*index, *end, *step].into_iter().for_each(|reg| lives.reads(reg));
                    body.moves.iter().chain(enter).for_each(|m| lives.reads(m.to));
                });
            }
            Step::While { enter, test, holds, body, .. } => {
                self.targets(enter);
                self.turn(|lives| {
                    lives.steps(test);
                    lives.reads(*holds);
                    lives.sequence(body);
                    body.moves.iter().chain(enter).for_each(|m| lives.reads(m.to));
                });
            }
        }
    }

    /// A loop: what it reads and was there before stays to its end.
    fn turn(&mut self, body: impl FnOnce(&mut Lives)) {
        let (start, first) = (self.now, self.read.len());
        body(self);
        self.now += 1;
        for reg in &self.read[first..] {
            if let Some(span) = self.spans.get_mut(reg)
                && span.0 <= start
            {
                span.1 = self.now;
            }
        }
    }

    fn sequence(&mut self, sequence: &Sequence) {
        self.steps(&sequence.steps);
        self.now += 1;
        sequence.moves.iter().for_each(|m| self.reads(m.from));
        // The registers moved to stay alive through both sides.
        sequence.moves.iter().for_each(|m| self.reads(m.to));
    }

    fn targets(&mut self, moves: &[Move]) {
        moves.iter().for_each(|m| self.writes(m.to));
    }

    fn reads(&mut self, reg: Reg) {
        self.read.push(reg);
        if let Some(span) = self.spans.get_mut(&reg) {
            span.1 = span.1.max(self.now);
        }
    }

    fn writes(&mut self, reg: Reg) {
        let now = self.now;
        self.spans.entry(reg).and_modify(|span| span.1 = span.1.max(now)).or_insert_with(|| {
            self.order.push(reg);
            (now, now)
        });
    }
}

/// Slots, and who has them.
#[derive(Default)]
struct Slots {
    narrow: u32,
    wide: u32,
    of: HashMap<Reg, Reg>,
}

impl Slots {
    fn open(&mut self, width: Width) -> Reg {
        let count = match width {
            Width::Narrow => &mut self.narrow,
            Width::Wide => &mut self.wide,
        };
        *count += 1;
        Reg { width, number: *count - 1 }
    }

    /// A slot for every register that has none yet: the one freed last, which is still in the cache.
    fn share(&mut self, lives: &Lives) {
        let mut alive: Vec<(usize, Reg)> = Vec::new();
        let mut free: Vec<Reg> = Vec::new();
        for reg in lives.order.iter().filter(|reg| !self.of.contains_key(reg)).copied().collect::<Vec<_>>() {
            let (first, last) = lives.spans[&reg];
            alive.retain(|(end, slot)| {
                let stays = *end >= first;
                if !stays {
                    free.push(*slot);
                }
                stays
            });
            let slot = match free.iter().rposition(|slot| slot.width == reg.width) {
                Some(at) => free.remove(at),
                None => self.open(reg.width),
            };
            alive.push((last, slot));
            self.of.insert(reg, slot);
        }
    }
}
