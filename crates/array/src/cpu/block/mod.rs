//! Block programs: element-wise functions on the CPU, a block of elements at a time.
//!
//! A map (one op, or a fused chain of them) is a kernel in *map form*: it loads and stores at the constant index 0,
//! which stands for the element at hand. [`BlockProgram::new`] turns it into steps over registers;
//! [`BlockProgram::run`] takes blocks of elements that fit the first-level cache, and does each step as one vectorised
//! loop over a block. Blocks run on all processors. The result has the interpreter's bits, but for the payload of a
//! NaN.
//!
//! ```text
//! kernel ─► lower ─► direct ─► allocate ─► Program        once
//! operands ─► parallel ─► task ─► machine ─► loops        every run, block by block
//! ```

mod allocate;
mod binary;
mod bytes;
mod column;
mod control;
mod convert;
mod direct;
mod fma;
mod loops;
mod lower;
mod machine;
mod mask;
mod operands;
mod parallel;
mod program;
mod registers;
mod repeat;
mod space;
mod task;
#[cfg(test)]
mod tests;
mod transfer;
mod unary;

use pumice_kernel::Kernel;

use self::bytes::ByteMap;
use self::operands::{Operands, Sink};
use self::program::Program;
use self::task::{Shared, Splats};
use crate::error::Result;

/// An element-wise function, ready to run.
pub struct BlockProgram {
    program: Program,
    constants: Splats,
    lanes: usize,
    /// The same as one loop over bytes, if it is.
    bytes: Option<ByteMap>,
}

/// Where a program finds an input.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Element i of the bytes is element i of the result.
    Contiguous(&'a [u8]),
    /// One element for all.
    Scalar(&'a [u8]),
    /// Elements by strides over a shape.
    Strided {
        /// Where they lie.
        bytes: &'a [u8],
        /// Which element of the bytes has index (0, 0, ..).
        start: i64,
        /// The iteration space; the same for all operands of a run.
        shape: &'a [usize],
        /// Elements from one index to the next, for each axis.
        strides: &'a [i64],
    },
    /// What an output holds before it is overwritten: an input that gave its memory to the output.
    InPlace(usize),
}

/// Where a program leaves an output.
#[derive(Debug)]
pub enum Output<'a> {
    /// Element i of the result is element i of the bytes.
    Contiguous(&'a mut [u8]),
    /// Elements by strides over a shape: a slice of a larger array.
    Strided {
        /// Where they lie.
        bytes: &'a mut [u8],
        /// Which element of the bytes has index (0, 0, ..).
        start: i64,
        /// The iteration space; the same for all operands of a run.
        shape: &'a [usize],
        /// Elements from one index to the next, for each axis.
        strides: &'a [i64],
    },
}

/// Elements that are worked on together: blocks of a multiple of them need no mask.
pub(crate) const CHUNK: usize = loops::LANES;

/// Lanes of a block: most where it needs no memory of its own, as what a block costs is then all that counts, and least where not
/// even they fit the cache.
const LANES_OF_BLOCK: [usize; 4] = [4096, 2048, 1024, 512];

/// What a block's registers may take, in bytes, up to 1,024 lanes and beyond. The second-level cache is meant: what a step costs besides
/// its lanes is more than what the first would save (power of 102,400 elements: 1,053 µs by 512 lanes, 869 by 1,024).
const CACHE: [usize; 2] = [96 << 10, 32 << 10];

/// Lanes of a block at most where several operands are gathered into memory of the block's: with what is read and written beside them, they
/// should stay in the first-level cache (a layer norm by hand of rows of 16: 327 to 308 µs by 2,048 lanes instead of 4,096).
const SPREAD_LANES: usize = 2048;

impl BlockProgram {
    /// The name of the kernel that it was made of.
    pub fn name(&self) -> &str {
        &self.program.name
    }

    /// The program of a kernel in map form: one that reads its inputs and writes its outputs at the constant index 0,
    /// and takes no scalar but the number of the element, an integer named `index`.
    pub fn new(kernel: &Kernel) -> Result<BlockProgram> {
        let kernel = lower::tidied(kernel);
        let program = lower::lower(&kernel)?;
        let constants = Splats::constants(&program);
        let lanes = lanes_of_block(&program);
        Ok(BlockProgram { program, constants, lanes, bytes: ByteMap::of(&kernel) })
    }

    /// Runs the program over `count` elements, on several threads where there are enough of them. Inputs and outputs
    /// are in the order of the kernel's buffers.
    pub fn run(&self, count: usize, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<()> {
        self.run_by(count, inputs, outputs, parallel::run)
    }

    /// The same on this thread alone.
    pub(crate) fn run_here(&self, count: usize, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<()> {
        self.run_by(count, inputs, outputs, |shared, count, sinks| task::run(shared, 0..count, sinks))
    }

    /// Whether an element's number counts.
    pub(crate) fn counts(&self) -> bool {
        self.program.index.is_some()
    }

    fn run_by(
        &self,
        count: usize,
        inputs: &[Input<'_>],
        outputs: &mut [Output<'_>],
        run: impl for<'a> FnOnce(&'a Shared<'a>, usize, Vec<Sink<'a>>) -> Result<()>,
    ) -> Result<()> {
        if self.bytes.as_ref().is_some_and(|map| map.run(count, inputs, outputs)) {
            return Ok(());
        }
        let operands = Operands::new(&self.program, count, inputs, outputs)?;
        if count == 0 {
            return Ok(());
        }
        let scalars = Splats::scalars(&self.program, &operands.sources);
        let shared = Shared {
            program: &self.program,
            constants: &self.constants,
            scalars: &scalars,
            sources: &operands.sources,
            shape: &operands.shape,
            order: operands.order,
            lanes: if operands.are_spread() { self.lanes.min(SPREAD_LANES) } else { self.lanes },
        };
        run(&shared, count, operands.sinks)
    }
}

fn lanes_of_block(program: &Program) -> usize {
    // Operands that are no lanes already are made so in memory of the block's.
    let ports = program.inputs.iter().chain(&program.outputs).filter(|port| !transfer::is_plain(port.elem));
    let converted = 4 * ports.map(|port| port.parts.len()).sum::<usize>();
    let fits = |&lanes: &usize| match lanes {
        0..=1024 => program.lane_bytes * lanes <= CACHE[0],
        _ => (program.lane_bytes + converted) * lanes <= CACHE[1],
    };
    LANES_OF_BLOCK.into_iter().find(fits).unwrap_or(LANES_OF_BLOCK[LANES_OF_BLOCK.len() - 1])
}
