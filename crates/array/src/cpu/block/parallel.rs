//! Splitting a run among threads: ranges of elements with disjoint parts of every output.

use std::ops::Range;

use super::operands::Sink;
use super::program::Port;
use super::space::{Layout, Order};
use super::task::{self, Shared};
use crate::cpu::threads::share;
use crate::error::Result;

/// Steps times elements below which a task is not worth handing to another thread: some 25 µs.
const TASK_WORK: usize = 1 << 18;

/// Tasks per thread, so that one that is held up does not hold up all.
const TASKS_PER_THREAD: usize = 8;

/// Runs a program over all elements.
pub(super) fn run<'a>(shared: &'a Shared<'a>, count: usize, sinks: Vec<Sink<'a>>) -> Result<()> {
    let cost = shared.program.cost + 1;
    let least = (TASK_WORK / cost).max(shared.lanes);
    if count < 2 * least {
        return task::run(shared, 0..count, sinks);
    }
    let wanted = count.div_ceil(TASKS_PER_THREAD * rayon::current_num_threads()).max(least);
    let size = match unit(shared, &sinks) {
        Some(unit) => wanted.next_multiple_of(unit).min(count),
        None => count,
    };
    if size == count {
        return task::run(shared, 0..count, sinks);
    }
    let tasks = split(shared, count, size, sinks);
    share(tasks, |(range, sinks)| task::run(shared, range, sinks))
}

/// What a task's number of elements must be a multiple of; none if the outputs cannot be taken apart.
fn unit(shared: &Shared<'_>, sinks: &[Sink<'_>]) -> Option<usize> {
    let by_rows = shared.order != Order::Runs || sinks.iter().any(|sink| sink.layout.is_some());
    if !by_rows {
        return Some(shared.lanes);
    }
    let (_, inner) = shared.shape.split_first()?;
    let separate = sinks.iter().all(|sink| match &sink.layout {
        None => true,
        Some(layout) => {
            let row = Layout { start: 0, strides: layout.strides[1..].into() };
            let span = row.extent(inner).map_or(i64::MAX, |(low, high)| high.saturating_sub(low));
            layout.strides[0] > span
        }
    });
    let row = inner.iter().product::<usize>();
    // A tile's worth of rows, so that tasks do not share cache lines of an operand that lies across.
    let rows = if shared.order == Order::Tiles(0) { 16 } else { 1 };
    separate.then_some(row * rows)
}

fn split<'a>(
    shared: &Shared<'_>,
    count: usize,
    size: usize,
    sinks: Vec<Sink<'a>>,
) -> Vec<(Range<usize>, Vec<Sink<'a>>)> {
    let ranges: Vec<_> = (0..count).step_by(size).map(|first| first..(first + size).min(count)).collect();
    let mut tasks: Vec<(Range<usize>, Vec<Sink<'a>>)> =
        ranges.into_iter().map(|range| (range, Vec::with_capacity(sinks.len()))).collect();
    let row = shared.shape.iter().skip(1).product::<usize>();
    for (mut sink, port) in sinks.into_iter().zip(&shared.program.outputs) {
        let last = tasks.len() - 1;
        for (range, parts) in &mut tasks[..last] {
            let part = cut(&mut sink, port, shared, range.end, row);
            parts.push(part);
        }
        tasks[last].1.push(sink);
    }
    tasks
}

/// Takes from an output what lies before an element, the first of a row if the output has a layout.
fn cut<'a>(sink: &mut Sink<'a>, port: &Port, shared: &Shared<'_>, end: usize, row: usize) -> Sink<'a> {
    let boundary = match &sink.layout {
        None => end as i64,
        Some(layout) => {
            let inner = Layout { start: 0, strides: layout.strides[1..].into() };
            let low = inner.extent(&shared.shape[1..]).map_or(0, |(low, _)| low);
            layout.start + (end / row) as i64 * layout.strides[0] + low
        }
    };
    let bytes = (boundary - sink.origin) as usize * port.elem.bytes();
    let (head, rest) = std::mem::take(&mut sink.bytes).split_at_mut(bytes);
    let part = Sink { bytes: head, layout: sink.layout.clone(), origin: sink.origin };
    (sink.bytes, sink.origin) = (rest, boundary);
    part
}
