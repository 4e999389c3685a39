//! What fused kernels are written with: elements that are loaded or computed, results that are stored or computed on.
//!
//! A kernel that reads its input by [`Elements`] and writes its output by [`Results`] serves the maps before and after it too. Maps
//! round to their types after every op, and a computed array is read in the order in which it would lie in memory, so
//! nobody can tell by the bits.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Access, Buffer, Builder, Val};

use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::eval::map::{Group, after, aligned, long_index, store_beside};
use crate::eval::plan::PlanArgument;
use crate::eval::reads::{Reader, Reads};
use crate::eval::site::Placed;
use crate::op::Key;
use crate::shape::{Layout, Shape};
use crate::typed::Typed;

/// Maps that are computed in another op's kernel.
#[derive(Clone)]
pub(crate) struct Maps {
    pub group: Group,
    /// The group's inputs, broadcast to the shape. Of maps after an op the first is what the op gives.
    pub inputs: Vec<Placed>,
    pub shape: Shape,
}

impl Maps {
    /// How the inputs are read but for those that the kernel has.
    fn reads(&self, given: usize) -> Reads {
        Reads::new(&self.inputs[given..], &self.shape)
    }

    fn key(&self, reads: &Reads, key: &mut Key) {
        key.word(u64::MAX);
        self.group.structure(key);
        reads.key(key);
    }

    /// What is made of consecutive elements, for each that is stored; `given` are the elements that the kernel has.
    fn compute<'k>(
        &self,
        reader: &Reader<'k>,
        k: &'k Builder,
        at: Val<'k>,
        given: &[Option<Typed<'k>>],
    ) -> Vec<Vec<Typed<'k>>> {
        let read = reader.read(at, given.len());
        let lane = |(lane, given): (usize, &Option<Typed<'k>>)| {
            let rest = self.group.inputs[given.is_some() as usize..].iter().zip(&read);
            let rest = rest.map(|(input, values)| Typed::new(values[lane], input.dtype));
            let inputs: Vec<Typed> = given.iter().copied().chain(rest).collect();
            self.group.compute(k, long_index(after(at, lane)), &inputs, DeviceKind::Gpu)
        };
        given.iter().enumerate().map(lane).collect()
    }
}

/// The elements of an input: they lie in memory, or maps make them as a kernel asks for them.
#[derive(Clone)]
pub struct Elements {
    /// Where the elements are asked for; those that are computed, as if they lay without gaps.
    pub layout: Layout,
    /// What they are.
    pub dtype: Dtype,
    /// Wide accesses must begin at multiples of this many bytes, at most 16.
    pub align: u32,
    origin: Origin,
}

#[derive(Clone)]
enum Origin {
    Memory(Placed),
    Maps(Maps, Reads),
}

impl Elements {
    /// Of an array in memory. The layout counts from its lowest element.
    pub(crate) fn in_memory(placed: &Placed) -> Elements {
        let (base, start) = placed.base();
        // The address known to be aligned is the first element's.
        let align = placed.align.min(1 << (start * placed.dtype.size() as i64).trailing_zeros().min(4));
        let layout = Layout { offset: start, ..placed.layout.clone() };
        Elements { layout, dtype: placed.dtype, align, origin: Origin::Memory(base) }
    }

    /// Of an array that maps make, and that would be placed there.
    pub(crate) fn by_maps(maps: &Maps, placed: &Placed) -> Elements {
        let origin = Origin::Maps(maps.clone(), maps.reads(0));
        Elements { layout: placed.layout.clone(), dtype: placed.dtype, align: placed.align, origin }
    }

    /// Whether they lie in memory, rather than being computed.
    pub fn are_in_memory(&self) -> bool {
        matches!(self.origin, Origin::Memory(_))
    }

    /// Declares buffers and scalars. No access covers more than `wide` elements.
    pub fn declare<'k>(&self, k: &'k Builder, wide: usize) -> Loader<'_, 'k> {
        let from = match &self.origin {
            Origin::Memory(_) => {
                From::Memory(k.buffer("x", self.dtype.elem(), Access::Read, aligned(wide, self.dtype)))
            }
            Origin::Maps(maps, reads) => From::Maps(maps, reads.declare(k, 'x')),
        };
        Loader { k, dtype: self.dtype, from }
    }
}

/// Elements inside a kernel.
pub struct Loader<'a, 'k> {
    k: &'k Builder,
    dtype: Dtype,
    from: From<'a, 'k>,
}

enum From<'a, 'k> {
    Memory(Buffer<'k>),
    Maps(&'a Maps, Reader<'k>),
}

impl<'k> Loader<'_, 'k> {
    /// The elements at `place` and beside it. `count` is a power of two and divides `place`.
    pub fn load(&self, place: Val<'k>, count: usize) -> Vec<Typed<'k>> {
        let typed = |val: Val<'k>| Typed::new(val, self.dtype);
        match &self.from {
            From::Memory(buffer) if count == 1 => vec![typed(buffer.load(place))],
            From::Memory(buffer) => buffer.load_wide(place, count).into_iter().map(typed).collect(),
            From::Maps(maps, reader) => {
                let lanes = maps.compute(reader, self.k, place, &vec![None; count]);
                lanes.into_iter().map(|stored| stored[0]).collect()
            }
        }
    }
}

/// Where an op's results go: into memory, or through maps first.
#[derive(Clone)]
pub struct Results {
    placed: Vec<Placed>,
    maps: Option<(Maps, Reads)>,
}

impl Results {
    pub(crate) fn in_memory(placed: Placed) -> Results {
        Results { placed: vec![placed], maps: None }
    }

    /// Through maps, whose outputs are placed there.
    pub(crate) fn through(maps: &Maps, placed: Vec<Placed>) -> Results {
        Results { placed, maps: Some((maps.clone(), maps.reads(1))) }
    }

    /// Declares buffers and scalars. No access covers more than `wide` elements.
    pub fn declare<'k>(&self, k: &'k Builder, wide: usize) -> Storer<'_, 'k> {
        let buffer = |(j, placed): (usize, &Placed)| {
            k.buffer(&format!("y{j}"), placed.dtype.elem(), Access::Write, aligned(wide, placed.dtype))
        };
        let outputs = self.placed.iter().enumerate().map(buffer).collect();
        Storer { k, outputs, maps: self.maps.as_ref().map(|(maps, reads)| (maps, reads.declare(k, 'z'))) }
    }
}

/// Results inside a kernel.
pub struct Storer<'a, 'k> {
    k: &'k Builder,
    outputs: Vec<Buffer<'k>>,
    maps: Option<(&'a Maps, Reader<'k>)>,
}

impl<'k> Storer<'_, 'k> {
    /// Takes the results with numbers from `at` on. Their count is a power of two and divides `at`.
    pub fn store(&self, at: Val<'k>, values: &[Typed<'k>]) {
        let Some((maps, reader)) = &self.maps else {
            return store_beside(self.outputs[0], at, values);
        };
        let given: Vec<Option<Typed>> = values.iter().map(|&value| Some(value)).collect();
        let lanes = maps.compute(reader, self.k, at, &given);
        for (j, &output) in self.outputs.iter().enumerate() {
            store_beside(output, at, &lanes.iter().map(|stored| stored[j]).collect::<Vec<Typed>>());
        }
    }
}

/// What a kernel is launched on. Buffers and scalars stand in the order in which the kernel declares them.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// An array in memory.
    Placed(&'a Placed),
    /// Elements that are read.
    Elements(&'a Elements),
    /// Results that are written.
    Results(&'a Results),
}

/// The operands of a launch, taken apart.
pub(crate) struct Bound {
    pub operands: Vec<Placed>,
    pub arguments: Vec<PlanArgument>,
    /// The names of the maps before and after.
    pub around: [Option<String>; 2],
}

impl Bound {
    /// Takes operands apart, and adds to the key what they make of the kernel.
    pub fn new(operands: &[Operand<'_>], scalars: &[Argument], key: &mut Key) -> Bound {
        let mut bound = Bound { operands: Vec::new(), arguments: Vec::new(), around: [None, None] };
        for operand in operands {
            match operand {
                Operand::Placed(placed) => bound.operands.push((*placed).clone()),
                Operand::Elements(elements) => match &elements.origin {
                    Origin::Memory(placed) => bound.operands.push(placed.clone()),
                    Origin::Maps(maps, reads) => bound.take(maps, reads, 0, key),
                },
                Operand::Results(results) => {
                    bound.operands.extend(results.placed.iter().cloned());
                    if let Some((maps, reads)) = &results.maps {
                        bound.take(maps, reads, 1, key);
                    }
                }
            }
        }
        bound.arguments.extend(scalars.iter().map(|&scalar| PlanArgument::Fixed(scalar)));
        bound
    }

    fn take(&mut self, maps: &Maps, reads: &Reads, side: usize, key: &mut Key) {
        key.word(side as u64);
        maps.key(reads, key);
        self.operands.extend(reads.operands().cloned());
        self.arguments.extend(reads.arguments());
        self.around[side] = Some(maps.group.name());
    }

    /// Whether maps are computed along.
    pub fn is_fused(&self) -> bool {
        self.around.iter().any(Option::is_some)
    }

    /// The kernel's name with the maps around it.
    pub fn name(&self, kernel: &str) -> String {
        let [before, after] = &self.around;
        let all = [before.as_deref(), Some(kernel), after.as_deref()];
        all.into_iter().flatten().collect::<Vec<&str>>().join("_")
    }
}
