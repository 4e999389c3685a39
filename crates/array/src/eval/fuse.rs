//! Fuse: which calls are computed together.
//!
//! Adjacent maps over one iteration space become one kernel: what only they use never reaches memory. Where an op's kernels accept it,
//! the maps that make its input and those made of its output are computed in its kernels. Calls are taken from the last to the
//! first, and only what a later unit reads from memory, or somebody looks at, becomes a unit: a map joins the unit of its
//! users if all of them are in it, and a cheap one is computed again in each of several (`x - mean` for the variance and
//! for the result).

use smallvec::SmallVec;

use crate::device::DeviceKind;
use crate::eval::growth::Growth;
use crate::eval::order::{Tape, TapeCall, ValueId};
use crate::op::{Accepts, Lowering, Place, View};
use crate::shape::{Layout, Spec};
use pumice_kernel::Target;

/// Calls computed in one kernel at most. Larger groups take the driver seconds to compile.
const MOST_CALLS: usize = 64;
/// Maps computed as results are stored, at most: few invocations do that.
const MOST_AFTER: usize = 16;
/// Maps computed as elements are loaded, at most, for each byte of an element. An access covers 16 bytes, and the kernel has
/// the maps several times for each of its elements.
const MOST_BEFORE_A_BYTE: usize = 8;

/// How a call is computed; the ways of [`Lowering`] that are left after ordering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// In order if what lies without gaps still does: a reshape.
    View {
        in_order: bool,
    },
    Map,
    Write,
    Kernels(Accepts),
    Host,
}

/// Calls that are computed together.
pub(crate) enum Unit {
    /// One call, by its way.
    Single(usize),
    /// Maps, in the tape's order.
    Group(Vec<usize>),
    /// Kernels that compute maps along: those that make the first input, and those of the first output. Views between the former
    /// and the kernels keep the order, so nothing is left to do for them.
    Around { before: Vec<usize>, views: Vec<usize>, call: usize, after: Vec<usize> },
}

/// The units of a tape, and whether their steps may go together as well.
pub(crate) struct Fused {
    pub units: Vec<Unit>,
    pub fusion: bool,
}

impl Unit {
    fn calls(&self) -> SmallVec<[usize; 8]> {
        match self {
            Unit::Single(call) => SmallVec::from_slice(&[*call]),
            Unit::Group(calls) => SmallVec::from_slice(calls),
            Unit::Around { before, views, call, after } => {
                before.iter().chain(views).chain([call]).chain(after).copied().collect()
            }
        }
    }
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
    lowered(tape, call, target, |lowering, place| match lowering {
        Lowering::View(view) => Way::View { in_order: keeps_order(view, place) },
        Lowering::Map(_) => Way::Map,
        Lowering::Write(_) => Way::Write,
        Lowering::Kernels(kernels) => Way::Kernels(kernels.accepts()),
        Lowering::Host(_) => Way::Host,
        Lowering::Decompose | Lowering::Program(_) => {
            unreachable!("[{}] was replaced by what it stands for", call.op.name())
        }
    })
}

/// Whether elements that lie without gaps lie in the same order for the view.
fn keeps_order(view: &dyn View, place: &Place<'_>) -> bool {
    let (input, output) = (place.inputs[0], &place.outputs[0]);
    let layout = view.view(&Layout::contiguous(&input.shape), output);
    let same = input.dtype == output.dtype && input.size() == output.size();
    same && layout.is_some_and(|layout| layout.offset == 0 && layout.is_row_contiguous())
}

/// Puts calls into units, in the order they are computed; without `fusion` every call is computed alone.
pub(crate) fn fuse(tape: &Tape, ways: &[Way], fusion: bool) -> Fused {
    let mut fuser = Fuser::new(tape, ways, fusion);
    let mut units: Vec<Unit> = Vec::new();
    for root in (0..tape.calls.len()).rev() {
        if let Some(unit) = fuser.unit(root) {
            fuser.take(&unit);
            units.push(unit);
        }
    }
    units.reverse();
    Fused { units, fusion }
}

/// What is known of the tape, and of the units made so far.
pub(super) struct Fuser<'a> {
    pub tape: &'a Tape,
    pub ways: &'a [Way],
    fusion: bool,
    /// Who makes and who uses each value.
    pub maker: Vec<Option<usize>>,
    pub users: Vec<SmallVec<[usize; 2]>>,
    /// Values that a unit reads from memory.
    pub needed: Vec<bool>,
    /// Calls whose values a unit stores.
    done: Vec<bool>,
}

impl<'a> Fuser<'a> {
    fn new(tape: &'a Tape, ways: &'a [Way], fusion: bool) -> Fuser<'a> {
        let (values, calls) = (tape.values.len(), tape.calls.len());
        let mut maker = vec![None; values];
        let mut users = vec![SmallVec::new(); values];
        for (i, call) in tape.calls.iter().enumerate() {
            call.inputs.iter().for_each(|&v| users[v as usize].push(i));
            call.outputs.iter().for_each(|&v| maker[v as usize] = Some(i));
        }
        Fuser { tape, ways, fusion, maker, users, needed: vec![false; values], done: vec![false; calls] }
    }

    pub fn held(&self, value: ValueId) -> bool {
        self.tape.values[value as usize].held
    }

    /// The unit that ends with a call; none if its result is computed elsewhere.
    fn unit(&mut self, root: usize) -> Option<Unit> {
        match self.ways[root] {
            _ if self.done[root] => None,
            Way::Map => {
                let value = self.tape.calls[root].outputs[0];
                (self.held(value) || self.needed[value as usize]).then(|| self.maps(root))
            }
            Way::Kernels(_) if self.fusion => Some(self.around(root, Vec::new())),
            _ => Some(Unit::Single(root)),
        }
    }

    /// Maps that end with a call, in the kernels they follow if those accept it.
    fn maps(&self, root: usize) -> Unit {
        if !self.fusion {
            return Unit::Group(vec![root]);
        }
        let growth = Growth::of_maps(self, root, MOST_CALLS);
        let follows =
            growth.outside().iter().find_map(|&value| self.maker[value as usize].filter(|_| self.ends(&growth, value)));
        let members = growth.into_calls();
        match follows {
            Some(call) => self.around(call, members),
            None => Unit::Group(members),
        }
    }

    /// Whether the kernels that make a value can compute these maps of it.
    fn ends(&self, growth: &Growth<'_>, value: ValueId) -> bool {
        let Some(maker) = self.maker[value as usize] else { return false };
        let call = &self.tape.calls[maker];
        matches!(self.ways[maker], Way::Kernels(Accepts { after: true, .. }))
            && call.outputs.len() == 1
            && growth.len() <= MOST_AFTER
            && !self.held(value)
            && !self.needed[value as usize]
            && growth.covers(value)
    }

    /// Kernels with the maps that make their first input, all of them or none, and with those after.
    fn around(&self, call: usize, after: Vec<usize>) -> Unit {
        let Way::Kernels(Accepts { before: true, .. }) = self.ways[call] else {
            return Unit::Around { before: Vec::new(), views: Vec::new(), call, after };
        };
        let (views, input) = (self.views_before(call), self.tape.calls[call].inputs[0]);
        let dtype = self.tape.values[input as usize].spec.dtype;
        let reads = views.last().copied().unwrap_or(call);
        let growth = Growth::before(self, reads, MOST_BEFORE_A_BYTE * dtype.size());
        match growth.is_whole() {
            true => Unit::Around { before: growth.into_calls(), views, call, after },
            false => Unit::Around { before: Vec::new(), views: Vec::new(), call, after },
        }
    }

    /// The views in order that only the call looks through, the nearest first.
    fn views_before(&self, call: usize) -> Vec<usize> {
        let mut views = Vec::new();
        let mut user = call;
        loop {
            let value = self.tape.calls[user].inputs[0];
            let only = self.users[value as usize].as_slice() == [user] && !self.held(value);
            let Some(maker) = self.maker[value as usize].filter(|_| only) else { return views };
            let beside = self.tape.calls[maker].stream == self.tape.calls[call].stream;
            if !beside || self.ways[maker] != (Way::View { in_order: true }) {
                return views;
            }
            views.push(maker);
            user = maker;
        }
    }

    /// Notes what a unit reads and what it stores.
    fn take(&mut self, unit: &Unit) {
        let calls = unit.calls();
        let inside = |value: ValueId| self.maker[value as usize].is_some_and(|maker| calls.contains(&maker));
        let mut read: SmallVec<[ValueId; 8]> = SmallVec::new();
        for &call in &calls {
            read.extend(self.tape.calls[call].inputs.iter().copied().filter(|&value| !inside(value)));
        }
        read.into_iter().for_each(|value| self.needed[value as usize] = true);
        for &call in &calls {
            let stores = self.ways[call] != Way::Map || self.held(self.tape.calls[call].outputs[0]);
            self.done[call] |= stores;
        }
    }
}
