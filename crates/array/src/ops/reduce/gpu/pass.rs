//! One launch of a reduction: what it reads, what it writes, and the kernel between them.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Access, Buffer, Builder, Kernel, Val};

use super::combiner::{Combiner, Load, Parts, Store, typed};
use super::team::WORKGROUP;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::elements::{Elements, Loader, Operand, Results, Storer};
use crate::eval::site::{Placed, Site};
use crate::op::Key;
use crate::typed::Typed;

/// What a launch reads.
pub(crate) enum Source {
    /// Elements, in memory or computed.
    Input(Box<Elements>),
    /// Partial results of an earlier launch, a list for each of their scalars.
    Partial(Vec<Placed>),
}

/// Where the results of a launch go.
#[derive(Clone)]
pub(crate) enum Goal {
    /// Into an output: they are finished.
    Output(Box<Results>),
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
    fn operands(&self) -> Vec<Operand<'_>> {
        match self {
            Source::Input(elements) => vec![Operand::Elements(elements)],
            Source::Partial(all) => all.iter().map(Operand::Placed).collect(),
        }
    }

    /// Whether its elements take nothing but an access.
    pub fn is_in_memory(&self) -> bool {
        match self {
            Source::Input(elements) => elements.are_in_memory(),
            Source::Partial(_) => true,
        }
    }

    /// Elements an access may cover at the address it has.
    pub fn widest(&self) -> usize {
        let wide = |align: u32, dtype: Dtype| (align as usize / dtype.size()).max(1);
        match self {
            Source::Input(elements) => wide(elements.align, elements.dtype),
            Source::Partial(all) => all.iter().map(|placed| wide(placed.align, placed.dtype)).min().unwrap_or(1),
        }
    }
}

impl Goal {
    fn operands(&self) -> Vec<Operand<'_>> {
        match self {
            Goal::Output(results) => vec![Operand::Results(results)],
            Goal::Partial(all) => all.iter().map(Operand::Placed).collect(),
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
        // The combiner says what elements, partial results and results are.
        key.word((matches!(self.source, Source::Input(_)) as u64) << 1 | matches!(self.goal, Goal::Output(_)) as u64);
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
        let operands: Vec<Operand<'_>> = self.source.operands().into_iter().chain(self.goal.operands()).collect();
        site.launch_on(key, || self.kernel(write), groups, &operands, arguments)
    }

    fn kernel(&self, write: impl for<'k> FnOnce(&'k Builder, Load<'_, 'k>, Store<'_, 'k>)) -> Result<Kernel> {
        let name = format!("reduce_{}", self.combiner.name());
        Ok(Kernel::build(&name, [WORKGROUP, 1, 1], |k| {
            let from = match self.source {
                Source::Input(elements) => From::Input(elements.declare(k, self.wide)),
                Source::Partial(all) => From::Partial(declare(k, 'x', all, Access::Read, self.wide)),
            };
            let to = match self.goal {
                Goal::Output(results) => To::Output(results.declare(k, 1)),
                Goal::Partial(all) => To::Partial(declare(k, 'y', all, Access::Write, 1)),
            };
            write(k, &|place, number, count| self.load(&from, place, number, count), &|at, parts| {
                self.store(&to, at, parts);
            });
        })?)
    }

    fn load<'k>(&self, from: &From<'_, 'k>, place: Val<'k>, number: Val<'k>, count: usize) -> Vec<Parts<'k>> {
        match from {
            From::Input(loader) => {
                let elements = loader.load(place, count).into_iter().enumerate();
                elements.map(|(j, x)| self.lift(x, number, j)).collect()
            }
            From::Partial(buffers) => {
                let side_by_side = |buffer: &Buffer<'k>| match count {
                    1 => vec![buffer.load(place)],
                    _ => buffer.load_wide(place, count),
                };
                let loaded: Vec<Vec<Val>> = buffers.iter().map(side_by_side).collect();
                let one = |j: usize| typed(self.combiner, &loaded.iter().map(|all| all[j]).collect::<Vec<Val>>());
                (0..count).map(one).collect()
            }
        }
    }

    fn lift<'k>(&self, x: Typed<'k>, number: Val<'k>, after: usize) -> Parts<'k> {
        match after {
            1.. if self.counts_on && self.combiner.numbers() => self.combiner.lift(x, number + after as i32),
            _ => self.combiner.lift(x, number),
        }
    }

    fn store<'k>(&self, to: &To<'_, 'k>, at: Val<'k>, parts: Parts<'k>) {
        match to {
            To::Output(storer) => storer.store(at, &[self.combiner.finish(&parts)]),
            To::Partial(buffers) => buffers.iter().zip(parts).for_each(|(output, part)| output.store(at, part.val)),
        }
    }
}

/// What a launch reads, inside its kernel.
enum From<'a, 'k> {
    Input(Loader<'a, 'k>),
    Partial(Vec<Buffer<'k>>),
}

/// Where results go, inside the kernel.
enum To<'a, 'k> {
    Output(Storer<'a, 'k>),
    Partial(Vec<Buffer<'k>>),
}

fn declare<'k>(k: &'k Builder, letter: char, all: &[Placed], access: Access, wide: usize) -> Vec<Buffer<'k>> {
    let buffer = |(i, placed): (usize, &Placed)| {
        let align = (wide * placed.dtype.size()).min(16) as u32;
        k.buffer(&format!("{letter}{i}"), placed.dtype.elem(), access, align)
    };
    all.iter().enumerate().map(buffer).collect()
}
