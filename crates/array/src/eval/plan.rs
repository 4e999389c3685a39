//! Plan: from units to steps, each with its kernel, its operands and its arguments.
//!
//! A plan says nothing about addresses: it names the leaves it was made for and the slots it needs, so it serves every evaluation of
//! an equal graph. Views cost no step; maps and copies are one launch (GPU) or one block program (CPU).

use std::sync::{Arc, Mutex};

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Kernel, Target};
use smallvec::{SmallVec, smallvec};

use crate::array::Data;
use crate::cpu::block::BlockProgram;
use crate::device::{DeviceKind, Stream};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::around::Members;
use crate::eval::cache::{self, Found};
use crate::eval::elements::{Bound, Maps, Operand};
use crate::eval::fuse::{Fused, Unit, Way, lowered};
use crate::eval::map::{self, Group, GroupNode, Reach};
use crate::eval::order::{INNER, Tape, TapeCall, ValueId};
use crate::eval::reads::Reads;
use crate::eval::replay::MaybeReplay;
use crate::eval::rows::{self, RowStep};
use crate::eval::site::{Move, Placed};
use crate::eval::write::WriteStep;
use crate::eval::{lifetimes, schedule, switches};
use crate::launch::{Compiled, PendingCompiled, fold_groups};
use crate::op::{Host, Key, Lowering, OpRef, Place};
use crate::ops;
use crate::shape::{Layout, Spec, collapse};
use crate::storage::Source;

/// Which memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Home {
    /// That of an array evaluated before.
    Leaf(ValueId),
    /// None: a plain value, passed with the arguments.
    Value(ValueId),
    /// One that the plan allocates.
    Slot(usize),
}

impl Home {
    /// The array, if it is the memory of one.
    pub fn leaf(self) -> Option<ValueId> {
        if let Home::Leaf(leaf) = self { Some(leaf) } else { None }
    }
}

/// What is to be done, in order.
#[derive(Default)]
pub(crate) struct Plan {
    pub steps: Vec<Step>,
    /// Bytes of each slot.
    pub slots: Vec<usize>,
    /// Where each value lies that somebody looks at afterwards.
    pub results: Vec<(ValueId, Placed)>,
    /// Leaves of the plan's own; their numbers follow those of the tape's values.
    pub leaves: Vec<Option<Box<Data>>>,
    /// Its recording, if it is worth one.
    pub replay: Option<Mutex<MaybeReplay>>,
}

impl Plan {
    /// Slots that no step begins are of no bytes: what was fused away after all.
    fn drop_unused(&mut self) {
        let mut begun = vec![false; self.slots.len()];
        for step in &self.steps {
            step.begins.iter().for_each(|&slot| begun[slot] = true);
            step.donations.iter().for_each(|&(_, slot)| begun[slot] = true);
        }
        self.slots.iter_mut().zip(begun).filter(|(_, begun)| !begun).for_each(|(bytes, _)| *bytes = 0);
    }
}

pub(crate) struct Step {
    pub stream: Stream,
    pub work: Work,
    /// Slots that begin here.
    pub begins: SmallVec<[usize; 1]>,
    /// Slots that take over the memory of a home that nobody uses after this step.
    pub donations: SmallVec<[(Home, usize); 1]>,
    /// Slots that nobody uses after this step.
    pub ends: SmallVec<[usize; 2]>,
    /// Whether nothing is left to do where the output takes over the input's memory: a copy.
    pub is_copy: bool,
}

impl Step {
    /// A step whose lifetimes are not settled.
    pub fn new(stream: Stream, work: Work) -> Step {
        let (begins, donations, ends) = Default::default();
        Step { stream, work, begins, donations, ends, is_copy: false }
    }
}

pub(crate) enum Work {
    Launch(Box<LaunchStep>),
    Block(BlockStep),
    Host(HostStep),
    Write(WriteStep),
    Rows(Box<RowStep>),
}

pub(crate) struct LaunchStep {
    pub kernel: Compiled,
    pub groups: [u32; 3],
    pub operands: SmallVec<[Placed; 4]>,
    pub arguments: SmallVec<[PlanArgument; 8]>,
    /// Operands that are written, and those whose memory each could take over.
    pub donors: SmallVec<[(usize, usize); 2]>,
}

/// A scalar argument of a planned launch.
#[derive(Clone, Copy)]
pub(crate) enum PlanArgument {
    Fixed(Argument),
    /// A leaf's plain value.
    Value(ValueId, Dtype),
}

pub(crate) struct BlockStep {
    pub program: Arc<BlockProgram>,
    pub count: usize,
    /// The iteration space, its axes joined.
    pub shape: Vec<usize>,
    pub inputs: Vec<(Placed, Reach, Vec<i64>)>,
    pub outputs: Vec<Placed>,
}

pub(crate) struct HostStep {
    pub op: OpRef,
    pub inputs: Vec<(Placed, Spec)>,
    pub outputs: Vec<(Placed, Spec)>,
}

impl HostStep {
    /// Shows the function, and the place that it was planned for.
    pub fn with_function<R>(&self, look: impl FnOnce(&dyn Host, &Place<'_>) -> R) -> R {
        let inputs: SmallVec<[&Spec; 3]> = self.inputs.iter().map(|(_, spec)| spec).collect();
        let outputs: SmallVec<[Spec; 1]> = self.outputs.iter().map(|(_, spec)| spec.clone()).collect();
        let place = Place { device: DeviceKind::Cpu, target: None, inputs: &inputs, outputs: &outputs };
        match self.op.lower(&place) {
            Lowering::Host(function) => look(function, &place),
            _ => unreachable!("[{}] was a host function when it was planned", self.op.name()),
        }
    }
}

/// Makes a plan of the units.
///
/// With `later`, nobody waits for the driver: fused kernels that are not there yet are compiled in the background and put on
/// that list. If there are any, the plan is not whole and must not be run.
pub(crate) fn plan(
    tape: &Tape,
    ways: &[Way],
    Fused { units, fusion }: &Fused,
    target: Option<&'static Target>,
    later: Option<&mut Vec<Arc<PendingCompiled>>>,
) -> Result<Plan> {
    let mut planner = Planner::new(tape, target);
    planner.later = later.is_some();
    for unit in units {
        match unit {
            Unit::Group(calls) => planner.group(tape, calls)?,
            Unit::Single(call) => planner.single(tape, *call, ways[*call])?,
            Unit::Around { before, call, after, .. } => planner.kernels(tape, before, *call, after)?,
        }
    }
    if let Some(later) = later {
        later.append(&mut planner.waiting_for);
    }
    Ok(planner.finish(tape, *fusion))
}

/// A plan in the making.
pub(crate) struct Planner {
    pub(super) plan: Plan,
    pub(super) target: Option<&'static Target>,
    /// Where each value lies, as far as it is planned.
    pub(super) placed: Vec<Option<Placed>>,
    /// The stream of the call being planned.
    stream: Option<Stream>,
    /// Whether fused kernels are compiled in the background, and those that are.
    later: bool,
    waiting_for: Vec<Arc<PendingCompiled>>,
}

impl Planner {
    fn new(tape: &Tape, target: Option<&'static Target>) -> Planner {
        let placed = tape.values.iter().enumerate().map(|(i, value)| {
            let data = value.leaf.as_ref()?;
            let (home, align) = match &data.source {
                Source::Memory(_) => (Home::Leaf(i as ValueId), leaf_align(data.layout.offset, value.spec.dtype)),
                Source::Value(_) => (Home::Value(i as ValueId), 16),
            };
            // The leaf's own offset is added when the plan runs: slices at other places share the plan.
            let layout = Layout { offset: 0, ..data.layout.clone() };
            Some(Placed { home, layout, dtype: value.spec.dtype, align, moves: Vec::new() })
        });
        Planner {
            plan: Plan::default(),
            target,
            placed: placed.collect(),
            stream: None,
            later: false,
            waiting_for: Vec::new(),
        }
    }

    pub fn target(&self) -> &Target {
        self.target.expect("kernels are planned for a GPU")
    }

    pub(super) fn stream(&self) -> Stream {
        self.stream.expect("set before a call is planned")
    }

    /// What follows is for a call of this stream.
    pub(super) fn begin(&mut self, stream: Stream) {
        self.stream = Some(stream);
    }

    pub(super) fn at(&self, value: ValueId) -> &Placed {
        self.placed[value as usize].as_ref().expect("units stand after those they need")
    }

    /// New memory for an array, without gaps.
    pub fn allocate(&mut self, spec: &Spec) -> Placed {
        let home = Home::Slot(self.plan.slots.len());
        self.plan.slots.push(spec.nbytes());
        Placed { home, layout: Layout::contiguous(&spec.shape), dtype: spec.dtype, align: 16, moves: Vec::new() }
    }

    pub(super) fn push(&mut self, work: Work) {
        self.plan.steps.push(Step::new(self.stream(), work));
    }

    fn single(&mut self, tape: &Tape, index: usize, way: Way) -> Result<()> {
        self.begin(tape.calls[index].stream);
        match way {
            Way::View { .. } => self.view(tape, index),
            Way::Host => self.host(tape, index),
            Way::Write => self.write(tape, index),
            Way::Kernels(_) | Way::Map => self.kernels(tape, &[], index, &[]),
        }
    }

    fn view(&mut self, tape: &Tape, index: usize) -> Result<()> {
        let call = &tape.calls[index];
        let (input, output) = (call.inputs[0], call.outputs[0]);
        let spec = tape.values[output as usize].spec.clone();
        let mut from = self.at(input).clone();
        let look = |layout: &Layout| {
            lowered(tape, call, self.target, |lowering, _| match lowering {
                Lowering::View(view) => view.view(layout, &spec),
                _ => unreachable!("[{}] was a view when it was ordered", call.op.name()),
            })
        };
        let layout = match look(&from.layout) {
            Some(layout) => layout,
            None => {
                let contiguous = Layout::contiguous(&from.layout.shape);
                let layout = look(&contiguous).expect("a view of contiguous memory is always possible");
                from = self.copy(&from, &tape.values[input as usize].spec)?;
                layout
            }
        };
        let bytes = (layout.offset - from.layout.offset) * spec.dtype.size() as i64;
        let align = from.align.min(1 << bytes.trailing_zeros().min(4));
        let fixed = Placed { layout, dtype: spec.dtype, align, ..from.clone() };
        self.placed[output as usize] = Some(moving(call, &from, &fixed).unwrap_or(fixed));
        Ok(())
    }

    fn host(&mut self, tape: &Tape, index: usize) -> Result<()> {
        let call = &tape.calls[index];
        let spec_of = |v: ValueId| tape.values[v as usize].spec.clone();
        let inputs = call.inputs.iter().map(|&v| (self.at(v).clone(), spec_of(v))).collect();
        let outputs: Vec<(Placed, Spec)> =
            call.outputs.iter().map(|&v| (self.allocate(&spec_of(v)), spec_of(v))).collect();
        for (&value, (placed, _)) in call.outputs.iter().zip(&outputs) {
            self.placed[value as usize] = Some(placed.clone());
        }
        self.push(Work::Host(HostStep { op: call.op.clone(), inputs, outputs }));
        Ok(())
    }

    fn group(&mut self, tape: &Tape, calls: &[usize]) -> Result<()> {
        self.begin(tape.calls[calls[0]].stream);
        let Members { maps, made } = self.members(tape, calls, None);
        let places = self.map(&maps)?;
        self.place(&made, places);
        Ok(())
    }

    /// The array without gaps in new memory.
    pub fn copy(&mut self, from: &Placed, spec: &Spec) -> Result<Placed> {
        if reach(from) == Reach::Strided && spec.size() > 0 {
            let to = self.allocate(spec);
            self.write_parts(&to, vec![(from.clone(), to.layout.clone())])?;
            return Ok(to);
        }
        let node = GroupNode {
            op: ops::copy::op(),
            operands: SmallVec::from_slice(&[map::Operand::Input(0)]),
            inputs: smallvec![spec.clone()],
            output: spec.clone(),
        };
        Ok(self.map(&Maps::new(vec![node], vec![0], vec![from.clone()], &spec.shape))?.swap_remove(0))
    }

    /// Plans a group of maps; gives where its outputs lie.
    fn map(&mut self, maps: &Maps) -> Result<Vec<Placed>> {
        let nodes = maps.group.outputs.iter().map(|&node| &maps.group.nodes[node]);
        let places: Vec<Placed> = nodes.map(|node| self.allocate(&node.output)).collect();
        self.map_into(maps, &places)?;
        Ok(places)
    }

    /// Plans a group of maps into memory.
    pub(super) fn map_into(&mut self, maps: &Maps, places: &[Placed]) -> Result<()> {
        let Maps { group, inputs, shape } = maps;
        match self.stream().device.kind {
            _ if crate::shape::size_of(shape) == 0 => Ok(()),
            DeviceKind::Gpu => self.map_launch(group, inputs, places, shape),
            DeviceKind::Cpu => self.map_block(group, inputs, places, shape),
        }
    }

    fn map_launch(&mut self, group: &Group, inputs: &[Placed], outputs: &[Placed], shape: &[i32]) -> Result<()> {
        let (reads, wide) = Reads::wide(inputs, shape, 16 / group.widest());
        let count = crate::shape::size_of(shape) as u64;
        let mut operands: SmallVec<[Placed; 4]> = reads.operands().cloned().collect();
        let donors = donors(group, &operands, outputs);
        operands.extend(outputs.iter().cloned());
        let mut arguments: SmallVec<[PlanArgument; 8]> = reads.arguments().into();
        let fused = group.nodes.len() > 1;
        let Some(kernel) = self.kernel(&group.key(&reads, wide), fused, || group.kernel(&reads, wide))? else {
            return Ok(());
        };
        let turns = group.turns(kernel.kernel(), count, wide, self.target().multiprocessors);
        if wide > 1 {
            arguments.push(reads.number(turns as i64));
        }
        arguments.push(reads.number(count as i64));
        let groups = fold_groups(count.div_ceil(turns * group.elements_per_turn(wide)));
        self.push(Work::Launch(Box::new(LaunchStep { kernel, groups, operands, arguments, donors })));
        Ok(())
    }

    /// The kernel of a key; none if it is a fused one that is being compiled.
    fn kernel(&mut self, key: &Key, fused: bool, build: impl FnOnce() -> Result<Kernel>) -> Result<Option<Compiled>> {
        if !self.later || !fused {
            return cache::kernel(key, build).map(Some);
        }
        match cache::kernel_later(key, build)? {
            Found::Ready(kernel) => Ok(Some(kernel)),
            Found::Pending(pending) => {
                self.waiting_for.push(pending);
                Ok(None)
            }
        }
    }

    fn map_block(&mut self, group: &Group, inputs: &[Placed], outputs: &[Placed], shape: &[i32]) -> Result<()> {
        let mut all: Vec<&[i64]> = inputs.iter().map(|p| p.layout.strides.as_slice()).collect();
        let contiguous = crate::shape::contiguous_strides(shape);
        all.push(&contiguous);
        let (sizes, strides) = collapse(shape, &all);
        let program = {
            let mut key = Key::default();
            group.structure(&mut key);
            cache::program(&key, || group.map_form())?
        };
        let inputs = inputs.iter().zip(&group.inputs).zip(strides);
        let inputs =
            inputs.map(|((placed, input), strides)| (placed.clone(), input.access, strides.to_vec())).collect();
        let shape: Vec<usize> = sizes.iter().map(|&n| n as usize).collect();
        let count = shape.iter().product();
        self.push(Work::Block(BlockStep { program, count, shape, inputs, outputs: outputs.to_vec() }));
        Ok(())
    }

    /// Plans a launch.
    pub fn launch(
        &mut self,
        key: Key,
        build: impl FnOnce() -> Result<Kernel>,
        groups: [u32; 3],
        operands: &[Operand<'_>],
        scalars: &[Argument],
    ) -> Result<()> {
        let mut key = key;
        let bound = Bound::new(operands, scalars, &mut key);
        let build = || {
            let mut kernel = build()?;
            kernel.name = bound.name(&kernel.name);
            Ok(kernel)
        };
        let Some(kernel) = self.kernel(&key, bound.is_fused(), build)? else { return Ok(()) };
        let (operands, arguments) = (bound.operands.into(), bound.arguments.into());
        self.push(Work::Launch(Box::new(LaunchStep { kernel, groups, operands, arguments, donors: SmallVec::new() })));
        Ok(())
    }

    fn finish(mut self, tape: &Tape, fusion: bool) -> Plan {
        for (i, value) in tape.values.iter().enumerate() {
            if value.held && value.leaf.is_none() {
                let placed = self.placed[i].clone().expect("every value is planned");
                self.plan.results.push((i as ValueId, placed));
            }
        }
        if !switches::disabled(switches::SCHEDULE) {
            schedule::schedule(&mut self.plan);
        }
        if fusion {
            rows::join(&mut self.plan);
        }
        lifetimes::settle(&mut self.plan, tape);
        self.plan.drop_unused();
        self.plan
    }
}

/// How an input's elements are reached, its layout broadcast to the result's shape.
pub(super) fn reach(placed: &Placed) -> Reach {
    match placed.home {
        Home::Value(_) => Reach::Value,
        _ if placed.layout.is_single() && placed.layout.size() > 1 => Reach::Single,
        _ if placed.layout.is_row_contiguous() => Reach::Contiguous,
        _ => Reach::Strided,
    }
}

/// Which of a map's inputs in memory could give theirs to an output: elements of one size, read where they are written.
fn donors(group: &Group, inputs: &[Placed], outputs: &[Placed]) -> SmallVec<[(usize, usize); 2]> {
    let in_memory: Vec<Reach> =
        group.inputs.iter().map(|i| i.access).filter(|&access| access != Reach::Value).collect();
    let mut pairs = SmallVec::new();
    for (j, output) in outputs.iter().enumerate() {
        for (i, input) in inputs.iter().enumerate() {
            let fits = in_memory[i] == Reach::Contiguous && input.begins_memory();
            if fits && input.dtype.size() == output.dtype.size() {
                pairs.push((inputs.len() + j, i));
            }
        }
    }
    pairs
}

/// A part of something as the call makes it, placed so that it may begin elsewhere when the plan runs; none if it may not.
pub(super) fn moving(call: &TapeCall, whole: &Placed, part: &Placed) -> Option<Placed> {
    if call.number == INNER || part.layout.size() == 0 {
        return None;
    }
    let starts = call.op.starts()?;
    let mut placed = Placed { align: whole.align, ..part.clone() };
    let multiples = start_multiples(&starts, &whole.layout.shape, whole.dtype);
    for ((start, stride), multiple) in starts.iter().zip(&whole.layout.strides).zip(multiples) {
        placed.layout.offset -= *start as i64 * stride;
        let bytes = (stride * whole.dtype.size() as i64) << multiple;
        placed.align = placed.align.min(1 << bytes.trailing_zeros().min(4));
    }
    placed.moves.push(Move { call: call.number, strides: whole.layout.strides.clone() });
    Some(placed)
}

/// What a plan knows of where a part begins along the axes of a shape: it is a multiple of two to the power of this. Nothing, where
/// elements that lie without gaps are aligned whatever it is.
pub(super) fn start_multiples(starts: &[i32], shape: &[i32], dtype: Dtype) -> SmallVec<[u32; 4]> {
    let strides = crate::shape::contiguous_strides(shape);
    let known = |(&start, stride): (&i32, i64)| match stride * dtype.size() as i64 % 16 {
        0 => 0,
        _ => start.trailing_zeros().min(4),
    };
    starts.iter().zip(strides).map(known).collect()
}

pub(super) fn spans_long(layout: &Layout) -> bool {
    layout.extent().is_some_and(|(low, high)| high - low > i32::MAX as i64 / 2)
}

/// What the address of a leaf's first element is a multiple of.
pub(crate) fn leaf_align(offset: i64, dtype: Dtype) -> u32 {
    1 << (offset * dtype.size() as i64).trailing_zeros().min(4)
}
