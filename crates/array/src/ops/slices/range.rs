//! Which elements of each axis a slice has.

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::op::{Key, Starts};
use crate::shape::{Layout, Shape};

/// Every `step`-th element of an axis from `start` on, `size` of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    start: i32,
    step: i32,
    size: i32,
}

/// A range for each axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ranges(SmallVec<[Range; 4]>);

impl Ranges {
    /// From `start` to before `stop`, by `strides`, in a shape. Places outside of it are left out.
    pub fn new(op: &str, shape: &[i32], start: &[i32], stop: &[i32], strides: &[i32]) -> Result<Ranges> {
        let n = shape.len();
        if [start, stop, strides].iter().any(|given| given.len() != n) {
            let (a, b, c) = (start.len(), stop.len(), strides.len());
            return Err(Error::Value(format!(
                "[{op}] start, stop and strides must have {n} numbers, one an axis, but have {a}, {b} and {c}."
            )));
        }
        let axes = (0..n).map(|axis| match strides[axis] {
            0 => Err(Error::Value(format!("[{op}] strides must not be 0 but that of axis {axis} is."))),
            step => Ok(Range::new(shape[axis], start[axis], stop[axis], step)),
        });
        Ok(Ranges(axes.collect::<Result<_>>()?))
    }

    /// All of the shape but along one axis, there from `start` to before `stop`.
    pub fn along(shape: &[i32], axis: usize, start: i32, stop: i32) -> Ranges {
        let mut all: SmallVec<[Range; 4]> = shape.iter().map(|&n| Range::whole(n)).collect();
        all[axis] = Range::new(shape[axis], start, stop, 1);
        Ranges(all)
    }

    /// How many elements it has along each axis.
    pub fn shape(&self) -> Shape {
        self.0.iter().map(|range| range.size).collect()
    }

    /// Whether it is all of the shape, in order.
    pub fn is_whole(&self, shape: &[i32]) -> bool {
        self.0.iter().zip(shape).all(|(range, &n)| *range == Range::whole(n))
    }

    /// Whether all places are in the shape.
    pub fn fit(&self, shape: &[i32]) -> bool {
        let last = |range: &Range| range.start as i64 + (range.size as i64 - 1) * range.step as i64;
        let inside = |at: i64, n: i32| (0..n as i64).contains(&at);
        self.0.len() == shape.len()
            && self
                .0
                .iter()
                .zip(shape)
                .all(|(range, &n)| range.size == 0 || inside(range.start as i64, n) && inside(last(range), n))
    }

    /// Where the elements lie of those that a layout places.
    pub fn layout(&self, whole: &Layout) -> Layout {
        let mut part = Layout { shape: self.shape(), ..whole.clone() };
        for (axis, range) in self.0.iter().enumerate() {
            part.offset += range.start as i64 * whole.strides[axis];
            part.strides[axis] = whole.strides[axis] * range.step as i64;
        }
        // Nothing lies anywhere: not even outside of the memory.
        part.offset = if part.size() == 0 { whole.offset } else { part.offset };
        part
    }

    /// The same with an axis of `n`, all of it, before the others.
    pub fn behind(&self, n: i32) -> Ranges {
        Ranges(std::iter::once(Range::whole(n)).chain(self.0.iter().copied()).collect())
    }

    /// Where it begins along each axis.
    pub fn starts(&self) -> Starts {
        self.0.iter().map(|range| range.start).collect()
    }

    /// Adds all but where it begins.
    pub fn plan_key(&self, key: &mut Key) {
        key.word(self.0.len() as u64);
        for Range { step, size, .. } in &self.0 {
            key.ints(&[*step, *size]);
        }
    }

    pub fn key(&self, key: &mut Key) {
        key.word(self.0.len() as u64);
        for Range { start, step, size } in &self.0 {
            key.ints(&[*start, *step, *size]);
        }
    }
}

impl Range {
    fn new(n: i32, start: i32, stop: i32, step: i32) -> Range {
        let (n, stop, by) = (n as i64, stop as i64, step as i64);
        let (start, distance) = match step > 0 {
            true => {
                let start = (start as i64).clamp(0, n);
                (start, stop.min(n) - start)
            }
            false => {
                let start = (start as i64).min(n - 1);
                (start, start - stop.max(-1))
            }
        };
        let size = if distance > 0 { (distance + by.abs() - 1) / by.abs() } else { 0 };
        Range { start: start as i32, step, size: size as i32 }
    }

    fn whole(n: i32) -> Range {
        Range { start: 0, step: 1, size: n }
    }
}
