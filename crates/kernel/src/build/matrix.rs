//! Cooperative matrices.

use super::{Buffer, Builder, Operand, SharedArray, Val};
use crate::ir::{MatrixOp, Op, Place, Tile};
use crate::types::{Matrix, MatrixLayout, Type};

/// A rectangle of a row-major array in a buffer, in elements.
#[derive(Clone, Copy)]
pub struct TileRef<'k> {
    /// Rows of the array.
    pub rows: Val<'k>,
    /// Columns of the array.
    pub cols: Val<'k>,
    /// Elements from one row to the next.
    pub stride: Val<'k>,
    /// First row of the rectangle.
    pub row: Val<'k>,
    /// First column of the rectangle.
    pub col: Val<'k>,
    /// What every row's address is a multiple of, in bytes; the caller promises it.
    pub align: u32,
}

impl TileRef<'_> {
    fn tile(&self) -> Tile {
        Tile {
            rows: self.rows.id,
            cols: self.cols.id,
            stride: self.stride.id,
            row: self.row.id,
            col: self.col.id,
            align: self.align,
        }
    }
}

impl Builder {
    /// A matrix with one value everywhere.
    #[track_caller]
    pub fn matrix_fill<'k>(&'k self, ty: Matrix, value: impl Operand<'k>) -> Val<'k> {
        let value = value.into_val(self, ty.elem.compute());
        self.emit_one(Type::Matrix(ty), Op::Matrix(MatrixOp::Fill(ty, value.id)))
    }
}

macro_rules! matrix_accesses {
    ($($name:ident),*) => {$(
        impl<'k> $name<'k> {
            /// Loads a matrix; index and stride count elements as declared, `align` is what each row's address is a multiple
            /// of, in bytes.
            #[track_caller]
            pub fn load_matrix(
                self,
                ty: Matrix,
                index: impl Operand<'k>,
                stride: impl Operand<'k>,
                layout: MatrixLayout,
                align: u32,
            ) -> Val<'k> {
                let k = self.builder();
                let index = index.into_val(k, Type::I32).id;
                let stride = stride.into_val(k, Type::I32).id;
                let op = MatrixOp::Load { ty, place: self.place(), index, stride, layout, align };
                k.emit_one(Type::Matrix(ty), Op::Matrix(op))
            }

            /// Stores a matrix, as `load_matrix`.
            #[track_caller]
            pub fn store_matrix(
                self,
                matrix: Val<'k>,
                index: impl Operand<'k>,
                stride: impl Operand<'k>,
                layout: MatrixLayout,
                align: u32,
            ) {
                let k = self.builder();
                let index = index.into_val(k, Type::I32).id;
                let stride = stride.into_val(k, Type::I32).id;
                let matrix = matrix.id;
                let op = MatrixOp::Store { matrix, place: self.place(), index, stride, layout, align };
                k.emit_effect(Op::Matrix(op));
            }
        }
    )*};
}
matrix_accesses!(Buffer, SharedArray);

impl<'k> Buffer<'k> {
    /// Loads a matrix from a rectangle of an array, zero outside its bounds.
    #[track_caller]
    pub fn load_tile(self, ty: Matrix, tile: TileRef<'k>, transpose: bool) -> Val<'k> {
        let op = MatrixOp::LoadTile { ty, buffer: self.buffer_index(), tile: tile.tile(), transpose };
        self.builder().emit_one(Type::Matrix(ty), Op::Matrix(op))
    }

    /// Stores a matrix to a rectangle of an array, nothing outside its bounds.
    #[track_caller]
    pub fn store_tile(self, matrix: Val<'k>, tile: TileRef<'k>) {
        let op = MatrixOp::StoreTile { matrix: matrix.id, buffer: self.buffer_index(), tile: tile.tile() };
        self.builder().emit_effect(Op::Matrix(op));
    }

    fn buffer_index(self) -> u32 {
        match self.place() {
            Place::Buffer(index) => index,
            _ => unreachable!("a buffer's place is a buffer"),
        }
    }
}

impl<'k> Val<'k> {
    /// `self * b + c` of matrices.
    #[track_caller]
    pub fn matrix_mul_add(self, b: Val<'k>, c: Val<'k>) -> Val<'k> {
        self.k.emit_one(c.ty(), Op::Matrix(MatrixOp::MulAdd(self.id, b.id, c.id)))
    }

    /// Every component of the matrix times a scalar.
    #[track_caller]
    pub fn matrix_scale(self, factor: Val<'k>) -> Val<'k> {
        self.k.emit_one(self.ty(), Op::Matrix(MatrixOp::Scale(self.id, factor.id)))
    }

    /// The sum of two matrices of the same type.
    #[track_caller]
    pub fn matrix_add(self, other: Val<'k>) -> Val<'k> {
        self.k.emit_one(self.ty(), Op::Matrix(MatrixOp::Add(self.id, other.id)))
    }

    /// The matrix with other components or another role.
    #[track_caller]
    pub fn matrix_convert(self, to: Matrix) -> Val<'k> {
        self.k.emit_one(Type::Matrix(to), Op::Matrix(MatrixOp::Convert(to, self.id)))
    }
}
