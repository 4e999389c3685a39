//! Invocations that reduce together: teams of 8, 64 or 256 of a workgroup.
//!
//! Eight neighbours exchange directly, then one partial result of each eight goes through shared memory. The order is the same
//! whatever the device's subgroups are, so results do not depend on it.

use pumice_kernel::{Builder, Val};

use super::combiner::{Combiner, Parts, typed, values};
use crate::dtype::Dtype;
use crate::typed::{Typed, compute};

/// Invocations per workgroup.
pub(crate) const WORKGROUP: u32 = 256;
/// Neighbours that exchange directly.
const NEIGHBOURS: u32 = 8;

/// How neighbours exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exchange {
    /// By shuffles: subgroups have at least eight invocations.
    Shuffle,
    /// Through shared memory.
    Shared,
}

impl Exchange {
    /// What a device with subgroups of this size does.
    pub fn of(subgroup_size: u32) -> Exchange {
        if subgroup_size >= NEIGHBOURS { Exchange::Shuffle } else { Exchange::Shared }
    }

    /// The invocation's number in the workgroup, such that eight consecutive ones are neighbours.
    pub fn position(self, k: &Builder) -> Val<'_> {
        match self {
            Exchange::Shuffle => k.subgroup_id() * k.subgroup_size() + k.lane(),
            Exchange::Shared => k.local_index(),
        }
    }
}

/// Combines the partial results of each team; every invocation gets its team's. Must stand where all invocations come.
pub(crate) fn reduce<'k>(
    k: &'k Builder,
    combiner: &dyn Combiner,
    exchange: Exchange,
    team: u32,
    own: Parts<'k>,
) -> Parts<'k> {
    let position = exchange.position(k);
    let eight = among_neighbours(k, combiner, exchange, position, own);
    let eights = team / NEIGHBOURS;
    if eights <= 1 {
        return eight;
    }
    let scratch = Scratch::new(k, combiner, "team", WORKGROUP / NEIGHBOURS);
    k.when((position & (NEIGHBOURS as i32 - 1)).eq(0), || scratch.store(position.shr_u(3), &eight));
    k.barrier();
    // Each of eight neighbours takes its share of the team's partial results.
    let first = position.shr_u(3) & -(eights as i32);
    let mine = first + (position & (NEIGHBOURS as i32 - 1));
    let shares = eights / NEIGHBOURS;
    let share = (1..shares as i32).fold(scratch.load(combiner, mine), |sum, j| {
        combiner.combine(&sum, &scratch.load(combiner, mine + j * NEIGHBOURS as i32))
    });
    k.barrier();
    among_neighbours(k, combiner, exchange, position, share)
}

fn among_neighbours<'k>(
    k: &'k Builder,
    combiner: &dyn Combiner,
    exchange: Exchange,
    position: Val<'k>,
    own: Parts<'k>,
) -> Parts<'k> {
    let scratch = (exchange == Exchange::Shared).then(|| Scratch::new(k, combiner, "exchange", WORKGROUP));
    [1, 2, 4].into_iter().fold(own, |own, mask| {
        let other: Parts = match &scratch {
            None => own.iter().map(|part| shuffled(*part, mask)).collect(),
            Some(scratch) => {
                scratch.store(position, &own);
                k.barrier();
                let other = scratch.load(combiner, position ^ mask);
                k.barrier();
                other
            }
        };
        combiner.combine(&own, &other)
    })
}

fn shuffled(part: Typed<'_>, mask: i32) -> Typed<'_> {
    Typed::new(part.val.shuffle_xor(mask), part.dtype)
}

/// Partial results in shared memory: an array for each of their scalars.
pub(crate) struct Scratch<'k> {
    arrays: Vec<pumice_kernel::SharedArray<'k>>,
}

impl<'k> Scratch<'k> {
    /// Room for `count` of them.
    pub fn new(k: &'k Builder, combiner: &dyn Combiner, name: &str, count: u32) -> Scratch<'k> {
        let array = |(i, dtype): (usize, Dtype)| match dtype {
            Dtype::C64 => k.shared_vectors(&format!("{name}{i}"), pumice_kernel::Elem::F32, 2, count),
            _ => k.shared(&format!("{name}{i}"), compute(dtype).storage(), count),
        };
        Scratch { arrays: combiner.types().into_iter().enumerate().map(array).collect() }
    }

    /// Writes one.
    pub fn store(&self, at: Val<'k>, parts: &[Typed<'k>]) {
        self.arrays.iter().zip(values(parts)).for_each(|(array, value)| array.store(at, value));
    }

    /// Reads one.
    pub fn load(&self, combiner: &dyn Combiner, at: Val<'k>) -> Parts<'k> {
        let loaded: Vec<Val> = self.arrays.iter().map(|array| array.load(at)).collect();
        typed(combiner, &loaded)
    }
}
