//! Tiles of two-dimensional arrays, clipped to the array's bounds (SPV_NV_tensor_addressing).
//!
//! The array is a tensor layout: its dimensions, its strides and the rectangle that is meant. Alignment is what makes this
//! fast on NVIDIA (9-45 TFLOP/s without, 189-209 with), and the driver sees it only in the numbers: so the address and the
//! row stride are masked to what the kernel promises they are multiples of.

use rspirv::spirv::{Capability, Op as Code, TensorAddressingOperands, TensorClampMode};

use super::emitter::Emitter;
use super::words::{Id, push_parts};
use crate::error::Result;
use crate::ir::{Tile, Value};
use crate::types::{Matrix, Type};

impl Emitter<'_> {
    pub fn tile_load(&mut self, ty: Matrix, buffer: u32, tile: &Tile, transpose: bool) -> Result<Id> {
        self.require_tensors()?;
        let spans = if transpose { [ty.cols, ty.rows] } else { [ty.rows, ty.cols] };
        let layout = self.tensor_layout(buffer, tile, spans);
        let pointer = self.tile_pointer(buffer, tile);
        let matrix = self.matrix_type(ty);
        let component = self.matrix_component(ty.elem);
        let zero = self.asm.null(component);
        // What lies outside is the clamp value, zero; the object is what a tensor view's clipping would leave.
        let object = self.raw(Code::CompositeConstruct, matrix, &[zero]);
        let access = self.buffer_access(buffer, tile.align);
        let mut operands = vec![pointer, object, layout];
        operands.extend(access);
        match transpose {
            false => operands.push(TensorAddressingOperands::NONE.bits()),
            true => {
                operands.push(TensorAddressingOperands::TENSOR_VIEW.bits());
                operands.push(self.transposed_view());
            }
        }
        Ok(self.raw(Code::CooperativeMatrixLoadTensorNV, matrix, &operands))
    }

    pub fn tile_store(&mut self, matrix: Value, buffer: u32, tile: &Tile) -> Result<()> {
        self.require_tensors()?;
        let ty = self.matrix_of(matrix);
        let layout = self.tensor_layout(buffer, tile, [ty.rows, ty.cols]);
        let pointer = self.tile_pointer(buffer, tile);
        let access = self.buffer_access(buffer, tile.align);
        let head = [pointer, self.id(matrix), layout];
        let tail = [access[0], access[1], TensorAddressingOperands::NONE.bits()];
        push_parts(&mut self.code, Code::CooperativeMatrixStoreTensorNV, &head, &tail);
        Ok(())
    }

    fn require_tensors(&mut self) -> Result<()> {
        if !self.target.tensor_addressing {
            return Err(self.unsupported("tiles of matrices must be offered by the device but are not.".into()));
        }
        self.asm.need(Capability::TensorAddressingNV);
        self.asm.need(Capability::CooperativeMatrixTensorAddressingNV);
        self.asm.need_extension("SPV_NV_tensor_addressing");
        self.asm.need_extension("SPV_NV_cooperative_matrix2");
        Ok(())
    }

    /// The array as it lies in memory, and the rectangle of it.
    fn tensor_layout(&mut self, buffer: u32, tile: &Tile, spans: [u32; 2]) -> Id {
        let bytes = self.kernel.buffers[buffer as usize].elem.bytes() as u32;
        let [two, clamp, one] = [2, TensorClampMode::Constant as u32, 1].map(|n| self.asm.u32(n));
        let [height, width] = spans.map(|n| self.asm.u32(n));
        let ty = self.asm.declare(Code::TypeTensorLayoutNV, &[two, clamp]);
        let [rows, cols, stride, row, col] = tile.values().map(|v| self.id(v));
        let stride = self.masked(Type::I32, stride, tile.align / bytes);
        let layout = self.raw(Code::CreateTensorLayoutNV, ty, &[]);
        let layout = self.raw(Code::TensorLayoutSetDimensionNV, ty, &[layout, rows, cols]);
        let layout = self.raw(Code::TensorLayoutSetStrideNV, ty, &[layout, stride, one]);
        self.raw(Code::TensorLayoutSliceNV, ty, &[layout, row, height, col, width])
    }

    fn tile_pointer(&mut self, buffer: u32, tile: &Tile) -> Id {
        let elem = self.kernel.buffers[buffer as usize].elem;
        let base = self.memory.addresses[buffer as usize];
        let base = self.masked(Type::I64, base, tile.align);
        let zero = self.asm.u32(0);
        self.typed_element(base, elem, zero)
    }

    /// A number that is a multiple of a power of two, so that the driver can see it.
    fn masked(&mut self, ty: Type, value: Id, multiple: u32) -> Id {
        if multiple <= 1 {
            return value;
        }
        let below = multiple as u64 - 1;
        let mask = self.constant(ty, if ty == Type::I32 { !(below as u32) as u64 } else { !below });
        self.op(Code::BitwiseAnd, ty, &[value, mask])
    }

    /// Rows and columns the other way round.
    fn transposed_view(&mut self) -> Id {
        let [two, zero, one] = [2, 0, 1].map(|n| self.asm.u32(n));
        let without_dimensions = self.constant(Type::BOOL, 0);
        let ty = self.asm.declare(Code::TypeTensorViewNV, &[two, without_dimensions, one, zero]);
        self.raw(Code::CreateTensorViewNV, ty, &[])
    }
}
