//! Replay: a plan whose launches are recorded once and submitted again with other leaves.
//!
//! What a compiled function computes in between lies in memory that the recording keeps. Addresses that change from one evaluation
//! to the next, those of leaves and results, are patched into the recorded arguments; a launch none of whose operands moved costs
//! nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::device::{DeviceKind, Stream, gpu_stream, the_gpu};
use crate::error::Result;
use crate::eval::order::ValueId;
use crate::eval::plan::{Home, LaunchStep, Plan, PlanArgument, Step, Work};
use crate::eval::run::Run;
use crate::eval::write::PartStep;
use crate::gpu::{self, Buffer, Event, Recorder};
use crate::launch::Part;
use crate::storage::Storage;

/// Fewer launches are recorded anew as fast.
const FEWEST_LAUNCHES: usize = 4;
/// Bytes that a recording may keep for what is computed in between.
const MOST_BYTES: usize = 256 << 20;
/// Steps for which memory rests before another slot has it: whoever used it last may run beside the next few.
const REST: usize = 8;

/// What became of a plan that is worth recording.
#[derive(Default)]
pub(crate) enum MaybeReplay {
    /// It was never run.
    #[default]
    Never,
    /// It ran once.
    Once,
    Recorded(Replay),
}

/// A recorded plan.
pub(crate) struct Replay {
    recorded: gpu::Plan,
    stream: Stream,
    memories: Vec<Memory>,
    launches: Vec<Recorded>,
    /// The memory of each slot.
    slots: Vec<usize>,
}

/// Memory that launches use.
struct Memory {
    kind: Kind,
    /// Where it was at the last replay.
    buffer: Option<Buffer>,
    start: u64,
    /// Launches that use it.
    users: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An array's that was evaluated before; overwritten if it was given up.
    Leaf { value: ValueId, overwritten: bool },
    /// A result's, new every time.
    Fresh(usize),
    /// The recording's own.
    Kept(usize),
}

struct Recorded {
    /// The step, and the part of it.
    place: (usize, usize),
    memories: SmallVec<[usize; 4]>,
    values: SmallVec<[(ValueId, u64); 2]>,
    /// Where the operands begin that move.
    offsets: SmallVec<[i64; 1]>,
}

/// Whether a plan is worth recording: many launches, all on one stream of the GPU, and little memory in between.
pub(crate) fn is_worthwhile(plan: &Plan) -> bool {
    let Some(first) = plan.steps.first() else { return false };
    let on_one_stream = plan.steps.iter().all(|step| {
        let launched = match &step.work {
            Work::Launch(_) => true,
            Work::Write(write) => write.parts.iter().all(|part| matches!(part, PartStep::Launch(_))),
            _ => false,
        };
        launched && !step.is_copy && step.stream == first.stream && step.stream.device.kind == DeviceKind::Gpu
    });
    on_one_stream && plan.steps.len() >= FEWEST_LAUNCHES && plan.slots.iter().sum::<usize>() <= MOST_BYTES
}

/// The launches of a step.
fn launches(step: &Step) -> SmallVec<[&LaunchStep; 1]> {
    match &step.work {
        Work::Launch(launch) => SmallVec::from_slice(&[&**launch]),
        Work::Write(write) => {
            let parts = write.parts.iter().filter_map(|part| match part {
                PartStep::Launch(launch) => Some(&**launch),
                PartStep::Host(_) => None,
            });
            parts.collect()
        }
        Work::Block(_) | Work::Host(_) | Work::Rows(_) => SmallVec::new(),
    }
}

impl Replay {
    /// Records a plan for the leaves of a run.
    pub fn record(run: &mut Run<'_>) -> Result<Replay> {
        let plan = run.plan;
        let (slots, mut memories) = assign(plan);
        for memory in &mut memories {
            memory.bind(run)?;
        }
        let mut launched = Vec::new();
        let mut recorder = the_gpu()?.device().recorder()?;
        for (index, step) in plan.steps.iter().enumerate() {
            let mut write = |recorder: &mut Recorder| -> Result<()> {
                for (part, launch) in launches(step).into_iter().enumerate() {
                    let recorded = Recorded::new((index, part), launch, run, &slots, &memories);
                    recorded.memories.iter().for_each(|&memory| memories[memory].users.push(launched.len()));
                    recorded.with_launch(launch, run, &memories, |launch| Ok(recorder.launch(launch).map(drop)?))?;
                    launched.push(recorded);
                }
                Ok(())
            };
            match &step.work {
                Work::Write(_) => recorder.concurrent(|recorder| Ok(write(recorder)))??,
                _ => write(&mut recorder)?,
            }
        }
        let recorded = recorder.finish()?;
        Ok(Replay { recorded, stream: plan.steps[0].stream, memories, launches: launched, slots })
    }

    /// Submits the plan for the leaves of a run, and gives the run its results' memory.
    pub fn submit(&mut self, run: &mut Run<'_>) -> Result<(Stream, Event)> {
        let plan = run.plan;
        let mut moved: Vec<usize> = Vec::new();
        for memory in &mut self.memories {
            if memory.bind(run)? {
                moved.extend_from_slice(&memory.users);
            }
        }
        for (i, launch) in self.launches.iter_mut().enumerate() {
            if launch.take_values(run) | launch.take_offsets(run) {
                moved.push(i);
            }
        }
        moved.sort_unstable();
        moved.dedup();
        for i in moved {
            let recorded = &self.launches[i];
            let (step, part) = recorded.place;
            let launch = launches(&plan.steps[step])[part];
            recorded.with_launch(launch, run, &self.memories, |launch| {
                Ok(self.recorded.patch(i, 0, launch.arguments)?)
            })?;
        }
        let changing = self.memories.iter().filter(|memory| !matches!(memory.kind, Kind::Kept(_)));
        let held: Vec<Buffer> = changing.filter_map(|memory| memory.buffer.clone()).collect();
        let event = gpu_stream(self.stream)?.replay_holding(&self.recorded, &held)?;
        self.hand_out(run);
        Ok((self.stream, event))
    }

    /// Gives the run the memory of its results, and lets go of what the recording does not keep.
    fn hand_out(&mut self, run: &mut Run<'_>) {
        for (_, placed) in &run.plan.results {
            let Home::Slot(slot) = placed.home else { continue };
            // A slot of no bytes is in no launch.
            let Some(memory) = self.memories.get_mut(self.slots[slot]) else { continue };
            match memory.kind {
                Kind::Leaf { value, .. } => run.set_slot(slot, run.storage(Home::Leaf(value)), self.stream),
                Kind::Fresh(_) => {
                    let buffer = memory.buffer.clone().expect("it was bound");
                    run.set_slot(slot, Arc::new(Storage::on_gpu(buffer)), self.stream);
                }
                Kind::Kept(_) => unreachable!("results are not kept"),
            }
        }
        for memory in &mut self.memories {
            match memory.kind {
                Kind::Leaf { value, overwritten: true } => run.storage(Home::Leaf(value)).invalidate_host(),
                Kind::Fresh(_) => memory.buffer = None,
                _ => {}
            }
        }
    }
}

/// Which memory each slot has, following what is given up from one to the next. Slots without a step have none.
fn assign(plan: &Plan) -> (Vec<usize>, Vec<Memory>) {
    let mut memories: Vec<Memory> = Vec::new();
    let mut slots = vec![usize::MAX; plan.slots.len()];
    // With the step from which on it may be used again.
    let mut idle: VecDeque<(usize, usize)> = VecDeque::new();
    let result = |slot: usize| plan.results.iter().any(|(_, placed)| placed.home == Home::Slot(slot));
    let becomes_result = becomes_result(plan, result);
    for (index, step) in plan.steps.iter().enumerate() {
        for launch in launches(step) {
            for placed in &launch.operands {
                if let Home::Leaf(value) = placed.home
                    && leaf_memory(&memories, value).is_none()
                {
                    memories.push(Memory::new(Kind::Leaf { value, overwritten: false }));
                }
            }
        }
        for &slot in &step.begins {
            let fits = |memory: usize| matches!(memories[memory].kind, Kind::Kept(bytes) if bytes >= plan.slots[slot]);
            let rested = idle.iter().position(|&(from, memory)| from <= index && fits(memory));
            let reused = rested.filter(|_| !becomes_result[slot]).and_then(|at| idle.remove(at));
            slots[slot] = match reused {
                Some((_, memory)) => memory,
                _ => {
                    let bytes = plan.slots[slot];
                    memories.push(Memory::new(if becomes_result[slot] {
                        Kind::Fresh(bytes)
                    } else {
                        Kind::Kept(bytes)
                    }));
                    memories.len() - 1
                }
            };
        }
        for &(from, slot) in &step.donations {
            slots[slot] = match from {
                Home::Slot(given) => slots[given],
                Home::Leaf(value) => {
                    let memory = leaf_memory(&memories, value).expect("it is an operand");
                    memories[memory].kind = Kind::Leaf { value, overwritten: true };
                    memory
                }
                Home::Value(_) => unreachable!("plain values have no memory"),
            };
        }
        let ended = step.ends.iter().map(|&slot| slots[slot]);
        let ended = ended.filter(|&memory| matches!(memories[memory].kind, Kind::Kept(_)));
        idle.extend(ended.map(|memory| (index + REST, memory)));
    }
    (slots, memories)
}

/// Slots whose memory is a result's in the end.
fn becomes_result(plan: &Plan, result: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut becomes: Vec<bool> = (0..plan.slots.len()).map(result).collect();
    for step in plan.steps.iter().rev() {
        for &(from, to) in &step.donations {
            if let Home::Slot(from) = from {
                becomes[from] |= becomes[to];
            }
        }
    }
    becomes
}

fn leaf_memory(memories: &[Memory], leaf: ValueId) -> Option<usize> {
    memories.iter().position(|memory| matches!(memory.kind, Kind::Leaf { value, .. } if value == leaf))
}

impl Memory {
    fn new(kind: Kind) -> Memory {
        Memory { kind, buffer: None, start: 0, users: Vec::new() }
    }

    /// Finds where it is now. Gives whether that is elsewhere than before.
    fn bind(&mut self, run: &mut Run<'_>) -> Result<bool> {
        let before = self.buffer.as_ref().map(Buffer::address);
        let start = match self.kind {
            Kind::Leaf { value, .. } => {
                let stream = run.plan.steps[0].stream;
                self.buffer = Some(run.gpu_side(Home::Leaf(value), stream)?.buffer);
                run.leaf_offset(Home::Leaf(value)) as u64
            }
            Kind::Fresh(bytes) => {
                self.buffer = Some(the_gpu()?.allocate(bytes as u64)?);
                0
            }
            Kind::Kept(bytes) => {
                if self.buffer.is_none() {
                    self.buffer = Some(the_gpu()?.allocate(bytes as u64)?);
                }
                0
            }
        };
        let moved = before != self.buffer.as_ref().map(Buffer::address) || start != self.start;
        self.start = start;
        Ok(moved)
    }
}

impl Recorded {
    fn new(
        place: (usize, usize),
        launch: &LaunchStep,
        run: &Run<'_>,
        slots: &[usize],
        memories: &[Memory],
    ) -> Recorded {
        let memory = |home: Home| match home {
            Home::Slot(slot) => slots[slot],
            Home::Leaf(value) => leaf_memory(memories, value).expect("every leaf has a memory"),
            Home::Value(_) => unreachable!("operands lie in memory"),
        };
        let values = launch.arguments.iter().filter_map(|argument| match *argument {
            PlanArgument::Value(value, _) => Some((value, run.bits(value))),
            PlanArgument::Fixed(_) => None,
        });
        let memories = launch.operands.iter().map(|placed| memory(placed.home)).collect();
        Recorded { place, memories, values: values.collect(), offsets: moving_offsets(launch, run) }
    }

    /// Takes where operands begin in a run. Gives whether one begins elsewhere than before.
    fn take_offsets(&mut self, run: &Run<'_>) -> bool {
        if self.offsets.is_empty() {
            return false;
        }
        let (step, part) = self.place;
        let offsets = moving_offsets(launches(&run.plan.steps[step])[part], run);
        let differs = offsets != self.offsets;
        self.offsets = offsets;
        differs
    }

    /// Takes the plain values of a run. Gives whether one differs from before.
    fn take_values(&mut self, run: &Run<'_>) -> bool {
        let mut differs = false;
        for (value, bits) in &mut self.values {
            let now = run.bits(*value);
            differs |= now != *bits;
            *bits = now;
        }
        differs
    }

    fn with_launch(
        &self,
        launch: &LaunchStep,
        run: &Run<'_>,
        memories: &[Memory],
        use_it: impl FnOnce(&gpu::Launch<'_>) -> Result<()>,
    ) -> Result<()> {
        let parts: SmallVec<[Part<'_>; 6]> = (self.memories.iter().zip(&launch.operands))
            .map(|(&memory, placed)| {
                let Memory { buffer, start, .. } = &memories[memory];
                let offset = (*start as i64 + run.offset(placed)) as u64 * placed.dtype.size() as u64;
                Part { buffer: buffer.as_ref().expect("it was bound"), offset }
            })
            .collect();
        launch.kernel.with_launch_at(launch.groups, &parts, &run.arguments(&launch.arguments), use_it)
    }
}

/// Where the operands begin that may begin elsewhere the next time.
fn moving_offsets(launch: &LaunchStep, run: &Run<'_>) -> SmallVec<[i64; 1]> {
    launch.operands.iter().filter(|placed| !placed.moves.is_empty()).map(|placed| run.offset(placed)).collect()
}
