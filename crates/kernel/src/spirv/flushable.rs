//! Which floats may lose their denormals on the way: those that only operations look at which take denormals for zeros anyway.
//!
//! On drivers that flush, the sign of a float is changed by its bits, which is an instruction where a float negation is part of
//! the operation that uses it. A value that ends in fma, or in comparisons with numbers far from zero, needs no such care.

use super::compare::is_far_from_zero;
use crate::ir::{Block, Inst, Kernel, Op, UnaryOp, Value};
use crate::target::Target;
use crate::types::{Scalar, Type};

/// The F32 values whose denormals nobody sees.
#[derive(Default)]
pub(super) struct Flushable {
    /// By value: a constant's bits.
    constants: Vec<Option<u64>>,
    /// By value: whether something sees its denormals.
    seen: Vec<bool>,
    compare: bool,
}

impl Flushable {
    pub fn of(kernel: &Kernel, target: &Target) -> Flushable {
        if target.denormals.fma || !target.fused_fma || !target.float_controls.keep_nan_32 {
            return Flushable::default();
        }
        let count = kernel.types.len();
        let compare = !target.denormals.compare;
        let mut found = Flushable { constants: vec![None; count], seen: vec![false; count], compare };
        found.note_constants(&kernel.body);
        found.block(&kernel.body);
        for (seen, &ty) in found.seen.iter_mut().zip(&kernel.types) {
            *seen |= ty.scalar() != Some(Scalar::F32) || matches!(ty, Type::Matrix(_));
        }
        found
    }

    pub fn has(&self, value: Value) -> bool {
        self.seen.get(value.index()) == Some(&false)
    }

    fn note_constants(&mut self, block: &Block) {
        for inst in &block.insts {
            if let Op::Const(bits) = inst.op {
                self.constants[inst.results[0].index()] = Some(bits);
            }
            inst.op.blocks().into_iter().for_each(|nested| self.note_constants(nested));
        }
    }

    /// Backwards, so that all uses of a result are known before what it is made of.
    fn block(&mut self, block: &Block) {
        block.yields.iter().for_each(|&value| self.see(value));
        for inst in block.insts.iter().rev() {
            inst.op.blocks().into_iter().rev().for_each(|nested| self.block(nested));
            self.inst(inst);
        }
    }

    fn inst(&mut self, inst: &Inst) {
        let passes_on = || !self.seen[inst.results[0].index()];
        let blind = match inst.op {
            Op::Fma(..) => true,
            Op::Compare(_, a, b) => self.compare && [a, b].iter().any(|v| is_far_from_zero(self.constants[v.index()])),
            Op::Select(..) | Op::Unary(UnaryOp::Neg | UnaryOp::Abs, _) => passes_on(),
            _ => false,
        };
        if !blind {
            inst.op.each_operand(|value| self.see(value));
        }
    }

    fn see(&mut self, value: Value) {
        self.seen[value.index()] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Builder, Val};
    use crate::target::Denormals;
    use crate::types::Elem;

    /// Whether the one negation that is written may lose denormals.
    fn negation_may(write: impl for<'k> FnOnce(&'k Builder, Val<'k>) -> Val<'k>) -> bool {
        let kernel = Kernel::build("negation", [1, 1, 1], |k| {
            let (x, out) = (k.input("x", Elem::F32), k.output("out", Elem::F32));
            let value = write(k, x.load(0));
            out.store(0, value);
        });
        let kernel = kernel.expect("the kernel is well formed");
        let found = Flushable::of(&kernel, &Target { denormals: Denormals::FLUSHED, ..Target::full() });
        let negations = |inst: &&Inst| matches!(inst.op, Op::Unary(UnaryOp::Neg, _));
        let inst = kernel.body.insts.iter().find(negations).expect("a negation is there");
        assert!(!Flushable::of(&kernel, &Target::full()).has(inst.results[0]));
        found.has(inst.results[0])
    }

    #[test]
    fn what_only_fma_sees_may_lose_denormals() {
        assert!(negation_may(|_, x| (-x).fma(x, 1.0)));
        assert!(negation_may(|_, x| x.fma(2.0, -x)));
        assert!(negation_may(|_, x| (-x).abs().fma(x, 1.0)));
    }

    #[test]
    fn sums_products_and_stores_see_them() {
        assert!(!negation_may(|_, x| -x));
        assert!(!negation_may(|_, x| -x + x * x));
        assert!(!negation_may(|_, x| -x * 3.0));
        assert!(!negation_may(|_, x| {
            let y = -x;
            y.fma(x, 1.0) + y
        }));
    }

    #[test]
    fn choices_see_what_becomes_of_them() {
        assert!(negation_may(|_, x| {
            let y = -x;
            y.lt(-3.0).select(-3.0, y).fma(x, 1.0)
        }));
        assert!(!negation_may(|_, x| {
            let y = -x;
            y.lt(-3.0).select(-3.0, y) * x
        }));
        assert!(!negation_may(|_, x| {
            let y = -x;
            y.lt(0.0).select(-3.0, y).fma(x, 1.0)
        }));
    }

    #[test]
    fn what_leaves_a_block_is_seen() {
        assert!(!negation_may(|k, x| {
            let y = -x;
            k.if_(x.lt(1.0), || y, || x).fma(x, 1.0)
        }));
    }
}
