//! Random kernels, well formed and with one answer: what passes, interpreter and devices are compared on.
//!
//! A kernel made here verifies, terminates, has no race and reads nothing undefined. Each invocation writes elements of its
//! own in every output; invocations meet only through phases (write one's own element, barrier, read anyone's, barrier),
//! through subgroup operations in uniform control flow, and through atomics whose order does not matter and whose results are
//! not used. A NaN's payload never reaches an integer. So every correct executor gives the same bits, any NaN counting as
//! the same ([`first_difference`]).

mod flow;
mod group;
mod memory;
mod source;
mod values;

use self::source::Source;
use crate::arguments::Argument;
use crate::ir::{Access, AtomicOp, BinaryOp, Block, BufferParam, Builtin, Inst, Kernel, Line, Op, ScalarParam, Value};
use crate::types::{Elem, Scalar, Type};

/// What a random kernel may use, and how large it may be.
#[derive(Clone, Debug)]
pub struct RandomLimits {
    /// Statements, about; each makes a few instructions.
    pub statements: u32,
    /// How deep blocks nest.
    pub depth: u32,
    /// Invocations a workgroup may have.
    pub max_invocations: u32,
    /// With subgroup operations, the workgroup has a multiple of this many invocations.
    pub subgroup_multiple: u32,
    /// 64-bit floats.
    pub f64: bool,
    /// Subgroup operations and builtins.
    pub subgroups: bool,
    /// Shared arrays, barriers, and buffers shared through barriers.
    pub shared: bool,
    /// Atomics.
    pub atomics: bool,
    /// 64-bit integer atomics in buffers.
    pub atomic_i64: bool,
}

impl Default for RandomLimits {
    fn default() -> RandomLimits {
        RandomLimits {
            statements: 40,
            depth: 3,
            max_invocations: 64,
            subgroup_multiple: 32,
            f64: true,
            subgroups: true,
            shared: true,
            atomics: true,
            atomic_i64: true,
        }
    }
}

/// A kernel with everything a launch of it needs.
#[derive(Clone, Debug)]
pub struct RandomKernel {
    /// The kernel.
    pub kernel: Kernel,
    /// What each buffer holds at first.
    pub buffers: Vec<Vec<u8>>,
    /// Every scalar value, arrays flattened.
    pub scalars: Vec<Argument>,
    /// Workgroups along x, y, z.
    pub groups: [u32; 3],
}

/// The kernel of a seed; the same for the same seed and limits.
pub fn random_kernel(seed: u64, limits: &RandomLimits) -> RandomKernel {
    let mut writer = Writer::new(seed, limits);
    writer.declare();
    let statements = limits.statements / 2 + writer.source.below(limits.statements as usize + 1) as u32;
    for _ in 0..statements {
        writer.statement();
    }
    writer.finish()
}

/// The number of the first element in which two buffers differ, any NaN being equal to any other.
pub fn first_difference(elem: Elem, a: &[u8], b: &[u8]) -> Option<usize> {
    assert_eq!(a.len(), b.len(), "buffers are compared at equal length");
    let part = if elem == Elem::C64 { 4 } else { elem.bytes() };
    let differs = |(x, y): (&[u8], &[u8])| x != y && !(is_nan(elem, x) && is_nan(elem, y));
    let at = a.chunks(part).zip(b.chunks(part)).position(differs)?;
    Some(at * part / elem.bytes())
}

fn is_nan(elem: Elem, bytes: &[u8]) -> bool {
    match (elem, bytes) {
        (Elem::F16, &[a, b]) => half::f16::from_le_bytes([a, b]).is_nan(),
        (Elem::BF16, &[a, b]) => half::bf16::from_le_bytes([a, b]).is_nan(),
        (Elem::F32 | Elem::C64, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        (Elem::F64, _) => bytes.try_into().is_ok_and(|b| f64::from_le_bytes(b).is_nan()),
        _ => false,
    }
}

/// What a buffer is for; it decides how it may be accessed.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Role {
    /// Read at any index.
    Input,
    /// Each invocation has `per` elements of its own.
    Output { per: u32 },
    /// Each invocation has one element; others of the workgroup read it after a barrier.
    Meeting,
    /// Any element, by one kind of atomic.
    Counter(AtomicOp),
}

struct Declared {
    role: Role,
    /// Elements as declared.
    len: u32,
}

/// A kernel being written at random.
struct Writer<'a> {
    limits: &'a RandomLimits,
    source: Source,
    kernel: Kernel,
    groups: [u32; 3],
    scalars: Vec<Argument>,
    declared: Vec<Declared>,
    /// Blocks that are open, innermost last.
    open: Vec<Block>,
    /// Values in scope that may be used.
    pool: Vec<(Value, Type)>,
    /// I32 values in scope that are the same in the whole workgroup.
    uniform: Vec<Value>,
    /// Whether all invocations of the workgroup come here.
    together: bool,
    /// The invocation's number in the launch, and in its workgroup, and the first of its workgroup.
    me: Value,
    local: Value,
    first: Value,
    line: u32,
}

impl<'a> Writer<'a> {
    fn new(seed: u64, limits: &'a RandomLimits) -> Writer<'a> {
        let mut source = Source::new(seed);
        let workgroup = workgroup(&mut source, limits);
        let groups = [1 + source.below(3) as u32, 1 + source.below(2) as u32, 1];
        let kernel = Kernel::empty(format!("random_{seed}"), workgroup);
        let nothing = Value(u32::MAX);
        Writer {
            limits,
            source,
            kernel,
            groups,
            scalars: Vec::new(),
            declared: Vec::new(),
            open: vec![Block::default()],
            pool: Vec::new(),
            uniform: Vec::new(),
            together: true,
            me: nothing,
            local: nothing,
            first: nothing,
            line: 0,
        }
    }

    /// Parameters, and the values every kernel starts from.
    fn declare(&mut self) {
        self.place();
        self.arguments();
        for _ in 0..1 + self.source.below(3) {
            let (elem, len) = (self.elem(), self.source.choose(&[16, 32, 64]));
            self.buffer("input", elem, Access::Read, Role::Input, len);
        }
        for _ in 0..1 + self.source.below(3) {
            let (elem, per) = (self.elem(), self.source.choose(&[1, 2, 3, 4, 8]));
            let access = self.source.choose(&[Access::Write, Access::ReadWrite]);
            self.buffer("output", elem, access, Role::Output { per }, per * self.launched());
        }
        if self.limits.shared && self.source.chance(1, 2) {
            let elem = self.elem();
            self.buffer("meeting", elem, Access::ReadWrite, Role::Meeting, self.launched());
        }
        if self.limits.atomics && self.source.chance(1, 2) {
            self.counter();
        }
        for _ in 0..self.source.below(3) {
            self.private_array();
        }
    }

    /// Invocations in the whole launch.
    fn launched(&self) -> u32 {
        self.kernel.invocations() * self.groups.iter().product::<u32>()
    }

    fn place(&mut self) {
        let [x, y, across] = [Builtin::GroupId(0), Builtin::GroupId(1), Builtin::GroupCount(0)]
            .map(|b| self.emit(Type::I32, Op::Builtin(b)));
        let group = self.integer(BinaryOp::Mul, y, across);
        let group = self.integer(BinaryOp::Add, group, x);
        let count = self.number(self.kernel.invocations());
        self.first = self.integer(BinaryOp::Mul, group, count);
        self.local = self.emit(Type::I32, Op::Builtin(Builtin::LocalIndex));
        self.me = self.integer(BinaryOp::Add, self.first, self.local);
        self.uniform.extend([x, y, across, self.first]);
        for axis in 0..3 {
            self.emit(Type::I32, Op::Builtin(Builtin::LocalId(axis)));
        }
        if self.limits.subgroups {
            for b in [Builtin::Lane, Builtin::SubgroupId, Builtin::SubgroupCount, Builtin::SubgroupSize] {
                self.emit(Type::I32, Op::Builtin(b));
            }
        }
    }

    fn arguments(&mut self) {
        for number in 0..1 + self.source.below(3) {
            let scalar = self.scalar();
            let len = self.source.choose(&[1, 1, 4]);
            let values = (0..len).map(|_| {
                let bits = self.source.scalar(scalar);
                argument(scalar, bits)
            });
            self.scalars.extend(values);
            self.kernel.scalars.push(ScalarParam { name: format!("arg_{number}"), scalar, len });
            let param = number as u32;
            let at = self.source_below(len);
            let index = (len > 1).then(|| self.number(at));
            let value = self.emit(Type::Scalar(scalar), Op::Arg { param, index });
            if scalar == Scalar::I32 {
                self.uniform.push(value);
            }
        }
    }

    fn buffer(&mut self, name: &str, elem: Elem, access: Access, role: Role, len: u32) {
        let number = self.kernel.buffers.len();
        let align = self.source.choose(&[elem.bytes() as u32, 8.max(elem.bytes() as u32), 16, 16]);
        self.kernel.buffers.push(BufferParam { name: format!("{name}_{number}"), elem, access, align });
        self.declared.push(Declared { role, len });
    }

    /// Appends an instruction with one result, which may be used from here on.
    fn emit(&mut self, ty: Type, op: Op) -> Value {
        let value = self.hidden(ty, op);
        self.pool.push((value, ty));
        value
    }

    /// Appends an instruction with one result, which is not used but by who asked.
    fn hidden(&mut self, ty: Type, op: Op) -> Value {
        let value = self.kernel.fresh(ty);
        self.push(vec![value], op);
        value
    }

    fn effect(&mut self, op: Op) {
        self.push(Vec::new(), op);
    }

    fn push(&mut self, results: Vec<Value>, op: Op) {
        self.line += 1;
        let line = Line { file: "random", line: self.line };
        self.open.last_mut().expect("the body is open until the end").insts.push(Inst {
            results: results.into(),
            op,
            line,
        });
    }

    /// One statement: usually arithmetic or memory, sometimes a block or a meeting of invocations.
    fn statement(&mut self) {
        let nests = self.open.len() <= self.limits.depth as usize;
        match self.source.below(20) {
            0..=9 => self.value(),
            10..=14 => self.memory(),
            15..=16 if nests => self.control(),
            17..=18 if self.together => self.meeting(),
            _ => self.value(),
        }
    }

    fn finish(mut self) -> RandomKernel {
        self.write_outputs();
        self.kernel.body = self.open.pop().expect("the body is open until the end");
        let mut buffers = Vec::new();
        for (param, declared) in self.kernel.buffers.iter().zip(&self.declared) {
            let mut bytes = Vec::new();
            (0..declared.len).for_each(|_| self.source.element(param.elem, &mut bytes));
            buffers.push(bytes);
        }
        RandomKernel { kernel: self.kernel, buffers, scalars: self.scalars, groups: self.groups }
    }
}

fn workgroup(source: &mut Source, limits: &RandomLimits) -> [u32; 3] {
    let multiple = if limits.subgroups { limits.subgroup_multiple } else { 1 };
    let shapes = [[1, 1, 1], [5, 1, 1], [8, 1, 1], [32, 1, 1], [8, 4, 1], [4, 4, 4], [3, 2, 2], [64, 1, 1], [16, 2, 2]];
    let fits = |shape: &&[u32; 3]| {
        let count: u32 = shape.iter().product();
        count <= limits.max_invocations && count.is_multiple_of(multiple)
    };
    let fitting: Vec<[u32; 3]> = shapes.iter().filter(fits).copied().collect();
    if fitting.is_empty() { [multiple, 1, 1] } else { source.choose(&fitting) }
}

fn argument(scalar: Scalar, bits: u64) -> Argument {
    match scalar {
        Scalar::Bool => Argument::Bool(bits != 0),
        Scalar::I32 => Argument::I32(bits as u32 as i32),
        Scalar::I64 => Argument::I64(bits as i64),
        Scalar::F32 => Argument::F32(f32::from_bits(bits as u32)),
        Scalar::F64 => Argument::F64(f64::from_bits(bits)),
    }
}
