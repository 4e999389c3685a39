//! How steps of as many rows run together: threads take rows, a band of them at a time.

use smallvec::SmallVec;

use crate::cpu::block::{CHUNK, Input, Output};
use crate::cpu::threads::share;
use crate::error::Result;
use crate::eval::map::Reach;
use crate::eval::plan::{BlockStep, HostStep};
use crate::eval::rows::{Made, Read, RowPart, RowStep, RowWork};
use crate::eval::run::Run;
use crate::eval::site::{HostInput, HostOutput, HostSite};
use crate::eval::stats;
use crate::memory::HostMemory;
use crate::shape::{Layout, Spec};
use crate::storage::{HostBytes, HostBytesMut};

/// Bytes that the steps make for a band: with what they read about what a core's second-level cache holds. In smaller bands a norm of
/// short rows is slower (256 KiB: 950 µs, 512 KiB: 820, one thread), as every step costs a microsecond or two beside its rows.
const BAND: usize = 512 << 10;
/// Tasks per thread, so that one that is held up does not hold up all.
const TASKS_PER_THREAD: usize = 8;

/// An input from outside.
struct Source<'a> {
    bytes: &'a [u8],
    /// The first element.
    start: i64,
}

/// Memory of what is made: room for a band, or a task's part of an output.
enum Room<'a> {
    Band(HostMemory),
    Part(&'a mut [u8]),
}

/// Rows that one thread takes.
struct Task<'a> {
    first: usize,
    count: usize,
    /// Its parts of what is needed afterwards.
    parts: Vec<Option<&'a mut [u8]>>,
}

/// The rows that are worked on.
#[derive(Clone, Copy)]
struct Band {
    first: usize,
    count: usize,
    /// Rows of the task before them.
    before: usize,
}

impl Run<'_> {
    pub(super) fn rows(&self, step: &RowStep) -> Result<()> {
        for part in &step.parts {
            match part.work {
                RowWork::Block(_) => stats::count(|c| &c.block_programs),
                RowWork::Host(ref host, _) => stats::count_host(host.op.name()),
            }
        }
        let bits: Vec<[u8; 8]> = step.inputs.iter().map(|placed| self.value_bytes(placed)).collect();
        let storages: Vec<_> = step.inputs.iter().map(|placed| self.memory(placed.home)).collect();
        let written: Vec<_> = step.made.iter().map(|made| made.placed.as_ref().map(|p| self.storage(p.home))).collect();
        let read: Vec<Option<HostBytes<'_>>> =
            storages.iter().map(|s| s.as_ref().map(|s| s.read()).transpose()).collect::<Result<_>>()?;
        let mut guards: Vec<Option<HostBytesMut<'_>>> =
            written.iter().map(|storage| storage.as_ref().map(|storage| storage.write())).collect();
        let sources = step.inputs.iter().enumerate().map(|(i, placed)| Source {
            bytes: read[i].as_ref().map_or(&bits[i][..placed.dtype.size()], |bytes| bytes.bytes()),
            start: self.leaf_offset(placed.home) + self.offset(placed),
        });
        let sources: Vec<Source<'_>> = sources.collect();
        let outputs: Vec<Option<&mut [u8]>> =
            guards.iter_mut().map(|guard| guard.as_mut().map(|guard| guard.bytes())).collect();
        in_bands(step, &sources, outputs)
    }
}

fn in_bands(step: &RowStep, sources: &[Source<'_>], outputs: Vec<Option<&mut [u8]>>) -> Result<()> {
    let row = step.made.iter().map(|made| made.row_bytes).sum::<usize>();
    let band = (BAND / row.max(1)).max(1);
    let band = if band > CHUNK { band / CHUNK * CHUNK } else { band }.min(step.rows);
    let tasks = TASKS_PER_THREAD * rayon::current_num_threads();
    let count = step.rows.div_ceil(tasks).next_multiple_of(band).min(step.rows);
    share(split(step, count, outputs), |task| run_task(step, sources, task, band.min(count)))
}

fn split<'a>(step: &RowStep, count: usize, mut outputs: Vec<Option<&'a mut [u8]>>) -> Vec<Task<'a>> {
    let firsts = (0..step.rows).step_by(count);
    let task = |first: usize| {
        let count = count.min(step.rows - first);
        let parts = outputs.iter_mut().zip(&step.made).map(|(output, made)| {
            let (part, rest) = output.take()?.split_at_mut(count * made.row_bytes);
            *output = Some(rest);
            Some(part)
        });
        Task { first, count, parts: parts.collect() }
    };
    firsts.map(task).collect()
}

fn run_task(step: &RowStep, sources: &[Source<'_>], task: Task<'_>, band: usize) -> Result<()> {
    let rooms = task.parts.into_iter().zip(&step.made).map(|(part, made)| match part {
        Some(part) => Ok(Some(Room::Part(part))),
        None => HostMemory::unwritten(band * made.row_bytes).map(|memory| Some(Room::Band(memory))),
    });
    let mut rooms: Vec<Option<Room<'_>>> = rooms.collect::<Result<_>>()?;
    for before in (0..task.count).step_by(band) {
        let band = Band { first: task.first + before, count: band.min(task.count - before), before };
        step.parts.iter().try_for_each(|part| run_part(step, part, sources, &mut rooms, band))?;
    }
    Ok(())
}

fn run_part(
    step: &RowStep,
    part: &RowPart,
    sources: &[Source<'_>],
    rooms: &mut [Option<Room<'_>>],
    band: Band,
) -> Result<()> {
    let mut taken: SmallVec<[Option<Room<'_>>; 1]> = part.outputs.iter().map(|&made| rooms[made].take()).collect();
    let mut outputs: SmallVec<[&mut [u8]; 1]> = SmallVec::new();
    for (room, &made) in taken.iter_mut().zip(&part.outputs) {
        outputs.push(room.as_mut().expect("each part makes its own").bytes_mut(&step.made[made], band));
    }
    let read = |input: usize| match part.inputs[input] {
        Read::Outside(number) => (sources[number].bytes, Some(&sources[number])),
        Read::Made(made) => {
            let room = rooms[made].as_ref().expect("made by a part before");
            (room.bytes(&step.made[made], band), None)
        }
    };
    match &part.work {
        RowWork::Block(block) => run_block(block, step.rows, band, &read, outputs)?,
        RowWork::Host(host, axes) => run_host(host, *axes, step.rows, band, &read, outputs)?,
    }
    taken.into_iter().zip(&part.outputs).for_each(|(room, &made)| rooms[made] = room);
    Ok(())
}

/// The bytes of an input: all of one from outside, those of the band of what was made.
type Reader<'r, 's> = dyn Fn(usize) -> (&'r [u8], Option<&'r Source<'s>>) + 'r;

fn run_block<'r>(
    block: &'r BlockStep,
    rows: usize,
    band: Band,
    read: &'r Reader<'r, '_>,
    outputs: SmallVec<[&mut [u8]; 1]>,
) -> Result<()> {
    let (together, row) = (block.shape[0] / rows, block.count / rows);
    let mut shape: SmallVec<[usize; 6]> = SmallVec::from_slice(&block.shape);
    shape[0] = band.count * together;
    let count = band.count * row;
    let inputs = block.inputs.iter().enumerate().map(|(i, (placed, reach, strides))| {
        let (bytes, source) = read(i);
        let size = placed.dtype.size();
        let start = source.map_or(placed.layout.offset, |source| source.start);
        let rows_before = source.map_or(0, |_| band.first) as i64;
        match reach {
            Reach::Value => Input::Scalar(bytes),
            Reach::Single => Input::Scalar(&bytes[start as usize * size..][..size]),
            Reach::Contiguous => {
                let first = (start + rows_before * row as i64) as usize;
                Input::Contiguous(&bytes[first * size..][..count * size])
            }
            Reach::Strided => {
                let start = start + rows_before * together as i64 * strides[0];
                Input::Strided { bytes, start, shape: &shape, strides }
            }
        }
    });
    let inputs: SmallVec<[Input<'_>; 4]> = inputs.collect();
    let mut outputs: SmallVec<[Output<'_>; 1]> = outputs.into_iter().map(Output::Contiguous).collect();
    block.program.run_here(count, &inputs, &mut outputs)
}

fn run_host<'r>(
    host: &HostStep,
    axes: usize,
    rows: usize,
    band: Band,
    read: &'r Reader<'r, '_>,
    outputs: SmallVec<[&mut [u8]; 1]>,
) -> Result<()> {
    // The function is shown as many axes as it was planned with, the rows along the last of those that number them.
    let banded = |spec: &Spec| {
        let mut spec = spec.clone();
        spec.shape[..axes].fill(1);
        spec.shape[axes - 1] = band.count as i32;
        spec
    };
    let inputs = host.inputs.iter().enumerate().map(|(i, (placed, spec))| {
        let (bytes, source) = read(i);
        let start = source.map_or(0, |source| source.start);
        let layout = match i {
            0 => {
                let before = source.map_or(0, |_| band.first * (spec.size() / rows));
                Layout { offset: start + before as i64, ..Layout::contiguous(&banded(spec).shape) }
            }
            _ => Layout { offset: start, ..placed.layout.clone() },
        };
        HostInput { bytes, layout, dtype: placed.dtype }
    });
    let inputs = inputs.collect();
    let outputs = outputs.into_iter().zip(&host.outputs);
    let outputs = outputs.map(|(bytes, (_, spec))| HostOutput { bytes, spec: banded(spec) });
    let mut site = HostSite { inputs, outputs: outputs.collect() };
    host.with_function(|function, _| function.run(&mut site))
}

impl Room<'_> {
    fn bytes(&self, made: &Made, band: Band) -> &[u8] {
        let bytes = band.count * made.row_bytes;
        match self {
            Room::Band(memory) => &memory.bytes()[..bytes],
            Room::Part(part) => &part[band.before * made.row_bytes..][..bytes],
        }
    }

    fn bytes_mut(&mut self, made: &Made, band: Band) -> &mut [u8] {
        let bytes = band.count * made.row_bytes;
        match self {
            Room::Band(memory) => &mut memory.bytes_mut()[..bytes],
            Room::Part(part) => &mut part[band.before * made.row_bytes..][..bytes],
        }
    }
}
