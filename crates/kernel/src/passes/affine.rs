//! What is known about indices: their form as a sum of products, and which powers of two divide them.
//!
//! All arithmetic is modulo the integer's width, where sums and products may be rearranged freely and divisibility by a
//! power of two is kept. So two indices with the same terms differ by the difference of their offsets, and one that is a
//! multiple of `w` can be followed by `w - 1` more without wrapping around.

use crate::ir::{BinaryOp, Block, Inst, Kernel, Op, UnaryOp, Value};
use crate::types::{Scalar, Type};

/// An index as `Σ coefficient * value + offset`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Affine {
    /// Values with their coefficients, by value; no coefficient is zero.
    pub terms: Vec<(Value, u64)>,
    /// Whether the sum is of 32 bits and then widened, and whether its sign is extended.
    pub widened: Option<bool>,
    /// The constant, its sign extended from the sum's width.
    pub offset: i64,
}

/// Longer sums are taken as one unknown value.
const MOST_TERMS: usize = 8;
const MOST_DEPTH: u32 = 16;

/// How an integer value was made, as far as it matters here.
#[derive(Clone, Copy)]
enum Made {
    Const(u64),
    Add(Value, Value),
    Sub(Value, Value),
    Mul(Value, Value),
    Shl(Value, Value),
    Widen(Value, bool),
    Other,
}

/// What is known about every value of a kernel.
pub(super) struct Indices {
    made: Vec<Made>,
    /// How often two divides the value at least; 64 for zero.
    twos: Vec<u8>,
    wide: Vec<bool>,
}

impl Indices {
    pub fn of(kernel: &Kernel) -> Indices {
        let count = kernel.types.len();
        let wide = kernel.types.iter().map(|ty| *ty == Type::I64).collect();
        let mut indices = Indices { made: vec![Made::Other; count], twos: vec![0; count], wide };
        indices.block(kernel, &kernel.body);
        indices
    }

    /// The form of an index.
    pub fn affine(&self, index: Value) -> Affine {
        let (root, widened) = match self.made[index.index()] {
            Made::Widen(inner, signed) => (inner, Some(signed)),
            _ => (index, None),
        };
        let mut sum = Sum { terms: Vec::new(), offset: 0 };
        if !self.add(&mut sum, root, 1, 0) {
            sum = Sum { terms: vec![(root, 1)], offset: 0 };
        }
        let narrow = !self.wide[root.index()];
        let keep = |c: u64| if narrow { c & 0xffff_ffff } else { c };
        sum.terms.iter_mut().for_each(|(_, c)| *c = keep(*c));
        sum.terms.retain(|(_, c)| *c != 0);
        sum.terms.sort_unstable();
        let offset = if narrow { sum.offset as u32 as i32 as i64 } else { sum.offset as i64 };
        // Near the end of the range an offset and those after it would not be in order.
        if offset.unsigned_abs() > 1 << 30 {
            return Affine { terms: vec![(root, 1)], widened, offset: 0 };
        }
        Affine { terms: sum.terms, widened, offset }
    }

    /// Whether the sum of the terms, without the offset, is a multiple of a power of two.
    pub fn is_multiple(&self, affine: &Affine, of: u64) -> bool {
        debug_assert!(of.is_power_of_two());
        let twos = |&(v, c): &(Value, u64)| c.trailing_zeros() + self.twos[v.index()] as u32;
        affine.terms.iter().all(|term| twos(term) >= of.trailing_zeros())
    }

    /// Adds `factor * value` to a sum; false if it grows too long.
    fn add(&self, sum: &mut Sum, value: Value, factor: u64, depth: u32) -> bool {
        if depth > MOST_DEPTH {
            return false;
        }
        match self.made[value.index()] {
            Made::Const(bits) => {
                sum.offset = sum.offset.wrapping_add(factor.wrapping_mul(bits));
                true
            }
            Made::Add(a, b) => self.add(sum, a, factor, depth + 1) && self.add(sum, b, factor, depth + 1),
            Made::Sub(a, b) => {
                self.add(sum, a, factor, depth + 1) && self.add(sum, b, factor.wrapping_neg(), depth + 1)
            }
            Made::Mul(a, b) => match (self.made[a.index()], self.made[b.index()]) {
                (_, Made::Const(bits)) => self.add(sum, a, factor.wrapping_mul(bits), depth + 1),
                (Made::Const(bits), _) => self.add(sum, b, factor.wrapping_mul(bits), depth + 1),
                _ => sum.term(value, factor),
            },
            Made::Shl(a, b) => match self.made[b.index()] {
                Made::Const(bits) => self.add(sum, a, factor << (bits & self.mask(value)), depth + 1),
                _ => sum.term(value, factor),
            },
            Made::Widen(..) | Made::Other => sum.term(value, factor),
        }
    }

    /// What shift amounts are taken modulo.
    fn mask(&self, value: Value) -> u64 {
        if self.wide[value.index()] { 63 } else { 31 }
    }

    fn block(&mut self, kernel: &Kernel, block: &Block) {
        for inst in &block.insts {
            match &inst.op {
                Op::If { .. } | Op::For { .. } | Op::While { .. } => self.control(kernel, inst),
                op => self.note(kernel, inst, op),
            }
        }
    }

    fn note(&mut self, kernel: &Kernel, inst: &Inst, op: &Op) {
        let [result] = inst.results[..] else { return };
        let Type::Scalar(Scalar::I32 | Scalar::I64) = kernel.type_of(result) else { return };
        let made = match *op {
            Op::Const(bits) => Made::Const(bits),
            Op::Binary(BinaryOp::Add, a, b) => Made::Add(a, b),
            Op::Binary(BinaryOp::Sub, a, b) => Made::Sub(a, b),
            Op::Binary(BinaryOp::Mul, a, b) => Made::Mul(a, b),
            Op::Binary(BinaryOp::Shl, a, b) => Made::Shl(a, b),
            Op::Convert { value, signed } if kernel.type_of(value) == Type::I32 && self.wide[result.index()] => {
                Made::Widen(value, signed)
            }
            _ => Made::Other,
        };
        self.made[result.index()] = made;
        self.twos[result.index()] = self.twos_of(kernel, op, result).min(64);
    }

    fn twos_of(&self, kernel: &Kernel, op: &Op, result: Value) -> u8 {
        let twos = |v: &Value| self.twos[v.index()];
        let constant = |v: &Value| match self.made[v.index()] {
            Made::Const(bits) => Some((bits & self.mask(result)) as u8),
            _ => None,
        };
        match op {
            Op::Const(bits) => bits.trailing_zeros() as u8,
            Op::Unary(UnaryOp::Neg | UnaryOp::Abs, a) => twos(a),
            Op::Convert { value, .. } => match kernel.type_of(*value) {
                Type::Scalar(s) if s.is_int() => twos(value),
                _ => 0,
            },
            Op::Select(_, a, b) => twos(a).min(twos(b)),
            Op::Binary(op, a, b) => match op {
                BinaryOp::Mul => twos(a).saturating_add(twos(b)),
                BinaryOp::And => twos(a).max(twos(b)),
                BinaryOp::Shl => twos(a).saturating_add(constant(b).unwrap_or(0)),
                BinaryOp::ShrU | BinaryOp::ShrS => constant(b).map_or(0, |c| twos(a).saturating_sub(c)),
                // One of the two, or a sum of multiples of both.
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor => twos(a).min(twos(b)),
                BinaryOp::MinS | BinaryOp::MaxS | BinaryOp::MinU | BinaryOp::MaxU => twos(a).min(twos(b)),
                BinaryOp::RemS | BinaryOp::RemU => twos(a).min(twos(b)),
                _ => 0,
            },
            _ => 0,
        }
    }

    fn control(&mut self, kernel: &Kernel, inst: &Inst) {
        match &inst.op {
            Op::If { then, otherwise, .. } => {
                self.block(kernel, then);
                self.block(kernel, otherwise);
                for ((result, a), b) in inst.results.iter().zip(&then.yields).zip(&otherwise.yields) {
                    self.twos[result.index()] = self.twos[a.index()].min(self.twos[b.index()]);
                }
            }
            Op::For { start, step, init, body, .. } => {
                let index = body.params[0].index();
                self.twos[index] = self.twos[start.index()].min(self.twos[step.index()]);
                self.carried(kernel, init, &body.params[1..], &inst.results, body);
            }
            Op::While { init, test, body } => {
                // The test only asks; its parameters stay unknown.
                self.block(kernel, test);
                self.carried(kernel, init, &body.params, &inst.results, body);
            }
            _ => unreachable!("called on control flow"),
        }
    }

    /// Carried values: assumes what holds at first, and takes back what a turn does not keep, until it holds.
    fn carried(&mut self, kernel: &Kernel, init: &[Value], params: &[Value], results: &[Value], body: &Block) {
        for (param, first) in params.iter().zip(init) {
            self.twos[param.index()] = self.twos[first.index()];
        }
        for turn in 0.. {
            self.block(kernel, body);
            let mut holds = true;
            for (param, next) in params.iter().zip(&body.yields) {
                let kept = self.twos[param.index()].min(self.twos[next.index()]);
                if kept < self.twos[param.index()] {
                    holds = false;
                    // What shrinks again and again is not worth following.
                    self.twos[param.index()] = if turn < 3 { kept } else { 0 };
                }
            }
            if holds {
                break;
            }
        }
        for (result, param) in results.iter().zip(params) {
            self.twos[result.index()] = self.twos[param.index()];
        }
    }
}

struct Sum {
    terms: Vec<(Value, u64)>,
    offset: u64,
}

impl Sum {
    fn term(&mut self, value: Value, factor: u64) -> bool {
        match self.terms.iter_mut().find(|(v, _)| *v == value) {
            Some((_, c)) => *c = c.wrapping_add(factor),
            None => self.terms.push((value, factor)),
        }
        self.terms.len() <= MOST_TERMS
    }
}

impl Affine {
    /// Whether two indices differ by their offsets alone.
    pub fn same_terms(&self, other: &Affine) -> bool {
        self.terms == other.terms && self.widened == other.widened
    }
}
