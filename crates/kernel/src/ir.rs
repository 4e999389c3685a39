//! The intermediate representation: a kernel as data.
//!
//! A kernel is a tree of blocks. A block is a list of instructions in SSA form: each instruction defines zero or more
//! values, and a value may be used after its definition in the same block and in blocks nested below it. Structured
//! control flow (`If`, `For`, `While`) nests blocks; values leave a block through its yields. Everything here is plain data:
//! `build` makes it, `verify` says whether it is well formed, `interpret` says what it means, `passes` rewrite it, `spirv`
//! emits it.

use smallvec::SmallVec;

use crate::types::{Elem, Matrix, MatrixLayout, Scalar, Type};

/// An SSA value: an index into `Kernel::types`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Value(pub u32);

impl Value {
    /// The value's number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where an instruction was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Line {
    /// Source file.
    pub file: &'static str,
    /// Line, from 1.
    pub line: u32,
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A kernel: what it takes, how many invocations a workgroup has, and what each of them does.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// Shown in errors, statistics and profiles.
    pub name: String,
    /// Invocations per workgroup along x, y, z.
    pub workgroup: [u32; 3],
    /// Buffers, in the order of their addresses in the argument block.
    pub buffers: Vec<BufferParam>,
    /// Scalar arguments and arrays of them, in the order of their slots after the buffers.
    pub scalars: Vec<ScalarParam>,
    /// Arrays shared by a workgroup.
    pub shared: Vec<ArrayDecl>,
    /// Arrays each invocation has for itself.
    pub private: Vec<ArrayDecl>,
    /// The type of every value.
    pub types: Vec<Type>,
    /// What each invocation does.
    pub body: Block,
    /// Set by the `checked` pass: where the bounds and the report address are found.
    pub checked: Option<Checked>,
}

impl Kernel {
    /// A kernel that takes nothing and does nothing: where a builder starts.
    pub(crate) fn empty(name: String, workgroup: [u32; 3]) -> Kernel {
        Kernel {
            name,
            workgroup,
            buffers: Vec::new(),
            scalars: Vec::new(),
            shared: Vec::new(),
            private: Vec::new(),
            types: Vec::new(),
            body: Block::default(),
            checked: None,
        }
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.types[value.index()]
    }

    /// Makes a new value of a type; used by passes.
    pub fn fresh(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    /// Invocations per workgroup.
    pub fn invocations(&self) -> u32 {
        self.workgroup.iter().product()
    }

    /// How many operations on numbers are written in it, in all its blocks.
    pub fn operations(&self) -> usize {
        self.body.operations()
    }
}

/// A buffer argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BufferParam {
    /// Shown in errors.
    pub name: String,
    /// What its elements are stored as; an access may reinterpret it.
    pub elem: Elem,
    /// Whether the kernel reads, writes or does both.
    pub access: Access,
    /// What the address is a multiple of, in bytes; the caller promises it. At least the element's size.
    pub align: u32,
}

/// What a kernel does with a buffer. Two buffers of one launch may be the same memory only if both are read-only, or if every
/// invocation reads an element before it alone writes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Access {
    Read,
    Write,
    ReadWrite,
}

impl Access {
    /// Whether the kernel may read.
    pub fn reads(self) -> bool {
        self != Access::Write
    }
    /// Whether the kernel may write.
    pub fn writes(self) -> bool {
        self != Access::Read
    }
}

/// A scalar argument, or a fixed-length array of them (a shape, strides).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ScalarParam {
    /// Shown in errors.
    pub name: String,
    /// Type of each.
    pub scalar: Scalar,
    /// How many; 1 for a plain scalar.
    pub len: u32,
}

/// An array in shared or private memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ArrayDecl {
    /// Shown in errors.
    pub name: String,
    /// What its components are stored as.
    pub elem: Elem,
    /// Components per element: 1, 2 or 4. A vector element is loaded and stored whole.
    pub lanes: u8,
    /// Number of elements.
    pub len: u32,
}

impl ArrayDecl {
    /// The type of a loaded element.
    pub fn compute(&self) -> Type {
        match (self.elem.compute(), self.lanes) {
            (ty, 1) => ty,
            (ty, n) => Type::Vector(ty.scalar().expect("elements are never matrices"), n),
        }
    }

    /// Bytes the array takes.
    pub fn bytes(&self) -> usize {
        self.elem.bytes() * self.lanes as usize * self.len as usize
    }
}

/// What the `checked` pass added to a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Checked {
    /// Which buffer parameter receives the report (see `passes::checked`).
    pub report: u32,
    /// Which scalar parameter holds the lengths in bytes of the original buffers.
    pub bounds: u32,
    /// The accesses that are checked, by the site number in the report.
    pub sites: Vec<Site>,
}

/// One checked access.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Site {
    /// Where it was written.
    pub line: Line,
    /// The buffer's or array's name.
    pub place: String,
}

/// A list of instructions with parameters (for loop bodies) and results.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// Values the surrounding instruction defines at entry: a loop's index and carried values.
    pub params: Vec<Value>,
    /// What happens, in order.
    pub insts: Vec<Inst>,
    /// Values handed to the surrounding instruction at the end.
    pub yields: Vec<Value>,
}

impl Block {
    fn operations(&self) -> usize {
        let nested = |op: &Op| op.blocks().into_iter().map(Block::operations).sum::<usize>();
        self.insts.iter().map(|inst| inst.op.is_operation() as usize + nested(&inst.op)).sum()
    }
}

/// What an instruction defines: nearly always one value, which needs no allocation.
pub type Results = SmallVec<[Value; 2]>;

/// An instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    /// The values it defines.
    pub results: Results,
    /// What it does.
    pub op: Op,
    /// Where it was written.
    pub line: Line,
}

/// Where a load, store or atomic goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A buffer argument.
    Buffer(u32),
    /// An array shared by the workgroup.
    Shared(u32),
    /// An array of the invocation's own.
    Private(u32),
}

/// What an instruction does. Operands of arithmetic have equal types, scalar or vector, unless said otherwise; vectors
/// are worked on component by component.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// A constant; a vector type repeats it. Bits as in memory, in the low end of the word.
    Const(u64),
    /// Where this invocation stands. I32.
    Builtin(Builtin),
    /// A scalar argument; the index (I32) picks from an array argument, which must hold it.
    Arg {
        /// Which scalar parameter.
        param: u32,
        /// Which of its values.
        index: Option<Value>,
    },
    /// One operand.
    Unary(UnaryOp, Value),
    /// Two operands.
    Binary(BinaryOp, Value, Value),
    /// `a * b + c` of floats, rounded once. Some devices take f32 denormals for zeros here, as operands and as the result
    /// (`Target::denormals`); it is the one place in the language where devices differ.
    Fma(Value, Value, Value),
    /// Bool for each component.
    Compare(CompareOp, Value, Value),
    /// `condition ? a : b`. The condition is one bool, or one per component.
    Select(Value, Value, Value),
    /// Conversion by value to the result's type. Float to integer truncates, saturates, and takes NaN to 0; integer to
    /// float rounds to nearest even; anything to bool is `!= 0`; widening extends by `signed`, narrowing drops high bits.
    Convert {
        /// What is converted.
        value: Value,
        /// Whether the integer side is signed.
        signed: bool,
    },
    /// The same bits as another type of the same total size; no bools.
    Bitcast(Value),
    /// The value as it would come back from storage of this type: F32 rounded to F16 or BF16, I32 wrapped to 8 or 16 bits and
    /// extended by the storage type's sign.
    Narrow(Elem, Value),
    /// F32 to the storage type's 16 bits in the low half of an I32 (high half zero). F16 and BF16.
    Encode(Elem, Value),
    /// The low 16 bits of an I32, read as the storage type, to F32. F16 and BF16.
    Decode(Elem, Value),
    /// A vector from scalars.
    Compose(Vec<Value>),
    /// One component of a vector.
    Extract(Value, u8),
    /// Reads `results.len()` elements (1, 2, 4, 8 or 16; at most 16 bytes if more than one) from an index in elements.
    /// With more than one the index must be a multiple of their number. Indices are unsigned, I32 or I64.
    Load {
        /// From where.
        place: Place,
        /// As what; shared and private arrays only as declared.
        elem: Elem,
        /// First element.
        index: Value,
    },
    /// Writes elements, under the rules of `Load`.
    Store {
        /// To where.
        place: Place,
        /// As what.
        elem: Elem,
        /// First element.
        index: Value,
        /// What; rounded or wrapped to the storage type.
        values: Vec<Value>,
    },
    /// Reads, combines and writes an element indivisibly (relaxed order); the result is what was there. I32, U32, I64, U64,
    /// and F32 for `Add`, `Min`, `Max` and `Exchange`. Not in private memory.
    Atomic {
        /// How to combine.
        op: AtomicOp,
        /// Where.
        place: Place,
        /// As what.
        elem: Elem,
        /// Which element.
        index: Value,
        /// With what.
        value: Value,
        /// For `CompareExchange`: what must be there.
        expected: Option<Value>,
    },
    /// All invocations of the workgroup arrive, and see each other's earlier writes. Control flow must be uniform.
    Barrier(Fence),
    /// Combines a value over the subgroup. Control flow must be uniform across it; so for all subgroup operations.
    Subgroup {
        /// With what.
        op: ReduceOp,
        /// Into one, or running.
        kind: GroupKind,
        /// What.
        value: Value,
    },
    /// Another invocation's value; a lane outside the subgroup gives one's own.
    Shuffle {
        /// How the other lane is found.
        kind: ShuffleKind,
        /// What.
        value: Value,
        /// Lane, mask or distance; I32.
        lane: Value,
    },
    /// One bit per invocation of the subgroup, lowest first, as I32 x 4.
    Ballot(Value),
    /// Whether a bool holds in all, or any, invocations of the subgroup.
    Vote(Vote, Value),
    /// `accumulator + Σ a[i] * b[i]` over four 8-bit integers packed in I32s, wrapping.
    Dot4 {
        /// Whether a's bytes are signed.
        signed_a: bool,
        /// Whether b's bytes are signed.
        signed_b: bool,
        /// Four bytes.
        a: Value,
        /// Four bytes.
        b: Value,
        /// Added to.
        accumulator: Value,
    },
    /// A cooperative matrix operation. Control flow must be uniform across its scope.
    Matrix(MatrixOp),
    /// Runs one of two blocks; their yields are the results.
    If {
        /// One bool.
        condition: Value,
        /// Runs if it holds.
        then: Box<Block>,
        /// Runs otherwise.
        otherwise: Box<Block>,
    },
    /// `for i in (start..end).step_by(step)`, signed; the body's parameters are `i` and the carried values, its yields the
    /// next carried values; the results are the last ones.
    For {
        /// First index, I32 or I64.
        start: Value,
        /// One past the last.
        end: Value,
        /// Added each time; must be positive.
        step: Value,
        /// The carried values at first.
        init: Vec<Value>,
        /// What happens each time.
        body: Box<Block>,
        /// What to ask of the driver.
        unroll: Unroll,
    },
    /// While `test` yields true (one bool; its parameters are the carried values), `body` makes the next carried values.
    While {
        /// The carried values at first.
        init: Vec<Value>,
        /// Yields one bool.
        test: Box<Block>,
        /// Yields the next carried values.
        body: Box<Block>,
    },
}

/// Where an invocation stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Builtin {
    /// Position in the workgroup along an axis.
    LocalId(u8),
    /// The workgroup's position along an axis.
    GroupId(u8),
    /// Number of workgroups along an axis.
    GroupCount(u8),
    /// Position in the workgroup, x fastest.
    LocalIndex,
    /// Which subgroup of the workgroup.
    SubgroupId,
    /// Subgroups in the workgroup.
    SubgroupCount,
    /// Position in the subgroup. Subgroups are consecutive runs of `LocalIndex`.
    Lane,
    /// Invocations in a subgroup.
    SubgroupSize,
}

/// Operations on one value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// Negation: two's complement, or the sign bit flipped.
    Neg,
    /// Absolute value: signed and wrapping, or the sign bit cleared.
    Abs,
    /// Logical not of bools, bitwise not of integers.
    Not,
    /// Float, towards negative infinity.
    Floor,
    /// Float, towards positive infinity.
    Ceil,
    /// Float, towards zero.
    Trunc,
    /// Float, to nearest, ties to even.
    RoundEven,
    /// Float, correctly rounded.
    Sqrt,
    /// Integer: number of one bits.
    CountOnes,
    /// Integer: zero bits above the highest one; the width if there is none.
    LeadingZeros,
    /// Integer: zero bits below the lowest one; the width if there is none.
    TrailingZeros,
    /// Integer: bits in reverse order.
    ReverseBits,
}

/// Operations on two values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// Integers wrap; floats round to nearest even and are never contracted.
    Add,
    /// As `Add`.
    Sub,
    /// As `Add`.
    Mul,
    /// Float division, correctly rounded.
    Div,
    /// Signed quotient, towards zero; by zero it is 0, and the least number by -1 is itself.
    DivS,
    /// Unsigned quotient; by zero it is 0.
    DivU,
    /// Signed remainder with the dividend's sign; by zero it is the dividend, by -1 it is 0.
    RemS,
    /// Unsigned remainder; by zero it is the dividend.
    RemU,
    /// High half of the signed product.
    MulHighS,
    /// High half of the unsigned product.
    MulHighU,
    /// Float: `a < b || a is NaN ? a : b`. So a NaN on either side wins, and of equal zeros the second.
    Min,
    /// Float: `a > b || a is NaN ? a : b`.
    Max,
    /// Signed minimum.
    MinS,
    /// Signed maximum.
    MaxS,
    /// Unsigned minimum.
    MinU,
    /// Unsigned maximum.
    MaxU,
    /// Bools and integers.
    And,
    /// Bools and integers.
    Or,
    /// Bools and integers.
    Xor,
    /// Shift left; the amount counts modulo the width.
    Shl,
    /// Arithmetic shift right; the amount counts modulo the width.
    ShrS,
    /// Logical shift right; the amount counts modulo the width.
    ShrU,
}

/// Comparisons. Of floats all but `Ne` are false when an operand is NaN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum CompareOp {
    /// Any type, bools included.
    Eq,
    /// Any type, bools included.
    Ne,
    /// Signed, or float.
    Lt,
    /// Signed, or float.
    Le,
    /// Unsigned.
    LtU,
    /// Unsigned.
    LeU,
}

/// How an atomic combines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    /// By the storage type's sign; floats by `BinaryOp::Min`.
    Min,
    /// By the storage type's sign; floats by `BinaryOp::Max`.
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
}

/// Whether a driver should copy a loop's body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unroll {
    /// As it sees fit.
    Free,
    /// Once for every turn.
    Whole,
    /// Not at all.
    Never,
}

/// What a barrier orders besides shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fence {
    /// Shared memory only.
    Shared,
    /// Shared memory and buffers, within the workgroup.
    All,
}

/// What a subgroup operation combines with. Floats are combined in a fixed order, so that the result depends on the
/// subgroup's size alone: reductions by a butterfly (distance 1, 2, 4, …; `op(own, other)`), scans by doubling (distance 1,
/// 2, 4, …; `op(lower, own)`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ReduceOp(pub BinaryOp);

/// One result, or running ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GroupKind {
    /// Every invocation gets the whole.
    Reduce,
    /// Each gets the combination up to and including its own.
    Inclusive,
    /// Each gets the combination before its own; the first gets the identity.
    Exclusive,
}

/// How a shuffle finds the other lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ShuffleKind {
    /// The lane itself.
    At,
    /// One's own lane xor a mask.
    Xor,
    /// One's own lane minus a distance.
    Up,
    /// One's own lane plus a distance.
    Down,
}

/// Votes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Vote {
    All,
    Any,
}

/// Cooperative matrix operations.
#[derive(Clone, PartialEq, Debug)]
pub enum MatrixOp {
    /// A matrix of one value (F32 or I32).
    Fill(Matrix, Value),
    /// From memory. Index and stride count elements of the place as declared; a shared array of U32 x 4 holds eight 16-bit
    /// components in each element.
    Load {
        /// What it becomes.
        ty: Matrix,
        /// From where.
        place: Place,
        /// First element.
        index: Value,
        /// Elements from one row (or column) to the next.
        stride: Value,
        /// Which way round.
        layout: MatrixLayout,
        /// What the address of each row is a multiple of, in bytes.
        align: u32,
    },
    /// To memory, as `Load`.
    Store {
        /// What.
        matrix: Value,
        /// To where.
        place: Place,
        /// First element.
        index: Value,
        /// Elements from one row (or column) to the next.
        stride: Value,
        /// Which way round.
        layout: MatrixLayout,
        /// What the address of each row is a multiple of, in bytes.
        align: u32,
    },
    /// From a two-dimensional array in a buffer, row-major, clipped to its bounds: outside is zero.
    LoadTile {
        /// What it becomes.
        ty: Matrix,
        /// Which buffer; its declared type is the matrix's.
        buffer: u32,
        /// The array and the tile's place in it.
        tile: Tile,
        /// Whether the tile is transposed on the way: element (i, j) of the matrix is (j, i) of the tile.
        transpose: bool,
    },
    /// To a two-dimensional array in a buffer, clipped to its bounds: outside is not written.
    StoreTile {
        /// What.
        matrix: Value,
        /// Which buffer; its declared type is the matrix's.
        buffer: u32,
        /// The array and the tile's place in it.
        tile: Tile,
    },
    /// `a * b + c`.
    MulAdd(Value, Value, Value),
    /// Every component times a scalar.
    Scale(Value, Value),
    /// The sum of two of the same type.
    Add(Value, Value),
    /// Component conversion to another element type or role; floats round as the device rounds.
    Convert(Matrix, Value),
}

/// A rectangle of a row-major array in a buffer, in elements, I32 each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    /// Rows of the array.
    pub rows: Value,
    /// Columns of the array.
    pub cols: Value,
    /// Elements from one row to the next.
    pub stride: Value,
    /// First row of the rectangle.
    pub row: Value,
    /// First column of the rectangle.
    pub col: Value,
    /// What every row's address is a multiple of, in bytes; the caller promises it.
    pub align: u32,
}
