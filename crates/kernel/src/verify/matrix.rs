//! The rules of cooperative matrices: component types, roles, shapes, and the memory they come from.

use super::memory::{readable, writable};
use super::{Rule, gives, gives_nothing, takes, takes_index};
use crate::ir::{Inst, Kernel, MatrixOp, Place, Tile, Value};
use crate::types::{Elem, Matrix, MatrixRole, MatrixScope, Type};

pub(super) fn check(kernel: &Kernel, inst: &Inst, op: &MatrixOp) -> Rule {
    match op {
        MatrixOp::Fill(ty, value) => {
            takes(kernel, "the value that fills a matrix", *value, ty.elem.compute())?;
            gives_matrix(kernel, inst, *ty)
        }
        MatrixOp::Load { ty, place, index, stride, align, .. } => {
            readable(kernel, *place)?;
            area(kernel, *ty, *place, [*index, *stride], *align)?;
            gives_matrix(kernel, inst, *ty)
        }
        MatrixOp::Store { matrix, place, index, stride, align, .. } => {
            writable(kernel, *place)?;
            let ty = matrix_of(kernel, *matrix)?;
            area(kernel, ty, *place, [*index, *stride], *align)?;
            gives_nothing(inst)
        }
        MatrixOp::LoadTile { ty, buffer, tile, .. } => {
            readable(kernel, Place::Buffer(*buffer))?;
            rectangle(kernel, *ty, *buffer, tile)?;
            gives_matrix(kernel, inst, *ty)
        }
        MatrixOp::StoreTile { matrix, buffer, tile } => {
            writable(kernel, Place::Buffer(*buffer))?;
            rectangle(kernel, matrix_of(kernel, *matrix)?, *buffer, tile)?;
            gives_nothing(inst)
        }
        MatrixOp::MulAdd(a, b, c) => {
            let [a, b, c] = [matrix_of(kernel, *a)?, matrix_of(kernel, *b)?, matrix_of(kernel, *c)?];
            product(a, b, c)?;
            gives_matrix(kernel, inst, c)
        }
        MatrixOp::Scale(a, factor) => {
            let ty = matrix_of(kernel, *a)?;
            takes(kernel, "the factor of matrix_scale", *factor, ty.elem.compute())?;
            gives_matrix(kernel, inst, ty)
        }
        MatrixOp::Add(a, b) => {
            let [a, b] = [matrix_of(kernel, *a)?, matrix_of(kernel, *b)?];
            if a != b {
                return Err(format!(
                    "the operands of matrix_add must have equal types but are {} and {}.",
                    Type::Matrix(a),
                    Type::Matrix(b)
                ));
            }
            gives_matrix(kernel, inst, a)
        }
        MatrixOp::Convert(ty, a) => {
            let from = matrix_of(kernel, *a)?;
            if (from.rows, from.cols, from.scope) != (ty.rows, ty.cols, ty.scope) {
                return Err(format!(
                    "matrix_convert must keep shape and scope but takes {} to {}.",
                    Type::Matrix(from),
                    Type::Matrix(*ty)
                ));
            }
            gives_matrix(kernel, inst, *ty)
        }
    }
}

fn matrix_of(kernel: &Kernel, value: Value) -> Result<Matrix, String> {
    match kernel.type_of(value) {
        Type::Matrix(m) => Ok(m),
        other => Err(format!("the operand of a matrix operation must be a matrix but is {other}.")),
    }
}

fn gives_matrix(kernel: &Kernel, inst: &Inst, ty: Matrix) -> Rule {
    use Elem::{BF16, F16, F32, I8, I32, U8};
    if !matches!(ty.elem, F16 | BF16 | F32 | I8 | U8 | I32) {
        return Err(format!("a matrix must be of f16, bf16, f32, i8, u8 or i32 but is of {}.", ty.elem.name()));
    }
    if ty.rows == 0 || ty.cols == 0 {
        return Err(format!("a matrix must have rows and columns but is {} x {}.", ty.rows, ty.cols));
    }
    gives(kernel, inst, Type::Matrix(ty))
}

/// What a matrix is loaded from or stored to, its rows apart by a stride.
fn area(kernel: &Kernel, ty: Matrix, place: Place, [index, stride]: [Value; 2], align: u32) -> Rule {
    takes_index(kernel, "the index of a matrix", index)?;
    takes_index(kernel, "the stride of a matrix", stride)?;
    aligned(align)?;
    let (name, elem, lanes) = match place {
        Place::Buffer(i) => (&kernel.buffers[i as usize].name, kernel.buffers[i as usize].elem, 1),
        Place::Shared(i) => {
            let decl = &kernel.shared[i as usize];
            (&decl.name, decl.elem, decl.lanes as usize)
        }
        Place::Private(i) => {
            let name = &kernel.private[i as usize].name;
            return Err(format!("a matrix must lie in a buffer or a shared array but lies in private array {name}."));
        }
    };
    let packs = elem == Elem::U32;
    if elem != ty.elem && !packs || elem == ty.elem && lanes != 1 {
        return Err(format!(
            "a matrix of {} must lie in elements of its own type or packed in u32 but {name} holds {} x {lanes}.",
            ty.elem.name(),
            elem.name()
        ));
    }
    Ok(())
}

fn rectangle(kernel: &Kernel, ty: Matrix, buffer: u32, tile: &Tile) -> Rule {
    let declared = &kernel.buffers[buffer as usize];
    if declared.elem != ty.elem {
        return Err(format!(
            "a tile of {} must lie in a buffer of its own type but {} holds {}.",
            ty.elem.name(),
            declared.name,
            declared.elem.name()
        ));
    }
    aligned(tile.align)?;
    tile.values().into_iter().try_for_each(|v| takes(kernel, "the numbers of a tile", v, Type::I32))
}

fn aligned(align: u32) -> Rule {
    match align.is_power_of_two() {
        true => Ok(()),
        false => Err(format!("the alignment of a matrix must be a power of two but is {align}.")),
    }
}

fn product(a: Matrix, b: Matrix, c: Matrix) -> Rule {
    let roles = [a.role, b.role, c.role];
    let scopes: [MatrixScope; 3] = [a.scope, b.scope, c.scope];
    let fits = roles == [MatrixRole::A, MatrixRole::B, MatrixRole::Accumulator]
        && scopes[1] == scopes[0]
        && scopes[2] == scopes[0]
        && a.cols == b.rows
        && (c.rows, c.cols) == (a.rows, b.cols);
    if !fits {
        return Err(format!(
            "matrix_mul_add must take m x k (a), k x n (b) and m x n (acc) of one scope but takes {}, {} and {}.",
            Type::Matrix(a),
            Type::Matrix(b),
            Type::Matrix(c)
        ));
    }
    let floats = |m: Matrix| m.elem.compute() == Type::F32;
    if a.elem != b.elem && floats(a) || floats(a) != floats(b) || floats(a) != floats(c) {
        return Err(format!(
            "the types of matrix_mul_add must agree but are {}, {} and {}.",
            a.elem.name(),
            b.elem.name(),
            c.elem.name()
        ));
    }
    Ok(())
}
