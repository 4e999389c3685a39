//! Polynomials by Horner's rule as one step: `fma(.. fma(fma(a, x, c0), x, c1) .., x, cn)` with constants for c.

use pumice_kernel::ir::{Block, Value};
use pumice_kernel::{Kernel, Scalar};
use smallvec::smallvec;

use super::super::fma::MOST_COEFFICIENTS;
use super::super::loops::Function;
use super::super::program::{Reg, Step};
use super::Lowering;
use crate::cpu::simd::has_fused_products;

/// How often every value of a kernel is used.
pub(super) fn uses(kernel: &Kernel) -> Vec<u32> {
    let mut uses = vec![0; kernel.types.len()];
    count(&kernel.body, &mut uses);
    uses
}

fn count(block: &Block, uses: &mut [u32]) {
    for inst in &block.insts {
        inst.op.operands().iter().for_each(|value| uses[value.index()] += 1);
        inst.op.blocks().into_iter().for_each(|nested| count(nested, uses));
    }
    block.yields.iter().for_each(|value| uses[value.index()] += 1);
}

impl Lowering<'_> {
    /// Lowers `fma(a, x, c)` of floats if `c` is a constant; goes on with the polynomial that `a` is, if nobody else needs it.
    pub(super) fn polynomial(&mut self, a: Value, x: Value, c: Value, result: Value, steps: &mut Vec<Step>) -> bool {
        let (from, at, addend) = (self.parts(a)[0], self.parts(x)[0], self.parts(c)[0]);
        let is_float = self.scalar(result) == Scalar::F32 && self.kernel.type_of(result).lanes() == 1;
        let Some(c) = self.constant_bits(addend).filter(|_| is_float && has_fused_products()) else { return false };
        let (number, first) = match self.uses[a.index()] {
            1 => self.begun(from, at, steps),
            _ => None,
        }
        .unwrap_or_else(|| {
            self.program.polynomials.push(Vec::new());
            (self.program.polynomials.len() - 1, from)
        });
        self.program.polynomials[number].push(f32::from_bits(c as u32));
        let out = self.register(from.width);
        steps.push(Step::Apply { function: Function::Polynomial(number), out, operands: smallvec![first, at] });
        self.values[result.index()] = smallvec![out];
        true
    }

    /// Takes back the polynomial of `x` that was made in a register: its number, and its first value.
    fn begun(&self, made: Reg, x: Reg, steps: &mut Vec<Step>) -> Option<(usize, Reg)> {
        let found = steps.iter().enumerate().rev().find_map(|(i, step)| match step {
            Step::Apply { function: Function::Polynomial(number), out, operands }
                if *out == made && operands[1] == x =>
            {
                let is_short = self.program.polynomials[*number].len() < MOST_COEFFICIENTS;
                is_short.then_some((i, *number, operands[0]))
            }
            _ => None,
        });
        let (i, number, first) = found?;
        steps.remove(i);
        Some((number, first))
    }

    fn constant_bits(&self, reg: Reg) -> Option<u64> {
        self.program.constants.iter().find(|(constant, _)| *constant == reg).map(|(_, bits)| *bits)
    }
}
