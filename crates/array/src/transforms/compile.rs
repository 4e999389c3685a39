//! `compile`: a function that is run once per kind of inputs; what it did with them is kept, and done again without it.
//!
//! Calling a compiled function makes one call of its program, whatever the program's length. Evaluation looks into the program
//! when it plans, so fusion sees no border, and from then on finds the plan by the program's number.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::array::Array;
use crate::device::{Stream, current_stream};
use crate::error::{Error, Result};
use crate::eval::switches;
use crate::shape::Spec;
use crate::transforms::program::Program;

/// The function, run only for the first inputs of each shapes and types. It must not depend on anything that changes but its inputs,
/// and what it does besides giving results happens only then.
pub fn compile<F>(f: F) -> impl Fn(&[Array]) -> Result<Vec<Array>>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    compiled(f, false)
}

/// The same, but the function is run only for the first inputs of each number of axes and types: what it did then is done with inputs of
/// other sizes as well. Whatever it computed from sizes itself stays as it was. Where that cannot be, it is run again.
pub fn compile_shapeless<F>(f: F) -> impl Fn(&[Array]) -> Result<Vec<Array>>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    compiled(f, true)
}

fn compiled<F>(f: F, shapeless: bool) -> impl Fn(&[Array]) -> Result<Vec<Array>>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    let programs = Programs::new(shapeless);
    move |inputs| {
        // Transforms must see what the function does to what they follow.
        if inputs.iter().any(Array::is_tracer) || switches::disabled("compile") {
            return f(inputs);
        }
        let trace = || -> Result<_> { Ok((programs.trace(&f, inputs)?, ())) };
        let (program, ()) = programs.find_or((), inputs, trace)?;
        Ok(program.call(inputs))
    }
}

/// What a compiled function did for each kind of call. A kind is the stream, the inputs' shapes and types, and whatever else `M` tells
/// apart; `E` is what else is kept for it.
pub struct Programs<M, E> {
    shapeless: bool,
    by_kind: Mutex<HashMap<Kind<M>, Kept<E>>>,
    /// Of a shapeless function, what it did for the first sizes; kinds have none.
    bases: Mutex<HashMap<Kind<M>, Kept<E>>>,
}

type Kept<E> = (Arc<Program>, E);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Kind<M> {
    stream: Stream,
    marks: M,
    specs: Vec<Spec>,
}

/// Programs that a function keeps. There may be as many as there are shapes, so beyond that they are made anew.
const MOST: usize = 1024;

impl<M: Clone + Eq + Hash, E: Clone> Programs<M, E> {
    /// None yet, of a function that is shapeless or not.
    pub fn new(shapeless: bool) -> Programs<M, E> {
        Programs { shapeless, by_kind: Mutex::default(), bases: Mutex::default() }
    }

    /// Runs a function with arrays that have no values, as is right for shapeless functions or for others.
    pub fn trace(&self, f: &dyn Fn(&[Array]) -> Result<Vec<Array>>, inputs: &[Array]) -> Result<Program> {
        if self.shapeless { Program::trace_shapeless(f, inputs) } else { Program::trace(f, inputs) }
    }

    /// What was done for this kind of call; where nothing was, what was done for other sizes if that can be done for these, or else what
    /// `trace` finds.
    pub fn find_or<Failure: From<Error>>(
        &self,
        marks: M,
        inputs: &[Array],
        trace: impl FnOnce() -> std::result::Result<(Program, E), Failure>,
    ) -> std::result::Result<(Arc<Program>, E), Failure> {
        let specs = inputs.iter().map(|x| x.spec().clone()).collect();
        let kind = Kind { stream: current_stream()?, marks, specs };
        if let Some(kept) = lock(&self.by_kind).get(&kind) {
            return Ok(kept.clone());
        }
        let base = Kind { specs: kind.specs.iter().map(Spec::sizeless).collect(), ..kind.clone() };
        let other = lock(&self.bases).get(&base).cloned();
        let resized = other.and_then(|(program, rest)| Some((program.resized(inputs)?, rest)));
        let (program, rest) = resized.map_or_else(trace, Ok)?;
        let kept = (Arc::new(program), rest);
        if kept.0.is_closed() {
            let mut by_kind = lock(&self.by_kind);
            if by_kind.len() >= MOST {
                by_kind.clear();
            }
            by_kind.insert(kind, kept.clone());
            if self.shapeless {
                lock(&self.bases).entry(base).or_insert_with(|| kept.clone());
            }
        }
        Ok(kept)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
