//! Lifetimes: when a slot begins and ends, and which one can take over memory that nobody needs any more.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use crate::device::{Device, Stream};
use crate::eval::map::Reach;
use crate::eval::order::{Tape, ValueId};
use crate::eval::plan::{Home, Plan, Work};
use crate::eval::site::Placed;
use crate::storage::{Source, Users};

/// Bytes that donated memory may have beyond what its new owner needs; MLX's figure.
const SLACK: usize = 16384;

/// Fills in where slots begin and end, and donations.
pub(crate) fn settle(plan: &mut Plan, tape: &Tape) {
    let last = last_uses(plan);
    let kept: HashSet<Home> = plan.results.iter().map(|(_, placed)| placed.home).collect();
    let mut users = leaf_users(tape);
    let mut begun = vec![false; plan.slots.len()];
    let mut given: HashSet<Home> = HashSet::new();
    for i in 0..plan.steps.len() {
        let homes: SmallVec<[Home; 6]> = operands(&plan.steps[i].work).map(|placed| placed.home).collect();
        let donors = donors(&plan.steps[i].work);
        let Stream { index, device } = plan.steps[i].stream;
        if device == Device::GPU && matches!(plan.steps[i].work, Work::Launch(_) | Work::Write(_)) {
            homes.iter().for_each(|&home| add_user(&mut users, home, index));
        }
        for &home in &homes {
            let Home::Slot(slot) = home else { continue };
            if std::mem::replace(&mut begun[slot], true) {
                continue;
            }
            let wanted = plan.slots[slot];
            let donor = donors.iter().find(|&&(to, from)| {
                to == home
                    && only_user(users.get(&from).copied().unwrap_or_default(), plan.steps[i].stream)
                    && last[&from] == i
                    && !kept.contains(&from)
                    && !given.contains(&from)
                    && read_in_order(&plan.steps[i].work, from)
                    && memory(from, &plan.slots, tape).is_some_and(|bytes| bytes >= wanted && bytes <= wanted + SLACK)
            });
            match donor {
                Some(&(_, from)) => {
                    given.insert(from);
                    plan.steps[i].donations.push((from, slot));
                }
                None => plan.steps[i].begins.push(slot),
            }
        }
        let ends = homes.iter().filter_map(|&home| match home {
            Home::Slot(slot) if last[&home] == i && !kept.contains(&home) && !given.contains(&home) => Some(slot),
            _ => None,
        });
        let mut ends: SmallVec<[usize; 2]> = ends.collect();
        ends.sort_unstable();
        ends.dedup();
        plan.steps[i].ends = ends;
    }
}

/// The streams that use what was evaluated before.
fn leaf_users(tape: &Tape) -> HashMap<Home, Users> {
    let leaves = tape.values.iter().enumerate().filter_map(|(i, value)| match &value.leaf.as_ref()?.source {
        Source::Memory(storage) => Some((Home::Leaf(i as ValueId), storage.users())),
        Source::Value(_) => None,
    });
    leaves.collect()
}

fn add_user(users: &mut HashMap<Home, Users>, home: Home, stream: u32) {
    let entry = users.entry(home).or_default();
    *entry = entry.and(stream);
}

/// Whether a step of this stream may overwrite what these streams use: another may still be reading. The CPU's steps write the
/// host's side, and read at once.
fn only_user(users: Users, stream: Stream) -> bool {
    match users {
        Users::Nobody => true,
        Users::One(one) => stream.device == Device::CPU || one == stream.index,
        Users::Many => stream.device == Device::CPU,
    }
}

fn last_uses(plan: &Plan) -> HashMap<Home, usize> {
    let steps = plan.steps.iter().enumerate();
    steps.flat_map(|(i, step)| operands(&step.work).map(move |placed| (placed.home, i))).collect()
}

pub(super) fn operands(work: &Work) -> Box<dyn Iterator<Item = &Placed> + '_> {
    match work {
        Work::Launch(launch) => Box::new(launch.operands.iter()),
        Work::Block(block) => Box::new(block.inputs.iter().map(|(placed, ..)| placed).chain(&block.outputs)),
        Work::Host(host) => Box::new(host.inputs.iter().chain(&host.outputs).map(|(placed, _)| placed)),
        Work::Write(write) => Box::new(write.operands()),
        Work::Rows(rows) => {
            Box::new(rows.inputs.iter().chain(rows.made.iter().filter_map(|made| made.placed.as_ref())))
        }
    }
}

/// Outputs of a map, and the inputs whose memory each could take over: elements of one size, read where they are written.
fn donors(work: &Work) -> SmallVec<[(Home, Home); 4]> {
    match work {
        Work::Launch(launch) => {
            launch.donors.iter().map(|&(to, from)| (launch.operands[to].home, launch.operands[from].home)).collect()
        }
        Work::Block(block) => {
            let fits = |output: &Placed, input: &Placed, reach: Reach| {
                reach == Reach::Contiguous && input.dtype.size() == output.dtype.size() && input.begins_memory()
            };
            let pairs = block.outputs.iter().flat_map(|output| block.inputs.iter().map(move |input| (output, input)));
            let fitting = pairs.filter(|(output, (placed, reach, _))| fits(output, placed, *reach));
            fitting.map(|(output, (placed, ..))| (output.home, placed.home)).collect()
        }
        Work::Host(_) | Work::Write(_) | Work::Rows(_) => SmallVec::new(),
    }
}

/// Whether a step reads memory only where it writes: another look at it, reversed or of another type say, would see what is
/// already overwritten.
fn read_in_order(work: &Work, home: Home) -> bool {
    let mut looks = operands(work).filter(|p| p.home == home).peekable();
    let size = looks.peek().map(|p| p.dtype.size());
    looks.all(|p| p.begins_memory() && p.layout.is_row_contiguous() && Some(p.dtype.size()) == size)
}

/// Bytes of memory that may be overwritten after its last use; none if it may not.
fn memory(home: Home, slots: &[usize], tape: &Tape) -> Option<usize> {
    match home {
        Home::Slot(slot) => Some(slots[slot]),
        Home::Leaf(value) => tape.values[value as usize].donatable,
        Home::Value(_) => None,
    }
}
