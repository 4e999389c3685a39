//! Arithmetic in kernels: every operation on scalars and vectors is what `eval` says of each component.

use pumice_kernel::interpret::{Launch, Memory, run};
use pumice_kernel::ir::{
    BinaryOp, Block, CompareOp, GroupKind, Inst, Kernel, Line, Op, Place, ReduceOp, UnaryOp, Value,
};
use pumice_kernel::types::{Elem, Scalar, Type};
use pumice_kernel::{Access, eval};

/// Words whose low bits are edge cases of every type.
const EDGES: [u64; 16] = [
    0,
    1,
    2,
    31,
    32,
    0xffff_ffff,
    0x8000_0000,
    0x7fff_ffff,
    0x3f80_0000,
    0xbfc0_0000,
    0x7f80_0000,
    0x7fc0_0001,
    0x0000_ffff_ffff_ffff,
    u64::MAX,
    1 << 63,
    0x3ff8_0000_0000_0000,
];

/// A kernel by hand, since the builder has a method for what is useful only, and this wants everything.
struct Writer {
    kernel: Kernel,
}

impl Writer {
    fn new() -> Writer {
        let kernel = Kernel::build("arithmetic", [EDGES.len() as u32, 1, 1], |k| {
            k.local_index();
        });
        Writer { kernel: kernel.expect("the kernel is well formed") }
    }

    fn emit(&mut self, ty: Option<Type>, op: Op) -> Value {
        let result = ty.map(|ty| self.kernel.fresh(ty));
        let line = Line { file: file!(), line: line!() };
        let block: &mut Block = &mut self.kernel.body;
        block.insts.push(Inst { results: result.into_iter().collect(), op, line });
        result.unwrap_or(Value(0))
    }

    /// A vector whose components are an input of each invocation and its neighbours: the index in each is turned by one.
    fn input(&mut self, scalar: Scalar, lanes: u8, shift: u64) -> Value {
        let buffer = self.buffer(scalar, Access::Read);
        let parts: Vec<Value> = (0..lanes as u64)
            .map(|lane| {
                let index = self.turned(lane + shift);
                let (place, elem) = (Place::Buffer(buffer), scalar.storage());
                self.emit(Some(Type::Scalar(scalar)), Op::Load { place, elem, index })
            })
            .collect();
        match lanes {
            1 => parts[0],
            _ => self.emit(Some(Type::Vector(scalar, lanes)), Op::Compose(parts)),
        }
    }

    fn output(&mut self, value: Value) {
        let ty = self.kernel.type_of(value);
        let scalar = ty.scalar().expect("no matrices here");
        for lane in 0..ty.lanes() as u8 {
            let buffer = self.buffer(scalar, Access::Write);
            let part = match ty {
                Type::Vector(..) => self.emit(Some(Type::Scalar(scalar)), Op::Extract(value, lane)),
                _ => value,
            };
            let (place, elem) = (Place::Buffer(buffer), scalar.storage());
            self.emit(None, Op::Store { place, elem, index: Value(0), values: vec![part] });
        }
    }

    fn buffer(&mut self, scalar: Scalar, access: Access) -> u32 {
        let elem = scalar.storage();
        let name = format!("b{}", self.kernel.buffers.len());
        let param = pumice_kernel::ir::BufferParam { name, elem, access, align: elem.bytes() as u32 };
        self.kernel.buffers.push(param);
        self.kernel.buffers.len() as u32 - 1
    }

    /// The invocation's number plus something, modulo their number.
    fn turned(&mut self, by: u64) -> Value {
        let by = self.emit(Some(Type::I32), Op::Const(by));
        let mask = self.emit(Some(Type::I32), Op::Const(EDGES.len() as u64 - 1));
        let sum = self.emit(Some(Type::I32), Op::Binary(BinaryOp::Add, Value(0), by));
        self.emit(Some(Type::I32), Op::Binary(BinaryOp::And, sum, mask))
    }

    /// Runs the kernel and gives the words of every output, in order.
    fn run(&self) -> Vec<Vec<u64>> {
        pumice_kernel::verify::verify(&self.kernel).expect("the kernel is well formed");
        let mut memories: Vec<Memory<'static>> = Vec::new();
        for param in &self.kernel.buffers {
            let scalar = param.elem.compute().scalar().expect("no matrices here");
            let bytes = |word: &u64| eval::low_bits(scalar, *word).to_le_bytes()[..param.elem.bytes()].to_vec();
            memories.push(Memory::Owned(EDGES.iter().flat_map(bytes).collect()));
        }
        run(&self.kernel, &Launch::default(), &mut memories).expect("nothing is wrong");
        let outputs = self.kernel.buffers.iter().zip(&memories).filter(|(param, _)| param.access.writes());
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | *byte as u64);
        outputs.map(|(param, m)| m.bytes().chunks_exact(param.elem.bytes()).map(word).collect()).collect()
    }
}

/// The component an input has in an invocation.
fn component(scalar: Scalar, invocation: usize, lane: usize, shift: usize) -> u64 {
    eval::low_bits(scalar, EDGES[(invocation + lane + shift) % EDGES.len()])
}

/// Runs an operation on `N` inputs of a type and compares each component of the result with its definition.
fn check<const N: usize>(
    name: &str,
    from: Scalar,
    to: Scalar,
    op: impl Fn([Value; N]) -> Op,
    definition: impl Fn([u64; N]) -> u64,
) {
    for lanes in [1, 2, 4] {
        let mut writer = Writer::new();
        let inputs: [Value; N] = std::array::from_fn(|i| writer.input(from, lanes, 5 * i as u64));
        let ty = if lanes == 1 { Type::Scalar(to) } else { Type::Vector(to, lanes) };
        let result = writer.emit(Some(ty), op(inputs));
        writer.output(result);
        for (lane, words) in writer.run().into_iter().enumerate() {
            for (i, found) in words.into_iter().enumerate() {
                let operands = std::array::from_fn(|n| component(from, i, lane, 5 * n));
                let expected = definition(operands);
                let nan = |word| to.is_float() && eval::compare(CompareOp::Ne, to, word, word) != 0;
                assert!(
                    found == expected || nan(found) && nan(expected),
                    "{name} of {operands:#x?} as {}: {found:#x}, not {expected:#x}",
                    from.name()
                );
            }
        }
    }
}

const ALL: [Scalar; 5] = [Scalar::Bool, Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64];
const INTEGERS: [Scalar; 2] = [Scalar::I32, Scalar::I64];
const FLOATS: [Scalar; 2] = [Scalar::F32, Scalar::F64];

#[test]
fn unary_operations_work_on_every_component() {
    use UnaryOp::*;
    let check_all = |ops: &[UnaryOp], scalars: &[Scalar]| {
        for (op, scalar) in ops.iter().flat_map(|op| scalars.iter().map(|s| (*op, *s))) {
            check(&format!("{op:?}"), scalar, scalar, |[a]| Op::Unary(op, a), |[a]| eval::unary(op, scalar, a));
        }
    };
    check_all(&[Neg, Abs], &[Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64]);
    check_all(&[Not], &[Scalar::Bool, Scalar::I32, Scalar::I64]);
    check_all(&[Floor, Ceil, Trunc, RoundEven, Sqrt], &FLOATS);
    check_all(&[CountOnes, LeadingZeros, TrailingZeros, ReverseBits], &INTEGERS);
}

#[test]
fn binary_operations_work_on_every_component() {
    use BinaryOp::*;
    let check_all = |ops: &[BinaryOp], scalars: &[Scalar]| {
        for (op, scalar) in ops.iter().flat_map(|op| scalars.iter().map(|s| (*op, *s))) {
            let define = |[a, b]: [u64; 2]| eval::binary(op, scalar, a, b);
            check(&format!("{op:?}"), scalar, scalar, |[a, b]| Op::Binary(op, a, b), define);
        }
    };
    check_all(&[Add, Sub, Mul], &[Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64]);
    check_all(&[Div, Min, Max], &FLOATS);
    check_all(&[DivS, DivU, RemS, RemU, MulHighS, MulHighU, MinS, MaxS, MinU, MaxU, Shl, ShrS, ShrU], &INTEGERS);
    check_all(&[And, Or, Xor], &[Scalar::Bool, Scalar::I32, Scalar::I64]);
}

#[test]
fn comparisons_give_a_bool_for_every_component() {
    use CompareOp::*;
    let check_all = |ops: &[CompareOp], scalars: &[Scalar]| {
        for (op, scalar) in ops.iter().flat_map(|op| scalars.iter().map(|s| (*op, *s))) {
            let define = |[a, b]: [u64; 2]| eval::compare(op, scalar, a, b);
            check(&format!("{op:?}"), scalar, Scalar::Bool, |[a, b]| Op::Compare(op, a, b), define);
        }
    };
    check_all(&[Eq, Ne], &ALL);
    check_all(&[Lt, Le], &[Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64]);
    check_all(&[LtU, LeU], &INTEGERS);
}

#[test]
fn conversions_between_all_types_work_on_every_component() {
    for (from, to) in ALL.iter().flat_map(|from| ALL.iter().map(move |to| (*from, *to))) {
        for signed in [true, false] {
            let op = |[value]: [Value; 1]| Op::Convert { value, signed };
            check("convert", from, to, op, |[a]| eval::convert(from, to, signed, a));
        }
    }
}

#[test]
fn fused_selected_and_coded_values_work_on_every_component() {
    for scalar in FLOATS {
        check("fma", scalar, scalar, |[a, b, c]| Op::Fma(a, b, c), |[a, b, c]| eval::fma(scalar, a, b, c));
    }
    check(
        "select",
        Scalar::Bool,
        Scalar::Bool,
        |[c, a, b]| Op::Select(c, a, b),
        |[c, a, b]| if c != 0 { a } else { b },
    );
    for elem in [Elem::I8, Elem::U8, Elem::I16, Elem::U16] {
        check("narrow", Scalar::I32, Scalar::I32, |[a]| Op::Narrow(elem, a), |[a]| eval::narrow(elem, a));
    }
    for elem in [Elem::F16, Elem::BF16] {
        check("narrow", Scalar::F32, Scalar::F32, |[a]| Op::Narrow(elem, a), |[a]| eval::narrow(elem, a));
        check("encode", Scalar::F32, Scalar::I32, |[a]| Op::Encode(elem, a), |[a]| eval::encode(elem, a));
        check("decode", Scalar::I32, Scalar::F32, |[a]| Op::Decode(elem, a), |[a]| eval::decode(elem, a));
    }
}

/// Runs an operation on inputs of a type if the verifier accepts it; the interpreter must then define it.
fn accepted<const N: usize>(scalar: Scalar, to: Scalar, op: impl Fn([Value; N]) -> Op) -> bool {
    let mut writer = Writer::new();
    let inputs: [Value; N] = std::array::from_fn(|i| writer.input(scalar, 1, i as u64));
    let result = writer.emit(Some(Type::Scalar(to)), op(inputs));
    writer.output(result);
    let accepted = pumice_kernel::verify::verify(&writer.kernel).is_ok();
    if accepted {
        writer.run();
    }
    accepted
}

#[test]
fn whatever_the_verifier_accepts_the_interpreter_defines() {
    use BinaryOp::*;
    let unary = [UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Not, UnaryOp::Floor, UnaryOp::Sqrt, UnaryOp::CountOnes];
    let binary = [
        Add, Sub, Mul, Div, DivS, DivU, RemS, RemU, MulHighS, MulHighU, Min, Max, MinS, MaxS, MinU, MaxU, And, Or, Xor,
        Shl, ShrS, ShrU,
    ];
    let compare = [CompareOp::Eq, CompareOp::Ne, CompareOp::Lt, CompareOp::Le, CompareOp::LtU, CompareOp::LeU];
    let mut count = 0;
    for scalar in ALL {
        count += unary.iter().filter(|op| accepted(scalar, scalar, |[a]| Op::Unary(**op, a))).count();
        count += binary.iter().filter(|op| accepted(scalar, scalar, |[a, b]| Op::Binary(**op, a, b))).count();
        count += compare.iter().filter(|op| accepted(scalar, Scalar::Bool, |[a, b]| Op::Compare(**op, a, b))).count();
        count += binary
            .iter()
            .filter(|op| {
                let (op, kind) = (ReduceOp(**op), GroupKind::Exclusive);
                accepted(scalar, scalar, |[value]| Op::Subgroup { op, kind, value })
            })
            .count();
    }
    assert!(count > 100, "{count} combinations are accepted");
}

#[test]
fn one_condition_selects_whole_vectors() {
    let mut writer = Writer::new();
    let condition = writer.input(Scalar::Bool, 1, 0);
    let (a, b) = (writer.input(Scalar::F32, 4, 1), writer.input(Scalar::F32, 4, 9));
    let chosen = writer.emit(Some(Type::Vector(Scalar::F32, 4)), Op::Select(condition, a, b));
    writer.output(chosen);
    for (lane, words) in writer.run().into_iter().enumerate() {
        for (i, found) in words.into_iter().enumerate() {
            let shift = if component(Scalar::Bool, i, 0, 0) != 0 { 1 } else { 9 };
            assert_eq!(found, component(Scalar::F32, i, lane, shift));
        }
    }
}

#[test]
fn bitcasts_split_and_join_words() {
    let cases = [
        (Scalar::I64, 2, Type::Vector(Scalar::F32, 4)),
        (Scalar::I32, 4, Type::Vector(Scalar::F64, 2)),
        (Scalar::F32, 2, Type::I64),
        (Scalar::F64, 1, Type::Vector(Scalar::I32, 2)),
        (Scalar::F32, 4, Type::Vector(Scalar::I32, 4)),
    ];
    for (from, lanes, to) in cases {
        let mut writer = Writer::new();
        let input = writer.input(from, lanes, 0);
        let from_type = writer.kernel.type_of(input);
        let result = writer.emit(Some(to), Op::Bitcast(input));
        writer.output(result);
        let outputs = writer.run();
        for i in 0..EDGES.len() {
            let components: Vec<u64> = (0..lanes as usize).map(|lane| component(from, i, lane, 0)).collect();
            let found: Vec<u64> = outputs.iter().map(|words| words[i]).collect();
            assert_eq!(found, eval::bitcast(from_type, to, &components), "{from_type} to {to}");
        }
    }
}

#[test]
fn packed_bytes_are_multiplied_and_summed() {
    for (signed_a, signed_b) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut writer = Writer::new();
        let [a, b, accumulator] = [0, 3, 7].map(|shift| writer.input(Scalar::I32, 1, shift));
        let result = writer.emit(Some(Type::I32), Op::Dot4 { signed_a, signed_b, a, b, accumulator });
        writer.output(result);
        for (i, found) in writer.run()[0].iter().enumerate() {
            let [a, b, c] = [0, 3, 7].map(|shift| component(Scalar::I32, i, 0, shift));
            assert_eq!(*found, eval::dot4(signed_a, signed_b, a, b, c));
        }
    }
}
