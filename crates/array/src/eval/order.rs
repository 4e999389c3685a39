//! Order: the calls that must be computed, each after those it needs.
//!
//! Ops that a device has no faster way for are replaced by what they mean here, so that nobody later meets them.

use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::array::{Array, Call, Data};
use crate::device::{Stream, with_stream};
use crate::error::{Error, Result};
use crate::eval::hash::BuildWordHasher;
use crate::eval::switches;
use crate::op::Op;
use crate::shape::Spec;
use crate::storage::Source;

/// Calls in the order they are computed, and the values that go in and out of them.
pub(crate) struct Tape {
    pub calls: Vec<TapeCall>,
    pub values: Vec<Value>,
    /// Arrays that get a value's data when it is there.
    pub receivers: Vec<(Array, ValueId)>,
}

/// A number of a value on the tape.
pub(crate) type ValueId = u32;

pub(crate) struct TapeCall {
    pub op: Arc<dyn Op>,
    pub stream: Stream,
    pub inputs: SmallVec<[ValueId; 3]>,
    pub outputs: SmallVec<[ValueId; 1]>,
}

pub(crate) struct Value {
    pub spec: Spec,
    /// The data of an array that was evaluated before.
    pub leaf: Option<Data>,
    /// Whether somebody can look at it after this evaluation. If not, its last user may overwrite it.
    pub held: bool,
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
    let mut order = Order::default();
    for array in outputs {
        order.visit(array)?;
    }
    Ok(order.settle())
}

#[derive(Default)]
struct Order {
    calls: Vec<TapeCall>,
    values: Vec<Value>,
    seen: HashMap<usize, usize, BuildWordHasher>,
    entries: Vec<Entry>,
}

/// An array that was seen.
struct Entry {
    array: Array,
    value: ValueId,
    /// How often it is an input of calls that are let go after this evaluation. Whoever else holds it is a user.
    uses: usize,
}

enum Task {
    Enter(Array),
    /// Its inputs are on the tape.
    Emit(Array, Arc<Call>),
    /// The meaning of its call is on the tape.
    Alias(Arc<Call>, Vec<Array>),
}

impl Order {
    fn visit(&mut self, root: &Array) -> Result<()> {
        let mut stack = vec![Task::Enter(root.clone())];
        while let Some(task) = stack.pop() {
            match task {
                Task::Enter(array) => self.enter(array, &mut stack)?,
                Task::Emit(array, call) => self.emit(&array, &call),
                Task::Alias(call, meaning) => self.alias(&call, &meaning),
            }
        }
        Ok(())
    }

    fn enter(&mut self, array: Array, stack: &mut Vec<Task>) -> Result<()> {
        if self.seen.contains_key(&array.id()) {
            return Ok(());
        }
        if let Some(data) = array.data() {
            self.add(&array, Some(data));
            return Ok(());
        }
        let Some(call) = array.origin() else {
            return Err(Error::Value(
                "[eval] an array must have values but stands for an input of a traced function.".into(),
            ));
        };
        if let Some(meaning) = meaning(&call)? {
            stack.push(Task::Alias(call.clone(), meaning.clone()));
            stack.extend(meaning.into_iter().rev().map(Task::Enter));
            // What the meaning does not use is still an input, and counted as one.
        } else {
            stack.push(Task::Emit(array, call.clone()));
        }
        stack.extend(call.inputs.iter().rev().filter(|a| !self.seen.contains_key(&a.id())).cloned().map(Task::Enter));
        Ok(())
    }

    fn emit(&mut self, array: &Array, call: &Call) {
        if self.seen.contains_key(&array.id()) {
            return;
        }
        let inputs = call.inputs.iter().map(|a| self.use_of(a, array.is_tracer())).collect();
        let outputs = call.outputs();
        let dead = outputs.iter().any(Option::is_none).then(|| infer_again(call));
        let outputs = outputs
            .iter()
            .enumerate()
            .map(|(i, output)| match (output, &dead) {
                (Some(array), _) => self.add(array, None),
                (None, specs) => self.add_value(specs.as_ref().expect("made where an output is dead")[i].clone(), None),
            })
            .collect();
        self.calls.push(TapeCall { op: call.op.clone(), stream: call.stream, inputs, outputs });
    }

    fn alias(&mut self, call: &Call, meaning: &[Array]) {
        let outputs = call.outputs();
        let kept = outputs.iter().flatten().any(Array::is_tracer);
        for (output, meant) in outputs.into_iter().zip(meaning) {
            let Some(array) = output.filter(|output| !self.seen.contains_key(&output.id())) else { continue };
            let value = self.entries[self.seen[&meant.id()]].value;
            self.enter_value(&array, value);
        }
        for input in &call.inputs {
            self.use_of(input, kept);
        }
    }

    fn add(&mut self, array: &Array, leaf: Option<Data>) -> ValueId {
        let value = self.add_value(array.spec().clone(), leaf);
        self.enter_value(array, value);
        value
    }

    fn add_value(&mut self, spec: Spec, leaf: Option<Data>) -> ValueId {
        self.values.push(Value { spec, leaf, held: false });
        self.values.len() as ValueId - 1
    }

    fn enter_value(&mut self, array: &Array, value: ValueId) {
        self.seen.insert(array.id(), self.entries.len());
        self.entries.push(Entry { array: array.clone(), value, uses: 0 });
    }

    /// The value of an input. If its call is kept, it is held from then on.
    fn use_of(&mut self, array: &Array, kept: bool) -> ValueId {
        let entry = &mut self.entries[self.seen[&array.id()]];
        entry.uses += !kept as usize;
        entry.value
    }

    /// Finds out who looks at what afterwards: whoever holds an array besides the graph that is being evaluated.
    fn settle(self) -> Tape {
        let Order { calls, mut values, entries, .. } = self;
        let mut receivers = Vec::with_capacity(entries.len());
        let mut known = Vec::new();
        for Entry { array, value, uses } in entries {
            let held = Arc::strong_count(&array.node) > uses + 1;
            let entry = &mut values[value as usize];
            entry.held |= held;
            match &entry.leaf {
                None if held => receivers.push((array, value)),
                // What it means was computed before.
                Some(data) if held && !array.is_evaluated() => known.push((array, data.clone())),
                _ => {}
            }
        }
        // Not before all are counted: calls are let go, and with them holders of arrays.
        known.into_iter().for_each(|(array, data)| array.set_data(data));
        Tape { calls, values, receivers }
    }
}

/// The meaning of a call that its device has no faster way for.
fn meaning(call: &Call) -> Result<Option<Vec<Array>>> {
    if !call.by_meaning && !switches::disabled(call.op.name()) {
        return Ok(None);
    }
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
