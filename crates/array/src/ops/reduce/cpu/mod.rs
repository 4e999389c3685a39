//! Reductions on the CPU: rows by vectors of partial results, columns side by side, both in halves.
//!
//! Halves are taken down to a fixed size and combined in one order, whatever the number of threads: sums are as exact as pairwise
//! ones are, and the same on every machine.

pub(crate) mod folds;
pub(crate) mod numbers;

use std::ops::Range;

use rayon::prelude::*;

use super::axes::{Axes, Axis, Order};
use crate::error::Result;
use crate::eval::site::HostSite;
use folds::Fold;

/// Partial results side by side: what the widest vectors hold, twice.
const LANES: usize = 32;
/// Elements of a row that are folded one after another.
const ROW_BLOCK: usize = 1024;
/// Elements of a column that are folded one after another.
const COLUMN_BLOCK: usize = 64;
/// Columns that are folded together.
const TILE: usize = 512;
/// Elements worth a thread.
const WORTH: usize = 64 * 1024;

pub(crate) fn run<F: Fold>(site: &mut HostSite<'_>, axes: &[usize]) -> Result<()> {
    let input = &site.inputs[0];
    let axes = Axes::new(&input.layout, axes, Order::Free);
    let memory: &[F::In] = bytemuck::cast_slice(input.bytes());
    let results: &mut [F::Out] = bytemuck::cast_slice_mut(&mut *site.outputs[0].bytes);
    let innermost = |axes: &[Axis]| axes.last().map(|axis| axis.stride);
    match (innermost(&axes.kept), innermost(&axes.reduced)) {
        (Some(1), Some(stride)) if stride != 1 => columns::<F>(memory, &axes, results),
        _ => rows::<F>(memory, &axes, results),
    }
    Ok(())
}

/// How far the element with this number lies from the first.
pub(crate) fn place(axes: &[Axis], number: usize) -> i64 {
    let (mut place, mut rest) = (0, number as i64);
    for axis in axes.iter().rev() {
        place += rest % axis.size * axis.stride;
        rest /= axis.size;
    }
    place
}

fn rows<F: Fold>(memory: &[F::In], axes: &Axes, results: &mut [F::Out]) {
    let n = axes.reduced() as usize;
    let one = |(i, result): (usize, &mut F::Out)| {
        let start = axes.start + place(&axes.kept, i);
        *result = F::finish(row::<F>(memory, start, &axes.reduced, 0..n));
    };
    let count = (WORTH / n.max(1)).max(1);
    results.par_iter_mut().with_min_len(count).enumerate().for_each(one);
}

/// The partial result of a range of a row's elements.
fn row<F: Fold>(memory: &[F::In], start: i64, axes: &[Axis], range: Range<usize>) -> F::Part {
    if range.len() > ROW_BLOCK {
        let middle = range.start + (range.len() / 2).next_multiple_of(ROW_BLOCK).min(range.len());
        let halves = [range.start..middle, middle..range.end];
        let [left, right] = halves.map(|half| move || row::<F>(memory, start, axes, half));
        let (left, right) = if range.len() > WORTH { rayon::join(left, right) } else { (left(), right()) };
        return F::combine(left, right);
    }
    let Some((last, outer)) = axes.split_last() else { return F::lift(memory[start as usize]) };
    let mut part = F::NONE;
    let mut at = range.start;
    // Runs of the innermost axis.
    while at < range.end {
        let along = at % last.size as usize;
        let count = (last.size as usize - along).min(range.end - at);
        let from = start + place(outer, at / last.size as usize) + along as i64 * last.stride;
        part = F::combine(part, run_of::<F>(memory, from as usize, last.stride, count));
        at += count;
    }
    part
}

fn run_of<F: Fold>(memory: &[F::In], from: usize, stride: i64, count: usize) -> F::Part {
    if stride == 1 {
        return side_by_side::<F>(&memory[from..from + count]);
    }
    (0..count).fold(F::NONE, |part, i| F::combine(part, F::lift(memory[(from as i64 + i as i64 * stride) as usize])))
}

/// Elements that lie side by side: as many partial results as vectors hold, then those in halves.
pub(crate) fn side_by_side<F: Fold>(elements: &[F::In]) -> F::Part {
    if elements.len() < LANES {
        return elements.iter().fold(F::NONE, |part, &x| F::combine(part, F::lift(x)));
    }
    let mut lanes = [F::NONE; LANES];
    let (chunks, rest) = elements.as_chunks::<LANES>();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, &x)| *lane = F::combine(*lane, F::lift(x)));
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, &x)| *lane = F::combine(*lane, F::lift(x)));
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lanes[i] = F::combine(lanes[i], lanes[i + width]);
        }
    }
    lanes[0]
}

fn columns<F: Fold>(memory: &[F::In], axes: &Axes, results: &mut [F::Out]) {
    let (columns, outer) = axes.kept.split_last().expect("columns are a kept axis");
    let n = axes.reduced() as usize;
    let tile = |(o, first): (usize, usize), results: &mut [F::Out]| {
        let start = axes.start + place(outer, o) + first as i64;
        let mut parts = vec![F::NONE; results.len()];
        fold_columns::<F>(memory, start, &axes.reduced, 0..n, &mut parts);
        results.iter_mut().zip(parts).for_each(|(result, part)| *result = F::finish(part));
    };
    let width = columns.size as usize;
    if n * results.len() <= WORTH {
        for (o, results) in results.chunks_mut(width.max(1)).enumerate() {
            results.chunks_mut(TILE).enumerate().for_each(|(t, results)| tile((o, t * TILE), results));
        }
        return;
    }
    results.par_chunks_mut(width).enumerate().for_each(|(o, results)| {
        results.par_chunks_mut(TILE).enumerate().for_each(|(t, results)| tile((o, t * TILE), results));
    });
}

/// The partial results of a range of elements of columns side by side.
fn fold_columns<F: Fold>(memory: &[F::In], start: i64, axes: &[Axis], range: Range<usize>, parts: &mut [F::Part]) {
    if range.len() <= COLUMN_BLOCK {
        for i in range {
            let from = (start + place(axes, i)) as usize;
            let elements = &memory[from..from + parts.len()];
            parts.iter_mut().zip(elements).for_each(|(part, &x)| *part = F::combine(*part, F::lift(x)));
        }
        return;
    }
    let middle = range.start + (range.len() / 2).next_multiple_of(COLUMN_BLOCK).min(range.len());
    let (lower, upper) = (range.start..middle, middle..range.end);
    let mut others = vec![F::NONE; parts.len()];
    if range.len() * parts.len() > WORTH {
        rayon::join(
            || fold_columns::<F>(memory, start, axes, lower, parts),
            || fold_columns::<F>(memory, start, axes, upper, &mut others),
        );
    } else {
        fold_columns::<F>(memory, start, axes, lower, parts);
        fold_columns::<F>(memory, start, axes, upper, &mut others);
    }
    parts.iter_mut().zip(others).for_each(|(part, other)| *part = F::combine(*part, other));
}
