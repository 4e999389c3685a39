//! Cooperative matrices: their types, and arithmetic on them.
//!
//! Subgroup scope is VK_KHR_cooperative_matrix; workgroup scope, and conversion to another role, VK_NV_cooperative_matrix2.
//! Integer components carry no sign in SPIR-V; the product's operands say which are signed.

use rspirv::spirv::{Capability, CooperativeMatrixOperands, CooperativeMatrixUse, FPEncoding, Op as Code, Scope};

use super::emitter::Emitter;
use super::words::Id;
use crate::error::Result;
use crate::ir::{Inst, MatrixOp, Value};
use crate::target::MatrixShape;
use crate::types::{Elem, Matrix, MatrixRole, MatrixScope, Type};

impl Emitter<'_> {
    pub fn matrix(&mut self, inst: &Inst, op: &MatrixOp) -> Result<()> {
        let result = match op {
            MatrixOp::Fill(ty, value) => self.matrix_fill(*ty, *value)?,
            MatrixOp::Load { ty, place, index, stride, layout, align } => {
                self.require_matrix(*ty)?;
                self.matrix_load(*ty, *place, [*index, *stride], *layout, *align)?
            }
            MatrixOp::Store { matrix, place, index, stride, layout, align } => {
                return self.matrix_store(*matrix, *place, [*index, *stride], *layout, *align);
            }
            MatrixOp::LoadTile { ty, buffer, tile, transpose } => {
                self.require_matrix(*ty)?;
                self.tile_load(*ty, *buffer, tile, *transpose)?
            }
            MatrixOp::StoreTile { matrix, buffer, tile } => return self.tile_store(*matrix, *buffer, tile),
            MatrixOp::MulAdd(a, b, c) => self.matrix_mul_add(*a, *b, *c)?,
            MatrixOp::Scale(a, factor) => self.matrix_scale(*a, *factor)?,
            MatrixOp::Add(a, b) => self.matrix_add(*a, *b)?,
            MatrixOp::Convert(ty, a) => self.matrix_convert(*ty, *a)?,
        };
        self.define(inst.results[0], result);
        Ok(())
    }

    /// The matrix type of a value.
    pub fn matrix_of(&self, value: Value) -> Matrix {
        match self.type_of(value) {
            Type::Matrix(m) => m,
            other => unreachable!("verify keeps {other} out of matrix operations"),
        }
    }

    pub fn matrix_type(&mut self, ty: Matrix) -> Id {
        self.asm.need(Capability::CooperativeMatrixKHR);
        self.asm.need_extension("SPV_KHR_cooperative_matrix");
        if ty.scope == MatrixScope::Workgroup {
            self.asm.need_extension("SPV_NV_cooperative_matrix2");
        }
        let component = self.matrix_component(ty.elem);
        if ty.elem == Elem::BF16 {
            self.asm.need(Capability::BFloat16CooperativeMatrixKHR);
        }
        let scope = match ty.scope {
            MatrixScope::Subgroup => Scope::Subgroup,
            MatrixScope::Workgroup => Scope::Workgroup,
        };
        let role = match ty.role {
            MatrixRole::A => CooperativeMatrixUse::MatrixAKHR,
            MatrixRole::B => CooperativeMatrixUse::MatrixBKHR,
            MatrixRole::Accumulator => CooperativeMatrixUse::MatrixAccumulatorKHR,
        };
        let [scope, rows, cols, role] = [scope as u32, ty.rows, ty.cols, role as u32].map(|n| self.asm.u32(n));
        self.asm.declare(Code::TypeCooperativeMatrixKHR, &[component, scope, rows, cols, role])
    }

    /// The SPIR-V type of a matrix's components.
    pub fn matrix_component(&mut self, elem: Elem) -> Id {
        match elem {
            Elem::F16 => {
                self.asm.need(Capability::Float16);
                self.asm.declare(Code::TypeFloat, &[16])
            }
            Elem::BF16 => {
                self.asm.need(Capability::BFloat16TypeKHR);
                self.asm.need_extension("SPV_KHR_bfloat16");
                self.asm.declare(Code::TypeFloat, &[16, FPEncoding::BFloat16KHR as u32])
            }
            Elem::F32 => self.ty(Type::F32),
            Elem::I8 | Elem::U8 => {
                self.asm.need(Capability::Int8);
                self.asm.narrow_int(8)
            }
            _ => self.ty(Type::I32),
        }
    }

    /// Refuses a matrix that is part of no product the device offers.
    pub fn require_matrix(&self, ty: Matrix) -> Result<()> {
        match self.target.matrices.iter().any(|shape| self.has_part(shape, ty)) {
            true => Ok(()),
            false => Err(self.unsupported(format!("{} must be offered by the device but is not.", Type::Matrix(ty)))),
        }
    }

    /// Whether a matrix can stand somewhere in a product. What leaves one may be converted to any type.
    fn has_part(&self, shape: &MatrixShape, ty: Matrix) -> bool {
        let (rows, cols, elem) = match ty.role {
            MatrixRole::A => (shape.m, shape.k, Some(shape.factor)),
            MatrixRole::B => (shape.k, shape.n, Some(shape.factor)),
            MatrixRole::Accumulator => (shape.m, shape.n, None),
        };
        let fits = |size: u32, unit: u32| match ty.scope {
            MatrixScope::Subgroup => size == unit,
            MatrixScope::Workgroup => size.is_multiple_of(unit),
        };
        shape.scope == ty.scope
            && fits(ty.rows, rows)
            && fits(ty.cols, cols)
            && elem.is_none_or(|e| e == ty.elem)
            && (ty.scope == MatrixScope::Subgroup || shape.invocations == self.kernel.invocations())
    }

    fn matrix_fill(&mut self, ty: Matrix, value: Value) -> Result<Id> {
        self.require_matrix(ty)?;
        let value = self.id(value);
        let component = self.component_from(ty.elem, value);
        let ty = self.matrix_type(ty);
        Ok(self.raw(Code::CompositeConstruct, ty, &[component]))
    }

    /// A scalar as a matrix's component; floats are rounded by bits where they can be, as drivers do not all round
    /// to even.
    fn component_from(&mut self, elem: Elem, value: Id) -> Id {
        let ty = self.matrix_component(elem);
        match elem {
            Elem::F16 | Elem::BF16 if !self.target.int16 => self.raw(Code::FConvert, ty, &[value]),
            Elem::F16 | Elem::BF16 => {
                self.asm.need(Capability::Int16);
                let bits = self.encode(elem, Type::I32, value);
                let short = self.asm.narrow_int(16);
                let bits = self.raw(Code::UConvert, short, &[bits]);
                self.raw(Code::Bitcast, ty, &[bits])
            }
            Elem::I8 | Elem::U8 => self.raw(Code::UConvert, ty, &[value]),
            _ => value,
        }
    }

    fn matrix_mul_add(&mut self, a: Value, b: Value, c: Value) -> Result<Id> {
        let [x, y, z] = [a, b, c].map(|v| self.matrix_of(v));
        self.require_product(x, y, z)?;
        let mut operands = CooperativeMatrixOperands::NONE_KHR;
        if x.elem == Elem::I8 {
            operands |= CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR;
        }
        if y.elem == Elem::I8 {
            operands |= CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR;
        }
        if z.elem == Elem::I32 && [x.elem, y.elem].contains(&Elem::I8) {
            operands |= CooperativeMatrixOperands::MATRIX_C_SIGNED_COMPONENTS_KHR
                | CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR;
        }
        let ty = self.matrix_type(z);
        let mut words = vec![self.id(a), self.id(b), self.id(c)];
        words.extend((!operands.is_empty()).then_some(operands.bits()));
        Ok(self.raw(Code::CooperativeMatrixMulAddKHR, ty, &words))
    }

    fn require_product(&self, a: Matrix, b: Matrix, c: Matrix) -> Result<()> {
        let offered = self.target.matrices.iter().any(|shape| {
            [a, b, c].iter().all(|&m| self.has_part(shape, m)) && shape.factor == a.elem && shape.accumulator == c.elem
        });
        if !offered || a.elem != b.elem {
            let [a, b, c] = [a, b, c].map(Type::Matrix);
            return Err(
                self.unsupported(format!("the product {a} * {b} + {c} must be offered by the device but is not."))
            );
        }
        Ok(())
    }

    fn matrix_scale(&mut self, a: Value, factor: Value) -> Result<Id> {
        let matrix = self.matrix_of(a);
        self.require_arithmetic(matrix)?;
        let factor = self.id(factor);
        let factor = self.component_from(matrix.elem, factor);
        let (ty, a) = (self.matrix_type(matrix), self.id(a));
        Ok(self.raw(Code::MatrixTimesScalar, ty, &[a, factor]))
    }

    fn matrix_add(&mut self, a: Value, b: Value) -> Result<Id> {
        let matrix = self.matrix_of(a);
        self.require_arithmetic(matrix)?;
        let (ty, a, b) = (self.matrix_type(matrix), self.id(a), self.id(b));
        let code = if is_float(matrix.elem) { Code::FAdd } else { Code::IAdd };
        Ok(self.raw(code, ty, &[a, b]))
    }

    /// bf16 matrices can be multiplied and converted, nothing else.
    fn require_arithmetic(&self, ty: Matrix) -> Result<()> {
        match ty.elem {
            Elem::BF16 => Err(self.unsupported(format!(
                "matrix arithmetic must be on f16, f32 or integers but is on {}.",
                Type::Matrix(ty)
            ))),
            _ => Ok(()),
        }
    }

    fn matrix_convert(&mut self, to: Matrix, value: Value) -> Result<Id> {
        self.require_matrix(to)?;
        let from = self.matrix_of(value);
        let mut id = self.id(value);
        if from.role != to.role {
            if !self.target.tensor_addressing {
                return Err(self.unsupported(format!(
                    "conversion of {} to {} must be offered by the device but is not.",
                    Type::Matrix(from),
                    Type::Matrix(to)
                )));
            }
            self.asm.need(Capability::CooperativeMatrixConversionsNV);
            self.asm.need_extension("SPV_NV_cooperative_matrix2");
        }
        let ty = self.matrix_type(to);
        id = match conversion(from.elem, to.elem) {
            Some(code) => self.raw(code, ty, &[id]),
            None if from.role != to.role => self.raw(Code::CooperativeMatrixConvertNV, ty, &[id]),
            None => id,
        };
        Ok(id)
    }
}

fn is_float(elem: Elem) -> bool {
    elem.compute() == Type::F32
}

/// The instruction that converts components; none if they stay as they are.
fn conversion(from: Elem, to: Elem) -> Option<Code> {
    match (is_float(from), is_float(to)) {
        _ if from == to => None,
        (true, true) => Some(Code::FConvert),
        (true, false) => Some(if to == Elem::U8 { Code::ConvertFToU } else { Code::ConvertFToS }),
        (false, true) => Some(if from == Elem::U8 { Code::ConvertUToF } else { Code::ConvertSToF }),
        (false, false) if from.bytes() == to.bytes() => None,
        (false, false) => Some(if from.is_signed() { Code::SConvert } else { Code::UConvert }),
    }
}
