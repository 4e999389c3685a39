//! How the kernels of maps, and those that maps are part of, read the maps' inputs: by the numbers of elements, counted along the last
//! axis first.
//!
//! A kernel asks for elements with consecutive numbers. Of an input that lies in that order they are read up to 16 bytes at a time,
//! of one that is repeated along the last axis once (a mean beside its row), of any other one by one.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Access, Buffer, Builder, Scalar, Val};
use smallvec::SmallVec;

use crate::dtype::Dtype;
use crate::eval::map::{Reach, aligned, number, value_argument};
use crate::eval::plan::{Home, PlanArgument, reach, spans_long};
use crate::eval::site::Placed;
use crate::op::Key;
use crate::shape::{Strides, collapse, size_of};

/// Consecutive elements that are asked for at once, at most.
const WIDEST: i64 = 16;

/// The inputs of maps over a space.
#[derive(Clone)]
pub(crate) struct Reads {
    inputs: Vec<Read>,
    /// The space by as few axes as strided inputs allow; none if there are no such inputs.
    sizes: SmallVec<[i64; 4]>,
    /// Elements that lie along the last axis wherever a multiple of them begins: a power of two.
    run: usize,
    /// Whether numbers have 64 bits.
    long: bool,
}

#[derive(Clone)]
struct Read {
    /// From its lowest element on.
    placed: Placed,
    reach: Reach,
    /// Of a strided input: where its first element lies, and its strides along the axes.
    start: i64,
    strides: Strides,
    /// Elements that may be read at once where they lie side by side: 16 bytes of them, or one.
    wide: usize,
}

impl Reads {
    /// Of inputs that are broadcast to the shape of the space.
    pub fn new(inputs: &[Placed], shape: &[i32]) -> Reads {
        let strided: Vec<&[i64]> =
            inputs.iter().filter(|p| reach(p) == Reach::Strided).map(|p| p.layout.strides.as_slice()).collect();
        let (mut sizes, strides) = collapse(shape, &strided);
        if strided.is_empty() {
            sizes.clear();
        }
        let mut strides = strides.into_iter();
        let long = size_of(shape) as i64 > i32::MAX as i64 / 2 || inputs.iter().any(|p| spans_long(&p.layout));
        let read = |placed: &Placed| match reach(placed) {
            Reach::Strided => Read::strided(placed, strides.next().expect("one for each strided input")),
            reach => {
                let (placed, strides, wide) = (placed.clone(), Strides::new(), wide(placed.align, placed.dtype));
                Read { placed, reach, start: 0, strides, wide }
            }
        };
        let inputs = inputs.iter().map(read).collect();
        let run = sizes.last().map_or(WIDEST, |last| WIDEST.min(1 << last.trailing_zeros().min(62))) as usize;
        Reads { inputs, sizes, run, long }
    }

    /// The same for accesses of `most` elements, or of as many fewer as lie side by side in all inputs; and how many they are.
    pub fn wide(inputs: &[Placed], shape: &[i32], most: usize) -> (Reads, usize) {
        let mut reads = Reads::new(inputs, shape);
        let scattered = reads.inputs.iter().any(|read| !matches!(read.strides.last(), None | Some(0 | 1)));
        reads.run = if scattered { 1 } else { reads.run.min(most) };
        let wide = reads.run;
        (reads, wide)
    }

    /// Whether numbers have 64 bits.
    pub fn long(&self) -> bool {
        self.long
    }

    /// A number as an argument.
    pub fn number(&self, n: i64) -> PlanArgument {
        PlanArgument::Fixed(if self.long { Argument::I64(n) } else { Argument::I32(n as i32) })
    }

    /// Adds what distinguishes the reading from others.
    pub fn key(&self, key: &mut Key) {
        key.word((self.run as u64) << 32 | (self.sizes.len() as u64) << 1 | self.long as u64);
        for read in &self.inputs {
            let last = match read.strides.last() {
                None | Some(0) => 0,
                Some(1) => 1u64,
                _ => 2,
            };
            key.word((read.wide as u64) << 32 | (read.reach as u64) << 8 | last);
        }
    }

    /// What lies in memory, in the order of the buffers.
    pub fn operands(&self) -> impl Iterator<Item = &Placed> {
        self.inputs.iter().filter(|read| read.reach != Reach::Value).map(|read| &read.placed)
    }

    /// The scalars, in the order in which they are declared.
    pub fn arguments(&self) -> Vec<PlanArgument> {
        let mut all: Vec<PlanArgument> = self.sizes.iter().map(|&n| self.number(n)).collect();
        for read in &self.inputs {
            match (read.reach, read.placed.home) {
                (Reach::Value, Home::Value(leaf)) => all.push(PlanArgument::Value(leaf, read.placed.dtype)),
                (Reach::Strided, _) => {
                    all.push(self.number(read.start));
                    all.extend(read.strides.iter().map(|&stride| self.number(stride)));
                }
                _ => {}
            }
        }
        all
    }

    /// Declares buffers and scalars, named by the letter.
    pub fn declare<'k>(&self, k: &'k Builder, letter: char) -> Reader<'k> {
        let scalar = if self.long { Scalar::I64 } else { Scalar::I32 };
        let list = |name: String| -> Vec<Val<'k>> {
            let all = k.arg_array(&name, scalar, self.sizes.len() as u32);
            (0..self.sizes.len() as i32).map(|axis| all.at(axis)).collect()
        };
        let sizes = if self.sizes.is_empty() { Vec::new() } else { list(format!("{letter}_sizes")) };
        let declare = |(i, read): (usize, &Read)| {
            let (name, dtype) = (format!("{letter}{i}"), read.placed.dtype);
            if read.reach == Reach::Value {
                return Source::Fixed(value_argument(k, &name, dtype));
            }
            let wide = read.wide;
            let buffer = k.buffer(&name, dtype.elem(), Access::Read, aligned(wide, dtype));
            match read.reach {
                Reach::Single => Source::Fixed(buffer.load(0)),
                Reach::Strided => {
                    let start = number(k, &format!("{name}_start"), self.long);
                    let strides = list(format!("{name}_strides"));
                    let step = match read.strides.last() {
                        Some(0) => Step::None,
                        Some(1) => Step::One { wide },
                        _ => Step::By(*strides.last().expect("a strided input has axes")),
                    };
                    Source::Strided { run: Run { buffer, step }, start, strides }
                }
                _ => Source::InOrder(Run { buffer, step: Step::One { wide } }),
            }
        };
        let inputs = self.inputs.iter().enumerate().map(declare).collect();
        Reader { inputs, sizes, run: self.run, scalar }
    }
}

impl Read {
    fn strided(placed: &Placed, strides: Strides) -> Read {
        let (base, start) = placed.base();
        let (_, outer) = strides.split_last().expect("a strided input has axes");
        // The address known to be aligned is the first element's.
        let apart = outer.iter().chain([&start]).map(|elements| elements * placed.dtype.size() as i64);
        let align = apart.fold(placed.align, |align, bytes| align.min(1 << bytes.trailing_zeros().min(4)));
        let wide = wide(align, placed.dtype);
        Read { placed: base, reach: Reach::Strided, start, strides, wide }
    }
}

fn wide(align: u32, dtype: Dtype) -> usize {
    if align >= 16 { 16 / dtype.size() } else { 1 }
}

/// The inputs as a kernel reads them.
pub(crate) struct Reader<'k> {
    inputs: Vec<Source<'k>>,
    sizes: Vec<Val<'k>>,
    /// Elements that lie along the last axis wherever a multiple of them begins.
    run: usize,
    scalar: Scalar,
}

enum Source<'k> {
    /// One value for all elements.
    Fixed(Val<'k>),
    /// Elements lie by their numbers.
    InOrder(Run<'k>),
    /// They lie by strides.
    Strided { run: Run<'k>, start: Val<'k>, strides: Vec<Val<'k>> },
}

/// Elements that lie evenly.
struct Run<'k> {
    buffer: Buffer<'k>,
    step: Step<'k>,
}

/// From one element to the next.
enum Step<'k> {
    /// It is the same.
    None,
    /// It is beside; `wide` may be read at once.
    One { wide: usize },
    /// It is so far away.
    By(Val<'k>),
}

impl<'k> Reader<'k> {
    /// The elements with numbers from `at` on, of each input; `at` is a multiple of `count`, a power of two.
    pub fn read(&self, at: Val<'k>, count: usize) -> Vec<Vec<Val<'k>>> {
        let at = at.to_u(self.scalar);
        if count <= self.run {
            return self.read_run(at, count);
        }
        let each: Vec<Vec<Vec<Val>>> = (0..count).map(|lane| self.read_run(at + lane as i32, 1)).collect();
        (0..self.inputs.len()).map(|i| each.iter().map(|one| one[i][0]).collect()).collect()
    }

    /// The same where the elements lie along the last axis.
    fn read_run(&self, at: Val<'k>, count: usize) -> Vec<Vec<Val<'k>>> {
        let along = self.split(at);
        let read = |source: &Source<'k>| match source {
            Source::Fixed(value) => vec![*value; count],
            Source::InOrder(run) => run.read(at, count),
            Source::Strided { run, start, strides } => {
                let axes = along.iter().zip(strides);
                run.read(axes.fold(*start, |place, (&along, &stride)| place + along * stride), count)
            }
        };
        self.inputs.iter().map(read).collect()
    }

    /// How far along each axis an element lies.
    fn split(&self, number: Val<'k>) -> Vec<Val<'k>> {
        let mut rest = number;
        let mut along: Vec<Val> = Vec::with_capacity(self.sizes.len());
        for &size in self.sizes.iter().skip(1).rev() {
            along.push(rest.rem_u(size));
            rest = rest.div_u(size);
        }
        along.push(rest);
        along.reverse();
        along
    }
}

impl<'k> Run<'k> {
    fn read(&self, at: Val<'k>, count: usize) -> Vec<Val<'k>> {
        let lanes = 0..count as i32;
        match self.step {
            Step::None => vec![self.buffer.load(at); count],
            Step::By(stride) => lanes.map(|lane| self.buffer.load(at + stride * lane)).collect(),
            Step::One { wide } if wide.min(count) == 1 => lanes.map(|lane| self.buffer.load(at + lane)).collect(),
            Step::One { wide } => {
                let wide = wide.min(count);
                lanes.step_by(wide).flat_map(|lane| self.buffer.load_wide(at + lane, wide)).collect()
            }
        }
    }
}
