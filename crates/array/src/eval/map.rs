//! Maps as kernels: one op or a fused group of them, over elements that lie side by side or anywhere.
//!
//! The group is written by its ops' own scalar functions, into a kernel that reads its inputs as `reads` says, or in *map form* (one
//! element at index 0: what the CPU's block programs are made from). Every op rounds to its own type, so both and any
//! grouping give the same bits.

use pumice_kernel::{Access, Buffer, Builder, Kernel, Scalar, Val};
use smallvec::SmallVec;

use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::reads::{Reader, Reads};
use crate::op::{Element, Key, Lowering, OpRef, Place};
use crate::shape::Spec;
use crate::typed::{self, Typed};

/// Invocations per workgroup.
pub(crate) const WORKGROUP: u32 = 256;
/// Groups of more ops than these make two accesses to each operand in a turn: they share what surrounds them. What waits for
/// memory is faster with one (exp and x * 2 of 64 Mi f32 on an H200: 134 instead of 139 µs; eleven ops 160 instead of 157).
const FEW_OPS: usize = 4;
/// The most turns that a workgroup takes, and the workgroups a multiprocessor should have at least before it takes more than one.
const MOST_TURNS: u64 = 4;
const ENOUGH_GROUPS: u64 = 16;
/// Operations for each byte moved from which on a kernel is bound by them, and starting workgroups costs what turns save (eleven ops
/// of 64 Mi f32, at 8 a byte: 163 to 157 µs). With fewer, turns are in memory's way (tanh, at 3.5: 134.5 to 140; x * 2: 139 to 144).
const MANY_OPERATIONS: u64 = 5;
/// Multiprocessors of a device that does not tell.
const SOME_MULTIPROCESSORS: u64 = 32;

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

impl Group {
    /// What distinguishes the group's kernel from others.
    pub fn key(&self, reads: &Reads, wide: usize) -> Key {
        let mut key = Key::default();
        key.word(wide as u64);
        self.structure(&mut key);
        reads.key(&mut key);
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
        self.sizes().max().unwrap_or(1)
    }

    /// Bytes of an element of each input that lies in memory side by side, and of each output.
    fn sizes(&self) -> impl Iterator<Item = usize> {
        let inputs = self.inputs.iter().filter(|i| i.access == Reach::Contiguous).map(|i| i.dtype.size());
        inputs.chain(self.outputs.iter().map(|&node| self.nodes[node].output.dtype.size()))
    }

    /// Elements one workgroup covers in a turn, by accesses of so many.
    pub fn elements_per_turn(&self, wide: usize) -> u64 {
        (WORKGROUP as usize * wide * self.accesses(wide)) as u64
    }

    /// Turns that each workgroup of the kernel takes over so many elements: several where arithmetic takes longer than memory and enough
    /// workgroups remain.
    pub fn turns(&self, kernel: &Kernel, count: u64, wide: usize, multiprocessors: u32) -> u64 {
        let multiprocessors = if multiprocessors == 0 { SOME_MULTIPROCESSORS } else { multiprocessors as u64 };
        let enough = count / self.elements_per_turn(wide) / (ENOUGH_GROUPS * multiprocessors);
        if wide == 1 || enough < 2 {
            return 1;
        }
        // The kernel's elements are those of a turn, and one by itself.
        let elements = (wide * self.accesses(wide) + 1) as u64;
        match kernel.operations() as u64 >= MANY_OPERATIONS * elements * self.sizes().sum::<usize>() as u64 {
            true => 1 << enough.min(MOST_TURNS).ilog2(),
            false => 1,
        }
    }

    /// Accesses of so many elements that an invocation makes to each operand in a turn.
    fn accesses(&self, wide: usize) -> usize {
        if wide == 1 || self.nodes.len() <= FEW_OPS { 1 } else { 2 }
    }

    /// The kernel that reads its inputs so, and covers `wide` elements by an access. Its last arguments are the workgroups' turns,
    /// where accesses are wide, and the number of elements.
    pub fn kernel(&self, reads: &Reads, wide: usize) -> Result<Kernel> {
        Ok(Kernel::build(&self.name(), [WORKGROUP, 1, 1], |k| {
            let reader = reads.declare(k, 'x');
            let outputs = self.declare_outputs(k, wide);
            let long = reads.long();
            let local = index(long, k.local_index());
            let (group, per_turn) = (index(long, k.group_index()), self.elements_per_turn(wide) as i32);
            match wide {
                1 => {
                    let n = number(k, "n", long);
                    let at = group * per_turn + local;
                    k.when(at.lt_u(n), || self.store_all(k, &reader, &[at], 1, &outputs));
                }
                _ => {
                    let (turns, n) = (number(k, "turns", long), number(k, "n", long));
                    let first = group * turns;
                    k.for_rolled(first, first + turns, 1, (), |turn, ()| {
                        self.write_wide(k, &reader, [turn * per_turn, local, n], &outputs, wide);
                    });
                }
            }
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

    /// Wide accesses where all elements of the workgroup's turn are there, otherwise neighbouring invocations take neighbours in turn.
    fn write_wide<'k>(
        &self,
        k: &'k Builder,
        reader: &Reader<'k>,
        [base, local, n]: [Val<'k>; 3],
        outputs: &[Buffer<'k>],
        wide: usize,
    ) {
        let span = WORKGROUP as i32 * wide as i32;
        let end = base + span * self.accesses(wide) as i32;
        k.if_(
            end.le_u(n),
            || {
                let first = base + local * (wide as i32);
                let starts: Vec<Val> = (0..self.accesses(wide) as i32).map(|j| first + j * span).collect();
                self.store_all(k, reader, &starts, wide, outputs);
            },
            || k.step(base + local, n, WORKGROUP as i32, |at| self.store_all(k, reader, &[at], 1, outputs)),
        );
    }

    /// Computes and stores elements that lie side by side, from each of the starts on: all are read first.
    fn store_all<'k>(
        &self,
        k: &'k Builder,
        reader: &Reader<'k>,
        starts: &[Val<'k>],
        wide: usize,
        outputs: &[Buffer<'k>],
    ) {
        let read: Vec<Vec<Vec<Val>>> = starts.iter().map(|&at| reader.read(at, wide)).collect();
        for (&at, inputs) in starts.iter().zip(&read) {
            let lane = |lane: usize| {
                let typed: Vec<Typed> =
                    inputs.iter().zip(&self.inputs).map(|(v, i)| Typed::new(v[lane], i.dtype)).collect();
                self.compute(k, long_index(after(at, lane)), &typed, DeviceKind::Gpu)
            };
            let lanes: Vec<Vec<Typed>> = (0..wide).map(lane).collect();
            for (j, &output) in outputs.iter().enumerate() {
                store_beside(output, at, &lanes.iter().map(|lane| lane[j]).collect::<Vec<Typed>>());
            }
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

    fn declare_outputs<'k>(&self, k: &'k Builder, wide: usize) -> Vec<Buffer<'k>> {
        let outputs = self.outputs.iter().enumerate();
        outputs
            .map(|(j, &node)| {
                let dtype = self.nodes[node].output.dtype;
                k.buffer(&format!("y{j}"), dtype.elem(), Access::Write, aligned(wide, dtype))
            })
            .collect()
    }
}

/// The number of an element some places on.
pub(super) fn after(at: Val<'_>, lane: usize) -> Val<'_> {
    if lane == 0 { at } else { at + lane as i32 }
}

/// Stores values side by side, at most 16 bytes at a time.
pub(super) fn store_beside<'k>(output: Buffer<'k>, at: Val<'k>, values: &[Typed<'k>]) {
    let chunk = (16 / output.elem().bytes()).min(values.len());
    for (i, values) in values.chunks(chunk).enumerate() {
        match values {
            [value] => output.store(after(at, i * chunk), value.val),
            _ => {
                let values: Vec<Val> = values.iter().map(|value| value.val).collect();
                output.store_wide(after(at, i * chunk), &values);
            }
        }
    }
}

pub(super) fn aligned(wide: usize, dtype: Dtype) -> u32 {
    (wide * dtype.size()).min(16) as u32
}

/// A number of the index type.
fn index(long: bool, number: Val<'_>) -> Val<'_> {
    if long { number.to_u(Scalar::I64) } else { number }
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
