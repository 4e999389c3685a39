//! Fuse: which calls are computed together.
//!
//! Adjacent maps over one iteration space become one kernel: what only they use never reaches memory. A map joins the group of its
//! users when all of them are in it, so a group can be computed where its last call stands.

use smallvec::SmallVec;

use crate::device::DeviceKind;
use crate::eval::order::{Tape, TapeCall, ValueId};
use crate::op::{Lowering, Place};
use crate::shape::Spec;
use pumice_kernel::Target;

/// Calls computed in one kernel at most. Larger groups take the driver seconds to compile.
const MOST_CALLS: usize = 64;
/// Operands of a group at most.
const MOST_INPUTS: usize = 12;

/// How a call is computed; the ways of [`Lowering`] that are left after ordering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    View,
    Map,
    Write,
    Kernels,
    Host,
}

/// Calls that are computed together.
pub(crate) enum Unit {
    /// One call, by its way.
    Single(usize),
    /// Maps, in the tape's order.
    Group(Vec<usize>),
}

/// The way of every call.
pub(crate) fn ways(tape: &Tape, target: Option<&Target>) -> Vec<Way> {
    tape.calls.iter().map(|call| way(tape, call, target)).collect()
}

/// Asks the op how it is computed, and hands the answer on.
pub(crate) fn lowered<R>(
    tape: &Tape,
    call: &TapeCall,
    target: Option<&Target>,
    use_it: impl FnOnce(Lowering<'_>, &Place<'_>) -> R,
) -> R {
    let inputs: SmallVec<[&Spec; 3]> = call.inputs.iter().map(|&v| &*tape.values[v as usize].spec).collect();
    let outputs: SmallVec<[Spec; 1]> = call.outputs.iter().map(|&v| tape.values[v as usize].spec.clone()).collect();
    let device = call.stream.device.kind;
    let target = target.filter(|_| device == DeviceKind::Gpu);
    let place = Place { device, target, inputs: &inputs, outputs: &outputs };
    use_it(call.op.lower(&place), &place)
}

fn way(tape: &Tape, call: &TapeCall, target: Option<&Target>) -> Way {
    lowered(tape, call, target, |lowering, _| match lowering {
        Lowering::View(_) => Way::View,
        Lowering::Map(_) => Way::Map,
        Lowering::Write(_) => Way::Write,
        Lowering::Kernels(_) => Way::Kernels,
        Lowering::Host(_) => Way::Host,
        Lowering::Decompose | Lowering::Program(_) => {
            unreachable!("[{}] was replaced by what it stands for", call.op.name())
        }
    })
}

/// Puts maps into groups; without `fusion` every call is computed alone.
pub(crate) fn fuse(tape: &Tape, ways: &[Way], fusion: bool) -> Vec<Unit> {
    let most = if fusion { MOST_CALLS } else { 1 };
    let users = Users::of(tape);
    let mut grouped: Vec<bool> = vec![false; tape.calls.len()];
    let mut units: Vec<Unit> = Vec::new();
    for root in (0..tape.calls.len()).rev() {
        if grouped[root] {
            continue;
        }
        match ways[root] {
            Way::Map => units.push(Unit::Group(grow(tape, ways, &users, &mut grouped, root, most))),
            _ => units.push(Unit::Single(root)),
        }
    }
    units.reverse();
    units
}

/// Who makes and who uses each value.
struct Users {
    maker: Vec<Option<usize>>,
    users: Vec<SmallVec<[usize; 2]>>,
}

impl Users {
    fn of(tape: &Tape) -> Users {
        let mut all = Users { maker: vec![None; tape.values.len()], users: vec![SmallVec::new(); tape.values.len()] };
        for (i, call) in tape.calls.iter().enumerate() {
            call.inputs.iter().for_each(|&v| all.users[v as usize].push(i));
            call.outputs.iter().for_each(|&v| all.maker[v as usize] = Some(i));
        }
        all
    }
}

fn grow(tape: &Tape, ways: &[Way], users: &Users, grouped: &mut [bool], root: usize, most: usize) -> Vec<usize> {
    let space = &tape.values[tape.calls[root].outputs[0] as usize].spec.shape;
    let mut members = vec![root];
    let mut outside: SmallVec<[ValueId; MOST_INPUTS]> = tape.calls[root].inputs.iter().copied().collect();
    grouped[root] = true;
    let mut next = 0;
    while next < members.len() {
        for &value in &tape.calls[members[next]].inputs {
            let Some(maker) = users.maker[value as usize] else { continue };
            let call = &tape.calls[maker];
            let joins = ways[maker] == Way::Map
                && !grouped[maker]
                && call.stream == tape.calls[root].stream
                && tape.values[value as usize].spec.shape == *space
                && members.len() < most
                && users.users[value as usize].iter().all(|user| members.contains(user));
            if joins && take_inputs(&mut outside, value, &call.inputs) {
                grouped[maker] = true;
                members.push(maker);
            }
        }
        next += 1;
    }
    members.sort_unstable();
    members
}

/// Replaces a value by what it is made from, unless there would be too many.
fn take_inputs(outside: &mut SmallVec<[ValueId; MOST_INPUTS]>, value: ValueId, inputs: &[ValueId]) -> bool {
    let mut after: SmallVec<[ValueId; MOST_INPUTS]> = outside.iter().copied().filter(|&v| v != value).collect();
    for &input in inputs {
        if !after.contains(&input) {
            after.push(input);
        }
    }
    let fits = after.len() <= MOST_INPUTS;
    if fits {
        *outside = after;
    }
    fits
}
