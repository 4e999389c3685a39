//! One launch of a reduction: what it reads, what it writes, and the kernel between them.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Access, Buffer, Builder, Kernel, Val};

use super::combiner::{Combiner, Load, Parts, Store, typed};
use super::team::WORKGROUP;
use crate::error::Result;
use crate::eval::site::{Placed, Site};
use crate::op::Key;
use crate::typed::Typed;

/// What a launch reads.
pub(crate) enum Source {
    /// Elements.
    Input(Placed),
    /// Partial results of an earlier launch, a list for each of their scalars.
    Partial(Vec<Placed>),
}

/// Where the results of a launch go.
#[derive(Clone)]
pub(crate) enum Goal {
    /// Into an output: they are finished.
    Output(Placed),
    /// Into memory for a later launch.
    Partial(Vec<Placed>),
}

/// A launch.
pub(crate) struct Pass<'a> {
    pub combiner: &'a dyn Combiner,
    pub source: &'a Source,
    pub goal: &'a Goal,
    /// Elements an access covers.
    pub wide: usize,
    /// Whether those are consecutive elements of one row; otherwise they are of neighbouring columns and have one number.
    pub counts_on: bool,
}

impl Source {
    fn placed(&self) -> &[Placed] {
        match self {
            Source::Input(placed) => std::slice::from_ref(placed),
            Source::Partial(all) => all,
        }
    }

    /// Elements an access may cover at the address it has.
    pub fn widest(&self) -> usize {
        let wide = |placed: &Placed| (placed.align as usize / placed.dtype.size()).max(1);
        self.placed().iter().map(wide).min().unwrap_or(1)
    }
}

impl Goal {
    fn placed(&self) -> &[Placed] {
        match self {
            Goal::Output(placed) => std::slice::from_ref(placed),
            Goal::Partial(all) => all,
        }
    }
}

impl Pass<'_> {
    /// What distinguishes the kernel, as far as the pass knows.
    pub fn key(&self, kind: &str) -> Key {
        let mut key = Key::default();
        key.text(kind);
        key.text(self.combiner.name());
        self.combiner.key(&mut key);
        key.word(matches!(self.source, Source::Input(_)) as u64);
        key.word(matches!(self.goal, Goal::Output(_)) as u64);
        self.source.placed().iter().chain(self.goal.placed()).for_each(|placed| key.word(placed.dtype as u64));
        key.word(self.wide as u64);
        key
    }

    /// Launches the kernel that `write` writes.
    pub fn launch(
        &self,
        site: &mut Site<'_>,
        key: &Key,
        groups: [u32; 3],
        arguments: &[Argument],
        write: impl for<'k> FnOnce(&'k Builder, Load<'_, 'k>, Store<'_, 'k>),
    ) -> Result<()> {
        let operands: Vec<&Placed> = self.source.placed().iter().chain(self.goal.placed()).collect();
        site.launch(key, || self.kernel(write), groups, &operands, arguments)
    }

    fn kernel(&self, write: impl for<'k> FnOnce(&'k Builder, Load<'_, 'k>, Store<'_, 'k>)) -> Result<Kernel> {
        let name = format!("reduce_{}", self.combiner.name());
        Ok(Kernel::build(&name, [WORKGROUP, 1, 1], |k| {
            let declare = |letter: char, placed: &[Placed], access: Access, wide: usize| -> Vec<Buffer<'_>> {
                let buffer = |(i, placed): (usize, &Placed)| {
                    let align = (wide * placed.dtype.size()).min(16) as u32;
                    k.buffer(&format!("{letter}{i}"), placed.dtype.elem(), access, align)
                };
                placed.iter().enumerate().map(buffer).collect()
            };
            let inputs = declare('x', self.source.placed(), Access::Read, self.wide);
            let outputs = declare('y', self.goal.placed(), Access::Write, 1);
            write(k, &|place, number, count| self.load(&inputs, place, number, count), &|at, parts| {
                self.store(&outputs, at, parts);
            });
        })?)
    }

    fn load<'k>(&self, inputs: &[Buffer<'k>], place: Val<'k>, number: Val<'k>, count: usize) -> Vec<Parts<'k>> {
        let side_by_side = |buffer: &Buffer<'k>| match count {
            1 => vec![buffer.load(place)],
            _ => buffer.load_wide(place, count),
        };
        let loaded: Vec<Vec<Val>> = inputs.iter().map(side_by_side).collect();
        let one = |j: usize| match self.source {
            Source::Input(placed) => self.lift(Typed::new(loaded[0][j], placed.dtype), number, j),
            Source::Partial(_) => typed(self.combiner, &loaded.iter().map(|all| all[j]).collect::<Vec<Val>>()),
        };
        (0..count).map(one).collect()
    }

    fn lift<'k>(&self, x: Typed<'k>, number: Val<'k>, after: usize) -> Parts<'k> {
        match after {
            1.. if self.counts_on && self.combiner.numbers() => self.combiner.lift(x, number + after as i32),
            _ => self.combiner.lift(x, number),
        }
    }

    fn store<'k>(&self, outputs: &[Buffer<'k>], at: Val<'k>, parts: Parts<'k>) {
        match self.goal {
            Goal::Output(_) => outputs[0].store(at, self.combiner.finish(&parts).val),
            Goal::Partial(_) => outputs.iter().zip(parts).for_each(|(output, part)| output.store(at, part.val)),
        }
    }
}
