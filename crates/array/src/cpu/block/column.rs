//! A register's lanes: its own memory, or an operand's where no copy is needed.

use std::cell::RefCell;

use super::loops::{Chunk, LANES, Lanes};

/// Memory of registers that a thread keeps for its next programs: asking for it costs short ones as much as their steps.
const MOST_SPARE: usize = 64;

thread_local! {
    static NARROW: RefCell<Vec<Vec<Chunk<u32>>>> = const { RefCell::new(Vec::new()) };
    static WIDE: RefCell<Vec<Vec<Chunk<u64>>>> = const { RefCell::new(Vec::new()) };
}

/// Lanes whose memory is kept.
pub(super) trait Kept: Copy + Default + 'static {
    /// What a thread keeps of them.
    fn with_spare<R>(f: impl FnOnce(&mut Vec<Vec<Chunk<Self>>>) -> R) -> R;
}

impl Kept for u32 {
    fn with_spare<R>(f: impl FnOnce(&mut Vec<Vec<Chunk<u32>>>) -> R) -> R {
        NARROW.with_borrow_mut(f)
    }
}

impl Kept for u64 {
    fn with_spare<R>(f: impl FnOnce(&mut Vec<Vec<Chunk<u64>>>) -> R) -> R {
        WIDE.with_borrow_mut(f)
    }
}

/// The lanes of a register for the block at hand.
pub(super) struct Column<'a, T> {
    /// Memory of its own; made when it is first written.
    own: Vec<Chunk<T>>,
    place: Place<'a, T>,
    /// Whether all lanes are the same; then only the first chunk counts.
    uniform: bool,
}

/// Where the lanes are.
enum Place<'a, T> {
    Own,
    /// An input's memory, or a constant.
    Read(&'a [Chunk<T>]),
    /// An output's memory.
    Write(&'a mut [Chunk<T>]),
}

impl<T> Default for Column<'_, T> {
    fn default() -> Self {
        Column { own: Vec::new(), place: Place::Own, uniform: false }
    }
}

impl<'a, T: Kept> Column<'a, T> {
    /// Lets the lanes be those of an input, or one chunk for all.
    pub(super) fn read_from(&mut self, chunks: &'a [Chunk<T>], uniform: bool) {
        (self.place, self.uniform) = (Place::Read(chunks), uniform);
    }

    /// Lets the lanes be those of an output.
    pub(super) fn write_to(&mut self, chunks: &'a mut [Chunk<T>]) {
        (self.place, self.uniform) = (Place::Write(chunks), false);
    }

    /// Lets the lanes be in the register's own memory.
    pub(super) fn keep(&mut self) {
        self.place = Place::Own;
    }

    /// Whether the lanes are an output's memory.
    pub(super) fn is_output(&self) -> bool {
        matches!(self.place, Place::Write(_))
    }

    /// Whether all lanes are the same.
    pub(super) fn is_uniform(&self) -> bool {
        self.uniform
    }

    /// The lanes, as an operand.
    pub(super) fn lanes(&self) -> Lanes<'_, T> {
        let chunks = match &self.place {
            Place::Own => &self.own[..],
            Place::Read(chunks) => chunks,
            Place::Write(chunks) => chunks,
        };
        Lanes::new(chunks, self.uniform)
    }

    /// Room for lanes that will all be overwritten: a chunk if they are all the same.
    pub(super) fn overwrite(&mut self, chunks: usize, uniform: bool) -> &mut [Chunk<T>] {
        self.uniform = uniform;
        self.memory(if uniform { 1 } else { chunks })
    }

    /// The lanes, to be changed one by one.
    pub(super) fn change(&mut self, chunks: usize) -> &mut [Chunk<T>] {
        let uniform = std::mem::take(&mut self.uniform);
        let memory = self.memory(chunks);
        if uniform && let Some((first, rest)) = memory.split_first_mut() {
            rest.fill(*first);
        }
        memory
    }

    /// Gives its own memory back to the thread.
    pub(super) fn give_back(&mut self) {
        let own = std::mem::take(&mut self.own);
        if !own.is_empty() {
            T::with_spare(|spare| {
                if spare.len() < MOST_SPARE {
                    spare.push(own)
                }
            });
        }
    }

    fn memory(&mut self, chunks: usize) -> &mut [Chunk<T>] {
        match &mut self.place {
            Place::Write(memory) => &mut memory[..chunks],
            place => {
                *place = Place::Own;
                if self.own.is_empty() {
                    self.own = T::with_spare(Vec::pop).unwrap_or_default();
                }
                if self.own.len() < chunks {
                    self.own.resize(chunks, [T::default(); LANES]);
                }
                &mut self.own[..chunks]
            }
        }
    }
}
