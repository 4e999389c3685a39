//! Cooperative matrices: dense, one for each subgroup or for the workgroup, every component in its compute type.
//!
//! A product is summed in f64 and rounded once to the accumulator's type; integers wrap. This is the reference: devices
//! round inside the sum as their hardware does, and agree within that rounding.

use std::ops::Range;

use super::machine::Machine;
use super::mask::Mask;
use crate::error::Result;
use crate::eval;
use crate::ir::{BinaryOp, Inst, Line, MatrixOp, Value};
use crate::types::{Elem, Matrix, MatrixScope, Scalar, Type};

/// The invocations that hold a matrix together.
pub(super) struct Holder {
    /// Which subgroup; 0 for the workgroup.
    pub(super) number: usize,
    pub(super) invocations: Range<usize>,
}

impl Holder {
    /// Where this holder's components stand in the column of a matrix.
    pub(super) fn components(&self, matrix: Matrix) -> Range<usize> {
        let size = matrix.rows as usize * matrix.cols as usize;
        self.number * size..(self.number + 1) * size
    }
}

impl<'a> Machine<'a, '_> {
    /// A matrix operation, for each subgroup that comes here or for the workgroup.
    pub(super) fn matrix(&mut self, inst: &'a Inst, op: &'a MatrixOp, mask: &Mask) -> Result<()> {
        let scope = self.matrix_type(held(inst, op)).scope;
        let size = self.scope_size(scope);
        for number in 0..self.invocations.div_ceil(size) {
            if self.whole(scope, number, mask, inst.line)? {
                let invocations = number * size..((number + 1) * size).min(self.invocations);
                self.one_matrix(inst, op, &Holder { number, invocations })?;
            }
        }
        Ok(())
    }

    fn one_matrix(&mut self, inst: &'a Inst, op: &'a MatrixOp, holder: &Holder) -> Result<()> {
        let value = held(inst, op);
        match op {
            MatrixOp::Load { .. } | MatrixOp::LoadTile { .. } => self.load_matrix(value, op, holder, inst.line),
            MatrixOp::Store { .. } | MatrixOp::StoreTile { .. } => self.store_matrix(value, op, holder, inst.line),
            _ => {
                let ty = self.matrix_type(value);
                let mut column = self.take(value);
                self.compute_matrix(ty, op, &mut column[holder.components(ty)], holder, inst.line)?;
                self.put(value, column);
                Ok(())
            }
        }
    }

    fn compute_matrix(&self, ty: Matrix, op: &MatrixOp, out: &mut [u64], holder: &Holder, line: Line) -> Result<()> {
        let scalar = compute_scalar(ty.elem);
        match op {
            MatrixOp::Fill(_, value) => out.fill(eval::narrow(ty.elem, self.uniform(*value, holder, line)?)),
            MatrixOp::MulAdd(a, b, c) => self.mul_add([*a, *b, *c], out, holder),
            MatrixOp::Scale(a, factor) => {
                let factor = self.uniform(*factor, holder, line)?;
                for (out, a) in out.iter_mut().zip(self.components(*a, holder)) {
                    *out = eval::narrow(ty.elem, eval::binary(BinaryOp::Mul, scalar, *a, factor));
                }
            }
            MatrixOp::Add(a, b) => {
                let pairs = self.components(*a, holder).iter().zip(self.components(*b, holder));
                for (out, (a, b)) in out.iter_mut().zip(pairs) {
                    *out = eval::narrow(ty.elem, eval::binary(BinaryOp::Add, scalar, *a, *b));
                }
            }
            MatrixOp::Convert(_, a) => {
                let from = compute_scalar(self.matrix_type(*a).elem);
                for (out, a) in out.iter_mut().zip(self.components(*a, holder)) {
                    *out = eval::narrow(ty.elem, eval::convert(from, scalar, true, *a));
                }
            }
            op => unreachable!("{op:?} goes to memory"),
        }
        Ok(())
    }

    fn mul_add(&self, [a, b, c]: [Value; 3], out: &mut [u64], holder: &Holder) {
        let (left, result) = (self.matrix_type(a), self.matrix_type(c));
        let (inner, cols) = (left.cols as usize, result.cols as usize);
        let [a, b, c] = [a, b, c].map(|v| self.components(v, holder));
        for (i, out) in out.iter_mut().enumerate() {
            let row = &a[i / cols * inner..][..inner];
            let factors = row.iter().zip(b[i % cols..].iter().step_by(cols));
            *out = match compute_scalar(result.elem) {
                Scalar::I32 => {
                    let products = factors.map(|(a, b)| (*a as u32).wrapping_mul(*b as u32));
                    products.fold(c[i] as u32, u32::wrapping_add) as u64
                }
                _ => {
                    let float = |word: u64| f32::from_bits(word as u32) as f64;
                    let sum: f64 = factors.map(|(a, b)| float(*a) * float(*b)).sum();
                    eval::round_to_elem(result.elem, sum + float(c[i])).to_bits() as u64
                }
            };
        }
    }

    fn components(&self, value: Value, holder: &Holder) -> &[u64] {
        &self.column(value)[holder.components(self.matrix_type(value))]
    }

    pub(super) fn matrix_type(&self, value: Value) -> Matrix {
        match self.kernel.type_of(value) {
            Type::Matrix(matrix) => matrix,
            ty => unreachable!("verify refuses {ty} for a matrix"),
        }
    }

    /// Invocations of a scope; a last subgroup may have fewer.
    pub(super) fn scope_size(&self, scope: MatrixScope) -> usize {
        match scope {
            MatrixScope::Subgroup => self.subgroup_size,
            MatrixScope::Workgroup => self.invocations,
        }
    }

    /// The one value a matrix's invocations agree on; an error if they do not.
    pub(super) fn uniform(&self, value: Value, holder: &Holder, line: Line) -> Result<u64> {
        let words = &self.column(value)[holder.invocations.clone()];
        let first = words[0];
        match words.iter().find(|word| **word != first) {
            None => Ok(first),
            Some(other) => {
                let message = format!(
                    "a matrix operand must be the same in all its invocations but is {first:#x} and {other:#x}."
                );
                Err(self.execution(line, message))
            }
        }
    }
}

/// The matrix an operation makes or stores.
fn held(inst: &Inst, op: &MatrixOp) -> Value {
    match op {
        MatrixOp::Store { matrix, .. } | MatrixOp::StoreTile { matrix, .. } => *matrix,
        _ => inst.results[0],
    }
}

/// What a matrix's components are computed in.
fn compute_scalar(elem: Elem) -> Scalar {
    elem.compute().scalar().expect("elements are never matrices")
}
