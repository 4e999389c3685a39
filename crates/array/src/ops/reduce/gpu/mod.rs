//! Reductions on the GPU: which kernels a layout needs, and with what.
//!
//! Three shapes of work: rows whose elements lie side by side, columns whose results do, and anything else, which is the
//! reduction of rows element by element. Where there are too few rows or columns to fill a device, each is cut into segments,
//! and a second launch reduces theirs. All of that follows from sizes alone, so results are the same on every device.

mod columns;
pub(crate) mod combiner;
pub(crate) mod indices;
pub(crate) mod pass;
mod rows;
pub(crate) mod team;

use pumice_kernel::arguments::Argument;
use smallvec::SmallVec;

use super::axes::{Axes, Axis, Order};
use crate::error::Result;
use crate::eval::site::Site;
use crate::launch::fold_groups;
use columns::ColumnForm;
use combiner::Combiner;
use indices::Indices;
use pass::{Goal, Pass, Source};
use rows::RowForm;
use team::{Exchange, WORKGROUP};

/// Workgroups that fill a large device; fewer rows or columns than that are cut into segments.
const ENOUGH: i64 = 512;
/// Rows that fill a large device even if a workgroup has four of them.
const MANY_ROWS: i64 = 8192;
/// Pairs of accesses in a step of a whole workgroup along a row: f32 rows of 16,384 take 126 µs on an H200 that take 132 with one.
const LONG_STEP: i32 = 4;
/// Elements of a row's segment, at least.
const ROW_SEGMENT: i64 = 16 * 1024;
/// Elements of a column's segment, at least.
const COLUMN_SEGMENT: i64 = 256;

/// Launches the reduction of the first input along axes into the first output. Every result must have elements.
pub(crate) fn launch(combiner: &dyn Combiner, site: &mut Site<'_>, axes: &[usize], order: Order) -> Result<()> {
    let results = site.results(0);
    launch_into(combiner, site, axes, order, Goal::Output(Box::new(results)))
}

/// Launches the reduction of the first input along axes into memory of one's own.
pub(crate) fn launch_into(
    combiner: &dyn Combiner,
    site: &mut Site<'_>,
    axes: &[usize],
    order: Order,
    end: Goal,
) -> Result<()> {
    let elements = site.elements(0)?;
    let layout = &elements.layout;
    let axes = Axes::new(layout, axes, order);
    let far = layout.extent().is_some_and(|(_, high)| high > i32::MAX as i64 / 2);
    let long = far || layout.size() as i64 > i32::MAX as i64 / 2;
    let exchange = Exchange::of(site.target().subgroup_size);
    let work = Work { combiner, indices: Indices { long }, exchange };
    work.reduce(site, &Source::Input(Box::new(elements)), &axes, end)
}

struct Work<'a> {
    combiner: &'a dyn Combiner,
    indices: Indices,
    exchange: Exchange,
}

impl Work<'_> {
    fn reduce(&self, site: &mut Site<'_>, source: &Source, axes: &Axes, end: Goal) -> Result<()> {
        match axes.are_columns() {
            true => self.columns(site, source, axes, end),
            false => self.rows(site, source, axes, end),
        }
    }

    fn rows(&self, site: &mut Site<'_>, source: &Source, axes: &Axes, end: Goal) -> Result<()> {
        let (rows, n) = (axes.results(), axes.reduced());
        let wide = row_wide(source, axes);
        let accesses = n / wide as i64;
        // Smaller teams do more between two exchanges, but more rows are needed to fill a device, and wide accesses to read whole lines.
        let many = rows >= MANY_ROWS;
        let short = if many && wide > 1 { 512 } else { 64 };
        let long = if many { 2048 } else { 512 };
        let team = [8, 64, WORKGROUP][(accesses > short) as usize + (accesses > long) as usize];
        // What computes more than it reads gains nothing by long steps.
        let streams = team == WORKGROUP && source.is_in_memory() && !self.combiner.numbers();
        let pairs = if streams { LONG_STEP } else { 1 };
        let segments = if rows < ENOUGH { (n / ROW_SEGMENT).clamp(1, ENOUGH / rows) } else { 1 };
        // A segment begins where an access may.
        let segment = if segments == 1 { n } else { above(n, segments).next_multiple_of(16) as i64 };
        let goal = self.goal(site, segments, &[rows, segments], &end);
        let (kept, reduced) = (axes.kept.len(), axes.reduced.len());
        let segmented = segments > 1;
        let form =
            RowForm { team, segmented, pairs, wide, kept, reduced, indices: self.indices, exchange: self.exchange };
        let pass = Pass { combiner: self.combiner, source, goal: &goal, wide, counts_on: true };
        let mut key = pass.key("rows");
        let shared = (self.exchange == Exchange::Shared) as usize;
        [team as usize, segmented as usize, pairs as usize, kept, reduced, shared]
            .iter()
            .for_each(|&word| key.word(word as u64));
        key.word(self.indices.long as u64);
        let total = rows * segments;
        let arguments = self.arguments(&[total, n, segments, segment, axes.start], &axes.kept, &axes.reduced);
        let groups = fold_groups(above(total, (WORKGROUP / team) as i64));
        pass.launch(site, &key, groups, &arguments, |k, load, store| {
            rows::write(k, &form, self.combiner, load, store);
        })?;
        let (Goal::Partial(partial), 2..) = (goal, segments) else { return Ok(()) };
        let kept = [Axis { size: rows, stride: segments }].into_iter().filter(|axis| axis.size > 1).collect();
        let reduced = SmallVec::from_slice(&[Axis { size: segments, stride: 1 }]);
        self.rows(site, &Source::Partial(partial), &Axes { start: 0, kept, reduced }, end)
    }

    fn columns(&self, site: &mut Site<'_>, source: &Source, axes: &Axes, end: Goal) -> Result<()> {
        let (columns, outer) = axes.kept.split_last().expect("columns are a kept axis");
        let (outers, n) = (outer.iter().map(|axis| axis.size).product::<i64>(), axes.reduced());
        let wide = column_wide(source, axes);
        let accesses = above(columns.size, wide as i64) as i64;
        let lanes = [4, 8, 32][(accesses > 4) as usize + (accesses > 8) as usize];
        let blocks = above(accesses, lanes as i64) as i64;
        let groups = blocks * outers;
        let segments = if groups < ENOUGH { (n / COLUMN_SEGMENT).clamp(1, ENOUGH / groups) } else { 1 };
        let results = outers * columns.size;
        let goal = self.goal(site, segments, &[segments, results], &end);
        let form = ColumnForm { lanes, wide, outer: outer.len(), reduced: axes.reduced.len(), indices: self.indices };
        let pass = Pass { combiner: self.combiner, source, goal: &goal, wide, counts_on: false };
        let mut key = pass.key("columns");
        [lanes as usize, form.outer, form.reduced].iter().for_each(|&word| key.word(word as u64));
        key.word(self.indices.long as u64);
        let segment = above(n, segments) as i64;
        let numbers = [columns.size, blocks, outers, segments, n, segment, axes.start];
        let arguments = self.arguments(&numbers, outer, &axes.reduced);
        pass.launch(site, &key, fold_groups((groups * segments) as u64), &arguments, |k, load, store| {
            columns::write(k, &form, self.combiner, load, store);
        })?;
        let (Goal::Partial(partial), 2..) = (goal, segments) else { return Ok(()) };
        let kept = SmallVec::from_slice(&[Axis { size: results, stride: 1 }]);
        let reduced = SmallVec::from_slice(&[Axis { size: segments, stride: results }]);
        self.columns(site, &Source::Partial(partial), &Axes { start: 0, kept, reduced }, end)
    }

    fn arguments(&self, numbers: &[i64], first: &[Axis], second: &[Axis]) -> Vec<Argument> {
        let ix = self.indices;
        let numbers = numbers.iter().map(|&number| ix.number(number));
        numbers.chain(ix.split(first)).chain(ix.split(second)).collect()
    }

    fn goal(&self, site: &mut Site<'_>, segments: i64, shape: &[i64; 2], end: &Goal) -> Goal {
        if segments == 1 {
            return end.clone();
        }
        let shape = shape.map(|n| n as i32);
        Goal::Partial(self.combiner.types().into_iter().map(|dtype| site.scratch(&shape, dtype)).collect())
    }
}

/// Elements an access covers where a row's lie side by side: every run of them must begin where an access may.
fn row_wide(source: &Source, axes: &Axes) -> usize {
    let Some((last, outer)) = axes.reduced.split_last() else { return 1 };
    let mut wide = if last.stride == 1 { source.widest() } else { 1 };
    let runs = |wide: i64| outer.is_empty() || last.size % wide == 0;
    let others = || axes.kept.iter().chain(outer);
    while wide > 1 && !(runs(wide as i64) && begins(axes.start, others(), wide as i64)) {
        wide /= 2;
    }
    wide
}

/// Columns an access covers: at most eight, as each needs accumulators.
fn column_wide(source: &Source, axes: &Axes) -> usize {
    let (columns, outer) = axes.kept.split_last().expect("columns are a kept axis");
    let mut wide = source.widest().min(8);
    let others = || outer.iter().chain(&axes.reduced);
    while wide > 1 && !(columns.size % wide as i64 == 0 && begins(axes.start, others(), wide as i64)) {
        wide /= 2;
    }
    wide
}

fn begins<'a>(start: i64, mut axes: impl Iterator<Item = &'a Axis>, wide: i64) -> bool {
    start % wide == 0 && axes.all(|axis| axis.stride % wide == 0)
}

fn above(n: i64, by: i64) -> u64 {
    (n as u64).div_ceil(by as u64)
}
