//! `compile`: a function that is run once per kind of inputs; what it did with them is kept, and done again without it.
//!
//! The tape holds each computation once (common subexpressions) and only what the results need. Arrays that the function
//! caught are kept as constants. Calling a compiled function builds the tape's graph on other inputs; evaluation finds the graph's plan
//! by its structure.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use crate::array::{Accepted, Array, Call};
use crate::device::{Stream, current_stream};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::switches;
use crate::op::Key;
use crate::shape::{Shape, Spec};
use crate::storage::Source;
use crate::transforms::tape::Tape;
use crate::transforms::tracing::traced;

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
        let results = program.call(inputs);
        if program.is_closed() {
            programs.keep(signature, program);
        }
        Ok(results)
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

/// A number of a value: first the inputs, then the constants, then what the steps give, in order.
type Slot = u32;

/// What a function does with inputs of some shapes and types, on the stream that was current.
pub struct Program {
    constants: Vec<Array>,
    steps: Vec<ProgramStep>,
    outputs: Vec<Slot>,
}

struct ProgramStep {
    call: Accepted,
    inputs: SmallVec<[Slot; 3]>,
}

impl Program {
    /// What the function does with inputs of these shapes and types. It is run once, with arrays that have no values.
    pub fn trace(f: &dyn Fn(&[Array]) -> Result<Vec<Array>>, inputs: &[Array]) -> Result<Program> {
        let inputs: Vec<Array> = inputs.iter().map(|x| Array::placeholder(x.spec().clone())).collect();
        let outputs = traced(|| f(&inputs))?;
        let tape = Tape::between(&inputs, &outputs);
        let mut writer = Writer::new(&inputs);
        let made = tape.steps.iter().flat_map(|step| step.outputs.iter().flatten());
        let made: HashSet<usize> = made.map(Array::id).collect();
        let used = tape.steps.iter().flat_map(|step| &step.call.inputs).chain(&outputs);
        used.filter(|array| !made.contains(&array.id())).for_each(|array| writer.constant(array));
        tape.steps.iter().for_each(|step| writer.step(&step.call, &step.outputs));
        let outputs = outputs.iter().map(|output| writer.slot(output)).collect();
        Ok(Program { constants: writer.constants, steps: writer.steps, outputs })
    }

    /// Whether it holds nothing that a transform around it follows, and so may be called again later.
    pub fn is_closed(&self) -> bool {
        !self.constants.iter().any(Array::is_tracer)
    }

    /// What the function gives for inputs of the shapes and types it was traced with.
    pub fn call(&self, inputs: &[Array]) -> Vec<Array> {
        let mut values: Vec<Array> = inputs.iter().chain(&self.constants).cloned().collect();
        for step in &self.steps {
            let given = step.inputs.iter().map(|&slot| values[slot as usize].clone()).collect();
            values.extend(step.call.clone().call(given));
        }
        self.outputs.iter().map(|&slot| values[slot as usize].clone()).collect()
    }
}

/// What makes two calls the same: the op's name and key, the inputs, the stream.
type Computation = (&'static str, Key, SmallVec<[Slot; 3]>, Stream);

/// Writes a program, each computation once.
struct Writer {
    slots: HashMap<usize, Slot>,
    next: Slot,
    constants: Vec<Array>,
    scalars: HashMap<(u64, Dtype, Shape), Slot>,
    steps: Vec<ProgramStep>,
    known: HashMap<Computation, Slot>,
}

impl Writer {
    fn new(inputs: &[Array]) -> Writer {
        let slots = inputs.iter().map(Array::id).zip(0..).collect();
        let next = inputs.len() as Slot;
        let (scalars, known) = Default::default();
        Writer { slots, next, constants: Vec::new(), scalars, steps: Vec::new(), known }
    }

    fn slot(&self, array: &Array) -> Slot {
        self.slots[&array.id()]
    }

    fn constant(&mut self, array: &Array) {
        if self.slots.contains_key(&array.id()) {
            return;
        }
        let value = match array.data().map(|data| data.source) {
            Some(Source::Value(bits)) => Some((bits, array.dtype(), Shape::from_slice(array.shape()))),
            _ => None,
        };
        let slot = match value {
            Some(value) => *self.scalars.entry(value).or_insert(self.next),
            None => self.next,
        };
        if slot == self.next {
            self.next += 1;
            self.constants.push(array.clone());
        }
        self.slots.insert(array.id(), slot);
    }

    fn step(&mut self, call: &Call, outputs: &[Option<Array>]) {
        let inputs: SmallVec<[Slot; 3]> = call.inputs.iter().map(|input| self.slot(input)).collect();
        let mut key = Key::default();
        call.op.key(&mut key);
        let first = *self.known.entry((call.op.name(), key, inputs.clone(), call.stream)).or_insert(self.next);
        for (output, slot) in outputs.iter().zip(first..) {
            if let Some(output) = output {
                self.slots.insert(output.id(), slot);
            }
        }
        if first == self.next {
            self.next += outputs.len() as Slot;
            self.steps.push(ProgramStep { call: accepted(call), inputs });
        }
    }
}

fn accepted(call: &Call) -> Accepted {
    let inputs: SmallVec<[&Spec; 3]> = call.inputs.iter().map(Array::spec).collect();
    let results = call.op.infer(&inputs).expect("the call was made from these inputs");
    Accepted { op: call.op.clone(), stream: call.stream, by_meaning: call.by_meaning, results }
}
