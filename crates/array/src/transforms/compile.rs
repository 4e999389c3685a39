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
    let programs = Programs::default();
    move |inputs| {
        // Transforms must see what the function does to what they follow.
        if inputs.iter().any(Array::is_tracer) || switches::disabled("compile") {
            return f(inputs);
        }
        let signature = (current_stream()?, inputs.iter().map(|x| x.spec().clone()).collect());
        if let Some(program) = programs.find(&signature) {
            return Ok(program.call(inputs));
        }
        let program = Arc::new(Program::trace(&f, inputs)?);
        if program.is_closed() {
            programs.keep(signature, program.clone());
        }
        Ok(program.call(inputs))
    }
}

/// Where a function is called, and the kind of its inputs.
type Signature = (Stream, Vec<Spec>);

/// What the function did for each kind of inputs.
#[derive(Default)]
struct Programs(Mutex<HashMap<Signature, Arc<Program>>>);

impl Programs {
    fn find(&self, signature: &Signature) -> Option<Arc<Program>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(signature).cloned()
    }

    fn keep(&self, signature: Signature, program: Arc<Program>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(signature, program);
    }
}
