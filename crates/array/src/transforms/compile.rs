//! `compile`: a function that is run once per kind of inputs; what it did with them is kept, and done again without it.
//!
//! Calling a compiled function makes one call of its program, whatever the program's length. Evaluation looks into the program
//! when it plans, so fusion sees no border, and from then on finds the plan by the program's number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::array::Array;
use crate::device::{Stream, current_stream};
use crate::error::Result;
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
    let (programs, bases) = (Programs::default(), Programs::default());
    move |inputs| {
        // Transforms must see what the function does to what they follow.
        if inputs.iter().any(Array::is_tracer) || switches::disabled("compile") {
            return f(inputs);
        }
        let stream = current_stream()?;
        let signature = (stream, inputs.iter().map(|x| x.spec().clone()).collect());
        if let Some(program) = programs.find(&signature) {
            return Ok(program.call(inputs));
        }
        let base = (stream, inputs.iter().map(|x| x.spec().sizeless()).collect());
        let known = bases.find(&base).and_then(|program| program.resized(inputs));
        let program = Arc::new(match known {
            Some(program) => program,
            None if shapeless => Program::trace_shapeless(&f, inputs)?,
            None => Program::trace(&f, inputs)?,
        });
        if program.is_closed() {
            programs.keep(signature, program.clone());
            if shapeless {
                bases.keep_first(base, program.clone());
            }
        }
        Ok(program.call(inputs))
    }
}

/// Where a function is called, and the kind of its inputs.
type Signature = (Stream, Vec<Spec>);

/// What the function did for each kind of inputs.
#[derive(Default)]
struct Programs(Mutex<HashMap<Signature, Arc<Program>>>);

/// Programs that a function keeps. There may be as many as there are shapes, so beyond that they are made anew.
const MOST: usize = 1024;

impl Programs {
    fn find(&self, signature: &Signature) -> Option<Arc<Program>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(signature).cloned()
    }

    fn keep(&self, signature: Signature, program: Arc<Program>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(signature, program);
    }

    fn keep_first(&self, signature: Signature, program: Arc<Program>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(signature).or_insert(program);
    }
}
