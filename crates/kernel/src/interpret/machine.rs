//! The machine: the columns, the arrays, and the step from one instruction to the next.

use super::access::At;
use super::mask::Mask;
use super::matrix_access::Components;
use super::memory::Memory;
use super::places::Places;
use super::races::Races;
use super::{Launch, prepare};
use crate::error::{Error, Result};
use crate::ir::{Block, Builtin, Fence, Inst, Kernel, Line, Op, Place, Value};
use crate::types::Elem;

/// A kernel being run, one workgroup after another.
pub(super) struct Machine<'a, 'm> {
    pub(super) kernel: &'a Kernel,
    /// Invocations in a workgroup.
    pub(super) invocations: usize,
    /// Invocations in a subgroup.
    pub(super) subgroup_size: usize,
    /// A column for every value; a vector's components stand one after another.
    pub(super) columns: Vec<Vec<u64>>,
    /// The values of every scalar parameter.
    pub(super) scalars: Vec<Vec<u64>>,
    pub(super) places: Places<'a, 'm>,
    /// Byte addresses of the access at hand, kept to be used again.
    pub(super) addresses: Vec<usize>,
    /// Addresses of the matrix at hand, kept to be used again.
    pub(super) components: Components,
    /// Masks and columns out of use, kept to be used again.
    pub(super) spare_masks: Vec<Mask>,
    pub(super) spare_columns: Vec<Vec<u64>>,
    /// Who touched what, where races are looked for.
    pub(super) races: Option<Races>,
    /// Whether fma takes f32 denormals for zeros.
    pub(super) flush_fma: bool,
    pub(super) steps: u64,
    pub(super) step_limit: u64,
    /// Values that differ from workgroup to workgroup, and the axis whose number they are.
    group_ids: Vec<(Value, u8)>,
}

impl<'a, 'm> Machine<'a, 'm> {
    /// Checks the launch and makes the columns; those that never change are filled here.
    pub(super) fn new(
        kernel: &'a Kernel,
        launch: &Launch<'_>,
        memories: &'a mut [Memory<'m>],
    ) -> Result<Machine<'a, 'm>> {
        let scalars = prepare::scalars(kernel, launch)?;
        let bindings = prepare::bindings(kernel, launch, memories)?;
        prepare::subgroup_size(kernel, launch)?;
        let invocations = kernel.invocations() as usize;
        let mut machine = Machine {
            kernel,
            invocations,
            subgroup_size: launch.subgroup_size as usize,
            columns: prepare::columns(kernel, launch.subgroup_size as usize),
            scalars,
            places: Places::new(kernel, bindings, memories),
            addresses: vec![0; invocations],
            components: Components::default(),
            spare_masks: Vec::new(),
            spare_columns: Vec::new(),
            races: launch.check_races.then(Races::default),
            flush_fma: launch.flush_fma,
            steps: 0,
            step_limit: launch.step_limit,
            group_ids: Vec::new(),
        };
        prepare::fill_constants(&mut machine, &kernel.body, launch.groups);
        Ok(machine)
    }

    /// Runs one workgroup; gives the number of instructions executed.
    pub(super) fn run_group(&mut self, group: [u32; 3]) -> Result<u64> {
        self.steps = 0;
        for &(value, axis) in &self.group_ids {
            self.columns[value.index()].fill(group[axis as usize] as u64);
        }
        self.places.start_group();
        if let Some(races) = &mut self.races {
            races.pass_barrier(Fence::All);
        }
        let mask = Mask::full(self.invocations);
        let kernel = self.kernel;
        self.block(&kernel.body, &mask)?;
        Ok(self.steps)
    }

    /// Notes a value that is filled when a workgroup starts.
    pub(super) fn group_id(&mut self, value: Value, axis: u8) {
        self.group_ids.push((value, axis));
    }

    /// Runs a block's instructions for the active invocations.
    pub(super) fn block(&mut self, block: &'a Block, mask: &Mask) -> Result<()> {
        for inst in &block.insts {
            self.instruction(inst, mask)?;
        }
        self.steps += block.insts.len() as u64;
        Ok(())
    }

    fn instruction(&mut self, inst: &'a Inst, mask: &Mask) -> Result<()> {
        let at = |place: &Place, elem: &Elem, index: &Value| At {
            place: *place,
            elem: *elem,
            index: *index,
            line: inst.line,
        };
        match &inst.op {
            // Filled once, or once per workgroup.
            Op::Const(_) | Op::Builtin(_) | Op::Arg { index: None, .. } => Ok(()),
            Op::Arg { param, index: Some(index) } => self.argument(inst, *param, *index, mask),
            Op::Load { place, elem, index } => self.load(inst, at(place, elem, index), mask),
            Op::Store { place, elem, index, values } => self.store(at(place, elem, index), values, mask),
            Op::Atomic { op, place, elem, index, value, expected } => {
                let operands = [*value, expected.unwrap_or(*value)];
                self.atomic(inst, *op, at(place, elem, index), operands, mask)
            }
            Op::Barrier(fence) => self.barrier(*fence, inst.line, mask),
            Op::If { condition, then, otherwise } => self.branch(inst, *condition, then, otherwise, mask),
            Op::For { start, end, step, init, body, .. } => self.count(inst, [*start, *end, *step], init, body, mask),
            Op::While { init, test, body } => self.repeat(inst, init, test, body, mask),
            Op::Subgroup { .. } | Op::Shuffle { .. } | Op::Ballot(_) | Op::Vote(..) => self.subgroup(inst, mask),
            Op::Matrix(op) => self.matrix(inst, op, mask),
            _ => {
                self.arithmetic(inst);
                Ok(())
            }
        }
    }

    /// The column of a value.
    pub(super) fn column(&self, value: Value) -> &[u64] {
        &self.columns[value.index()]
    }

    /// Takes a column out to be written while others are read; `put` it back.
    pub(super) fn take(&mut self, value: Value) -> Vec<u64> {
        std::mem::take(&mut self.columns[value.index()])
    }

    /// Puts a column back.
    pub(super) fn put(&mut self, value: Value, column: Vec<u64>) {
        self.columns[value.index()] = column;
    }

    /// An error of execution.
    #[cold]
    pub(super) fn execution(&self, line: Line, message: String) -> Error {
        Error::Execution { kernel: self.kernel.name.clone(), line, message }
    }

    /// An index outside its place.
    #[cold]
    pub(super) fn out_of_bounds(&self, line: Line, place: &str, index: u64, bound: u64) -> Error {
        let (kernel, place) = (self.kernel.name.clone(), place.to_owned());
        Error::OutOfBounds { kernel, line, place, index, bound }
    }

    /// What a builtin is in an invocation; the workgroup's own number is not known here.
    pub(super) fn builtin(&self, builtin: Builtin, invocation: usize, groups: [u32; 3]) -> u32 {
        let [x, y, _] = self.kernel.workgroup.map(|n| n as usize);
        let position = match builtin {
            Builtin::LocalId(0) => invocation % x,
            Builtin::LocalId(1) => invocation / x % y,
            Builtin::LocalId(_) => invocation / (x * y),
            Builtin::LocalIndex => invocation,
            Builtin::SubgroupId => invocation / self.subgroup_size,
            Builtin::SubgroupCount => self.invocations.div_ceil(self.subgroup_size),
            Builtin::Lane => invocation % self.subgroup_size,
            Builtin::SubgroupSize => self.subgroup_size,
            Builtin::GroupCount(axis) => groups[axis as usize] as usize,
            Builtin::GroupId(_) => 0,
        };
        position as u32
    }
}
