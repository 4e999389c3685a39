//! What an op sees of its surroundings when it is computed: where its inputs lie, and where its outputs go.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Kernel, Target};

use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::eval::elements::{Elements, Maps, Operand, Results};
use crate::eval::plan::{Home, Planner};
use crate::op::Key;
use crate::shape::{Layout, Spec, Strides};

/// An array as a kernel is given it: which memory, and where in it.
#[derive(Clone, Debug)]
pub struct Placed {
    pub(crate) home: Home,
    /// Where the elements lie.
    pub layout: Layout,
    /// What they are.
    pub dtype: Dtype,
    /// What the first element's address is a multiple of, at most 16.
    pub align: u32,
    /// What the layout's offset lacks, and is asked for when the plan runs.
    pub(crate) moves: Vec<Move>,
}

/// Elements by which something lies further on: where the part of a call begins, along axes with these strides.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    /// The call's number on the tape that runs.
    pub call: u32,
    pub strides: Strides,
}

/// A call that is about to become launches.
pub struct Site<'a> {
    pub(crate) planner: &'a mut Planner,
    pub(crate) inputs: Vec<Placed>,
    pub(crate) outputs: Vec<Placed>,
    pub(crate) input_specs: Vec<Spec>,
    pub(crate) output_specs: Vec<Spec>,
    /// Maps that make the first input, as long as it does not lie in memory.
    pub(crate) before: Option<Maps>,
    /// Maps of the first output, and where theirs go.
    pub(crate) after: Option<(Maps, Vec<Placed>)>,
    /// Whether kernels compute those along, or there is nothing to compute.
    pub(crate) settled: bool,
}

impl Site<'_> {
    /// What the device can do.
    pub fn target(&self) -> &Target {
        self.planner.target()
    }

    /// Shape and type of an input.
    pub fn input_spec(&self, i: usize) -> &Spec {
        &self.input_specs[i]
    }

    /// Shape and type of an output.
    pub fn output_spec(&self, j: usize) -> &Spec {
        &self.output_specs[j]
    }

    /// An input where it lies, by whatever strides.
    pub fn input(&mut self, i: usize) -> Result<Placed> {
        self.settle_input(i)?;
        match self.inputs[i].home {
            Home::Value(_) => self.contiguous(i),
            _ => Ok(self.inputs[i].clone()),
        }
    }

    /// An input without gaps, the last axis fastest; copied if it is not so already.
    pub fn contiguous(&mut self, i: usize) -> Result<Placed> {
        self.settle_input(i)?;
        let input = &self.inputs[i];
        if matches!(input.home, Home::Value(_)) || !input.layout.is_row_contiguous() {
            let copy = self.planner.copy(&input.clone(), &self.input_specs[i])?;
            self.inputs[i] = copy;
        }
        Ok(self.inputs[i].clone())
    }

    /// The elements of an input, loaded or computed: what kernels read by that accept maps before them
    /// ([`Kernels::accepts`](crate::op::Kernels::accepts)).
    pub fn elements(&mut self, i: usize) -> Result<Elements> {
        match &self.before {
            Some(maps) if i == 0 => Ok(Elements::by_maps(maps, &self.inputs[0])),
            _ => Ok(Elements::in_memory(&self.input(i)?)),
        }
    }

    /// An output as kernels write it that accept maps after them. It may be asked for once, and all of it must be written.
    pub fn results(&mut self, j: usize) -> Results {
        match &self.after {
            Some((maps, stored)) if j == 0 => {
                self.settled = true;
                Results::through(maps, stored.clone())
            }
            _ => Results::in_memory(self.output(j)),
        }
    }

    /// An output: without gaps, the last axis fastest.
    pub fn output(&self, j: usize) -> Placed {
        self.outputs[j].clone()
    }

    /// An output that begins as an input, in its memory if nobody else needs that. Asked for before anything is launched.
    pub fn output_from(&mut self, j: usize, i: usize) -> Result<Placed> {
        self.settle_input(i)?;
        let placed = self.planner.copy_unless_donated(&self.inputs[i], &self.output_specs[j])?;
        self.outputs[j] = placed.clone();
        Ok(placed)
    }

    /// Memory that is only needed by this call's launches.
    pub fn scratch(&mut self, shape: &[i32], dtype: Dtype) -> Placed {
        self.planner.allocate(&Spec::new(shape, dtype))
    }

    /// Launches a kernel. `key` distinguishes it from every other kernel; it is built only if it was not yet. Operands stand
    /// in the order of the kernel's buffers; each buffer begins at its operand's first element, wherever strides lead from
    /// there (give the lowest by [`Placed::base`] if they are negative).
    pub fn launch(
        &mut self,
        key: &Key,
        build: impl FnOnce() -> Result<Kernel>,
        groups: [u32; 3],
        operands: &[&Placed],
        scalars: &[Argument],
    ) -> Result<()> {
        let operands: Vec<Operand<'_>> = operands.iter().map(|&placed| Operand::Placed(placed)).collect();
        self.launch_on(key, build, groups, &operands, scalars)
    }

    /// The same on elements and results too. The kernel declares them in this order, before scalars of its own. What maps make
    /// of the kernel is added to the key.
    pub fn launch_on(
        &mut self,
        key: &Key,
        build: impl FnOnce() -> Result<Kernel>,
        groups: [u32; 3],
        operands: &[Operand<'_>],
        scalars: &[Argument],
    ) -> Result<()> {
        self.planner.launch(key.clone(), build, groups, operands, scalars)
    }

    /// Computes the maps before the op where its kernels do not.
    fn settle_input(&mut self, i: usize) -> Result<()> {
        match self.before.take_if(|_| i == 0) {
            Some(maps) => self.planner.map_into(&maps, &self.inputs[..1]),
            None => Ok(()),
        }
    }

    /// Computes the maps after the op if its kernels did not; gives where outputs and those of the maps lie.
    pub(crate) fn finish(self) -> Result<(Vec<Placed>, Vec<Placed>)> {
        let (maps, stored) = self.after.unzip();
        if let (Some(mut maps), Some(stored), false) = (maps, &stored, self.settled) {
            maps.inputs[0] = self.outputs[0].clone();
            self.planner.map_into(&maps, stored)?;
        }
        Ok((self.outputs, stored.unwrap_or_default()))
    }
}

impl Placed {
    /// Whether it begins where its memory does.
    pub(crate) fn begins_memory(&self) -> bool {
        self.layout.offset == 0 && self.moves.is_empty()
    }

    /// The same memory beginning at its lowest element, and the number of elements from there to the first.
    pub fn base(&self) -> (Placed, i64) {
        let low = self.layout.extent().map_or(self.layout.offset, |(low, _)| low);
        let start = self.layout.offset - low;
        let mut placed = self.clone();
        placed.layout.offset = low;
        (placed, start)
    }
}

/// A call that Rust computes on the CPU.
pub struct HostSite<'a> {
    /// What it reads.
    pub inputs: Vec<HostInput<'a>>,
    /// What it writes.
    pub outputs: Vec<HostOutput<'a>>,
}

/// An array that is read on the CPU.
pub struct HostInput<'a> {
    pub(crate) bytes: &'a [u8],
    /// Where its elements lie.
    pub layout: Layout,
    /// What they are.
    pub dtype: Dtype,
}

/// An array that is written on the CPU: without gaps, the last axis fastest.
pub struct HostOutput<'a> {
    /// All its bytes.
    pub bytes: &'a mut [u8],
    /// Shape and type.
    pub spec: Spec,
}

impl HostInput<'_> {
    /// The memory it lies in, as elements; the layout's offset and strides count in these.
    pub fn memory<T: Element>(&self) -> &[T] {
        // Memory may end within an element: that of bytes looked at as another type.
        bytemuck::cast_slice(&self.bytes[..self.bytes.len() / size_of::<T>() * size_of::<T>()])
    }

    /// The bytes of the memory it lies in.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// The elements in order, if they lie without gaps.
    pub fn contiguous<T: Element>(&self) -> Option<&[T]> {
        let start = self.layout.offset as usize;
        self.layout.is_row_contiguous().then(|| &self.memory()[start..start + self.layout.size()])
    }

    /// The elements in order.
    pub fn to_vec<T: Element>(&self) -> Vec<T> {
        match self.contiguous() {
            Some(all) => all.to_vec(),
            None => {
                let memory = self.memory();
                self.offsets().map(|at| memory[at]).collect()
            }
        }
    }

    /// Where in the memory each element lies, in order.
    pub fn offsets(&self) -> impl Iterator<Item = usize> + '_ {
        offsets(&self.layout)
    }
}

impl HostOutput<'_> {
    /// The elements to write.
    pub fn elements<T: Element>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.bytes)
    }
}

/// Where in its memory each element of a layout lies, the last axis fastest.
pub fn offsets(layout: &Layout) -> impl Iterator<Item = usize> + '_ {
    let mut index = vec![0i32; layout.shape.len()];
    let mut at = layout.offset;
    (0..layout.size()).map(move |_| {
        let here = at;
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            at += layout.strides[axis];
            if index[axis] < layout.shape[axis] {
                break;
            }
            at -= layout.strides[axis] * layout.shape[axis] as i64;
            index[axis] = 0;
        }
        here as usize
    })
}
