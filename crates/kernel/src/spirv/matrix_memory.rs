//! Cooperative matrices from and to memory: rows apart by a stride, in buffers and shared arrays.

use rspirv::spirv::{Capability, CooperativeMatrixLayout, Decoration, MemoryAccess, Op as Code, StorageClass};

use super::arrays::Kept;
use super::emitter::Emitter;
use super::words::{Id, push};
use crate::error::Result;
use crate::ir::{Place, Value};
use crate::types::{Elem, Matrix, MatrixLayout, Type};

impl Emitter<'_> {
    pub fn matrix_load(
        &mut self,
        ty: Matrix,
        place: Place,
        [index, stride]: [Value; 2],
        layout: MatrixLayout,
        align: u32,
    ) -> Result<Id> {
        let pointer = self.matrix_pointer(place, index)?;
        let (layout, stride) = (self.matrix_layout(layout), self.id(stride));
        let ty = self.matrix_type(ty);
        let [access, align] = self.matrix_access(place, align);
        Ok(self.raw(Code::CooperativeMatrixLoadKHR, ty, &[pointer, layout, stride, access, align]))
    }

    pub fn matrix_store(
        &mut self,
        matrix: Value,
        place: Place,
        [index, stride]: [Value; 2],
        layout: MatrixLayout,
        align: u32,
    ) -> Result<()> {
        let pointer = self.matrix_pointer(place, index)?;
        let (layout, stride, matrix) = (self.matrix_layout(layout), self.id(stride), self.id(matrix));
        let [access, align] = self.matrix_access(place, align);
        push(&mut self.code, Code::CooperativeMatrixStoreKHR, &[pointer, matrix, layout, stride, access, align]);
        Ok(())
    }

    fn matrix_layout(&mut self, layout: MatrixLayout) -> Id {
        self.asm.u32(match layout {
            MatrixLayout::RowMajor => CooperativeMatrixLayout::RowMajorKHR,
            MatrixLayout::ColumnMajor => CooperativeMatrixLayout::ColumnMajorKHR,
        } as u32)
    }

    /// The alignment of a matrix's rows, and whether barriers order the access.
    fn matrix_access(&self, place: Place, align: u32) -> [u32; 2] {
        match place {
            Place::Buffer(buffer) => self.buffer_access(buffer, align),
            _ => [(MemoryAccess::ALIGNED | MemoryAccess::NON_PRIVATE_POINTER).bits(), align],
        }
    }

    /// A pointer to an element as the place declares it; it must point into an array.
    fn matrix_pointer(&mut self, place: Place, index: Value) -> Result<Id> {
        let Place::Buffer(buffer) = place else {
            if let Place::Shared(i) = place {
                self.require_packed(i)?;
            }
            return Ok(self.array_element(place, index, 0));
        };
        let elem = self.kernel.buffers[buffer as usize].elem;
        let base = self.memory.addresses[buffer as usize];
        let index = self.wide_index(index);
        Ok(self.typed_element(base, elem, index))
    }

    /// A shared array that a matrix lies in must be kept as densely as it was declared.
    fn require_packed(&self, array: u32) -> Result<()> {
        let elem = self.kernel.shared[array as usize].elem;
        match self.memory.shared[array as usize].kept {
            Kept::Narrow(32) => Err(self.unsupported(format!(
                "shared arrays of {} must be offered by the device to hold a matrix but are not.",
                elem.name()
            ))),
            _ => Ok(()),
        }
    }

    /// A pointer to an element of an array of a matrix's components that starts at an address.
    pub fn typed_element(&mut self, base: Id, elem: Elem, index: Id) -> Id {
        let component = match elem {
            Elem::U32 => self.ty(Type::I32),
            _ => self.matrix_component(elem),
        };
        match elem.bytes() {
            1 => self.asm.need(Capability::StorageBuffer8BitAccess),
            2 => self.asm.need(Capability::StorageBuffer16BitAccess),
            _ => {}
        }
        let array = self.runtime_array(component, elem.bytes() as u32);
        let pointer = self.pointer_at(base, array);
        let zero = self.asm.u32(0);
        let ty = self.asm.pointer(StorageClass::PhysicalStorageBuffer, component);
        self.raw(Code::AccessChain, ty, &[pointer, zero, index])
    }

    /// A block with an array of elements; one per element type.
    fn runtime_array(&mut self, element: Id, stride: u32) -> Id {
        if let Some(&(_, id)) = self.asm.runtime_arrays.iter().find(|(known, _)| *known == element) {
            return id;
        }
        let array = self.asm.declare_new(Code::TypeRuntimeArray, &[element]);
        self.asm.decorate(array, Decoration::ArrayStride, &[stride]);
        let block = self.asm.declare_new(Code::TypeStruct, &[array]);
        self.asm.decorate(block, Decoration::Block, &[]);
        self.asm.decorate_member(block, 0, Decoration::Offset, &[0]);
        self.asm.runtime_arrays.push((element, block));
        block
    }
}
