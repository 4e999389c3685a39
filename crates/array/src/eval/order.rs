//! Order: the calls that must be computed, each after those it needs.
//!
//! Ops that a device has no faster way for are replaced by what they mean here, so that nobody later meets them.

use std::cell::Cell;
use std::ops::Deref;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::array::{self, Array, Call, Data, Look};
use crate::device::{Stream, with_stream};
use crate::error::{Error, Result};
use crate::eval::seen::Seen;
use crate::eval::switches;
use crate::op::OpRef;
use crate::shape::Spec;
use crate::storage::Source;

/// Calls in the order they are computed, and the values that go in and out of them.
pub(crate) struct Tape {
    pub calls: Vec<TapeCall>,
    pub values: Vec<Value>,
    /// Arrays that get a value's data when it is there.
    pub receivers: Vec<(Array, ValueId)>,
}

/// The number of calls that are on no tape that runs.
pub(crate) const INNER: u32 = u32::MAX;

/// A number of a value on the tape.
pub(crate) type ValueId = u32;

#[derive(Clone)]
pub(crate) struct TapeCall {
    pub op: OpRef,
    /// Its number on the tape that runs; [`INNER`] if it is a compiled function's.
    pub number: u32,
    pub stream: Stream,
    pub inputs: SmallVec<[ValueId; 3]>,
    pub outputs: SmallVec<[ValueId; 1]>,
}

pub(crate) struct Value {
    pub spec: SpecRef,
    /// The data of an array that was evaluated before.
    pub leaf: Option<Box<Data>>,
    /// Whether somebody can look at it after this evaluation. If not, its last user may overwrite it.
    pub held: bool,
}

/// The spec of an array on the tape, or of a result that nobody holds.
pub(crate) enum SpecRef {
    Of(Array),
    Own(Box<Spec>),
}

impl Deref for SpecRef {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        match self {
            SpecRef::Of(array) => array.spec(),
            SpecRef::Own(spec) => spec,
        }
    }
}

impl Value {
    /// Bytes of a leaf's memory, if its last user may overwrite it: nobody else holds the array, nor another array the memory.
    pub fn donatable_bytes(&self) -> Option<usize> {
        let data = self.leaf.as_ref().filter(|data| !self.held && data.layout.offset == 0)?;
        match &data.source {
            // The array holds it, and so does this value.
            Source::Memory(storage) if Arc::strong_count(storage) == 2 => Some(storage.len()),
            _ => None,
        }
    }
}

/// Puts what the arrays need in order.
pub(crate) fn order(outputs: &[Array]) -> Result<Tape> {
    let mut order = Order::with_capacity(LAST.get());
    for array in outputs {
        order.visit(array)?;
    }
    LAST.set(order.entries.len());
    Ok(order.settle())
}

/// A tape from inputs without values to outputs; the inputs are its first values.
pub(crate) struct Inner {
    pub tape: Tape,
    pub outputs: Vec<ValueId>,
}

/// Puts what leads from inputs to outputs in order.
pub(crate) fn order_between(inputs: &[Array], outputs: &[Array]) -> Result<Inner> {
    let mut order = Order::with_capacity(inputs.len());
    for input in inputs {
        order.add(input.clone(), None);
    }
    for output in outputs {
        order.visit(output)?;
    }
    let outputs = outputs.iter().map(|output| order.entry(output).value).collect();
    let Order { calls, values, .. } = order;
    Ok(Inner { tape: Tape { calls, values, receivers: Vec::new() }, outputs })
}

thread_local! {
    /// Arrays that the last evaluation of this thread saw: the next often sees as many.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

struct Order {
    calls: Vec<TapeCall>,
    values: Vec<Value>,
    /// Which entry an array has.
    seen: Seen,
    entries: Vec<Entry>,
}

/// An array that was seen.
struct Entry {
    value: ValueId,
    /// The array, if it is not the one whose spec the value has.
    alias: Option<Array>,
    /// How often it is an input of calls that are let go after this evaluation. Whoever else holds it is a user.
    uses: usize,
}

enum Task {
    Enter(Array),
    /// Its inputs are on the tape.
    Emit(Array),
    /// The meaning of its call is on the tape.
    Alias(array::Seen, Vec<Array>),
}

/// What an array that was not seen turned out to be.
enum Found {
    Leaf(Box<Data>),
    Computed,
    ByMeaning,
    Nothing,
}

impl Order {
    fn with_capacity(arrays: usize) -> Order {
        Order {
            calls: Vec::with_capacity(arrays),
            values: Vec::with_capacity(arrays),
            seen: Seen::new(),
            entries: Vec::with_capacity(arrays),
        }
    }

    fn visit(&mut self, root: &Array) -> Result<()> {
        let mut stack = vec![Task::Enter(root.clone())];
        while let Some(task) = stack.pop() {
            match task {
                Task::Enter(array) => self.enter(array, &mut stack)?,
                Task::Emit(array) => self.emit(array),
                Task::Alias(call, meaning) => self.alias(&call, &meaning),
            }
        }
        Ok(())
    }

    fn enter(&mut self, array: Array, stack: &mut Vec<Task>) -> Result<()> {
        if self.seen.get(&array).is_some() {
            return Ok(());
        }
        let found = array.look(|look| match look {
            Look::Data(data) => Found::Leaf(Box::new(data.clone())),
            Look::Own(call) | Look::Shared(call) if !may_be_replaced(call) => {
                stack.push(Task::Emit(array.clone()));
                self.enter_inputs(call, stack);
                Found::Computed
            }
            Look::Own(_) | Look::Shared(_) => Found::ByMeaning,
            Look::Nothing => Found::Nothing,
        });
        match found {
            Found::Leaf(data) => self.leaf(array, data),
            Found::Computed => {}
            Found::ByMeaning => self.enter_meaning(array, stack)?,
            Found::Nothing => {
                let text = "[eval] an array must have values but stands for an input of a traced function.";
                return Err(Error::Value(text.into()));
            }
        }
        Ok(())
    }

    fn enter_inputs(&self, call: &Call, stack: &mut Vec<Task>) {
        let unseen = call.inputs.iter().rev().filter(|input| self.seen.get(input).is_none());
        stack.extend(unseen.cloned().map(Task::Enter));
    }

    fn enter_meaning(&mut self, array: Array, stack: &mut Vec<Task>) -> Result<()> {
        let Some(seen) = array.origin() else {
            // Another thread has evaluated it since.
            stack.push(Task::Enter(array));
            return Ok(());
        };
        let Some(meaning) = meaning(&seen.call)? else {
            stack.push(Task::Emit(array));
            self.enter_inputs(&seen.call, stack);
            return Ok(());
        };
        // What the meaning does not use is still an input, and counted as one.
        let inputs = seen.call.inputs.clone();
        stack.push(Task::Alias(seen, meaning.clone()));
        stack.extend(meaning.into_iter().rev().map(Task::Enter));
        stack.extend(inputs.into_iter().rev().map(Task::Enter));
        Ok(())
    }

    fn emit(&mut self, array: Array) {
        if self.seen.get(&array).is_some() {
            return;
        }
        let tracer = array.is_tracer();
        let found = array.look(|look| match look {
            Look::Data(data) => Found::Leaf(Box::new(data.clone())),
            Look::Own(call) => {
                let outputs = smallvec![self.values.len() as ValueId];
                self.push_call(call, outputs, tracer);
                Found::Computed
            }
            _ => Found::Nothing,
        });
        match found {
            Found::Computed => drop(self.add(array, None)),
            // Another thread has evaluated it since.
            Found::Leaf(data) => self.leaf(array, data),
            _ => self.emit_shared(&array),
        }
    }

    fn emit_shared(&mut self, array: &Array) {
        let seen = array.origin().expect("a pending array comes from a call");
        let dead = seen.outputs.iter().any(Option::is_none).then(|| infer_again(&seen.call));
        let mut outputs = SmallVec::new();
        for (i, output) in seen.outputs.into_iter().enumerate() {
            outputs.push(match (output, &dead) {
                (Some(array), _) => self.add(array, None),
                (None, specs) => {
                    let spec = specs.as_ref().expect("made where an output is dead")[i].clone();
                    self.add_value(SpecRef::Own(Box::new(spec)), None)
                }
            });
        }
        self.push_call(&seen.call, outputs, array.is_tracer());
    }

    fn push_call(&mut self, call: &Call, outputs: SmallVec<[ValueId; 1]>, kept: bool) {
        let inputs = call.inputs.iter().map(|input| self.use_of(input, kept)).collect();
        let number = self.calls.len() as u32;
        self.calls.push(TapeCall { op: call.op.clone(), number, stream: call.stream, inputs, outputs });
    }

    fn alias(&mut self, seen: &array::Seen, meaning: &[Array]) {
        let kept = seen.outputs.iter().flatten().any(Array::is_tracer);
        for (output, meant) in seen.outputs.iter().zip(meaning) {
            let Some(array) = output.as_ref().filter(|output| self.seen.get(output).is_none()) else { continue };
            let value = self.entry(meant).value;
            self.enter_entry(array, Entry { value, alias: Some(array.clone()), uses: 0 });
        }
        for input in &seen.call.inputs {
            self.use_of(input, kept);
        }
    }

    fn leaf(&mut self, array: Array, data: Box<Data>) {
        self.add(array, Some(data));
    }

    fn add(&mut self, array: Array, leaf: Option<Box<Data>>) -> ValueId {
        let value = self.values.len() as ValueId;
        self.enter_entry(&array, Entry { value, alias: None, uses: 0 });
        self.add_value(SpecRef::Of(array), leaf)
    }

    fn add_value(&mut self, spec: SpecRef, leaf: Option<Box<Data>>) -> ValueId {
        self.values.push(Value { spec, leaf, held: false });
        self.values.len() as ValueId - 1
    }

    fn enter_entry(&mut self, array: &Array, entry: Entry) {
        self.seen.insert(array, self.entries.len());
        self.entries.push(entry);
    }

    fn entry(&mut self, array: &Array) -> &mut Entry {
        let entry = self.seen.get(array).expect("inputs are entered before those that use them");
        &mut self.entries[entry]
    }

    /// The value of an input. If its call is kept, it is held from then on.
    fn use_of(&mut self, array: &Array, kept: bool) -> ValueId {
        let entry = self.entry(array);
        entry.uses += !kept as usize;
        entry.value
    }

    /// Finds out who looks at what afterwards: whoever holds an array besides the graph that is being evaluated.
    fn settle(self) -> Tape {
        let Order { calls, mut values, entries, .. } = self;
        let mut receivers = Vec::new();
        let mut known = Vec::new();
        for Entry { value, alias, uses } in entries {
            let entry = &mut values[value as usize];
            let array = match (&alias, &entry.spec) {
                (Some(array), _) | (None, SpecRef::Of(array)) => array,
                (None, SpecRef::Own(_)) => unreachable!("results that nobody holds have no entry"),
            };
            let held = Arc::strong_count(&array.node) > uses + 1;
            entry.held |= held;
            match &entry.leaf {
                None if held => receivers.push((array.clone(), value)),
                // What it means was computed before.
                Some(data) if held && alias.is_some() => known.push((array.clone(), Data::clone(data))),
                _ => {}
            }
        }
        // Not before all are counted: calls are let go, and with them holders of arrays.
        known.into_iter().for_each(|(array, data)| array.set_data(data));
        Tape { calls, values, receivers }
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

fn infer_again(call: &Call) -> crate::op::Specs {
    let inputs: SmallVec<[&Spec; 3]> = call.inputs.iter().map(Array::spec).collect();
    call.op.infer(&inputs).expect("the call was made from these inputs")
}
