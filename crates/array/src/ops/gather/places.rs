//! Where a walk leads on the CPU: the places of many runs of elements at once, so that each index type is met in a loop
//! of its own.

use super::walk::{Along, Walk};
use crate::dtype::{Dtype, Element};
use crate::eval::site::HostInput;

/// What an index outside its axis stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outside {
    /// The nearest inside.
    Nearest,
    /// Nothing: the place is negative.
    Nothing,
}

/// A place that stays negative whatever is added to it.
const NOTHING: i64 = i64::MIN / 2;

/// A walk on the CPU, a run of elements at a time.
pub(crate) struct Places<'a> {
    walk: &'a Walk,
    indices: &'a [HostInput<'a>],
    outside: Outside,
    /// Elements of a run.
    pub run: usize,
    /// Axes that are walked; the run's is not.
    axes: usize,
}

impl<'a> Places<'a> {
    pub fn new(walk: &'a Walk, indices: &'a [HostInput<'a>], outside: Outside) -> Places<'a> {
        let run = walk.run() as usize;
        let axes = if run > 1 { walk.sizes.len() - 1 } else { walk.sizes.len() };
        Places { walk, indices, outside, run, axes }
    }

    /// Runs there are.
    pub fn runs(&self) -> usize {
        self.walk.sizes[..self.axes].iter().product::<i64>() as usize
    }

    /// The places of some runs in the indexed array, whose first element is at `start`.
    pub fn indexed(&self, first: usize, count: usize, start: i64) -> Vec<i64> {
        let mut places = self.by(&self.walk.direct, first, count, start);
        for (index, along) in self.indices.iter().zip(&self.walk.indices) {
            let at = self.by(&along.strides, first, count, index.layout.offset);
            match index.dtype {
                Dtype::U8 => self.point::<u8>(index, along, &at, &mut places),
                Dtype::U16 => self.point::<u16>(index, along, &at, &mut places),
                Dtype::U32 => self.point::<u32>(index, along, &at, &mut places),
                // Those beyond 2^63 are outside anyway.
                Dtype::U64 => self.point::<u64>(index, along, &at, &mut places),
                Dtype::I8 => self.point::<i8>(index, along, &at, &mut places),
                Dtype::I16 => self.point::<i16>(index, along, &at, &mut places),
                Dtype::I32 => self.point::<i32>(index, along, &at, &mut places),
                _ => self.point::<i64>(index, along, &at, &mut places),
            }
        }
        places
    }

    /// The places of some runs in the moved elements.
    pub fn moved(&self, first: usize, count: usize, start: i64) -> Vec<i64> {
        self.by(&self.walk.moved, first, count, start)
    }

    /// Adds what an index array's elements at some places point to.
    fn point<I: Element + Wide>(&self, index: &HostInput<'_>, along: &Along, at: &[i64], places: &mut [i64]) {
        let memory = index.memory::<I>();
        for (place, &at) in places.iter_mut().zip(at) {
            let given = memory[at as usize].wide();
            let from_front = if given < 0 { given.saturating_add(along.size) } else { given };
            let inside = from_front.clamp(0, along.last);
            let missing = self.outside == Outside::Nothing && inside != from_front;
            *place = if missing { NOTHING } else { *place + inside * along.stride };
        }
    }

    /// The places that strides lead to, from the `first`-th run on.
    fn by(&self, strides: &[i64], first: usize, count: usize, start: i64) -> Vec<i64> {
        let mut places = Vec::with_capacity(count);
        let Some(last) = self.axes.checked_sub(1) else {
            places.push(start);
            return places;
        };
        let (size, stride) = (self.walk.sizes[last], strides[last]);
        let mut next = first as i64;
        while places.len() < count {
            let (row, within) = (next / size, next % size);
            let length = (size - within).min((count - places.len()) as i64);
            let base = start + self.row(&strides[..last], row) + within * stride;
            places.extend((0..length).map(|i| base + i * stride));
            next += length;
        }
        places
    }

    /// Where a row of the last walked axis begins.
    fn row(&self, strides: &[i64], mut row: i64) -> i64 {
        let mut place = 0;
        for (&size, &stride) in self.walk.sizes[..strides.len()].iter().zip(strides).rev() {
            place += row % size * stride;
            row /= size;
        }
        place
    }
}

/// Index types as 64 bits.
trait Wide {
    fn wide(self) -> i64;
}

macro_rules! wide {
    ($($index:ty),*) => {$(
        impl Wide for $index {
            fn wide(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )*};
}
wide!(u8, u16, u32, u64, i8, i16, i32, i64);
