//! Schedule: independent steps side by side, so that one barrier serves many.
//!
//! A GPU's step that touches what another wrote waits behind a barrier, and a barrier waits for everything before it: a dependent launch
//! costs ten times an independent one. So among steps that could come next, one is taken that needs no barrier; only if
//! there is none, the first does. To keep memory in bounds no step is taken far ahead of its turn. Other streams and
//! the CPU keep their places.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use smallvec::SmallVec;

use crate::device::DeviceKind;
use crate::eval::plan::{Home, LaunchStep, Plan, Step, Work};
use crate::eval::write::{PartStep, WriteStep};

/// Steps by which one may come before its turn, at most.
const FARTHEST: usize = 64;
/// Bytes that steps before their turn may write, together at most.
const MOST_BYTES: usize = 64 << 20;

/// Reorders the steps of a plan whose lifetimes are not settled.
pub(super) fn schedule(plan: &mut Plan) {
    let mut order: Vec<usize> = Vec::with_capacity(plan.steps.len());
    let mut first = 0;
    while first < plan.steps.len() {
        let stream = plan.steps[first].stream;
        let run = plan.steps[first..].iter().take_while(|step| step.stream == stream).count();
        let range = first..first + run;
        match stream.device.kind {
            DeviceKind::Gpu if run > 2 => order.extend(Run::new(&plan.steps, &plan.slots, range).order()),
            _ => order.extend(range),
        }
        first += run;
    }
    let mut steps: Vec<Option<Step>> = std::mem::take(&mut plan.steps).into_iter().map(Some).collect();
    plan.steps = order.into_iter().filter_map(|i| steps[i].take()).collect();
}

/// Consecutive steps of one GPU stream.
struct Run {
    first: usize,
    /// The steps that must come before each, and those after it.
    before: Vec<SmallVec<[u32; 4]>>,
    after: Vec<SmallVec<[u32; 4]>>,
    /// Bytes that each writes.
    bytes: Vec<usize>,
}

impl Run {
    fn new(steps: &[Step], slots: &[usize], range: Range<usize>) -> Run {
        let first = range.start;
        let mut uses: HashMap<Home, Uses> = HashMap::new();
        let mut run = Run { first, before: Vec::new(), after: vec![SmallVec::new(); range.len()], bytes: Vec::new() };
        for (i, step) in steps[range].iter().enumerate() {
            let (mut before, mut bytes): (SmallVec<[u32; 4]>, usize) = Default::default();
            for (home, writes) in accesses(step) {
                before.extend(uses.entry(home).or_default().take(i as u32, writes));
                bytes += match home {
                    Home::Slot(slot) if writes => slots[slot],
                    _ => 0,
                };
            }
            before.sort_unstable();
            before.dedup();
            before.iter().for_each(|&other| run.after[other as usize].push(i as u32));
            run.before.push(before);
            run.bytes.push(bytes);
        }
        run
    }

    /// The steps, side by side where they can be.
    fn order(&self) -> impl Iterator<Item = usize> + '_ {
        let mut missing: Vec<usize> = self.before.iter().map(SmallVec::len).collect();
        let mut ready: BTreeSet<u32> = (0..missing.len() as u32).filter(|&i| missing[i as usize] == 0).collect();
        let mut order: Vec<u32> = Vec::with_capacity(missing.len());
        // What was taken since the last barrier, and before its turn.
        let mut beside: BTreeSet<u32> = BTreeSet::new();
        let (mut early, mut early_bytes, mut turn): (BTreeSet<u32>, usize, u32) = Default::default();
        while let Some(&head) = ready.first() {
            let near = ready.iter().take_while(|&&i| i == head || (i - turn) as usize <= FARTHEST);
            let small = near.filter(|&&i| i == turn || early_bytes + self.bytes[i as usize] <= MOST_BYTES);
            let free = small.copied().find(|&i| !self.before[i as usize].iter().any(|other| beside.contains(other)));
            if free.is_none() {
                beside.clear();
            }
            let taken = free.unwrap_or(head);
            ready.remove(&taken);
            beside.insert(taken);
            order.push(taken);
            early.insert(taken);
            early_bytes += self.bytes[taken as usize];
            while early.remove(&turn) {
                early_bytes -= self.bytes[turn as usize];
                turn += 1;
            }
            for &next in &self.after[taken as usize] {
                missing[next as usize] -= 1;
                if missing[next as usize] == 0 {
                    ready.insert(next);
                }
            }
        }
        order.into_iter().map(|i| self.first + i as usize)
    }
}

/// The steps that use some memory.
#[derive(Default)]
struct Uses {
    writer: Option<u32>,
    /// Since it was written.
    readers: SmallVec<[u32; 4]>,
}

impl Uses {
    /// Notes a use; gives the steps it comes after.
    fn take(&mut self, step: u32, writes: bool) -> SmallVec<[u32; 4]> {
        let mut before: SmallVec<[u32; 4]> = self.writer.into_iter().collect();
        if writes {
            before.extend(std::mem::take(&mut self.readers));
            self.writer = Some(step);
        } else {
            self.readers.push(step);
        }
        before.retain(|other| *other != step);
        before
    }
}

/// The memory a step touches, and whether it writes it. A copy that may be left out stays behind those who read the same memory
/// before it: as long as it is their last user, it is left out.
fn accesses(step: &Step) -> Vec<(Home, bool)> {
    let of_launch = |launch: &LaunchStep| {
        let buffers = &launch.kernel.kernel().buffers;
        let accesses = launch.operands.iter().zip(buffers);
        accesses.map(|(placed, buffer)| (placed.home, step.is_copy || buffer.access.writes())).collect::<Vec<_>>()
    };
    let part = |part: &PartStep| match part {
        PartStep::Launch(launch) => of_launch(launch),
        PartStep::Host(_) => unreachable!("a GPU's step has no copies on the host"),
    };
    match &step.work {
        Work::Launch(launch) => of_launch(launch),
        Work::Write(WriteStep { parts }) => parts.iter().flat_map(part).collect(),
        Work::Block(_) | Work::Host(_) | Work::Rows(_) => unreachable!("a GPU's step is made of launches"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chains of steps of so many bytes, one chain after the other.
    fn chains(lengths: &[usize], bytes: usize) -> Run {
        let count: usize = lengths.iter().sum();
        let mut run =
            Run { first: 0, before: Vec::new(), after: vec![SmallVec::new(); count], bytes: vec![bytes; count] };
        for &length in lengths {
            let first = run.before.len() as u32;
            for i in first..first + length as u32 {
                run.before.push((i > first).then_some(i.wrapping_sub(1)).into_iter().collect());
                if i > first {
                    run.after[i as usize - 1].push(i);
                }
            }
        }
        run
    }

    fn barriers(run: &Run) -> usize {
        let (mut barriers, mut beside) = (0, Vec::new());
        for step in run.order() {
            if run.before[step].iter().any(|&other| beside.contains(&(other as usize))) {
                barriers += 1;
                beside.clear();
            }
            beside.push(step);
        }
        barriers
    }

    #[test]
    fn chains_run_side_by_side() {
        assert_eq!(chains(&[3, 3], 4).order().collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
        assert_eq!(barriers(&chains(&[10, 10], 4)), 9);
        assert_eq!(barriers(&chains(&[10; 6], 4)), 9);
    }

    #[test]
    fn a_chain_keeps_its_order() {
        assert!(chains(&[200], 4).order().eq(0..200));
    }

    #[test]
    fn every_step_comes_once_and_after_those_it_needs() {
        let run = chains(&[100, 3, 1, 70, 100], 4);
        let order: Vec<usize> = run.order().collect();
        let place = |step: usize| order.iter().position(|&other| other == step).expect("it comes");
        assert_eq!(order.len(), 274);
        assert!((0..274).all(|step| run.before[step].iter().all(|&other| place(other as usize) < place(step))));
    }

    #[test]
    fn large_steps_wait_for_their_turn() {
        assert!(chains(&[3, 3], MOST_BYTES + 1).order().eq(0..6));
        assert!(chains(&[FARTHEST + 2, 2], 4).order().take(2).eq(0..2), "no step comes too far before its turn");
    }
}
