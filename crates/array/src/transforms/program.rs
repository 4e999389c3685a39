//! The program of a compiled function: what it does to its inputs, kept as calls that can be made again on others.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use crate::array::{Accepted, Array, Call, Inputs, call_shared};
use crate::device::{Stream, current_stream, with_stream};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{Key, Lowering, Op, Place, Sizes, Specs};
use crate::ops::broadcast_to::broadcast_together;
use crate::shape::{Shape, Spec};
use crate::storage::Source;
use crate::transforms::tape::Tape;
use crate::transforms::tracing::{self, traced};

/// A number of a value: first the inputs, then the constants, then what the steps give, in order.
type Slot = u32;

/// What a function does with inputs of some shapes and types: each computation once (common subexpressions), and only what the results need. Arrays that the
/// function caught are kept as constants.
pub struct Program {
    /// A number that no other program has.
    number: u64,
    /// The stream that was current.
    stream: Stream,
    constants: Vec<Array>,
    steps: Vec<ProgramStep>,
    outputs: Vec<Slot>,
    /// The outputs that steps give, each once, and what they are.
    computed: Vec<Slot>,
    specs: Specs,
}

struct ProgramStep {
    call: Accepted,
    inputs: SmallVec<[Slot; 3]>,
}

impl Program {
    /// What the function does with inputs of these shapes and types. It is run once, with arrays that have no values.
    pub fn trace(f: &dyn Fn(&[Array]) -> Result<Vec<Array>>, inputs: &[Array]) -> Result<Program> {
        tracing::for_sizes(false, || Program::trace_here(f, inputs))
    }

    /// The same, written so that [`resized`](Program::resized) can make programs for inputs of other sizes from it.
    pub fn trace_shapeless(f: &dyn Fn(&[Array]) -> Result<Vec<Array>>, inputs: &[Array]) -> Result<Program> {
        tracing::for_sizes(true, || Program::trace_here(f, inputs))
    }

    fn trace_here(f: &dyn Fn(&[Array]) -> Result<Vec<Array>>, inputs: &[Array]) -> Result<Program> {
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
        Ok(writer.finish(inputs.len(), outputs, current_stream()?))
    }

    /// The program for inputs with the same number of axes and types but other sizes. None if that is not what the function would do:
    /// a call holds sizes of the inputs it was traced with, or refuses the others.
    pub fn resized(&self, inputs: &[Array]) -> Option<Program> {
        // Where there are no elements, functions take other ways.
        if inputs.iter().any(|input| input.size() == 0) {
            return None;
        }
        Program::trace(&|inputs| self.build_resized(inputs), inputs).ok()
    }

    /// The program's calls on inputs of other sizes.
    fn build_resized(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        let fixed = || Error::Value("[compile] the function must not depend on sizes but does.".into());
        let mut values: Vec<Array> = inputs.iter().chain(&self.constants).cloned().collect();
        // Values that are to be broadcast to the shape of those beside them.
        let mut loose = vec![false; values.len()];
        for ProgramStep { call: Accepted { op, stream, .. }, inputs } in &self.steps {
            let mut given: Inputs = inputs.iter().map(|&slot| values[slot as usize].clone()).collect();
            match op.sizes() {
                Sizes::Beside => {
                    values.push(given.swap_remove(0));
                    loose.push(true);
                    continue;
                }
                Sizes::Together => given = with_stream(*stream, || broadcast_together(op.name(), &given))?.into(),
                Sizes::Any if !inputs.iter().any(|&slot| loose[slot as usize]) => {}
                _ => return Err(fixed()),
            }
            values.extend(call_shared(op.clone(), given, *stream)?);
            loose.resize(values.len(), false);
        }
        let output = |&slot: &Slot| if loose[slot as usize] { Err(fixed()) } else { Ok(values[slot as usize].clone()) };
        self.outputs.iter().map(output).collect()
    }

    /// Number of calls it makes of ops.
    pub fn calls(&self) -> usize {
        self.steps.len()
    }

    /// Whether it holds nothing that a transform around it follows, and so may be called again later.
    pub fn is_closed(&self) -> bool {
        !self.constants.iter().any(Array::is_tracer)
    }

    /// What the function gives for inputs of the shapes and types it was traced with: one call that stands for all of the program's,
    /// unless a transform must see them.
    pub fn call(self: &Arc<Self>, inputs: &[Array]) -> Vec<Array> {
        let given: Inputs = inputs.iter().chain(&self.constants).cloned().collect();
        if given.iter().any(Array::is_tracer) {
            return self.build(inputs);
        }
        let op = Compiled(self.clone()).into();
        let accepted = Accepted { op, stream: self.stream, by_meaning: false, results: self.specs.clone() };
        let computed = if self.computed.is_empty() { SmallVec::new() } else { accepted.call(given.clone()) };
        let output = |slot: &Slot| match self.computed.iter().position(|computed| computed == slot) {
            Some(i) => computed[i].clone(),
            None => given[*slot as usize].clone(),
        };
        self.outputs.iter().map(output).collect()
    }

    /// The program's calls on other inputs.
    fn build(&self, inputs: &[Array]) -> Vec<Array> {
        let values = self.values(inputs.iter().chain(&self.constants).cloned().collect());
        self.outputs.iter().map(|&slot| values[slot as usize].clone()).collect()
    }

    /// The outputs that steps give, from the inputs and the constants.
    pub(crate) fn build_computed(&self, given: &[Array]) -> Vec<Array> {
        let values = self.values(given.to_vec());
        self.computed.iter().map(|&slot| values[slot as usize].clone()).collect()
    }

    fn values(&self, mut values: Vec<Array>) -> Vec<Array> {
        for step in &self.steps {
            let given = step.inputs.iter().map(|&slot| values[slot as usize].clone()).collect();
            values.extend(step.call.clone().call(given));
        }
        values
    }
}

/// The op of a program's call.
struct Compiled(Arc<Program>);

impl Op for Compiled {
    fn name(&self) -> &'static str {
        "compiled"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.0.number);
    }

    fn infer(&self, _: &[&Spec]) -> Result<Specs> {
        Ok(self.0.specs.clone())
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        Ok(Some(self.0.build_computed(inputs)))
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Program(&self.0)
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compiled({} calls)", self.0.steps.len())
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

    fn finish(self, inputs: usize, outputs: Vec<Slot>, stream: Stream) -> Program {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let first = (inputs + self.constants.len()) as Slot;
        let mut computed: Vec<Slot> = outputs.iter().copied().filter(|&slot| slot >= first).collect();
        computed.sort_unstable();
        computed.dedup();
        let made: Vec<&Spec> = self.steps.iter().flat_map(|step| &step.call.results).collect();
        let specs = computed.iter().map(|&slot| made[(slot - first) as usize].clone()).collect();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Program { number, stream, constants: self.constants, steps: self.steps, outputs, computed, specs }
    }
}

fn accepted(call: &Call) -> Accepted {
    let inputs: SmallVec<[&Spec; 3]> = call.inputs.iter().map(Array::spec).collect();
    let results = call.op.infer(&inputs).expect("the call was made from these inputs");
    Accepted { op: call.op.clone(), stream: call.stream, by_meaning: call.by_meaning, results }
}
