//! How a unit grows: from a call towards what it is made from, as long as maps over its space can be computed along.

use smallvec::SmallVec;

use crate::device::{DeviceKind, Stream};
use crate::eval::fuse::{Fuser, Way};
use crate::eval::order::ValueId;
use crate::op::Accepts;
use crate::shape::Shape;
use crate::storage::Source;

/// Operands of a unit's maps at most.
const MOST_INPUTS: usize = 12;
/// Calls of a unit at most that other units compute too: reading a result costs as much as a few of them.
const MOST_COPIES: usize = 4;
/// Users at most of what is computed again in each of them.
const MOST_COPIERS: usize = 4;

/// Maps that are computed together.
pub(super) struct Growth<'a> {
    fuser: &'a Fuser<'a>,
    space: &'a Shape,
    stream: Stream,
    most: usize,
    members: Vec<Member>,
    /// What the members read but do not make.
    outside: SmallVec<[ValueId; MOST_INPUTS]>,
    /// The call that reads what the maps make, if it is kernels or a view before them; it is a member, but no map.
    kernels: Option<usize>,
    /// Whether a call that nobody else needs had to stay outside.
    cut: bool,
}

#[derive(Clone, Copy)]
struct Member {
    call: usize,
    /// Whether no other unit computes it.
    own: bool,
}

impl<'a> Growth<'a> {
    /// The maps that end with one.
    pub fn of_maps(fuser: &'a Fuser<'a>, root: usize, most: usize) -> Growth<'a> {
        let call = &fuser.tape.calls[root];
        let space = &fuser.tape.values[call.outputs[0] as usize].spec.shape;
        let mut outside: SmallVec<[ValueId; MOST_INPUTS]> = SmallVec::new();
        call.inputs.iter().for_each(|&value| add(&mut outside, value));
        Growth::new(fuser, root, space, most, outside, None)
    }

    /// The maps that make the first input of a call.
    pub fn before(fuser: &'a Fuser<'a>, call: usize, most: usize) -> Growth<'a> {
        let input = fuser.tape.calls[call].inputs[0];
        let space = &fuser.tape.values[input as usize].spec.shape;
        Growth::new(fuser, call, space, most + 1, SmallVec::from_slice(&[input]), Some(call))
    }

    fn new(
        fuser: &'a Fuser<'a>,
        root: usize,
        space: &'a Shape,
        most: usize,
        outside: SmallVec<[ValueId; MOST_INPUTS]>,
        kernels: Option<usize>,
    ) -> Growth<'a> {
        let stream = fuser.tape.calls[root].stream;
        let members = vec![Member { call: root, own: true }];
        let mut growth = Growth { fuser, space, stream, most, members, outside, kernels, cut: false };
        growth.grow(0, false);
        if stream.device.kind == DeviceKind::Gpu {
            growth.grow(0, true);
        }
        growth
    }

    /// What the members read but do not make.
    pub fn outside(&self) -> &[ValueId] {
        &self.outside
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are maps, and none that nobody else needs had to stay outside.
    pub fn is_whole(&self) -> bool {
        self.members.len() > self.kernels.is_some() as usize && !self.cut
    }

    /// Whether members over the space of a value are all its users.
    pub fn covers(&self, value: ValueId) -> bool {
        self.fits(value) && self.fuser.users[value as usize].iter().all(|&user| self.member(user).is_some())
    }

    /// The maps, in the tape's order.
    pub fn into_calls(self) -> Vec<usize> {
        let maps = self.members.iter().map(|member| member.call).filter(|&call| Some(call) != self.kernels);
        let mut calls: Vec<usize> = maps.collect();
        calls.sort_unstable();
        calls
    }

    /// Takes in what the members from `next` on are made from, and what that is made from.
    fn grow(&mut self, mut next: usize, copies: bool) {
        while let Some(&member) = self.members.get(next) {
            let inputs = &self.fuser.tape.calls[member.call].inputs;
            let inputs = if self.kernels == Some(member.call) { &inputs[..1] } else { inputs };
            inputs.iter().for_each(|&value| self.consider(value, copies));
            next += 1;
        }
    }

    fn consider(&mut self, value: ValueId, copies: bool) {
        let Some(maker) = self.fuser.maker[value as usize] else { return };
        let joinable = self.fuser.ways[maker] == Way::Map && self.fits(value) && !self.fuser.needed[value as usize];
        if !joinable || self.member(maker).is_some() {
            return;
        }
        let users = self.fuser.users[value as usize].iter().map(|&user| self.user(user, value));
        let own = users.clone().all(|user| user.is_some_and(|user| user.own));
        let inside = users.clone().all(|user| user.is_some());
        let held = self.fuser.held(value);
        if own && !(held && self.kernels.is_some()) {
            self.cut |= !self.join(maker, value, true);
        } else if !held && (inside || copies) && self.is_cheap(maker) && self.users_take_maps(value) {
            self.join(maker, value, false);
        }
    }

    /// Makes a call a member, unless there would be too much.
    fn join(&mut self, call: usize, value: ValueId, own: bool) -> bool {
        let mut outside: SmallVec<[ValueId; MOST_INPUTS]> =
            self.outside.iter().copied().filter(|&other| other != value).collect();
        self.fuser.tape.calls[call].inputs.iter().for_each(|&input| add(&mut outside, input));
        let copies = self.members.iter().filter(|member| !member.own).count();
        let fits = outside.len() <= MOST_INPUTS && self.members.len() < self.most && (own || copies < MOST_COPIES);
        if fits {
            self.outside = outside;
            self.members.push(Member { call, own });
        }
        fits
    }

    /// A user of a value, if it gets the value from the maps. Kernels get their first input from them.
    fn user(&self, user: usize, value: ValueId) -> Option<Member> {
        let another = self.kernels == Some(user) && self.fuser.tape.calls[user].inputs[1..].contains(&value);
        self.member(user).filter(|_| !another)
    }

    fn member(&self, call: usize) -> Option<Member> {
        self.members.iter().copied().find(|member| member.call == call)
    }

    /// Whether a value has the members' space, and is made where they are.
    fn fits(&self, value: ValueId) -> bool {
        let maker = self.fuser.maker[value as usize].map(|maker| self.fuser.tape.calls[maker].stream);
        maker == Some(self.stream) && self.fuser.tape.values[value as usize].spec.shape == *self.space
    }

    /// Whether computing a call again costs no more than reading its result: it reads one whole array itself.
    fn is_cheap(&self, call: usize) -> bool {
        let mut whole: SmallVec<[ValueId; 2]> = SmallVec::new();
        let inputs = self.fuser.tape.calls[call].inputs.iter().copied();
        inputs.filter(|&value| self.is_full(value)).for_each(|value| {
            if !whole.contains(&value) {
                whole.push(value);
            }
        });
        whole.len() <= 1
    }

    /// Whether a value has as many elements in memory as the space; a mean beside its row has not.
    fn is_full(&self, value: ValueId) -> bool {
        let tape = self.fuser.tape;
        let entry = &tape.values[value as usize];
        if entry.spec.shape != *self.space {
            return false;
        }
        if let Some(leaf) = &entry.leaf {
            let repeated = leaf.layout.shape.iter().zip(&leaf.layout.strides).any(|(&n, &stride)| n > 1 && stride == 0);
            return matches!(leaf.source, Source::Memory(_)) && !repeated;
        }
        match self.fuser.maker[value as usize] {
            Some(maker) if matches!(self.fuser.ways[maker], Way::View { .. }) => {
                tape.values[tape.calls[maker].inputs[0] as usize].spec.size() >= entry.spec.size()
            }
            _ => true,
        }
    }

    /// Whether the users of a value are few and can all compute maps along: a map over the same space, or kernels that accept it.
    fn users_take_maps(&self, value: ValueId) -> bool {
        let (tape, users) = (self.fuser.tape, &self.fuser.users[value as usize]);
        let takes = |&user: &usize| {
            let call = &tape.calls[user];
            let takes = match self.fuser.ways[user] {
                Way::Map => tape.values[call.outputs[0] as usize].spec.shape == *self.space,
                Way::Kernels(Accepts { before: true, .. }) => {
                    call.inputs[0] == value && !call.inputs[1..].contains(&value)
                }
                _ => false,
            };
            takes && call.stream == self.stream
        };
        users.len() <= MOST_COPIERS && users.iter().all(takes)
    }
}

fn add(values: &mut SmallVec<[ValueId; MOST_INPUTS]>, value: ValueId) {
    if !values.contains(&value) {
        values.push(value);
    }
}
