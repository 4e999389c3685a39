//! A block program as data: steps over registers.
//!
//! A register holds one component of one value for every lane of a block. Values of the kernel are taken apart into
//! such components while lowering, so vectors and complex numbers cost nothing here. At first every register is
//! written by one instruction; `allocate` then lets registers share slots, so that the block's working set stays
//! small.

use pumice_kernel::Elem;
use pumice_kernel::ir::Line;
use smallvec::SmallVec;

use super::loops::Function;

/// How many bits a lane of a register has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Width {
    /// 32: I32, F32, and bools as masks.
    Narrow,
    /// 64: I64 and F64.
    Wide,
}

/// A register: which of those of its width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Reg {
    pub(super) width: Width,
    pub(super) number: u32,
}

/// The registers of a value, a component each.
pub(super) type Parts = SmallVec<[Reg; 2]>;

/// A value that moves from one register to another, for the lanes that are active.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) to: Reg,
    pub(super) from: Reg,
    /// Whether nobody looks at `from` afterwards: then the two may be swapped instead of copied.
    pub(super) last: bool,
}

/// Steps, and the moves that hand over what they made.
#[derive(Default)]
pub(super) struct Sequence {
    pub(super) steps: Vec<Step>,
    pub(super) moves: Vec<Move>,
}

/// What happens to a block.
pub(super) enum Step {
    /// A loop over lanes. It has as many operands as the function takes.
    Apply {
        function: Function,
        out: Reg,
        operands: SmallVec<[Reg; 3]>,
    },
    /// A copy, for active lanes.
    Copy(Move),
    /// From an array that every lane has for itself.
    Load {
        out: Reg,
        at: Element,
    },
    /// To an array that every lane has for itself.
    Store {
        value: Reg,
        at: Element,
    },
    If {
        condition: Reg,
        then: Sequence,
        otherwise: Sequence,
    },
    /// `index` runs from `start` by `step` to `end`; `enter` sets the carried values.
    For {
        index: Reg,
        start: Reg,
        end: Reg,
        step: Reg,
        enter: Vec<Move>,
        body: Sequence,
        line: Line,
    },
    /// `test` leaves whether to go on in `holds`.
    While {
        enter: Vec<Move>,
        test: Vec<Step>,
        holds: Reg,
        body: Sequence,
        line: Line,
    },
}

/// An element of a private array, or one component of it: `index * scale + offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) array: usize,
    pub(super) index: Reg,
    pub(super) scale: usize,
    pub(super) offset: usize,
    pub(super) line: Line,
}

/// A private array: every component of every element is a block's lanes.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) name: String,
    /// Elements.
    pub(super) len: usize,
    /// Components of an element.
    pub(super) components: usize,
}

/// A buffer: what it is stored as, and the registers of its element.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) elem: Elem,
    pub(super) parts: Parts,
    /// Of an output: whether some lanes may be left as they were.
    pub(super) partial: bool,
}

/// A program.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    /// Registers that never change, and their bits.
    pub(super) constants: Vec<(Reg, u64)>,
    /// The register of the element's number.
    pub(super) index: Option<Reg>,
    pub(super) arrays: Vec<Array>,
    /// Coefficients of polynomials, in the order they are added.
    pub(super) polynomials: Vec<Vec<f32>>,
    /// Registers of each width.
    pub(super) narrow: usize,
    pub(super) wide: usize,
    /// Bytes per lane of what the steps work on besides inputs, outputs and constants.
    pub(super) lane_bytes: usize,
    /// Steps, nested ones included: what a lane costs, about.
    pub(super) cost: usize,
}
