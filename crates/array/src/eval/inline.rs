//! Inline: while a plan is made, the calls of compiled functions are replaced by the calls they stand for.
//!
//! A tape that is only looked up keeps them as they are: then a compiled function costs one call, whatever it does.

use crate::array::{Array, Data};
use crate::error::Result;
use crate::eval::fuse::lowered;
use crate::eval::order::{self, INNER, Inner, SpecRef, Tape, TapeCall, Value, ValueId};
use crate::op::Lowering;
use crate::ops;
use pumice_kernel::Target;

/// Whether there is anything to replace.
pub(crate) fn has_programs(tape: &Tape, target: Option<&Target>) -> bool {
    tape.calls.iter().any(|call| is_program(tape, call, target))
}

/// Plans the tape with every call in it. Gives the leaves that compiled functions brought along as well: their numbers follow the
/// tape's own.
pub(crate) fn inlined<R>(
    tape: &mut Tape,
    target: Option<&Target>,
    plan: impl FnOnce(&Tape) -> Result<R>,
) -> Result<(R, Vec<Option<Box<Data>>>)> {
    let own = tape.values.len();
    let outer = std::mem::take(&mut tape.calls);
    let made = replace(tape, &outer, target).and_then(|()| plan(tape));
    tape.calls = outer;
    let leaves = tape.values.drain(own..).map(|value| value.leaf).collect();
    Ok((made?, leaves))
}

fn is_program(tape: &Tape, call: &TapeCall, target: Option<&Target>) -> bool {
    lowered(tape, call, target, |lowering, _| matches!(lowering, Lowering::Program(_)))
}

fn replace(tape: &mut Tape, outer: &[TapeCall], target: Option<&Target>) -> Result<()> {
    for call in outer {
        match is_program(tape, call, target) {
            true => write_program(tape, call, target)?,
            false => tape.calls.push(call.clone()),
        }
    }
    Ok(())
}

fn write_program(tape: &mut Tape, call: &TapeCall, target: Option<&Target>) -> Result<()> {
    let given = call.inputs.iter().map(|&v| Array::placeholder(tape.values[v as usize].spec.clone()));
    let given: Vec<Array> = given.collect();
    let outputs = lowered(tape, call, target, |lowering, _| match lowering {
        Lowering::Program(program) => program.build_computed(&given),
        _ => unreachable!("[{}] was a program", call.op.name()),
    });
    let Inner { tape: inner, outputs } = order::order_between(&given, &outputs)?;
    let ids = number_values(tape, call, inner.values, &outputs);
    let renamed = |&value: &ValueId| ids[value as usize];
    for step in inner.calls {
        let (inputs, outputs) = (step.inputs.iter().map(renamed).collect(), step.outputs.iter().map(renamed).collect());
        tape.calls.push(TapeCall { number: INNER, inputs, outputs, ..step });
    }
    // An output that is an input, or another output, after all.
    for (&output, &value) in call.outputs.iter().zip(&outputs) {
        if renamed(&value) != output {
            let (inputs, outputs) = ([renamed(&value)][..].into(), [output][..].into());
            tape.calls.push(TapeCall { op: ops::copy::op(), number: INNER, stream: call.stream, inputs, outputs });
        }
    }
    Ok(())
}

/// The numbers that a program's values get on the tape: inputs and outputs have theirs, the others are added.
fn number_values(tape: &mut Tape, call: &TapeCall, values: Vec<Value>, outputs: &[ValueId]) -> Vec<ValueId> {
    let inputs = call.inputs.len();
    let mut ids: Vec<ValueId> = Vec::with_capacity(values.len());
    for (i, value) in values.into_iter().enumerate() {
        let output = outputs.iter().position(|&output| output as usize == i && value.leaf.is_none());
        ids.push(match output {
            _ if i < inputs => call.inputs[i],
            Some(output) => call.outputs[output],
            None => {
                let spec = SpecRef::Own(Box::new(value.spec.clone()));
                // The plan keeps leaves: nobody may overwrite them.
                let held = value.leaf.is_some();
                tape.values.push(Value { spec, leaf: value.leaf, held, donatable: None });
                tape.values.len() as ValueId - 1
            }
        });
    }
    ids
}
