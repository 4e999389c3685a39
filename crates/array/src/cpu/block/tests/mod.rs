//! Block programs against the interpreter, bit for bit.
//!
//! A kernel in map form is run both ways: as a block program, and, with the invocation's number for an index, by the
//! interpreter.

mod errors;
mod flow;
mod functions;
mod operands;
mod operations;
mod random;

use pumice_kernel::interpret::{self, Launch, Memory};
use pumice_kernel::ir::{BinaryOp, Block, Builtin, Inst, Line, Op, Place, Results, Value};
use pumice_kernel::random::first_difference;
use pumice_kernel::{Access, Builder, Elem, Kernel, Type, Val};

use super::{BlockProgram, Input, Output};

/// Invocations of a workgroup in the interpreter.
const GROUP: usize = 64;

const LINE: Line = Line { file: "tests", line: 0 };

/// A kernel in map form: the outputs are functions of the inputs.
fn map<const N: usize>(
    inputs: [Elem; N],
    outputs: &[Elem],
    f: impl for<'k> FnOnce(&'k Builder, [Val<'k>; N]) -> Vec<Val<'k>>,
) -> Kernel {
    Kernel::build("map", [1, 1, 1], |k| {
        let inputs = inputs.map(|elem| k.input("in", elem));
        let outputs: Vec<_> = outputs.iter().map(|elem| k.output("out", *elem)).collect();
        let values = f(k, inputs.map(|input| input.load(0)));
        outputs.iter().zip(values).for_each(|(out, value)| out.store(0, value));
    })
    .expect("the test's kernel is well formed")
}

/// The same kernel over an array: one element for each invocation.
fn over_an_array(kernel: &Kernel) -> Kernel {
    let mut kernel = Kernel { workgroup: [GROUP as u32, 1, 1], scalars: Vec::new(), ..kernel.clone() };
    let [size, group, local, first, me] = std::array::from_fn(|_| kernel.fresh(Type::I32));
    let inst = |result: Value, op| Inst { results: Results::from_iter([result]), op, line: LINE };
    let mut insts = vec![
        inst(size, Op::Const(GROUP as u64)),
        inst(group, Op::Builtin(Builtin::GroupId(0))),
        inst(local, Op::Builtin(Builtin::LocalIndex)),
        inst(first, Op::Binary(BinaryOp::Mul, group, size)),
        inst(me, Op::Binary(BinaryOp::Add, first, local)),
    ];
    index_by(&mut kernel.body, me);
    insts.append(&mut kernel.body.insts);
    kernel.body.insts = insts;
    pumice_kernel::verify::verify(&kernel).expect("only indices changed");
    kernel
}

fn index_by(block: &mut Block, me: Value) {
    for inst in &mut block.insts {
        match &mut inst.op {
            Op::Load { place: Place::Buffer(_), index, .. } | Op::Store { place: Place::Buffer(_), index, .. } => {
                *index = me;
            }
            op @ Op::Arg { .. } => *op = Op::Convert { value: me, signed: true },
            _ => {}
        }
        inst.op.blocks_mut().into_iter().for_each(|nested| index_by(nested, me));
    }
}

/// What the interpreter makes of the inputs and of what the outputs hold at first.
fn interpreted(kernel: &Kernel, count: usize, inputs: &[Vec<u8>], outputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let padded = count.next_multiple_of(GROUP);
    let (mut inputs, mut outputs) = (inputs.iter(), outputs.iter());
    let mut memories: Vec<Memory<'static>> = kernel
        .buffers
        .iter()
        .map(|buffer| {
            let bytes = if buffer.access == Access::Read { inputs.next() } else { outputs.next() };
            let mut bytes = bytes.expect("one for each buffer").clone();
            bytes.resize(padded * buffer.elem.bytes(), 0);
            Memory::Owned(bytes)
        })
        .collect();
    let launch = Launch { groups: [(padded / GROUP) as u32, 1, 1], ..Launch::default() };
    interpret::run(&over_an_array(kernel), &launch, &mut memories).expect("the interpreter runs it");
    let written = kernel.buffers.iter().zip(memories).filter(|(buffer, _)| buffer.access == Access::Write);
    written.map(|(buffer, memory)| memory.bytes()[..count * buffer.elem.bytes()].to_vec()).collect()
}

fn elems(kernel: &Kernel, access: Access) -> Vec<Elem> {
    kernel.buffers.iter().filter(|buffer| buffer.access == access).map(|buffer| buffer.elem).collect()
}

/// Inputs of random elements.
fn inputs_for(kernel: &Kernel, count: usize) -> Vec<Vec<u8>> {
    elems(kernel, Access::Read).iter().enumerate().map(|(i, elem)| data(*elem, count, i as u64 + 1)).collect()
}

/// Outputs before they are written.
fn outputs_for(kernel: &Kernel, count: usize) -> Vec<Vec<u8>> {
    elems(kernel, Access::Write).iter().enumerate().map(|(i, elem)| data(*elem, count, i as u64 + 99)).collect()
}

/// Runs a block program on contiguous operands.
fn ran(kernel: &Kernel, count: usize, inputs: &[Vec<u8>], outputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let program = BlockProgram::new(kernel).expect("it is a map");
    let mut outputs = outputs.to_vec();
    let mut places: Vec<Output<'_>> = outputs.iter_mut().map(|bytes| Output::Contiguous(bytes)).collect();
    let inputs: Vec<Input<'_>> = inputs.iter().map(|bytes| Input::Contiguous(bytes)).collect();
    program.run(count, &inputs, &mut places).expect("the operands fit");
    outputs
}

/// Both ways give the same, on these inputs.
fn agree_on(kernel: &Kernel, count: usize, inputs: &[Vec<u8>]) {
    let outputs = outputs_for(kernel, count);
    let expected = interpreted(kernel, count, inputs, &outputs);
    same(kernel, &ran(kernel, count, inputs, &outputs), &expected);
}

/// Both ways give the same, on random inputs.
fn agree(kernel: &Kernel, count: usize) {
    agree_on(kernel, count, &inputs_for(kernel, count));
}

fn same(kernel: &Kernel, found: &[Vec<u8>], expected: &[Vec<u8>]) {
    for ((elem, found), expected) in elems(kernel, Access::Write).into_iter().zip(found).zip(expected) {
        if let Some(at) = first_difference(elem, found, expected) {
            let element = |bytes: &[u8]| bytes[at * elem.bytes()..(at + 1) * elem.bytes()].to_vec();
            let (found, expected) = (element(found), element(expected));
            let text = pumice_kernel::print::print(kernel);
            panic!("element {at} is {found:02x?} but must be {expected:02x?} in\n{text}");
        }
    }
}

/// Marsaglia's xorshift.
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 8) as usize % n
    }
}

const FLOATS: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3.0,
    1e-3,
    100.25,
    8388609.0,
    -3e9,
    1e19,
    65519.0,
    65520.0,
    6e-8,
    1e-40,
    1e-45,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Elements of a type: special ones, small ones, any bits.
fn data(elem: Elem, count: usize, seed: u64) -> Vec<u8> {
    let mut bits = Bits(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        bits.next();
    }
    (0..count).flat_map(|_| element(elem, &mut bits)).collect()
}

fn element(elem: Elem, bits: &mut Bits) -> Vec<u8> {
    let kind = bits.below(4);
    let any = bits.next().rotate_left(20);
    let float = match kind {
        0 => FLOATS[any as usize % FLOATS.len()],
        1 => (any as i32 as f64) / 1e8,
        _ => (any as i64 as f64) * 2f64.powi((any % 90) as i32 - 100),
    };
    let word = match kind {
        0 => [0, 1, u64::MAX, 1 << 31, 1 << 63, u32::MAX as u64, 0x7fff_ffff][any as usize % 7],
        1 => (any % 9).wrapping_sub(4),
        _ => any,
    };
    let raw = kind == 3;
    match elem {
        Elem::Bool => vec![any as u8 & 1],
        Elem::F16 if !raw => half::f16::from_f64(float).to_le_bytes().to_vec(),
        Elem::BF16 if !raw => half::bf16::from_f64(float).to_le_bytes().to_vec(),
        Elem::F32 if !raw => (float as f32).to_le_bytes().to_vec(),
        Elem::F64 if !raw => float.to_le_bytes().to_vec(),
        Elem::C64 => [Elem::F32, Elem::F32].iter().flat_map(|part| element(*part, bits)).collect(),
        elem => word.to_le_bytes()[..elem.bytes()].to_vec(),
    }
}
