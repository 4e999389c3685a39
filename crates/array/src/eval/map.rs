//! Maps as kernels: one op or a fused group of them, over elements that lie side by side or anywhere.
//!
//! The group is written once, by its ops' own scalar functions, into one of three kernels: *linear* (all operands contiguous, single
//! or plain values; 16 bytes an access), *strided* (the index of an element is split by the collapsed shape), and *map form* (one
//! element at index 0: what the CPU's block programs are made from). Every op rounds to its own type, so all of them and any
//! grouping give the same bits.


use pumice_kernel::{Access, Buffer, Builder, Kernel, Scalar, Val};
use smallvec::SmallVec;

use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::op::{Element, Key, Lowering, OpRef, Place};
use crate::shape::Spec;
use crate::typed::{self, Typed};

/// Invocations per workgroup.
pub(crate) const WORKGROUP: u32 = 256;
/// Accesses to each operand an invocation of the linear kernel makes.
const ACCESSES: usize = 2;

/// A group of maps over one iteration space.
#[derive(Clone)]
pub(crate) struct Group {
    pub inputs: Vec<GroupInput>,
    pub nodes: Vec<GroupNode>,
    /// Which nodes' elements are stored.
    pub outputs: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct GroupInput {
    pub dtype: Dtype,
    pub access: Reach,
}

/// How an input's elements are reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// Passed with the arguments.
    Value,
    /// One element in memory for all.
    Single,
    /// Where the result's are.
    Contiguous,
    /// By strides.
    Strided,
}

#[derive(Clone)]
pub(crate) struct GroupNode {
    pub op: OpRef,
    pub operands: SmallVec<[Operand; 3]>,
    pub inputs: SmallVec<[Spec; 3]>,
    pub output: Spec,
}

/// Where a node's input comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    /// From outside the group.
    Input(usize),
    /// From another node.
    Node(usize),
}

/// Which of the kernels, and for what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// `wide` elements an access; `long` indices have 64 bits.
    Linear { wide: usize, long: bool },
    /// Split by this many axes.
    Strided { rank: usize, long: bool },
}

impl Group {
    /// What distinguishes the group's kernel from others.
    pub fn key(&self, form: Form) -> Key {
        let mut key = Key::default();
        match form {
            Form::Linear { wide, long } => key.word(((wide as u64) << 8) | long as u64),
            Form::Strided { rank, long } => key.word((1 << 32) | ((rank as u64) << 8) | long as u64),
        }
        self.structure(&mut key);
        key
    }

    /// Adds what distinguishes the group from others, whatever kernel it is in.
    pub fn structure(&self, key: &mut Key) {
        key.word(self.inputs.len() as u64);
        self.inputs.iter().for_each(|input| key.word((input.dtype as u64) << 8 | input.access as u64));
        for node in &self.nodes {
            key.name(node.op.name());
            node.op.key(key);
            key.word(node.output.dtype as u64);
            for operand in &node.operands {
                match *operand {
                    Operand::Input(i) => key.word(i as u64),
                    Operand::Node(i) => key.word((1 << 32) | i as u64),
                }
            }
        }
        self.outputs.iter().for_each(|&node| key.word(node as u64));
    }

    /// The kernel's name: the ops in it.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for node in &self.nodes {
            if name.len() > 48 {
                name.push_str("_more");
                break;
            }
            name.push_str(if name.is_empty() { "" } else { "_" });
            name.push_str(node.op.name());
        }
        name
    }

    /// The widest element among what lies in memory side by side.
    pub fn widest(&self) -> usize {
        let inputs = self.inputs.iter().filter(|i| i.access == Reach::Contiguous).map(|i| i.dtype.size());
        inputs.chain(self.outputs.iter().map(|&node| self.nodes[node].output.dtype.size())).max().unwrap_or(1)
    }

    /// Elements one workgroup of the form covers.
    pub fn elements_per_group(form: Form) -> u64 {
        match form {
            Form::Linear { wide, .. } => WORKGROUP as u64 * (wide * ACCESSES) as u64,
            Form::Strided { .. } => WORKGROUP as u64,
        }
    }

    /// The kernel of the form.
    pub fn kernel(&self, form: Form) -> Result<Kernel> {
        Ok(Kernel::build(&self.name(), [WORKGROUP, 1, 1], |k| match form {
            Form::Linear { wide, long } => self.linear(k, wide, long),
            Form::Strided { rank, long } => self.strided(k, rank, long),
        })?)
    }

    /// The group over one element, at index 0 of every buffer; its number is the argument `index`.
    pub fn map_form(&self) -> Result<Kernel> {
        Ok(Kernel::build(&self.name(), [1, 1, 1], |k| {
            let inputs: Vec<Buffer> = self.names().map(|(name, i)| k.input(&name, i.dtype.elem())).collect();
            let outputs = self.declare_outputs(k, 1);
            let index = k.arg_i64("index");
            let loaded: Vec<Typed> =
                inputs.iter().zip(&self.inputs).map(|(b, i)| Typed::new(b.load(0), i.dtype)).collect();
            for (output, value) in outputs.iter().zip(self.compute(k, index, &loaded, DeviceKind::Cpu)) {
                output.store(0, value.val);
            }
        })?)
    }

    fn linear(&self, k: &Builder, wide: usize, long: bool) {
        let operands = self.operands(k, wide);
        let n = number(k, "n", long);
        let values = self.values(k);
        let singles = self.singles(&operands.inputs);
        let fixed = |i: usize| singles[i].or(values[i]).expect("what is not contiguous is single or a value");
        let span = (WORKGROUP as usize * wide) as i32;
        let first = indices(k, long, |group, local| group * (span * ACCESSES as i32) + local * (wide as i32));
        let starts: Vec<Val> = (0..ACCESSES as i32).map(|j| first + j * span).collect();
        // n is below the index type's maximum, and so is the last start, but not always start + wide.
        let whole = starts[ACCESSES - 1].lt_u(n - (wide as i32 - 1)) & n.ge(wide as i32);
        k.if_(
            whole,
            || {
                let load = |at| {
                    self.each_input(|i, contiguous| match contiguous {
                        true => operands.input(i).load_wide(at, wide),
                        false => vec![fixed(i); wide],
                    })
                };
                let loaded: Vec<Vec<Vec<Val>>> = starts.iter().map(|&at| load(at)).collect();
                for (&at, inputs) in starts.iter().zip(&loaded) {
                    self.store_wide(k, at, inputs, &operands.outputs, wide);
                }
            },
            || {
                for &start in &starts {
                    let end = (start + wide as i32).min_u(n);
                    k.step(start, end, 1, |at| {
                        let inputs = self
                            .each_input(|i, contiguous| if contiguous { operands.input(i).load(at) } else { fixed(i) });
                        self.store(k, at, inputs, &operands.outputs);
                    });
                }
            },
        );
    }

    fn strided(&self, k: &Builder, rank: usize, long: bool) {
        let operands = self.operands(k, 1);
        let scalar = if long { Scalar::I64 } else { Scalar::I32 };
        let rank_or_one = rank.max(1) as u32;
        let n = number(k, "n", long);
        let shape = k.arg_array("shape", scalar, rank_or_one);
        let strides: Vec<_> = self
            .names()
            .map(|(name, input)| {
                let declare = || {
                    let start = number(k, &format!("{name}_start"), long);
                    (start, k.arg_array(&format!("{name}_strides"), scalar, rank_or_one))
                };
                (input.access == Reach::Strided).then(declare)
            })
            .collect();
        let values = self.values(k);
        let at = indices(k, long, |group, local| group * (WORKGROUP as i32) + local);
        k.when(at.lt_u(n), || {
            let mut rest = at;
            let mut places: Vec<Option<Val>> = strides.iter().map(|s| s.as_ref().map(|(start, _)| *start)).collect();
            for axis in (0..rank as i32).rev() {
                let along = if axis == 0 { rest } else { rest.rem_u(shape.at(axis)) };
                rest = if axis == 0 { rest } else { rest.div_u(shape.at(axis)) };
                for (place, strides) in places.iter_mut().zip(&strides) {
                    if let (Some(place), Some((_, strides))) = (place, strides) {
                        *place = *place + along * strides.at(axis);
                    }
                }
            }
            let inputs = (0..self.inputs.len()).map(|i| match self.inputs[i].access {
                Reach::Contiguous => operands.input(i).load(at),
                Reach::Single => operands.input(i).load(0),
                Reach::Strided => operands.input(i).load(places[i].expect("strided inputs have one")),
                Reach::Value => values[i].expect("values are arguments"),
            });
            self.store(k, at, inputs.collect(), &operands.outputs);
        });
    }

    fn each_input<V>(&self, load: impl Fn(usize, bool) -> V) -> Vec<V> {
        (0..self.inputs.len()).map(|i| load(i, self.inputs[i].access == Reach::Contiguous)).collect()
    }

    /// Computes and stores one element.
    fn store<'k>(&self, k: &'k Builder, at: Val<'k>, inputs: Vec<Val<'k>>, outputs: &[Buffer<'k>]) {
        let inputs: Vec<Typed> = inputs.iter().zip(&self.inputs).map(|(&v, i)| Typed::new(v, i.dtype)).collect();
        for (output, value) in outputs.iter().zip(self.compute(k, long_index(at), &inputs, DeviceKind::Gpu)) {
            output.store(at, value.val);
        }
    }

    /// Computes and stores elements that lie side by side, from those of each input.
    fn store_wide<'k>(
        &self,
        k: &'k Builder,
        at: Val<'k>,
        inputs: &[Vec<Val<'k>>],
        outputs: &[Buffer<'k>],
        wide: usize,
    ) {
        let lane = |lane: usize| {
            let typed: Vec<Typed> =
                inputs.iter().zip(&self.inputs).map(|(v, i)| Typed::new(v[lane], i.dtype)).collect();
            self.compute(k, long_index(at + lane as i32), &typed, DeviceKind::Gpu)
        };
        let lanes: Vec<Vec<Typed>> = (0..wide).map(lane).collect();
        for (j, output) in outputs.iter().enumerate() {
            let stored: Vec<Val> = lanes.iter().map(|lane| lane[j].val).collect();
            output.store_wide(at, &stored);
        }
    }

    /// The stored elements, from those of the inputs.
    pub fn compute<'k>(
        &self,
        k: &'k Builder,
        index: Val<'k>,
        inputs: &[Typed<'k>],
        device: DeviceKind,
    ) -> Vec<Typed<'k>> {
        let mut values: Vec<Typed> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let operands: SmallVec<[Typed; 3]> = node
                .operands
                .iter()
                .map(|operand| match *operand {
                    Operand::Input(i) => inputs[i],
                    Operand::Node(i) => values[i],
                })
                .collect();
            let specs: SmallVec<[&Spec; 3]> = node.inputs.iter().collect();
            let outputs = std::slice::from_ref(&node.output);
            let place = Place { device, target: None, inputs: &specs, outputs };
            let Lowering::Map(map) = node.op.lower(&place) else {
                unreachable!("[{}] was a map when it was put into a group", node.op.name());
            };
            values.push(map.map(&Element { builder: k, index, dtype: node.output.dtype }, &operands));
        }
        self.outputs.iter().map(|&node| values[node]).collect()
    }

    fn names(&self) -> impl Iterator<Item = (String, &GroupInput)> {
        self.inputs.iter().enumerate().map(|(i, input)| (format!("x{i}"), input))
    }

    fn operands<'k>(&self, k: &'k Builder, wide: usize) -> Operands<'k> {
        let input = |(name, input): (String, &GroupInput)| match input.access {
            Reach::Value => None,
            Reach::Contiguous => Some(k.buffer(&name, input.dtype.elem(), Access::Read, aligned(wide, input.dtype))),
            Reach::Single | Reach::Strided => Some(k.input(&name, input.dtype.elem())),
        };
        Operands { inputs: self.names().map(input).collect(), outputs: self.declare_outputs(k, wide) }
    }

    fn declare_outputs<'k>(&self, k: &'k Builder, wide: usize) -> Vec<Buffer<'k>> {
        let outputs = self.outputs.iter().enumerate();
        outputs
            .map(|(j, &node)| {
                let dtype = self.nodes[node].output.dtype;
                k.buffer(&format!("y{j}"), dtype.elem(), Access::Write, aligned(wide, dtype))
            })
            .collect()
    }

    fn values<'k>(&self, k: &'k Builder) -> Vec<Option<Val<'k>>> {
        self.names()
            .map(|(name, input)| (input.access == Reach::Value).then(|| value_argument(k, &name, input.dtype)))
            .collect()
    }

    fn singles<'k>(&self, buffers: &[Option<Buffer<'k>>]) -> Vec<Option<Val<'k>>> {
        let loaded = buffers.iter().zip(&self.inputs);
        loaded.map(|(b, input)| b.filter(|_| input.access == Reach::Single).map(|b| b.load(0))).collect()
    }
}

/// A kernel's buffers; plain values have none.
struct Operands<'k> {
    inputs: Vec<Option<Buffer<'k>>>,
    outputs: Vec<Buffer<'k>>,
}

impl<'k> Operands<'k> {
    fn input(&self, i: usize) -> Buffer<'k> {
        self.inputs[i].expect("inputs in memory have a buffer")
    }
}

pub(super) fn aligned(wide: usize, dtype: Dtype) -> u32 {
    (wide * dtype.size()).min(16) as u32
}

/// An index made of the workgroup's and the invocation's.
fn indices<'k>(k: &'k Builder, long: bool, place: impl FnOnce(Val<'k>, Val<'k>) -> Val<'k>) -> Val<'k> {
    match long {
        true => place(k.group_index().to_u(Scalar::I64), k.local_index().to_u(Scalar::I64)),
        false => place(k.group_index(), k.local_index()),
    }
}

pub(super) fn number<'k>(k: &'k Builder, name: &str, long: bool) -> Val<'k> {
    if long { k.arg_i64(name) } else { k.arg_i32(name) }
}

pub(super) fn long_index(index: Val<'_>) -> Val<'_> {
    index.to_u(Scalar::I64)
}

/// A plain value among the arguments; a complex one takes two.
pub(super) fn value_argument<'k>(k: &'k Builder, name: &str, dtype: Dtype) -> Val<'k> {
    match dtype {
        Dtype::C64 => {
            let [re, im] = ["re", "im"].map(|part| k.arg_f32(&format!("{name}_{part}")));
            k.vector(&[re, im])
        }
        _ => k.arg(name, typed::compute(dtype)),
    }
}
