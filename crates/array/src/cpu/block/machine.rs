//! The machine: columns for the registers, and the step from one to the next.

use super::column::{Column, Kept};
use super::fma;
use super::loops::{Chunk, Function, LANES, Loop1, Loop2, Loop3};
use super::mask::{Blend, Mask};
use super::program::{Element, Move, Program, Reg, Step, Width};
use crate::error::Result;

/// A program being run, one block after another.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) narrow: Vec<Column<'a, u32>>,
    pub(super) wide: Vec<Column<'a, u64>>,
    /// Private arrays: components of elements, each a block's lanes.
    arrays: Vec<Vec<Chunk<u64>>>,
    /// Chunks of the block at hand.
    pub(super) chunks: usize,
    /// Turns of loops in the block at hand.
    pub(super) turns: u64,
}

/// The lanes of one width.
pub(super) trait Lanewise: Blend + Kept {
    fn columns<'m, 'a>(machine: &'m Machine<'a>) -> &'m [Column<'a, Self>];
    fn columns_mut<'m, 'a>(machine: &'m mut Machine<'a>) -> &'m mut [Column<'a, Self>];
    fn to_word(self) -> u64;
    fn of_word(word: u64) -> Self;
}

macro_rules! lanewise {
    ($ty:ty, $field:ident) => {
        impl Lanewise for $ty {
            fn columns<'m, 'a>(machine: &'m Machine<'a>) -> &'m [Column<'a, $ty>] {
                &machine.$field
            }
            fn columns_mut<'m, 'a>(machine: &'m mut Machine<'a>) -> &'m mut [Column<'a, $ty>] {
                &mut machine.$field
            }
            fn to_word(self) -> u64 {
                self as u64
            }
            fn of_word(word: u64) -> $ty {
                word as $ty
            }
        }
    };
}
lanewise!(u32, narrow);
lanewise!(u64, wide);

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        self.narrow.iter_mut().for_each(Column::give_back);
        self.wide.iter_mut().for_each(Column::give_back);
    }
}

impl<'a> Machine<'a> {
    pub(super) fn new(program: &'a Program) -> Machine<'a> {
        Machine {
            program,
            narrow: std::iter::repeat_with(Column::default).take(program.narrow).collect(),
            wide: std::iter::repeat_with(Column::default).take(program.wide).collect(),
            arrays: vec![Vec::new(); program.arrays.len()],
            chunks: 0,
            turns: 0,
        }
    }

    /// Runs the steps for a block of this many lanes, whose inputs are in place.
    pub(super) fn run(&mut self, lanes: usize) -> Result<()> {
        self.chunks = lanes.div_ceil(LANES);
        self.turns = 0;
        for (array, held) in self.program.arrays.iter().zip(&mut self.arrays) {
            held.clear();
            held.resize(array.len * array.components * self.chunks, [0; LANES]);
        }
        let program = self.program;
        self.steps(&program.steps, &Mask::first(lanes))
    }

    pub(super) fn steps(&mut self, steps: &'a [Step], mask: &Mask) -> Result<()> {
        for step in steps {
            match step {
                Step::Apply { function, out, operands } => self.apply(*function, *out, operands),
                Step::Copy(m) => self.transfer(m, mask),
                Step::Load { out, at } => self.load(*out, at, mask)?,
                Step::Store { value, at } => self.store(*value, at, mask)?,
                Step::If { condition, then, otherwise } => self.branch(*condition, then, otherwise, mask)?,
                Step::For { .. } => self.count(step, mask)?,
                Step::While { .. } => self.repeat(step, mask)?,
            }
        }
        Ok(())
    }

    fn apply(&mut self, function: Function, out: Reg, operands: &[Reg]) {
        match function {
            Function::Narrow1(f) => self.apply1(f, out, operands),
            Function::Narrow2(f) => self.apply2(f, out, operands),
            Function::Narrow3(f) => self.apply3(f, out, operands),
            Function::Wide1(f) => self.apply1(f, out, operands),
            Function::Wide2(f) => self.apply2(f, out, operands),
            Function::Wide3(f) => self.apply3(f, out, operands),
            Function::Widen(f) => self.apply1(f, out, operands),
            Function::Shrink(f) => self.apply1(f, out, operands),
            Function::Test(f) => self.apply2(f, out, operands),
            Function::Join(f) => self.apply2(f, out, operands),
            Function::Choose(f) => self.apply3(f, out, operands),
            Function::Polynomial(number) => self.polynomial(number, out, operands),
        }
    }

    fn polynomial(&mut self, number: usize, out: Reg, from: &[Reg]) {
        let mut column = self.take::<u32>(out);
        let (first, x) = (self.column::<u32>(from[0]), self.column::<u32>(from[1]));
        let memory = column.overwrite(self.chunks, first.is_uniform() && x.is_uniform());
        fma::polynomial(memory, first.lanes(), x.lanes(), &self.program.polynomials[number]);
        self.put(out, column);
    }

    fn apply1<R: Lanewise, A: Lanewise>(&mut self, f: Loop1<R, A>, out: Reg, from: &[Reg]) {
        let mut column = self.take::<R>(out);
        let a = self.column::<A>(from[0]);
        f(column.overwrite(self.chunks, a.is_uniform()), a.lanes());
        self.put(out, column);
    }

    fn apply2<R: Lanewise, A: Lanewise, B: Lanewise>(&mut self, f: Loop2<R, A, B>, out: Reg, from: &[Reg]) {
        let mut column = self.take::<R>(out);
        let (a, b) = (self.column::<A>(from[0]), self.column::<B>(from[1]));
        f(column.overwrite(self.chunks, a.is_uniform() && b.is_uniform()), a.lanes(), b.lanes());
        self.put(out, column);
    }

    fn apply3<R: Lanewise, A: Lanewise, B: Lanewise, C: Lanewise>(
        &mut self,
        f: Loop3<R, A, B, C>,
        out: Reg,
        from: &[Reg],
    ) {
        let mut column = self.take::<R>(out);
        let (a, b, c) = (self.column::<A>(from[0]), self.column::<B>(from[1]), self.column::<C>(from[2]));
        let uniform = a.is_uniform() && b.is_uniform() && c.is_uniform();
        f(column.overwrite(self.chunks, uniform), a.lanes(), b.lanes(), c.lanes());
        self.put(out, column);
    }

    /// Does a move for active lanes.
    pub(super) fn transfer(&mut self, m: &Move, mask: &Mask) {
        match m.to.width {
            Width::Narrow => self.transfer_lanes::<u32>(m, mask),
            Width::Wide => self.transfer_lanes::<u64>(m, mask),
        }
    }

    fn transfer_lanes<T: Lanewise>(&mut self, m: &Move, mask: &Mask) {
        if m.last && mask.is_all() {
            T::columns_mut(self).swap(m.to.number as usize, m.from.number as usize);
            return;
        }
        let mut to = self.take::<T>(m.to);
        let from = self.column::<T>(m.from);
        if mask.is_all() {
            mask.copy(to.overwrite(self.chunks, from.is_uniform()), from.lanes());
        } else {
            mask.copy(to.change(self.chunks), from.lanes());
        }
        self.put(m.to, to);
    }

    fn load(&mut self, out: Reg, at: &Element, mask: &Mask) -> Result<()> {
        let addresses = self.addresses(at, mask)?;
        match out.width {
            Width::Narrow => self.load_lanes::<u32>(out, at, &addresses),
            Width::Wide => self.load_lanes::<u64>(out, at, &addresses),
        }
        Ok(())
    }

    fn load_lanes<T: Lanewise>(&mut self, out: Reg, at: &Element, addresses: &[usize]) {
        let mut column = self.take::<T>(out);
        let array = &self.arrays[at.array];
        let lanes = column.overwrite(self.chunks, false).as_flattened_mut();
        for (lane, (out, address)) in lanes.iter_mut().zip(addresses).enumerate() {
            *out = T::of_word(array[address * self.chunks + lane / LANES][lane % LANES]);
        }
        self.put(out, column);
    }

    fn store(&mut self, value: Reg, at: &Element, mask: &Mask) -> Result<()> {
        let addresses = self.addresses(at, mask)?;
        match value.width {
            Width::Narrow => self.store_lanes::<u32>(value, at, &addresses, mask),
            Width::Wide => self.store_lanes::<u64>(value, at, &addresses, mask),
        }
        Ok(())
    }

    fn store_lanes<T: Lanewise>(&mut self, value: Reg, at: &Element, addresses: &[usize], mask: &Mask) {
        let mut array = std::mem::take(&mut self.arrays[at.array]);
        let lanes = self.column::<T>(value).lanes();
        for (lane, address) in addresses.iter().enumerate().filter(|(lane, _)| mask.holds(*lane)) {
            let word = lanes.at(lane / LANES)[lane % LANES].to_word();
            array[address * self.chunks + lane / LANES][lane % LANES] = word;
        }
        self.arrays[at.array] = array;
    }

    /// Which component of the array every lane means; the first for lanes that are not active.
    fn addresses(&self, at: &Element, mask: &Mask) -> Result<Vec<usize>> {
        let array = &self.program.arrays[at.array];
        let word = |lane: usize| match at.index.width {
            Width::Narrow => self.column::<u32>(at.index).lanes().at(lane / LANES)[lane % LANES].to_word(),
            Width::Wide => self.column::<u64>(at.index).lanes().at(lane / LANES)[lane % LANES],
        };
        let mut addresses = vec![0; self.chunks * LANES];
        for (lane, address) in addresses.iter_mut().enumerate().filter(|(lane, _)| mask.holds(*lane)) {
            let index = word(lane);
            let place = usize::try_from(index).ok().and_then(|i| i.checked_mul(at.scale)?.checked_add(at.offset));
            let inside = place.filter(|place| *place < array.len * array.components);
            *address = inside.ok_or_else(|| self.out_of_bounds(at, index))?;
        }
        Ok(addresses)
    }

    #[cold]
    fn out_of_bounds(&self, at: &Element, index: u64) -> pumice_kernel::Error {
        let array = &self.program.arrays[at.array];
        let (kernel, place, bound) = (self.program.name.clone(), array.name.clone(), array.len as u64);
        pumice_kernel::Error::OutOfBounds { kernel, line: at.line, place, index, bound }
    }

    /// The column of a register.
    pub(super) fn column<T: Lanewise>(&self, reg: Reg) -> &Column<'a, T> {
        &T::columns(self)[reg.number as usize]
    }

    /// Takes a column out to be written while others are read; `put` it back.
    pub(super) fn take<T: Lanewise>(&mut self, reg: Reg) -> Column<'a, T> {
        std::mem::take(&mut T::columns_mut(self)[reg.number as usize])
    }

    /// Puts a column back.
    pub(super) fn put<T: Lanewise>(&mut self, reg: Reg, column: Column<'a, T>) {
        T::columns_mut(self)[reg.number as usize] = column;
    }
}
