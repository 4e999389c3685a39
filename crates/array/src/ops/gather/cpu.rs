//! Gathers on the CPU: runs of elements copied, in parallel where there are many.

use rayon::prelude::*;

use super::walk::Walk;
use crate::dtype::{Dtype, Element};
use crate::eval::site::HostInput;
use crate::shape::Layout;

/// Bytes that are worth a task of their own.
const TASK: usize = 1 << 16;

/// Gathers into elements that lie without gaps.
pub(super) fn gather(walk: &Walk, from: &HostInput<'_>, indices: &[HostInput<'_>], to: &mut [u8]) {
    match from.dtype.size() {
        1 => gather_as::<u8>(walk, from, indices, to),
        2 => gather_as::<u16>(walk, from, indices, to),
        4 => gather_as::<u32>(walk, from, indices, to),
        _ => gather_as::<u64>(walk, from, indices, to),
    }
}

/// Copies an array into elements that lie without gaps.
pub(crate) fn copy_on_host(from: &HostInput<'_>, to: &mut [u8]) {
    gather(&Walk::plain(&Layout::contiguous(&from.layout.shape), &from.layout), from, &[], to);
}

fn gather_as<T: Element + Send + Sync>(walk: &Walk, from: &HostInput<'_>, indices: &[HostInput<'_>], to: &mut [u8]) {
    let to: &mut [T] = bytemuck::cast_slice_mut(to);
    if to.is_empty() {
        return;
    }
    let memory: &[T] = bytemuck::cast_slice(from.bytes());
    let indices = Indices::new(walk, indices);
    let run = walk.run() as usize;
    let runs = (TASK / (run * size_of::<T>())).max(1);
    to.par_chunks_mut(runs * run).enumerate().for_each(|(task, to)| {
        let mut steps = Steps::new(walk, run, task * runs, from.layout.offset);
        for to in to.chunks_mut(run) {
            let at = indices.nearest(&steps) as usize;
            to.copy_from_slice(&memory[at..at + run]);
            steps.next();
        }
    });
}

/// The index arrays of a walk, to be read.
pub(crate) struct Indices<'a> {
    walk: &'a Walk,
    arrays: &'a [HostInput<'a>],
}

impl<'a> Indices<'a> {
    pub fn new(walk: &'a Walk, arrays: &'a [HostInput<'a>]) -> Indices<'a> {
        Indices { walk, arrays }
    }

    /// The place in the indexed array, indices outside moved to the nearest inside.
    fn nearest(&self, steps: &Steps<'_>) -> i64 {
        self.places(steps, |index, last| Some(index.clamp(0, last))).expect("all are inside")
    }

    /// The place in the indexed array; none if an index is outside.
    pub fn inside(&self, steps: &Steps<'_>) -> Option<i64> {
        self.places(steps, |index, last| (0..=last).contains(&index).then_some(index))
    }

    fn places(&self, steps: &Steps<'_>, limit: impl Fn(i64, i64) -> Option<i64>) -> Option<i64> {
        let mut place = steps.direct;
        for ((along, array), &at) in self.walk.indices.iter().zip(self.arrays).zip(&steps.indices) {
            let given = read(array, array.layout.offset + at);
            let index = if given < 0 { given + along.size } else { given };
            place += limit(index, along.last)? * along.stride;
        }
        Some(place)
    }
}

/// An index. Those beyond 2^63 are outside anyway.
fn read(array: &HostInput<'_>, at: i64) -> i64 {
    let at = at as usize;
    match array.dtype {
        Dtype::U8 => array.memory::<u8>()[at] as i64,
        Dtype::U16 => array.memory::<u16>()[at] as i64,
        Dtype::U32 => array.memory::<u32>()[at] as i64,
        Dtype::U64 => array.memory::<u64>()[at].min(i64::MAX as u64) as i64,
        Dtype::I8 => array.memory::<i8>()[at] as i64,
        Dtype::I16 => array.memory::<i16>()[at] as i64,
        Dtype::I32 => array.memory::<i32>()[at] as i64,
        _ => array.memory::<i64>()[at],
    }
}

/// A place on a walk, a run of elements at a time.
pub(crate) struct Steps<'a> {
    walk: &'a Walk,
    /// Axes that are walked; the run's is not.
    axes: usize,
    along: Vec<i64>,
    /// Place in the moved elements.
    pub moved: i64,
    /// Place in the indexed array, before indices.
    direct: i64,
    /// Place in each index array.
    indices: Vec<i64>,
}

impl<'a> Steps<'a> {
    /// The place of the `first`-th run; `start` is the indexed array's first element.
    pub fn new(walk: &'a Walk, run: usize, first: usize, start: i64) -> Steps<'a> {
        let axes = if run > 1 { walk.sizes.len() - 1 } else { walk.sizes.len() };
        let (mut rest, mut along) = (first as i64, vec![0; axes]);
        for axis in (0..axes).rev() {
            along[axis] = rest % walk.sizes[axis];
            rest /= walk.sizes[axis];
        }
        let place = |strides: &[i64]| along.iter().zip(strides).map(|(&n, &stride)| n * stride).sum::<i64>();
        let indices = walk.indices.iter().map(|index| place(&index.strides)).collect();
        let (moved, direct) = (place(&walk.moved), start + place(&walk.direct));
        Steps { walk, axes, moved, direct, indices, along }
    }

    /// Goes on to the next run.
    pub fn next(&mut self) {
        for axis in (0..self.axes).rev() {
            self.along[axis] += 1;
            let back = self.along[axis] == self.walk.sizes[axis];
            let turns = if back { 1 - self.walk.sizes[axis] } else { 1 };
            self.moved += turns * self.walk.moved[axis];
            self.direct += turns * self.walk.direct[axis];
            for (place, index) in self.indices.iter_mut().zip(&self.walk.indices) {
                *place += turns * index.strides[axis];
            }
            if !back {
                break;
            }
            self.along[axis] = 0;
        }
    }
}
