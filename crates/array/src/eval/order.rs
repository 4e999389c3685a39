//! Order: the calls that must be computed, and how each comes after those it needs.
//!
//! A plan that was made before knows the order, so calls are sorted only while a plan is made.

use std::cell::Cell;
use std::ops::Deref;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::array::{Array, Data};
use crate::device::Stream;
use crate::error::Result;
use crate::eval::survey::Survey;
use crate::op::OpRef;
use crate::shape::Spec;
use crate::storage::Source;

/// Calls, and the values that go in and out of them.
pub(crate) struct Tape {
    /// In the order they were found, users before what they use; while a plan is made, in the order they are computed.
    pub calls: Vec<TapeCall>,
    pub values: Vec<Value>,
    /// Arrays that get a value's data when it is there.
    pub receivers: Vec<(Array, ValueId)>,
}

impl Tape {
    /// Lets go of everything, what was found last first: then a graph is still held by its results when the tape is through with it, and
    /// goes as one.
    pub fn let_go(mut self) {
        while self.values.pop().is_some() {}
    }

    /// Looks once at whose memory may be overwritten: another thread may let go of some at any time, and a plan must not give away
    /// what its key says is kept.
    pub fn see_what_is_free(&mut self) {
        self.values.iter_mut().for_each(|value| value.donatable = value.free_bytes());
    }
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
    /// Bytes of a leaf's memory that its last user may overwrite, as [`Tape::see_what_is_free`] saw it.
    pub donatable: Option<usize>,
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
    fn free_bytes(&self) -> Option<usize> {
        let data = self.leaf.as_ref().filter(|data| !self.held && data.layout.offset == 0)?;
        match &data.source {
            // The array holds it, and so does this value.
            Source::Memory(storage) if Arc::strong_count(storage) == 2 => Some(storage.len()),
            _ => None,
        }
    }
}

/// Finds what the arrays need.
pub(crate) fn order(outputs: &[Array]) -> Result<Tape> {
    let mut survey = Survey::with_capacity(LAST.get());
    outputs.iter().try_for_each(|output| survey.visit(output))?;
    let tape = survey.settle();
    LAST.set(tape.values.len());
    Ok(tape)
}

/// A tape from inputs without values to outputs, in order; the inputs are its first values.
pub(crate) struct Inner {
    pub tape: Tape,
    pub outputs: Vec<ValueId>,
}

/// Puts what leads from inputs to outputs in order.
pub(crate) fn order_between(inputs: &[Array], outputs: &[Array]) -> Result<Inner> {
    let mut survey = Survey::with_capacity(inputs.len());
    inputs.iter().for_each(|input| survey.give(input));
    outputs.iter().try_for_each(|output| survey.visit(output))?;
    let outputs = outputs.iter().map(|output| survey.value(output)).collect();
    let mut tape = survey.into_tape();
    tape.calls = in_order(&tape);
    Ok(Inner { tape, outputs })
}

thread_local! {
    /// Arrays that the last evaluation of this thread saw: the next often sees as many.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

/// The calls in the order they are computed: what a call needs directly before it, as far as that goes.
pub(crate) fn in_order(tape: &Tape) -> Vec<TapeCall> {
    let mut maker: Vec<Option<usize>> = vec![None; tape.values.len()];
    for (i, call) in tape.calls.iter().enumerate() {
        call.outputs.iter().for_each(|&output| maker[output as usize] = Some(i));
    }
    let mut ordered = Vec::with_capacity(tape.calls.len());
    let mut done = vec![false; tape.calls.len()];
    let mut stack = Vec::new();
    for root in 0..tape.calls.len() {
        stack.push((root, false));
        while let Some((i, ready)) = stack.pop() {
            let call = &tape.calls[i];
            match ready {
                _ if done[i] => {}
                true => {
                    done[i] = true;
                    ordered.push(call.clone());
                }
                false => {
                    stack.push((i, true));
                    let makers = call.inputs.iter().rev().filter_map(|&input| maker[input as usize]);
                    stack.extend(makers.filter(|&maker| !done[maker]).map(|maker| (maker, false)));
                }
            }
        }
    }
    ordered
}
