//! Arrays in shared and private memory.
//!
//! A shared array is kept in its storage type where the device has that type, and in words otherwise. A private array is kept
//! in the type it is computed in, its values rounded on the way in: registers do not come narrower.

use rspirv::spirv::{Capability, MemoryAccess, Op as Code, StorageClass};

use super::emitter::Emitter;
use super::survey::Survey;
use super::words::{Id, push};
use crate::error::Result;
use crate::ir::{ArrayDecl, Place, Value};
use crate::types::{Elem, Scalar, Type};

/// An array's variable and the type of its elements.
#[derive(Clone, Copy)]
pub(super) struct ArrayVariable {
    pub variable: Id,
    /// Pointer to an element.
    pub pointer: Id,
    pub element: Id,
    pub kept: Kept,
}

/// What the components of an array are kept as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    /// The type they are computed in.
    Computed,
    /// The bits of an f32, for atomics.
    FloatBits,
    /// The bits of a narrow type, in an integer of this many.
    Narrow(u32),
}

impl Emitter<'_> {
    /// Declares the kernel's shared arrays, if they fit.
    pub fn shared_arrays(&mut self, survey: &Survey) -> Result<Vec<ArrayVariable>> {
        let decls = &self.kernel.shared;
        let kept: Vec<Kept> = (decls.iter().zip(&survey.float_atomics))
            .map(|(decl, &atomic)| if atomic { Kept::FloatBits } else { self.kept(decl.elem) })
            .collect();
        let total: u64 = decls.iter().zip(&kept).map(|(decl, &kept)| kept_bytes(decl, kept)).sum();
        if total > self.target.shared_bytes as u64 {
            return Err(self.unsupported(format!(
                "shared arrays must fit the device's {} bytes but take {total}.",
                self.target.shared_bytes
            )));
        }
        decls.iter().zip(kept).map(|(decl, kept)| self.shared_array(decl, kept)).collect()
    }

    fn shared_array(&mut self, decl: &ArrayDecl, kept: Kept) -> Result<ArrayVariable> {
        self.require_type(decl.compute())?;
        let element = self.kept_type(decl, kept);
        let len = self.asm.u32(decl.len);
        let array = self.asm.declare(Code::TypeArray, &[element, len]);
        let variable = self.asm.variable(StorageClass::Workgroup, array);
        let pointer = self.asm.pointer(StorageClass::Workgroup, element);
        Ok(ArrayVariable { variable, pointer, element, kept })
    }

    /// Declares the kernel's private arrays, all zero. Comes first in the function.
    pub fn private_arrays(&mut self) -> Vec<ArrayVariable> {
        let kernel = self.kernel;
        kernel
            .private
            .iter()
            .map(|decl| {
                let element = self.ty(decl.compute());
                let len = self.asm.u32(decl.len);
                let array = self.asm.declare(Code::TypeArray, &[element, len]);
                let pointer = self.asm.pointer(StorageClass::Function, array);
                let zero = self.asm.null(array);
                let variable = self.raw(Code::Variable, pointer, &[StorageClass::Function as u32, zero]);
                let pointer = self.asm.pointer(StorageClass::Function, element);
                ArrayVariable { variable, pointer, element, kept: Kept::Computed }
            })
            .collect()
    }

    /// What the device keeps components of a storage type as, in shared memory.
    fn kept(&self, elem: Elem) -> Kept {
        match elem.bytes() {
            1 if self.target.int8 => Kept::Narrow(8),
            2 if self.target.int16 => Kept::Narrow(16),
            1 | 2 => Kept::Narrow(32),
            _ => Kept::Computed,
        }
    }

    fn kept_type(&mut self, decl: &ArrayDecl, kept: Kept) -> Id {
        let scalar = match kept {
            Kept::Computed => return self.ty(decl.compute()),
            Kept::FloatBits | Kept::Narrow(32) => self.ty(Type::I32),
            Kept::Narrow(bits) => {
                self.asm.need(if bits == 8 { Capability::Int8 } else { Capability::Int16 });
                self.asm.narrow_int(bits)
            }
        };
        match decl.lanes {
            1 => scalar,
            n => self.asm.declare(Code::TypeVector, &[scalar, n as u32]),
        }
    }

    fn array(&self, place: Place) -> (&ArrayDecl, ArrayVariable) {
        match place {
            Place::Shared(i) => (&self.kernel.shared[i as usize], self.memory.shared[i as usize]),
            Place::Private(i) => (&self.kernel.private[i as usize], self.memory.private[i as usize]),
            Place::Buffer(_) => unreachable!("buffers are no arrays"),
        }
    }

    /// A pointer to an element of an array, `more` elements after an index.
    pub fn array_element(&mut self, place: Place, index: Value, more: usize) -> Id {
        let (_, array) = self.array(place);
        let ty = self.type_of(index);
        let mut at = self.id(index);
        if more > 0 {
            let more = self.constant(ty, more as u64);
            at = self.op(Code::IAdd, ty, &[at, more]);
        }
        self.raw(Code::AccessChain, array.pointer, &[array.variable, at])
    }

    pub fn load_array(&mut self, place: Place, index: Value, count: usize) -> Vec<Id> {
        let (decl, array) = self.array(place);
        let (elem, compute) = (decl.elem, decl.compute());
        (0..count)
            .map(|i| {
                let pointer = self.array_element(place, index, i);
                let kept = self.load_kept(place, pointer, array.element);
                let value = self.read_kept(elem, compute, array.kept, kept);
                // A private array is zero at first, and the driver sees through it.
                if matches!(place, Place::Private(_)) { self.hidden(compute, value) } else { value }
            })
            .collect()
    }

    pub fn store_array(&mut self, place: Place, index: Value, values: &[Id]) {
        let (decl, array) = self.array(place);
        let (elem, compute) = (decl.elem, decl.compute());
        for (i, &value) in values.iter().enumerate() {
            let pointer = self.array_element(place, index, i);
            let kept = match place {
                Place::Private(_) => self.narrow(elem, compute, value),
                _ => self.keep(elem, compute, array, value),
            };
            match place {
                Place::Private(_) => push(&mut self.code, Code::Store, &[pointer, kept]),
                _ => {
                    let access = MemoryAccess::NON_PRIVATE_POINTER.bits();
                    push(&mut self.code, Code::Store, &[pointer, kept, access]);
                }
            }
        }
    }

    fn load_kept(&mut self, place: Place, pointer: Id, element: Id) -> Id {
        match place {
            Place::Private(_) => self.raw(Code::Load, element, &[pointer]),
            _ => self.raw(Code::Load, element, &[pointer, MemoryAccess::NON_PRIVATE_POINTER.bits()]),
        }
    }

    /// The value of an element from what the array keeps of it.
    fn read_kept(&mut self, elem: Elem, ty: Type, kept: Kept, id: Id) -> Id {
        let Kept::Narrow(bits) = kept else {
            return if kept == Kept::FloatBits { self.op(Code::Bitcast, ty, &[id]) } else { id };
        };
        let int = ty.with_scalar(Scalar::I32);
        let word = match bits {
            32 => id,
            _ => self.op(if elem.is_signed() { Code::SConvert } else { Code::UConvert }, int, &[id]),
        };
        match elem {
            Elem::Bool => {
                let zero = self.constant(int, 0);
                self.op(Code::INotEqual, ty, &[word, zero])
            }
            Elem::F16 | Elem::BF16 => self.decode(elem, ty, word),
            _ => word,
        }
    }

    /// What an array keeps of a value.
    fn keep(&mut self, elem: Elem, ty: Type, array: ArrayVariable, value: Id) -> Id {
        let Kept::Narrow(bits) = array.kept else {
            let float_bits = array.kept == Kept::FloatBits;
            return if float_bits { self.op(Code::Bitcast, Type::I32, &[value]) } else { value };
        };
        let int = ty.with_scalar(Scalar::I32);
        let word = match elem {
            Elem::Bool => {
                let [one, zero] = [1, 0].map(|n| self.constant(int, n));
                self.select(int, value, one, zero)
            }
            Elem::F16 | Elem::BF16 => self.encode(elem, int, value),
            _ if bits == 32 => self.narrow(elem, ty, value),
            _ => value,
        };
        match bits {
            32 => word,
            _ => self.raw(Code::UConvert, array.element, &[word]),
        }
    }
}

/// Bytes that an array takes as it is kept.
fn kept_bytes(decl: &ArrayDecl, kept: Kept) -> u64 {
    let component = match kept {
        Kept::Computed => decl.elem.bytes() as u64,
        Kept::FloatBits => 4,
        Kept::Narrow(bits) => bits as u64 / 8,
    };
    component * decl.lanes as u64 * decl.len as u64
}
