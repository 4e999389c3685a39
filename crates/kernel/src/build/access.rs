//! Handles to buffers and arrays: loads, stores, atomics.

use super::{Builder, Operand, Val};
use crate::ir::{AtomicOp, Op, Place};
use crate::types::{Elem, Type};

/// A buffer argument, seen as elements of a storage type.
#[derive(Clone, Copy)]
pub struct Buffer<'k> {
    k: &'k Builder,
    index: u32,
    elem: Elem,
}

/// An array in the workgroup's shared memory.
#[derive(Clone, Copy)]
pub struct SharedArray<'k> {
    k: &'k Builder,
    index: u32,
    elem: Elem,
}

/// An array of the invocation's own.
#[derive(Clone, Copy)]
pub struct PrivateArray<'k> {
    k: &'k Builder,
    index: u32,
    elem: Elem,
}

macro_rules! accesses {
    ($name:ident, $place:ident) => {
        impl<'k> $name<'k> {
            pub(super) fn new(k: &'k Builder, index: u32, elem: Elem) -> Self {
                $name { k, index, elem }
            }

            /// The kernel being written.
            pub fn builder(self) -> &'k Builder {
                self.k
            }

            /// What its elements are stored as.
            pub fn elem(self) -> Elem {
                self.elem
            }

            /// Where it stands in the kernel's list.
            pub fn place(self) -> Place {
                Place::$place(self.index)
            }

            /// Reads the element at an index.
            #[track_caller]
            pub fn load(self, index: impl Operand<'k>) -> Val<'k> {
                let index = index.into_val(self.k, Type::I32);
                let op = Op::Load { place: self.place(), elem: self.elem, index: index.id };
                self.k.emit_one(self.compute(), op)
            }

            /// Writes the element at an index; a literal takes the element's type.
            #[track_caller]
            pub fn store(self, index: impl Operand<'k>, value: impl Operand<'k>) {
                let index = index.into_val(self.k, Type::I32);
                let value = value.into_val(self.k, self.compute());
                let (place, elem) = (self.place(), self.elem);
                self.k.emit_effect(Op::Store { place, elem, index: index.id, values: vec![value.id] });
            }
        }
    };
}
accesses!(Buffer, Buffer);
accesses!(SharedArray, Shared);
accesses!(PrivateArray, Private);

impl<'k> Buffer<'k> {
    fn compute(self) -> Type {
        self.elem.compute()
    }

    /// The same memory seen as elements of another storage type; indices count those.
    pub fn view(self, elem: Elem) -> Buffer<'k> {
        Buffer { elem, ..self }
    }

    /// Reads `count` (2, 4, 8, 16) consecutive elements in one access of at most 16 bytes. The index must be a multiple of
    /// `count`, and the address aligned to the access.
    #[track_caller]
    pub fn load_wide(self, index: impl Operand<'k>, count: usize) -> Vec<Val<'k>> {
        let index = index.into_val(self.k, Type::I32);
        let types = vec![self.compute(); count];
        self.k.emit(&types, Op::Load { place: self.place(), elem: self.elem, index: index.id })
    }

    /// Writes consecutive elements in one access, under the rules of `load_wide`.
    #[track_caller]
    pub fn store_wide(self, index: impl Operand<'k>, values: &[Val<'k>]) {
        let index = index.into_val(self.k, Type::I32);
        let values = values.iter().map(|v| v.id).collect();
        self.k.emit_effect(Op::Store { place: self.place(), elem: self.elem, index: index.id, values });
    }
}

impl SharedArray<'_> {
    fn compute(self) -> Type {
        self.k.state.borrow().kernel.shared[self.index as usize].compute()
    }
}

impl PrivateArray<'_> {
    fn compute(self) -> Type {
        self.elem.compute()
    }
}

/// Atomic operations; each gives what was there before.
macro_rules! atomics {
    ($name:ident: $($(#[$doc:meta])* $method:ident $op:ident;)*) => {
        impl<'k> $name<'k> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $method(self, index: impl Operand<'k>, value: impl Operand<'k>) -> Val<'k> {
                    self.atomic(AtomicOp::$op, index, value, None)
                }
            )*

            /// If the element equals `expected`, replaces it; gives what was there before.
            #[track_caller]
            pub fn atomic_compare_exchange(
                self,
                index: impl Operand<'k>,
                expected: impl Operand<'k>,
                value: impl Operand<'k>,
            ) -> Val<'k> {
                let expected = expected.into_val(self.k, self.elem.compute());
                self.atomic(AtomicOp::CompareExchange, index, value, Some(expected))
            }

            #[track_caller]
            fn atomic(
                self,
                op: AtomicOp,
                index: impl Operand<'k>,
                value: impl Operand<'k>,
                expected: Option<Val<'k>>,
            ) -> Val<'k> {
                let index = index.into_val(self.k, Type::I32);
                let value = value.into_val(self.k, self.elem.compute());
                let expected = expected.map(|v| v.id);
                let (place, elem) = (self.place(), self.elem);
                let op = Op::Atomic { op, place, elem, index: index.id, value: value.id, expected };
                self.k.emit_one(self.elem.compute(), op)
            }
        }
    };
}

macro_rules! atomic_list {
    ($($name:ident),*) => {$(
        atomics! { $name:
            /// Adds to the element.
            atomic_add Add;
            /// Takes the minimum, by the storage type's sign.
            atomic_min Min;
            /// Takes the maximum, by the storage type's sign.
            atomic_max Max;
            /// Bitwise and.
            atomic_and And;
            /// Bitwise or.
            atomic_or Or;
            /// Bitwise exclusive or.
            atomic_xor Xor;
            /// Replaces the element.
            atomic_exchange Exchange;
        }
    )*};
}
atomic_list!(Buffer, SharedArray);
