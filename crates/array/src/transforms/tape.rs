//! The tape: the calls that lead from a function's inputs to its outputs, each after those it needs.
//!
//! The walk follows only what was traced, and stops at the inputs. Arrays are told apart by who they are, not by which transform
//! made them, so transforms around this one, whose arrays the function may have caught, are not mixed up with it.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use crate::array::{self, Array, Call, call_shared};
use crate::error::Result;
use crate::op::At;

/// Calls between inputs and outputs of a function, in the order they were needed.
pub(crate) struct Tape {
    pub steps: Vec<Step>,
}

/// A call that depends on the function's inputs.
pub(crate) struct Step {
    pub call: Call,
    /// What it gave; none where nobody holds it any more.
    pub outputs: SmallVec<[Option<Array>; 1]>,
    /// Which of its inputs depend on the function's.
    pub depends: SmallVec<[bool; 4]>,
}

impl Tape {
    /// The calls that lead from `inputs` to `outputs`.
    pub fn between(inputs: &[Array], outputs: &[Array]) -> Tape {
        let roots = inputs.iter().map(Array::id).collect();
        let mut walk = Walk { roots, done: HashMap::new(), steps: Vec::new(), stack: Vec::new() };
        outputs.iter().for_each(|output| walk.visit(output));
        Tape { steps: walk.steps }
    }
}

impl Step {
    /// Everything the call gave; what nobody holds is stood for by another call's.
    pub fn all_outputs(&self) -> Result<Vec<Array>> {
        if let Some(outputs) = self.outputs.iter().cloned().collect() {
            return Ok(outputs);
        }
        let again = call_shared(self.call.op.clone(), self.call.inputs.clone(), self.call.stream)?;
        Ok(self.outputs.iter().zip(again).map(|(held, other)| held.clone().unwrap_or(other)).collect())
    }

    /// The call as its rules are asked about it.
    pub fn at<'a>(&'a self, outputs: &'a [Array]) -> At<'a> {
        At { inputs: &self.call.inputs, outputs, wanted: &self.depends }
    }
}

struct Walk {
    roots: HashSet<usize>,
    /// Whether a call depends on the roots, by its number.
    done: HashMap<usize, bool>,
    steps: Vec<Step>,
    stack: Vec<Frame>,
}

/// A call whose inputs are being looked at.
struct Frame {
    seen: array::Seen,
    depends: SmallVec<[bool; 4]>,
}

enum Seen {
    Known(bool),
    Unknown(array::Seen),
}

impl Walk {
    fn visit(&mut self, output: &Array) {
        if let Seen::Unknown(seen) = self.look(output) {
            self.enter(seen);
        }
        while let Some(mut frame) = self.stack.pop() {
            match frame.seen.call.inputs.get(frame.depends.len()) {
                None => self.leave(frame),
                Some(input) => match self.look(input) {
                    Seen::Known(depends) => {
                        frame.depends.push(depends);
                        self.stack.push(frame);
                    }
                    Seen::Unknown(seen) => {
                        self.stack.push(frame);
                        self.enter(seen);
                    }
                },
            }
        }
    }

    fn look(&self, array: &Array) -> Seen {
        if self.roots.contains(&array.id()) {
            return Seen::Known(true);
        }
        // Whatever depends on a traced array was itself traced.
        let Some(seen) = Some(array).filter(|array| array.was_traced()).and_then(Array::origin) else {
            return Seen::Known(false);
        };
        match self.done.get(&seen.id) {
            Some(&depends) => Seen::Known(depends),
            None => Seen::Unknown(seen),
        }
    }

    fn enter(&mut self, seen: array::Seen) {
        self.stack.push(Frame { seen, depends: SmallVec::new() });
    }

    fn leave(&mut self, Frame { seen, depends }: Frame) {
        let any = depends.contains(&true);
        self.done.insert(seen.id, any);
        if any {
            let array::Seen { call, outputs, .. } = seen;
            self.steps.push(Step { call, outputs, depends });
        }
    }
}
