//! Data races within a workgroup: two invocations touch the same byte with no barrier in between, and not both only read,
//! nor both by atomics. The invocations of a matrix operation count as one: which of them touches what is the device's
//! affair.

use std::collections::HashMap;

use super::machine::Machine;
use super::mask::Mask;
use crate::error::Result;
use crate::ir::{Fence, Line, Place};

/// How memory is touched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    Write,
    Atomic,
}

/// Who touched a byte since the last barrier.
#[derive(Clone, Copy, Default)]
struct Byte {
    read: Who,
    written: Who,
    atomic: Who,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Who {
    #[default]
    Nobody,
    /// An invocation, or those of a matrix.
    One(usize),
    Several,
}

impl Who {
    fn add(&mut self, actor: usize) {
        *self = match *self {
            Who::Nobody => Who::One(actor),
            Who::One(same) if same == actor => *self,
            _ => Who::Several,
        };
    }

    fn is_other_than(self, actor: usize) -> bool {
        !matches!(self, Who::Nobody) && self != Who::One(actor)
    }
}

impl Byte {
    /// Notes that the actor touches this byte; gives those it conflicts with.
    fn touch(&mut self, actor: usize, touch: Touch) -> Option<Who> {
        let (mine, others) = match touch {
            Touch::Read => (&mut self.read, [self.written, self.atomic]),
            Touch::Write => (&mut self.written, [self.read, self.atomic]),
            Touch::Atomic => (&mut self.atomic, [self.read, self.written]),
        };
        // Writes conflict with each other as well.
        let before = if touch == Touch::Write { *mine } else { Who::Nobody };
        mine.add(actor);
        others.into_iter().chain([before]).find(|who| who.is_other_than(actor))
    }
}

/// The bytes touched since the last barrier.
#[derive(Default)]
pub(super) struct Races {
    /// By array and byte.
    shared: HashMap<(usize, usize), Byte>,
    /// By memory and byte, so that two buffers of one memory are seen as one.
    buffers: HashMap<(usize, usize), Byte>,
}

impl Races {
    /// Forgets what a barrier orders.
    pub(super) fn pass_barrier(&mut self, fence: Fence) {
        self.shared.clear();
        if fence == Fence::All {
            self.buffers.clear();
        }
    }
}

impl Machine<'_, '_> {
    /// Notes the access at hand, whose addresses `locate` has left; an error if it races with an earlier one.
    pub(super) fn note(&mut self, touch: Touch, place: Place, bytes: usize, mask: &Mask, line: Line) -> Result<()> {
        if self.races.is_none() {
            return Ok(());
        }
        for i in mask.iter() {
            self.note_one(touch, i, place, self.addresses[i], bytes, line)?;
        }
        Ok(())
    }

    /// Notes that an actor touches some bytes of a place.
    pub(super) fn note_one(
        &mut self,
        touch: Touch,
        actor: usize,
        place: Place,
        address: usize,
        bytes: usize,
        line: Line,
    ) -> Result<()> {
        let Some(races) = &mut self.races else { return Ok(()) };
        let (map, key, start) = match place {
            Place::Buffer(i) => match self.places.writable_memory(i) {
                Some((memory, start)) => (&mut races.buffers, memory, start),
                None => return Ok(()),
            },
            Place::Shared(i) => (&mut races.shared, i as usize, 0),
            Place::Private(_) => return Ok(()),
        };
        for byte in address..address + bytes {
            let entry = map.entry((key, start + byte)).or_default();
            if let Some(who) = entry.touch(actor, touch) {
                return Err(self.race(actor, who, place, byte, line));
            }
        }
        Ok(())
    }

    #[cold]
    fn race(&self, actor: usize, who: Who, place: Place, byte: usize, line: Line) -> crate::error::Error {
        let name = |actor: usize| match actor.checked_sub(self.invocations) {
            None => format!("invocation {actor}"),
            Some(holder) => format!("matrix holder {holder}"),
        };
        let other = match who {
            Who::One(other) => name(other),
            _ => "several invocations".to_owned(),
        };
        let (element, place) = (byte / self.places.unit(place), self.places.name(place));
        let message = format!(
            "element {element} of {place} must be left to one invocation until a barrier but is touched by {} after {other}.",
            name(actor)
        );
        self.execution(line, message)
    }
}
