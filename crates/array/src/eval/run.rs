//! Run: a plan with its leaves bound to it. Launches are recorded, block programs and host functions run at once.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use pumice_kernel::Scalar;
use pumice_kernel::arguments::Argument;
use smallvec::SmallVec;

use crate::array::{Array, Data};
use crate::cpu::block::{Input, Output};
use crate::cpu::copy::Copy;
use crate::device::{DeviceKind, Stream, expect_stream, gpu_stream, the_gpu};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::interrupt::Pace;
use crate::eval::map::Reach;
use crate::eval::order::{SpecRef, Tape, Value, ValueId};
use crate::eval::plan::{BlockStep, Home, HostStep, LaunchStep, Plan, PlanArgument, Step, Work};
use crate::eval::replay::{MaybeReplay, Replay};
use crate::eval::site::{HostInput, HostOutput, HostSite, Move, Placed};
use crate::eval::stats;
use crate::eval::write::{HostCopy, PartStep, WriteStep};
use crate::gpu::{self, Event};
use crate::launch::Part;
use crate::shape::Layout;
use crate::storage::{GpuSide, HostBytes, HostBytesMut, Source, Storage};
use crate::{trace, typed};

/// What came of a plan.
pub(crate) struct Done {
    /// The values that somebody looks at.
    pub data: HashMap<ValueId, Data>,
    /// When the GPU will be done with its part.
    events: Vec<Event>,
}

impl Done {
    /// Gives the arrays that wait for values theirs.
    pub fn publish(self, receivers: &[(Array, ValueId)]) -> Vec<Event> {
        receivers.iter().for_each(|(array, value)| array.set_data(self.data[value].clone()));
        self.events
    }
}

/// Refuses a plan for streams that the calling thread may not use.
pub(crate) fn expect_streams(plan: &Plan) -> Result<()> {
    let mut known = None;
    let mut others = plan.steps.iter().filter(|step| known.replace(step.stream) != Some(step.stream));
    others.try_for_each(|step| expect_stream(step.stream))
}

/// Runs a plan.
pub(crate) fn run(plan: &Plan, tape: &Tape, pace: Pace) -> Result<Done> {
    let _run = trace::span(|| "run").of("steps", plan.steps.len());
    let mut run =
        Run { plan, tape, slots: vec![None; plan.slots.len()], streams: HashMap::new(), overwritten: Vec::new() };
    let events = run.events(pace).inspect_err(|_| run.give_up())?;
    // Slots of no bytes have no step that begins them.
    for (_, placed) in &plan.results {
        if let Home::Slot(slot) = placed.home
            && run.slots[slot].is_none()
        {
            run.slots[slot] = Some(Slot { storage: Arc::new(Storage::on_host(plan.slots[slot])?), by: None });
        }
    }
    let data = plan.results.iter().map(|(value, placed)| (*value, run.data(placed, &events))).collect();
    Ok(Done { data, events: events.into_values().collect() })
}

pub(crate) struct Run<'a> {
    pub plan: &'a Plan,
    tape: &'a Tape,
    slots: Vec<Option<Slot>>,
    streams: HashMap<u32, Arc<gpu::Stream>>,
    /// Leaves whose memory was overwritten: without them the graph cannot be evaluated again, and no interrupt is heard.
    overwritten: Vec<ValueId>,
}

/// A slot's memory, and the stream that wrote it.
#[derive(Clone)]
struct Slot {
    storage: Arc<Storage>,
    by: Option<Stream>,
}

impl Run<'_> {
    /// Does what is to be done; the events say when the GPU will have done its part.
    fn events(&mut self, pace: Pace) -> Result<HashMap<u32, Event>> {
        let replayed = match &self.plan.replay {
            // The recording has no times of its launches.
            Some(replay) if !trace::on() => self.replay(&mut replay.lock().unwrap_or_else(PoisonError::into_inner))?,
            _ => None,
        };
        match replayed {
            Some(events) => Ok(events),
            None => self.steps(pace),
        }
    }

    /// After a failure or an interrupt: what was recorded is submitted, so that it lets go of its memory. Arrays that were overwritten have
    /// no values any longer, and whoever needs them must hear of it.
    fn give_up(&self) {
        for stream in self.streams.values() {
            // What failed first is told.
            let _ = stream.commit();
        }
        for &leaf in &self.overwritten {
            if let Some(Value { spec: SpecRef::Of(array), .. }) = self.tape.values.get(leaf as usize) {
                array.lose();
            }
        }
    }

    /// Does one step after the other.
    fn steps(&mut self, mut pace: Pace) -> Result<HashMap<u32, Event>> {
        for (i, step) in self.plan.steps.iter().enumerate() {
            // Recording is quick, so the clock is looked at less often.
            let long = step.stream.device.kind == DeviceKind::Cpu || i % 64 == 63;
            if long && self.overwritten.is_empty() {
                pace.ask()?;
            }
            self.overwritten.extend(step.donations.iter().filter_map(|(from, _)| from.leaf()));
            self.step(step)?;
        }
        self.commit()
    }

    /// Submits what was recorded; none if it is too early for that. What is evaluated a second time is recorded.
    fn replay(&mut self, replay: &mut MaybeReplay) -> Result<Option<HashMap<u32, Event>>> {
        if let MaybeReplay::Never = replay {
            *replay = MaybeReplay::Once;
            return Ok(None);
        }
        if let MaybeReplay::Once = replay {
            *replay = MaybeReplay::Recorded(Replay::record(self)?);
        }
        let MaybeReplay::Recorded(replay) = replay else { unreachable!("it was just recorded") };
        let (stream, event) = replay.submit(self)?;
        Ok(Some(HashMap::from([(stream.index, event)])))
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        for &slot in &step.begins {
            let storage = match step.stream.device.kind {
                DeviceKind::Cpu => Storage::on_host(self.plan.slots[slot])?,
                DeviceKind::Gpu => Storage::on_gpu(the_gpu()?.allocate(self.plan.slots[slot] as u64)?),
            };
            self.slots[slot] = Some(Slot { storage: Arc::new(storage), by: Some(step.stream) });
        }
        self.order_after_inputs(step)?;
        match &step.work {
            _ if step.is_copy && !step.donations.is_empty() => self.take_over(step)?,
            Work::Launch(launch) => self.launch(step, launch)?,
            Work::Write(write) => self.write(step, write)?,
            Work::Block(block) => {
                let _step = trace::step(|| block.program.name().to_string()).of("elements", block.count);
                stats::count(|c| &c.block_programs);
                self.block(step, block)?;
            }
            Work::Host(host) => {
                let _step = trace::step(|| host.op.name());
                stats::count_host(host.op.name());
                self.host(host)?;
            }
            Work::Rows(rows) => {
                let _step = trace::step(|| rows.name()).of("rows", rows.rows);
                self.rows(rows)?;
            }
        }
        for &(from, slot) in &step.donations {
            let storage = self.storage(from);
            if let Home::Slot(given) = from {
                self.slots[given] = None;
            }
            self.slots[slot] = Some(Slot { storage, by: Some(step.stream) });
        }
        for &slot in &step.ends {
            self.slots[slot] = None;
        }
        Ok(())
    }

    /// Makes the step's stream wait for what other streams write for it.
    fn order_after_inputs(&mut self, step: &Step) -> Result<()> {
        let operands: SmallVec<[Home; 6]> = match &step.work {
            Work::Launch(launch) => launch.operands.iter().map(|p| p.home).collect(),
            Work::Block(block) => block.inputs.iter().map(|(p, ..)| p.home).collect(),
            Work::Host(host) => host.inputs.iter().map(|(p, _)| p.home).collect(),
            Work::Write(write) => write.operands().map(|p| p.home).collect(),
            Work::Rows(rows) => rows.inputs.iter().map(|p| p.home).collect(),
        };
        for home in operands {
            let Home::Slot(slot) = home else { continue };
            let Some(Slot { storage, by: Some(by) }) = self.slots[slot].clone() else { continue };
            if by == step.stream || by.device.kind == DeviceKind::Cpu {
                continue;
            }
            let event = self.stream(by)?.commit()?;
            storage.set_ready(&event);
            if step.stream.device.kind == DeviceKind::Gpu {
                self.stream(step.stream)?.wait_event(&event)?;
            }
        }
        Ok(())
    }

    fn launch(&mut self, step: &Step, launch: &LaunchStep) -> Result<()> {
        let stream = self.stream(step.stream)?;
        let mut sides: SmallVec<[GpuSide; 6]> = SmallVec::new();
        let mut offsets: SmallVec<[u64; 6]> = SmallVec::new();
        for placed in &launch.operands {
            let home = donated(step, placed.home);
            sides.push(self.gpu_side(home, step.stream)?);
            offsets.push((self.leaf_offset(home) + self.offset(placed)) as u64 * placed.dtype.size() as u64);
        }
        let parts: SmallVec<[Part<'_>; 6]> =
            sides.iter().zip(&offsets).map(|(side, &offset)| Part { buffer: &side.buffer, offset }).collect();
        let arguments = self.arguments(&launch.arguments);
        launch.kernel.with_launch_at(launch.groups, &parts, &arguments, |launch| Ok(stream.launch(launch)?))?;
        for &(from, _) in &step.donations {
            self.storage(from).invalidate_host();
        }
        Ok(())
    }

    /// The memory on the GPU; the stream uses it from now on, and waits for it if it is another evaluation's.
    pub fn gpu_side(&mut self, home: Home, stream: Stream) -> Result<GpuSide> {
        let storage = self.storage(home);
        let side = storage.gpu()?;
        if let (Home::Leaf(_), Some(event)) = (home, &side.ready) {
            self.stream(stream)?.wait_event(event)?;
        }
        storage.used_by(stream.index);
        Ok(side)
    }

    /// Gives a slot memory that a stream writes.
    pub fn set_slot(&mut self, slot: usize, storage: Arc<Storage>, by: Stream) {
        self.slots[slot] = Some(Slot { storage, by: Some(by) });
    }

    pub fn arguments(&self, planned: &[PlanArgument]) -> SmallVec<[Argument; 16]> {
        let mut all = SmallVec::new();
        for argument in planned {
            match *argument {
                PlanArgument::Fixed(argument) => all.push(argument),
                PlanArgument::Value(leaf, dtype) => all.extend(value_arguments(self.bits(leaf), dtype)),
            }
        }
        all
    }

    fn block(&mut self, step: &Step, block: &BlockStep) -> Result<()> {
        let bits: Vec<[u8; 8]> = block.inputs.iter().map(|(placed, ..)| self.value_bytes(placed)).collect();
        let storages: Vec<Option<Arc<Storage>>> = block.inputs.iter().map(|(p, ..)| self.memory(p.home)).collect();
        let homes: Vec<Home> = block.outputs.iter().map(|p| donated(step, p.home)).collect();
        let written: Vec<Arc<Storage>> = homes.iter().map(|&home| self.storage(home)).collect();
        let in_place = |i: usize| homes.iter().position(|&home| home == block.inputs[i].0.home);
        let read: Vec<Option<HostBytes<'_>>> = (storages.iter().enumerate())
            .map(|(i, storage)| storage.as_ref().filter(|_| in_place(i).is_none()).map(|s| s.read()).transpose())
            .collect::<Result<_>>()?;
        // What is written in place is read first: it may be on the GPU.
        for (i, storage) in storages.iter().enumerate() {
            if let (Some(_), Some(storage)) = (in_place(i), storage) {
                storage.to_host()?;
            }
        }
        let mut guards: Vec<HostBytesMut<'_>> = written.iter().map(|storage| storage.write()).collect();
        let inputs: Vec<Input<'_>> = block
            .inputs
            .iter()
            .enumerate()
            .map(|(i, (placed, reach, strides))| {
                if let Some(output) = in_place(i) {
                    return Input::InPlace(output);
                }
                let size = placed.dtype.size();
                let start = self.leaf_offset(placed.home) + self.offset(placed);
                let memory = read[i].as_ref().map_or(&bits[i][..size], |bytes| bytes.bytes());
                match reach {
                    Reach::Value => Input::Scalar(memory),
                    Reach::Single => Input::Scalar(&memory[start as usize * size..][..size]),
                    Reach::Contiguous => Input::Contiguous(&memory[start as usize * size..][..block.count * size]),
                    Reach::Strided => Input::Strided { bytes: memory, start, shape: &block.shape, strides },
                }
            })
            .collect();
        let mut outputs: Vec<Output<'_>> = (guards.iter_mut().zip(&block.outputs))
            .map(|(guard, placed)| Output::Contiguous(&mut guard.bytes()[..block.count * placed.dtype.size()]))
            .collect();
        block.program.run(block.count, &inputs, &mut outputs)
    }

    fn host(&mut self, host: &HostStep) -> Result<()> {
        let bits: Vec<[u8; 8]> = host.inputs.iter().map(|(placed, _)| self.value_bytes(placed)).collect();
        let storages: Vec<Option<Arc<Storage>>> = host.inputs.iter().map(|(p, _)| self.memory(p.home)).collect();
        let written: Vec<Arc<Storage>> = host.outputs.iter().map(|(p, _)| self.storage(p.home)).collect();
        let read: Vec<Option<HostBytes<'_>>> =
            storages.iter().map(|s| s.as_ref().map(|s| s.read()).transpose()).collect::<Result<_>>()?;
        let mut guards: Vec<HostBytesMut<'_>> = written.iter().map(|storage| storage.write()).collect();
        let inputs = host.inputs.iter().enumerate().map(|(i, (placed, _))| {
            let offset = self.leaf_offset(placed.home) + self.offset(placed);
            let bytes = read[i].as_ref().map_or(&bits[i][..placed.dtype.size()], |bytes| bytes.bytes());
            HostInput { bytes, layout: Layout { offset, ..placed.layout.clone() }, dtype: placed.dtype }
        });
        let outputs = guards.iter_mut().zip(&host.outputs);
        let outputs = outputs.map(|(guard, (_, spec))| HostOutput { bytes: guard.bytes(), spec: spec.clone() });
        let mut site = HostSite { inputs: inputs.collect(), outputs: outputs.collect() };
        host.with_function(|function, _| function.run(&mut site))
    }

    /// A copy that is not made: the result has the input's memory, on the side where it will be written.
    fn take_over(&mut self, step: &Step) -> Result<()> {
        for &(from, _) in &step.donations {
            let storage = self.storage(from);
            match step.stream.device.kind {
                DeviceKind::Cpu => storage.to_host()?,
                DeviceKind::Gpu => {
                    if let Some(event) = storage.gpu()?.ready {
                        self.stream(step.stream)?.wait_event(&event)?;
                    }
                    storage.invalidate_host();
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, step: &Step, write: &WriteStep) -> Result<()> {
        let copies = |run: &mut Self| {
            write.parts.iter().try_for_each(|part| match part {
                PartStep::Launch(launch) => run.launch(step, launch),
                PartStep::Host(copy) => run.copy(copy),
            })
        };
        match step.stream.device.kind {
            DeviceKind::Cpu => copies(self),
            DeviceKind::Gpu => self.stream(step.stream)?.concurrent(|_| Ok(copies(self)))?,
        }
    }

    fn copy(&self, copy: &HostCopy) -> Result<()> {
        let [from, to] = &copy.operands;
        let start = |placed: &Placed| self.leaf_offset(placed.home) + self.offset(placed);
        // As a number, so that it is aligned as one.
        let (bits, memory) = (u64::from_ne_bytes(self.value_bytes(from)), self.memory(from.home));
        let read = memory.as_ref().map(|storage| storage.read()).transpose()?;
        let value = &bytemuck::bytes_of(&bits)[..from.dtype.size()];
        let bytes = read.as_ref().map_or(value, |bytes| bytes.bytes());
        let (written, first) = (self.storage(to.home), if read.is_some() { start(from) } else { 0 });
        let HostCopy { shape, from_strides, to_strides, .. } = copy;
        Copy { size: to.dtype.size(), shape, from_strides, to_strides }.run(
            bytes,
            first,
            written.write().bytes(),
            start(to) as usize,
        );
        Ok(())
    }

    /// Commits every GPU stream that was used.
    fn commit(&mut self) -> Result<HashMap<u32, Event>> {
        self.streams.iter().map(|(&index, stream)| Ok((index, stream.commit()?))).collect()
    }

    fn data(&self, placed: &Placed, events: &HashMap<u32, Event>) -> Data {
        if let Home::Value(leaf) = placed.home {
            return Data { source: Source::Value(self.bits(leaf)), layout: placed.layout.clone() };
        }
        if let Home::Slot(slot) = placed.home {
            let slot = self.slots[slot].as_ref().expect("results are kept");
            if let Some(event) = slot.by.and_then(|stream| events.get(&stream.index)) {
                slot.storage.set_ready(event);
            }
        }
        let offset = self.leaf_offset(placed.home) + self.offset(placed);
        Data { source: Source::Memory(self.storage(placed.home)), layout: Layout { offset, ..placed.layout.clone() } }
    }

    fn stream(&mut self, stream: Stream) -> Result<Arc<gpu::Stream>> {
        if let Some(open) = self.streams.get(&stream.index) {
            return Ok(open.clone());
        }
        let open = gpu_stream(stream)?;
        self.streams.insert(stream.index, open.clone());
        Ok(open)
    }

    fn leaf(&self, value: ValueId) -> &Data {
        let own = self.tape.values.len();
        let leaf = match (value as usize).checked_sub(own) {
            None => &self.tape.values[value as usize].leaf,
            Some(inner) => &self.plan.leaves[inner],
        };
        leaf.as_ref().expect("leaves have data")
    }

    /// Elements before the first one from where a plan counts, those included that it asks for when it runs.
    pub fn offset(&self, placed: &Placed) -> i64 {
        let moved = |Move { call, strides }: &Move| -> i64 {
            let starts = self.tape.calls[*call as usize].op.starts().expect("the same op as when it was planned");
            starts.iter().zip(strides).map(|(&start, stride)| start as i64 * stride).sum()
        };
        placed.layout.offset + placed.moves.iter().map(moved).sum::<i64>()
    }

    /// Elements before the first of a leaf; a plan counts from there.
    pub fn leaf_offset(&self, home: Home) -> i64 {
        match home {
            Home::Leaf(value) => self.leaf(value).layout.offset,
            _ => 0,
        }
    }

    pub(super) fn memory(&self, home: Home) -> Option<Arc<Storage>> {
        match home {
            Home::Leaf(value) => match &self.leaf(value).source {
                Source::Memory(storage) => Some(storage.clone()),
                Source::Value(_) => None,
            },
            Home::Slot(slot) => {
                Some(self.slots[slot].as_ref().expect("slots begin before they are used").storage.clone())
            }
            Home::Value(_) => None,
        }
    }

    pub fn storage(&self, home: Home) -> Arc<Storage> {
        self.memory(home).expect("operands in memory have a storage")
    }

    pub fn bits(&self, leaf: ValueId) -> u64 {
        match self.leaf(leaf).source {
            Source::Value(bits) => bits,
            Source::Memory(_) => unreachable!("planned as a plain value"),
        }
    }

    pub(super) fn value_bytes(&self, placed: &Placed) -> [u8; 8] {
        match placed.home {
            Home::Value(leaf) => self.bits(leaf).to_le_bytes(),
            _ => [0; 8],
        }
    }
}

/// The home whose memory a slot takes over in this step; itself if none.
fn donated(step: &Step, home: Home) -> Home {
    match home {
        Home::Slot(slot) => step.donations.iter().find(|(_, to)| *to == slot).map_or(home, |(from, _)| *from),
        _ => home,
    }
}

/// The kernel arguments of a plain value.
fn value_arguments(bits: u64, dtype: Dtype) -> SmallVec<[Argument; 2]> {
    let float = |bits: u64| Argument::F32(f32::from_bits(bits as u32));
    let one = match dtype {
        Dtype::C64 => return SmallVec::from_slice(&[float(bits), float(bits >> 32)]),
        Dtype::Bool => Argument::Bool(bits & 1 != 0),
        Dtype::F16 => Argument::F32(half::f16::from_bits(bits as u16).to_f32()),
        Dtype::BF16 => Argument::F32(half::bf16::from_bits(bits as u16).to_f32()),
        Dtype::I8 => Argument::I32(bits as i8 as i32),
        Dtype::I16 => Argument::I32(bits as i16 as i32),
        _ => match typed::compute(dtype) {
            Scalar::I32 => Argument::I32(bits as i32),
            Scalar::I64 => Argument::I64(bits as i64),
            Scalar::F64 => Argument::F64(f64::from_bits(bits)),
            _ => float(bits),
        },
    };
    SmallVec::from_slice(&[one])
}
