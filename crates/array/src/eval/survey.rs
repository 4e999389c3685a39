//! Survey: every array that an evaluation needs, looked at once, and the calls that make them.
//!
//! Looking at an array takes its lock, so nobody looks twice: what a call needs gets its number when the call is seen, and is looked at
//! when its turn comes. Ops that a device has no faster way for are replaced by what they mean here, so that nobody later meets them.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::array::{self, Array, Call, Data, Look};
use crate::device::with_stream;
use crate::error::{Error, Result};
use crate::eval::order::{SpecRef, Tape, TapeCall, Value, ValueId};
use crate::eval::seen::Seen;
use crate::eval::switches;
use crate::op::Specs;
use crate::shape::Spec;

pub(super) struct Survey {
    found: Found,
    calls: Vec<TapeCall>,
    values: Vec<Value>,
}

/// Which arrays have numbers.
struct Found {
    seen: Seen,
    notes: Vec<Note>,
    /// Those that got one while another was looked at: the next values.
    new: Vec<Array>,
}

/// What is noted of an array.
struct Note {
    state: State,
    /// How often it is an input of calls that are let go after this evaluation. Whoever else holds it is a user.
    uses: u32,
}

#[derive(Clone, Copy)]
enum State {
    /// Nobody has looked.
    New,
    /// It is a leaf, or a call makes it.
    Known,
    /// It is another array, which its call means.
    Alias(ValueId),
}

/// What somebody saw who looked.
enum Sight {
    Leaf(Box<Data>),
    /// A call that is noted.
    Noted,
    /// A call that is not as simple.
    Call,
    Nothing,
    InFlight,
    Lost,
}

impl Survey {
    pub fn with_capacity(arrays: usize) -> Survey {
        Survey {
            found: Found { seen: Seen::new(), notes: Vec::with_capacity(arrays), new: Vec::new() },
            calls: Vec::with_capacity(arrays),
            values: Vec::with_capacity(arrays),
        }
    }

    /// Adds an array that stands for an input: nobody looks at it.
    pub fn give(&mut self, array: &Array) {
        let value = self.number(array);
        self.found.notes[value as usize].state = State::Known;
    }

    /// Looks at an array, and at everything that it needs.
    pub fn visit(&mut self, array: &Array) -> Result<()> {
        let mut next = self.number(array) as usize;
        while next < self.values.len() {
            if let State::New = self.found.notes[next].state {
                self.look_at(next as ValueId)?;
            }
            next += 1;
        }
        Ok(())
    }

    /// The value that an array has.
    pub fn value(&self, array: &Array) -> ValueId {
        let value = self.found.seen.get(array).expect("it was visited");
        self.resolved(value as ValueId)
    }

    fn number(&mut self, array: &Array) -> ValueId {
        let value = self.found.number(array);
        self.take_new();
        value
    }

    fn take_new(&mut self) {
        for array in self.found.new.drain(..) {
            self.values.push(Value { spec: SpecRef::Of(array), leaf: None, held: false, donatable: None });
        }
    }

    fn look_at(&mut self, value: ValueId) -> Result<()> {
        let Survey { found, calls, values } = self;
        let SpecRef::Of(array) = &values[value as usize].spec else { return Ok(()) };
        let kept = array.is_tracer();
        let sight = array.look(|look| match look {
            Look::Own(call) if !may_be_replaced(call) => {
                calls.push(found.call(call, kept, calls.len(), smallvec![value]));
                Sight::Noted
            }
            Look::Data(data) => Sight::Leaf(Box::new(data.clone())),
            Look::Own(_) | Look::Shared => Sight::Call,
            Look::Nothing => Sight::Nothing,
            Look::InFlight => Sight::InFlight,
            Look::Lost => Sight::Lost,
        });
        match sight {
            Sight::Noted => {}
            Sight::Leaf(data) => values[value as usize].leaf = Some(data),
            Sight::Call => match array.origin() {
                Some(seen) => return self.look_at_call(&seen, kept),
                // Another thread has evaluated it since.
                None => return self.look_at(value),
            },
            // Whose memory may be overwritten is known when it has landed.
            Sight::InFlight => {
                array.land()?;
                return self.look_at(value);
            }
            Sight::Lost => {
                let text = "[eval] an array must have values but they were overwritten by an evaluation that failed.";
                return Err(Error::Runtime(text.into()));
            }
            Sight::Nothing => {
                let text = "[eval] arrays must not be looked at while compile or vmap traces a function but one is: it has no \
                     value yet (item, tolist, bool, print and NumPy look at arrays).";
                return Err(Error::Value(text.into()));
            }
        }
        self.found.notes[value as usize].state = State::Known;
        self.take_new();
        Ok(())
    }

    fn look_at_call(&mut self, seen: &array::Seen, kept: bool) -> Result<()> {
        let meaning = if may_be_replaced(&seen.call) { meaning(&seen.call)? } else { None };
        match meaning {
            Some(meaning) => self.replace(seen, &meaning),
            None => self.compute(seen, kept),
        }
        Ok(())
    }

    /// Notes a call with any number of results.
    fn compute(&mut self, seen: &array::Seen, kept: bool) {
        let dead = seen.outputs.iter().any(Option::is_none).then(|| infer_again(&seen.call));
        let mut outputs = SmallVec::new();
        for (i, output) in seen.outputs.iter().enumerate() {
            outputs.push(match (output, &dead) {
                (Some(array), _) => self.number(array),
                (None, specs) => self.add_dead(&specs.as_ref().expect("made where an output is dead")[i]),
            });
        }
        outputs.iter().for_each(|&output: &ValueId| self.found.notes[output as usize].state = State::Known);
        self.calls.push(self.found.call(&seen.call, kept, self.calls.len(), outputs));
        self.take_new();
    }

    /// A result that nobody holds.
    fn add_dead(&mut self, spec: &Spec) -> ValueId {
        self.found.notes.push(Note { state: State::Known, uses: 0 });
        self.values.push(Value {
            spec: SpecRef::Own(Box::new(spec.clone())),
            leaf: None,
            held: false,
            donatable: None,
        });
        self.values.len() as ValueId - 1
    }

    /// Notes that a call's results are what it means.
    fn replace(&mut self, seen: &array::Seen, meaning: &[Array]) {
        let kept = seen.outputs.iter().flatten().any(Array::is_tracer);
        for (output, meant) in seen.outputs.iter().zip(meaning) {
            let Some(array) = output else { continue };
            let (output, meant) = (self.number(array), self.number(meant));
            let state = &mut self.found.notes[output as usize].state;
            if let State::New = state {
                *state = State::Alias(meant);
            }
        }
        // What the meaning does not use is still an input, and counted as one.
        self.found.inputs(&seen.call, kept);
        self.take_new();
    }

    fn resolved(&self, mut value: ValueId) -> ValueId {
        while let State::Alias(of) = self.found.notes[value as usize].state {
            value = of;
        }
        value
    }

    /// The tape of an evaluation: finds out who looks at what afterwards, which is whoever holds an array besides the graph that is being
    /// evaluated.
    pub fn settle(mut self) -> Tape {
        let (mut receivers, mut known) = (Vec::new(), Vec::new());
        for i in 0..self.values.len() {
            let Value { spec: SpecRef::Of(array), .. } = &self.values[i] else { continue };
            if Arc::strong_count(&array.node) <= self.found.notes[i].uses as usize + 1 {
                continue;
            }
            let value = self.resolved(i as ValueId);
            match &self.values[value as usize].leaf {
                None => receivers.push((array.clone(), value)),
                // What it means was computed before.
                Some(data) if value as usize != i => known.push((array.clone(), Data::clone(data))),
                Some(_) => {}
            }
            self.values[value as usize].held = true;
        }
        let tape = Tape { receivers, ..self.into_tape() };
        // Not before all are counted: calls are let go, and with them holders of arrays.
        known.into_iter().for_each(|(array, data)| array.set_data(data));
        tape
    }

    /// The tape of what nobody looks at.
    pub fn into_tape(mut self) -> Tape {
        if self.found.notes.iter().any(|note| matches!(note.state, State::Alias(_))) {
            let mut calls = std::mem::take(&mut self.calls);
            let inputs = calls.iter_mut().flat_map(|call| &mut call.inputs);
            inputs.for_each(|input| *input = self.resolved(*input));
            self.calls = calls;
        }
        Tape { calls: self.calls, values: self.values, receivers: Vec::new() }
    }
}

impl Found {
    #[inline]
    fn number(&mut self, array: &Array) -> ValueId {
        match self.seen.get(array) {
            Some(value) => value as ValueId,
            None => self.add(array),
        }
    }

    fn add(&mut self, array: &Array) -> ValueId {
        let value = self.notes.len();
        self.seen.insert(array, value);
        self.notes.push(Note { state: State::New, uses: 0 });
        self.new.push(array.clone());
        value as ValueId
    }

    fn call(&mut self, call: &Call, kept: bool, number: usize, outputs: SmallVec<[ValueId; 1]>) -> TapeCall {
        let inputs = self.inputs(call, kept);
        TapeCall { op: call.op.clone(), number: number as u32, stream: call.stream, inputs, outputs }
    }

    /// What a call is given. If the call is kept, whatever it is given is held from then on.
    fn inputs(&mut self, call: &Call, kept: bool) -> SmallVec<[ValueId; 3]> {
        let mut inputs = SmallVec::new();
        for input in &call.inputs {
            let value = self.number(input);
            self.notes[value as usize].uses += !kept as u32;
            inputs.push(value);
        }
        inputs
    }
}

fn may_be_replaced(call: &Call) -> bool {
    call.by_meaning || switches::disabled(call.op.name())
}

/// The meaning of a call that its device has no faster way for.
fn meaning(call: &Call) -> Result<Option<Vec<Array>>> {
    match with_stream(call.stream, || call.op.decompose(&call.inputs))? {
        Some(meaning) => Ok(Some(meaning)),
        None if call.by_meaning => Err(Error::Runtime(format!(
            "[{}] must have a way to be computed on {} but has none.",
            call.op.name(),
            call.stream.device
        ))),
        None => Ok(None),
    }
}

fn infer_again(call: &Call) -> Specs {
    let inputs: SmallVec<[&Spec; 3]> = call.inputs.iter().map(Array::spec).collect();
    call.op.infer(&inputs).expect("the call was made from these inputs")
}
