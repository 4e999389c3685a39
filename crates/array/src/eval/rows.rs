//! Rows: steps of the CPU that work row by row become one, which runs a band of rows at a time.
//!
//! A norm is several steps over the same rows: squares, their sums, a scale, a product. One after the other, each reads from
//! memory what the one before it wrote there. Together they go over bands of rows that fit the cache (`bands`), and what only they use
//! has room for a band, not for all. Each step computes what it did alone, so bits stay.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use smallvec::SmallVec;

use crate::eval::lifetimes::operands;
use crate::eval::map::Reach;
use crate::eval::plan::{BlockStep, Home, HostStep, Plan, Step, Work};
use crate::eval::site::Placed;
use crate::shape::Layout;

/// Steps before the first that is rows, at most, that join it.
const MOST_BEFORE: usize = 8;
/// Rows for each thread at least; fewer steps of all threads are faster than one of some.
const ROWS_PER_THREAD: usize = 4;

/// Steps of as many rows.
pub(crate) struct RowStep {
    pub rows: usize,
    pub parts: Vec<RowPart>,
    /// What the parts read but do not make.
    pub inputs: Vec<Placed>,
    pub made: Vec<Made>,
}

impl RowStep {
    /// Its parts' names.
    pub fn name(&self) -> String {
        let name = |part: &RowPart| match &part.work {
            RowWork::Block(block) => block.program.name().to_string(),
            RowWork::Host(host, _) => host.op.name().to_string(),
        };
        self.parts.iter().map(name).collect::<Vec<_>>().join(" + ")
    }
}

/// What a part makes.
pub(crate) struct Made {
    pub row_bytes: usize,
    /// Where it lies, if it is needed afterwards.
    pub placed: Option<Placed>,
}

/// One of the steps.
pub(crate) struct RowPart {
    pub work: RowWork,
    pub inputs: Vec<Read>,
    /// Which of what is made it makes.
    pub outputs: SmallVec<[usize; 1]>,
}

pub(crate) enum RowWork {
    Block(BlockStep),
    /// A host function, and how many leading axes number the rows.
    Host(HostStep, usize),
}

/// Where a part finds an input.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    /// Among those from outside.
    Outside(usize),
    /// Among what is made.
    Made(usize),
}

/// Joins steps where that pays.
pub(super) fn join(plan: &mut Plan) {
    let mut ranges: Vec<(Range<usize>, usize)> = Vec::new();
    let mut next = 0;
    while next < plan.steps.len() {
        let done = ranges.last().map_or(0, |(range, _)| range.end);
        match range_around(plan, next, done) {
            Some((range, rows)) => {
                next = range.end;
                ranges.push((range, rows));
            }
            None => next += 1,
        }
    }
    for (range, rows) in ranges.into_iter().rev() {
        let needed = needed_outside(plan, &range);
        let steps: Vec<Step> = plan.steps.drain(range.clone()).collect();
        let stream = steps[0].stream;
        let work = Work::Rows(Box::new(joined(steps, rows, &needed, &plan.slots)));
        plan.steps.insert(range.start, Step::new(stream, work));
    }
}

/// The steps that go with one that says it is rows, and how many rows it has; none before `from`.
fn range_around(plan: &Plan, at: usize, from: usize) -> Option<(Range<usize>, usize)> {
    let Work::Host(host) = &plan.steps[at].work else { return None };
    let (rows, _) = rows_of(host)?;
    let elements = host.inputs[0].1.size();
    if elements > crate::ops::reduce::cpu::WORTH && rows < ROWS_PER_THREAD * rayon::current_num_threads() {
        return None;
    }
    let first = (from.max(at.saturating_sub(MOST_BEFORE))..=at).find(|&first| fits(plan, first..at + 1, rows))?;
    let mut range = first..at + 1;
    while range.end < plan.steps.len() && fits(plan, range.start..range.end + 1, rows) {
        range.end += 1;
    }
    (range.len() > 1).then_some((range, rows))
}

/// How many rows a host function has, and how many axes number them.
fn rows_of(host: &HostStep) -> Option<(usize, usize)> {
    let axes = host.with_function(|function, place| function.row_axes(place))?;
    let rows = host.inputs[0].1.shape[..axes].iter().map(|&n| n as usize).product::<usize>();
    (rows > 1).then_some((rows, axes))
}

/// Whether steps can go together over so many rows.
fn fits(plan: &Plan, range: Range<usize>, rows: usize) -> bool {
    let stream = plan.steps[range.start].stream;
    // Bytes of a row of what is made so far.
    let mut made: HashMap<Home, usize> = HashMap::new();
    for step in &plan.steps[range] {
        if step.stream != stream || step.is_copy || !is_rows(&step.work, rows, &made) {
            return false;
        }
        for placed in outputs(&step.work) {
            made.insert(placed.home, bytes_of(placed.home, &plan.slots) / rows);
        }
    }
    true
}

/// Whether every row of what a step writes is made of the same row of what the steps before it made.
fn is_rows(work: &Work, rows: usize, made: &HashMap<Home, usize>) -> bool {
    match work {
        Work::Block(block) => {
            let whole = block.shape.first().is_some_and(|n| n % rows == 0);
            whole && !block.program.counts() && block.inputs.iter().all(|input| reads_rows(block, input, rows, made))
        }
        Work::Host(host) => {
            let Some(((first, _), others)) = host.inputs.split_first() else { return false };
            let in_order = first.layout.is_row_contiguous() && !matches!(first.home, Home::Value(_));
            in_order
                && made.get(&first.home).is_none_or(|&bytes| reads_all(first, rows * bytes))
                && others.iter().all(|(placed, _)| !made.contains_key(&placed.home))
                && rows_of(host).is_some_and(|(count, _)| count == rows)
        }
        _ => false,
    }
}

fn reads_rows(
    block: &BlockStep,
    (placed, reach, strides): &(Placed, Reach, Vec<i64>),
    rows: usize,
    made: &HashMap<Home, usize>,
) -> bool {
    let Some(&bytes) = made.get(&placed.home) else { return true };
    match reach {
        Reach::Value => true,
        Reach::Single => false,
        Reach::Contiguous => reads_all(placed, rows * bytes),
        Reach::Strided => {
            let size = placed.dtype.size();
            let together = block.shape[0] / rows;
            let sizes = std::iter::once(together).chain(block.shape[1..].iter().copied());
            let shape = sizes.map(|n| n as i32).collect();
            let row = Layout { shape, strides: strides.iter().copied().collect(), offset: placed.layout.offset };
            let inside = row.extent().is_some_and(|(low, high)| low >= 0 && (high as usize + 1) * size <= bytes);
            inside && placed.moves.is_empty() && strides[0] * (together * size) as i64 == bytes as i64
        }
    }
}

/// Whether all of some memory is read in order.
fn reads_all(placed: &Placed, bytes: usize) -> bool {
    placed.begins_memory() && placed.layout.size() * placed.dtype.size() == bytes
}

fn outputs(work: &Work) -> Box<dyn Iterator<Item = &Placed> + '_> {
    match work {
        Work::Block(block) => Box::new(block.outputs.iter()),
        Work::Host(host) => Box::new(host.outputs.iter().map(|(placed, _)| placed)),
        _ => unreachable!("only block programs and host functions are rows"),
    }
}

fn bytes_of(home: Home, slots: &[usize]) -> usize {
    match home {
        Home::Slot(slot) => slots[slot],
        _ => unreachable!("steps write slots"),
    }
}

/// What is used after a range of steps.
fn needed_outside(plan: &Plan, range: &Range<usize>) -> HashSet<Home> {
    let others = plan.steps[range.end..].iter().flat_map(|step| operands(&step.work));
    others.chain(plan.results.iter().map(|(_, placed)| placed)).map(|placed| placed.home).collect()
}

fn joined(steps: Vec<Step>, rows: usize, needed: &HashSet<Home>, slots: &[usize]) -> RowStep {
    let mut joined = RowStep { rows, parts: Vec::with_capacity(steps.len()), inputs: Vec::new(), made: Vec::new() };
    let mut made: HashMap<Home, usize> = HashMap::new();
    for step in steps {
        let placed: Vec<Placed> = match &step.work {
            Work::Block(block) => block.inputs.iter().map(|(placed, ..)| placed.clone()).collect(),
            Work::Host(host) => host.inputs.iter().map(|(placed, _)| placed.clone()).collect(),
            _ => unreachable!("only block programs and host functions are rows"),
        };
        let read = placed.into_iter().map(|placed| match made.get(&placed.home) {
            Some(&number) => Read::Made(number),
            None => {
                joined.inputs.push(placed);
                Read::Outside(joined.inputs.len() - 1)
            }
        });
        let inputs = read.collect();
        let outputs = outputs(&step.work).map(|placed| {
            made.insert(placed.home, joined.made.len());
            let row_bytes = bytes_of(placed.home, slots) / rows;
            joined.made.push(Made { row_bytes, placed: needed.contains(&placed.home).then(|| placed.clone()) });
            joined.made.len() - 1
        });
        let outputs = outputs.collect();
        let work = match step.work {
            Work::Host(host) => {
                let (_, axes) = rows_of(&host).expect("it is rows");
                RowWork::Host(host, axes)
            }
            Work::Block(block) => RowWork::Block(block),
            _ => unreachable!("only block programs and host functions are rows"),
        };
        joined.parts.push(RowPart { work, inputs, outputs });
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Array;
    use crate::device::{Device, default_stream, with_stream};
    use crate::error::Result;
    use crate::eval::{fuse, order, plan};
    use crate::ops::binary::{add, multiply};
    use crate::ops::reduce::{mean, sum};
    use crate::ops::unary::{rsqrt, square};
    use crate::ops::views::transpose;

    /// How many parts each step of a graph on the CPU has.
    fn parts(shape: &[i32], make: impl FnOnce(&Array) -> Result<Array>) -> Vec<usize> {
        let stream = default_stream(Device::CPU).expect("the CPU is there");
        let result = with_stream(stream, || {
            let count = shape.iter().product::<i32>();
            make(&Array::from_slice(&(0..count).map(|i| i as f32).collect::<Vec<f32>>(), shape)?)
        });
        let mut tape = order::order(&[result.expect("a graph")]).expect("its calls are found");
        tape.calls = order::in_order(&tape);
        let ways = fuse::ways(&tape, None);
        let plan = plan::plan(&tape, &ways, &fuse::fuse(&tape, &ways, true), None, None).expect("it is planned");
        let count = |step: &Step| if let Work::Rows(rows) = &step.work { rows.parts.len() } else { 1 };
        plan.steps.iter().map(count).collect()
    }

    fn norm(x: &Array) -> Result<Array> {
        multiply(x, rsqrt(&add(mean(&square(x)?, Some(&[-1]), true)?, 1e-5)?)?)
    }

    #[test]
    fn a_norm_is_one_step() {
        // Squares, sums, scales, products.
        assert_eq!(parts(&[64, 8], norm), [4]);
        assert_eq!(parts(&[2, 32, 8], |x| norm(&norm(x)?)), [8]);
    }

    #[test]
    fn steps_that_are_no_rows_stay_alone() {
        assert_eq!(parts(&[64, 8], |x| sum(&square(x)?, Some(&[0]), true)), [1, 1]);
        assert_eq!(parts(&[64, 8], |x| sum(&square(x)?, None, true)), [1, 1]);
        assert_eq!(parts(&[1, 8], norm), [1; 4]);
        // Sums along the second axis of the transposed squares are of columns.
        assert_eq!(parts(&[64, 8], |x| sum(&transpose(&square(x)?, None)?, Some(&[-1]), true)), [1, 1]);
    }

    #[test]
    fn rows_end_where_another_row_is_needed() {
        // The sums of rows are added to columns.
        let across = |x: &Array| {
            let sums = sum(&square(x)?, Some(&[-1]), true)?;
            add(&sums, &transpose(&sums, None)?)
        };
        assert_eq!(parts(&[8, 8], across), [2, 1]);
    }
}
