//! The bytes behind buffers, shared arrays and private arrays.

use super::memory::{Binding, Memory};
use crate::ir::{ArrayDecl, Kernel, Place};
use crate::types::Elem;

/// What shared memory holds at first. The language leaves it undefined: a kernel that counts on zero should be noticed.
const UNDEFINED: u8 = 0xa5;

/// Everything a kernel can load from and store to.
pub(super) struct Places<'a, 'm> {
    kernel: &'a Kernel,
    bindings: Vec<Binding>,
    memories: &'a mut [Memory<'m>],
    shared: Vec<Vec<u8>>,
    /// Every invocation's copy, one after another.
    private: Vec<Vec<u8>>,
}

/// How an access reads or writes its elements.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// What each component is stored as.
    pub(super) component: Elem,
    /// Components of an element.
    pub(super) components: usize,
    /// Elements read or written at once.
    pub(super) count: usize,
}

impl Shape {
    /// Bytes of one element.
    pub(super) fn bytes(self) -> usize {
        self.component.bytes() * self.components
    }
}

impl<'a, 'm> Places<'a, 'm> {
    /// The arrays of a kernel, and its buffers as bound.
    pub(super) fn new(kernel: &'a Kernel, bindings: Vec<Binding>, memories: &'a mut [Memory<'m>]) -> Self {
        let copies = kernel.invocations() as usize;
        let bytes = |list: &[ArrayDecl], copies: usize| list.iter().map(|d| vec![0; d.bytes() * copies]).collect();
        let (shared, private) = (bytes(&kernel.shared, 1), bytes(&kernel.private, copies));
        Places { kernel, bindings, memories, shared, private }
    }

    /// Makes arrays what they are when a workgroup starts.
    pub(super) fn start_group(&mut self) {
        self.shared.iter_mut().for_each(|array| array.fill(UNDEFINED));
        self.private.iter_mut().for_each(|array| array.fill(0));
    }

    /// The name of a buffer or array.
    pub(super) fn name(&self, place: Place) -> &'a str {
        match place {
            Place::Buffer(i) => &self.kernel.buffers[i as usize].name,
            Place::Shared(i) => &self.kernel.shared[i as usize].name,
            Place::Private(i) => &self.kernel.private[i as usize].name,
        }
    }

    /// How an element of a place is laid out when accessed as a storage type.
    pub(super) fn shape(&self, place: Place, elem: Elem, count: usize) -> Shape {
        let lanes = match place {
            Place::Buffer(_) => 1,
            Place::Shared(i) => self.kernel.shared[i as usize].lanes as usize,
            Place::Private(i) => self.kernel.private[i as usize].lanes as usize,
        };
        match elem {
            Elem::C64 => Shape { component: Elem::F32, components: 2 * lanes, count },
            elem => Shape { component: elem, components: lanes, count },
        }
    }

    /// Bytes of a buffer or array; of one invocation's copy if private.
    pub(super) fn len(&self, place: Place) -> usize {
        match place {
            Place::Buffer(i) => self.bindings[i as usize].bytes.len(),
            Place::Shared(i) => self.shared[i as usize].len(),
            Place::Private(i) => self.kernel.private[i as usize].bytes(),
        }
    }

    /// Bytes of an element as declared.
    pub(super) fn unit(&self, place: Place) -> usize {
        let declared = |decl: &ArrayDecl| decl.elem.bytes() * decl.lanes as usize;
        match place {
            Place::Buffer(i) => self.kernel.buffers[i as usize].elem.bytes(),
            Place::Shared(i) => declared(&self.kernel.shared[i as usize]),
            Place::Private(i) => declared(&self.kernel.private[i as usize]),
        }
    }

    /// Where a buffer starts in its memory.
    pub(super) fn start(&self, place: Place) -> usize {
        match place {
            Place::Buffer(i) => self.bindings[i as usize].bytes.start,
            _ => 0,
        }
    }

    /// The memory a buffer lies in and where it starts there; none if no buffer in that memory is written.
    pub(super) fn writable_memory(&self, buffer: u32) -> Option<(usize, usize)> {
        let binding = &self.bindings[buffer as usize];
        let mut params = self.kernel.buffers.iter().zip(&self.bindings);
        let written = params.any(|(param, other)| other.memory == binding.memory && param.access.writes());
        written.then_some((binding.memory, binding.bytes.start))
    }

    /// Bytes from one invocation's copy to the next; 0 where there is but one.
    pub(super) fn copy_stride(&self, place: Place) -> usize {
        match place {
            Place::Private(_) => self.len(place),
            _ => 0,
        }
    }

    /// The bytes of a buffer or array; of all copies if private.
    pub(super) fn bytes(&self, place: Place) -> &[u8] {
        match place {
            Place::Buffer(i) => {
                let binding = &self.bindings[i as usize];
                &self.memories[binding.memory].bytes()[binding.bytes.clone()]
            }
            Place::Shared(i) => &self.shared[i as usize],
            Place::Private(i) => &self.private[i as usize],
        }
    }

    /// As `bytes`, to be written; none if the memory is only read.
    pub(super) fn bytes_mut(&mut self, place: Place) -> Option<&mut [u8]> {
        match place {
            Place::Buffer(i) => {
                let binding = &self.bindings[i as usize];
                let memory = self.memories[binding.memory].bytes_mut()?;
                Some(&mut memory[binding.bytes.clone()])
            }
            Place::Shared(i) => Some(&mut self.shared[i as usize]),
            Place::Private(i) => Some(&mut self.private[i as usize]),
        }
    }
}
