//! Reductions on the CPU: rows by vectors of partial results, columns side by side.
//!
//! A long row or column is cut into segments of a fixed size, those into blocks, and partial results are combined in one order,
//! whatever the number of threads: sums are nearly as exact as pairwise ones, and the same on every machine. What runs in
//! threads knows bytes only, so that it is compiled once and not for every type.

pub(crate) mod folds;
pub(crate) mod lanes;
pub(crate) mod numbers;

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::axes::{Axes, Axis, Order};
use crate::cpu::threads::share;
use crate::error::Result;
use crate::eval::site::HostSite;
use folds::Fold;
use lanes::{LANES, add_rows, of_rows, of_run, short_rows};

/// Elements of a row that are folded one after another.
const ROW_BLOCK: usize = lanes::RUN;
/// Elements of a column that are folded one after another.
const COLUMN_BLOCK: usize = 64;
/// Elements of a column that one thread takes: whole rows of memory follow each other, where narrow columns would jump.
const COLUMN_SEGMENT: usize = 512;
/// Columns that are folded together.
const TILE: usize = 2048;
/// Elements worth a thread.
pub(crate) const WORTH: usize = 64 * 1024;

/// Reduces the first input along axes into the first output.
pub(crate) fn run<F: Fold>(site: &mut HostSite<'_>, axes: &[usize]) -> Result<()> {
    let input = &site.inputs[0];
    let axes = Axes::new(&input.layout, axes, Order::Free);
    let work = Work::<F> { memory: bytemuck::cast_slice(input.bytes()), axes: &axes, n: axes.reduced() as usize };
    let results: &mut [F::Out] = bytemuck::cast_slice_mut(&mut *site.outputs[0].bytes);
    let segment = if axes.are_columns() { COLUMN_SEGMENT } else { WORTH };
    let segments = work.n.div_ceil(segment);
    if segments <= 1 {
        work.finished(results);
        return Ok(());
    }
    let mut parts = vec![F::NONE; segments * results.len()];
    work.partial(&mut parts, segment, results.len());
    for (i, result) in results.iter_mut().enumerate() {
        let each = (0..segments).map(|s| parts[s * axes.results() as usize + i]);
        *result = F::finish(each.reduce(F::combine).unwrap_or(F::NONE));
    }
    Ok(())
}

/// The partial results of rows that lie without gaps, of at most [`WORTH`] elements each, as a reduction of them has them.
pub(crate) fn of_rows_without_gaps<F: Fold>(memory: &[F::In], n: usize, parts: &mut [F::Part]) {
    let axis = |size: usize, stride: usize| Axis { size: size as i64, stride: stride as i64 };
    let reduced = if n > 1 { smallvec![axis(n, 1)] } else { SmallVec::new() };
    let axes = Axes { start: 0, kept: smallvec![axis(parts.len(), n)], reduced };
    Work::<F> { memory, axes: &axes, n }.fold(0, 0..n, parts);
}

/// Fills the items that bytes are, by threads if they are worth it: the closure is given the number of the first and their bytes.
/// An item takes `cost` elements, and at least `together` of them are better filled by one thread.
pub(crate) fn in_threads(
    bytes: &mut [u8],
    size: usize,
    cost: usize,
    together: usize,
    fill: &(dyn Fn(usize, &mut [u8]) + Sync),
) {
    let grain = (WORTH / cost.max(1)).max(together);
    match bytes.len() <= grain * size {
        true => fill(0, bytes),
        false => share(bytes.chunks_mut(grain * size).enumerate().collect(), |(i, bytes)| {
            fill(i * grain, bytes);
            Ok(())
        })
        .expect("no task fails"),
    }
}

/// How far the element with this number lies from the first.
pub(crate) fn place(axes: &[Axis], number: usize) -> i64 {
    if let [axis] = axes {
        return number as i64 * axis.stride;
    }
    let (mut place, mut rest) = (0, number as i64);
    for axis in axes.iter().rev() {
        place += rest % axis.size * axis.stride;
        rest /= axis.size;
    }
    place
}

struct Work<'a, F: Fold> {
    memory: &'a [F::In],
    axes: &'a Axes,
    n: usize,
}

impl<F: Fold> Work<'_, F> {
    /// Results, each from all its elements.
    fn finished(&self, results: &mut [F::Out]) {
        let together = self.axes.together();
        in_threads(bytemuck::cast_slice_mut(results), size_of::<F::Out>(), self.n, together, &|first, bytes| {
            let results: &mut [F::Out] = bytemuck::cast_slice_mut(bytes);
            let mut parts = vec![F::NONE; results.len()];
            self.fold(first, 0..self.n, &mut parts);
            results.iter_mut().zip(parts).for_each(|(result, part)| *result = F::finish(part));
        });
    }

    /// Partial results of segments, those of a segment side by side.
    fn partial(&self, parts: &mut [F::Part], segment: usize, results: usize) {
        let together = self.axes.together();
        in_threads(bytemuck::cast_slice_mut(parts), size_of::<F::Part>(), segment, together, &|first, bytes| {
            let mut parts: &mut [F::Part] = bytemuck::cast_slice_mut(bytes);
            let mut at = first;
            while !parts.is_empty() {
                let (number, result) = (at / results, at % results);
                let range = number * segment..((number + 1) * segment).min(self.n);
                let (now, rest) = parts.split_at_mut((results - result).min(parts.len()));
                at += now.len();
                self.fold(result, range, now);
                parts = rest;
            }
        });
    }

    /// Partial results of a range of the elements of consecutive results.
    fn fold(&self, first: usize, range: Range<usize>, parts: &mut [F::Part]) {
        if self.axes.are_columns() {
            return self.columns(first, range, parts);
        }
        match (self.axes.kept.as_slice(), self.axes.reduced.as_slice()) {
            // Short rows: nothing but the elements counts.
            ([rows], [Axis { stride: 1, size }]) if (*size as usize) < LANES && rows.stride >= *size.max(&1) => {
                let start = (self.axes.start + first as i64 * rows.stride) as usize;
                short_rows::<F>(&self.memory[start..], *size as usize, rows.stride as usize, parts);
            }
            ([rows], [Axis { stride: 1, size }]) if *size as usize <= ROW_BLOCK && rows.stride >= *size => {
                let start = (self.axes.start + first as i64 * rows.stride) as usize;
                of_rows::<F>(&self.memory[start..], *size as usize, rows.stride as usize, parts);
            }
            (kept, _) => {
                for (i, part) in parts.iter_mut().enumerate() {
                    *part = self.row(self.axes.start + place(kept, first + i), range.clone());
                }
            }
        }
    }

    /// The partial result of a range of a row's elements, in halves down to a block.
    fn row(&self, start: i64, range: Range<usize>) -> F::Part {
        if range.len() > ROW_BLOCK {
            let middle = range.start + (range.len() / 2).next_multiple_of(ROW_BLOCK);
            return F::combine(self.row(start, range.start..middle), self.row(start, middle..range.end));
        }
        let Some((last, outer)) = self.axes.reduced.split_last() else {
            return F::lift(self.memory[start as usize]);
        };
        if outer.is_empty() {
            return self.run_of(start + range.start as i64 * last.stride, last.stride, range.len());
        }
        let (mut part, mut at) = (F::NONE, range.start);
        while at < range.end {
            let along = at % last.size as usize;
            let count = (last.size as usize - along).min(range.end - at);
            let from = start + place(outer, at / last.size as usize) + along as i64 * last.stride;
            part = F::combine(part, self.run_of(from, last.stride, count));
            at += count;
        }
        part
    }

    /// The partial result of elements that lie evenly.
    fn run_of(&self, from: i64, stride: i64, count: usize) -> F::Part {
        match stride {
            1 => of_run::<F>(&self.memory[from as usize..from as usize + count]),
            _ => {
                let element = |i: usize| F::lift(self.memory[(from + i as i64 * stride) as usize]);
                (0..count).fold(F::NONE, |part, i| F::combine(part, element(i)))
            }
        }
    }

    /// The partial results of a range of the elements of consecutive columns, tile by tile.
    fn columns(&self, first: usize, range: Range<usize>, mut parts: &mut [F::Part]) {
        let (columns, outer) = self.axes.kept.split_last().expect("columns are a kept axis");
        let (columns, mut at) = (columns.size as usize, first);
        while !parts.is_empty() {
            let column = at % columns;
            let (tile, rest) = parts.split_at_mut((columns - column).min(TILE).min(parts.len()));
            let start = self.axes.start + place(outer, at / columns) + column as i64;
            at += tile.len();
            self.tile(start, range.clone(), tile);
            parts = rest;
        }
    }

    /// The partial results of columns side by side, in halves down to a block.
    fn tile(&self, start: i64, range: Range<usize>, parts: &mut [F::Part]) {
        parts.fill(F::NONE);
        if range.len() > COLUMN_BLOCK {
            let middle = range.start + (range.len() / 2).next_multiple_of(COLUMN_BLOCK);
            let mut others = [F::NONE; TILE];
            let others = &mut others[..parts.len()];
            self.tile(start, range.start..middle, parts);
            self.tile(start, middle..range.end, others);
            parts.iter_mut().zip(others).for_each(|(part, other)| *part = F::combine(*part, *other));
            return;
        }
        let count = parts.len();
        let elements = |i: usize| &self.memory[(start + place(&self.axes.reduced, i)) as usize..][..count];
        let fours = range.len() / 4 * 4;
        for i in range.clone().take(fours).step_by(4) {
            add_rows::<F, 4>(parts, [0, 1, 2, 3].map(|j| elements(i + j)));
        }
        for i in range.skip(fours) {
            add_rows::<F, 1>(parts, [elements(i)]);
        }
    }
}
