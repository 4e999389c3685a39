//! `jvp`: from tangents of a function's inputs to those of its outputs, forwards along its tape.

use std::collections::HashMap;

use crate::array::Array;
use crate::device::with_stream;
use crate::error::{Error, Result};
use crate::op::At;
use crate::ops::astype::astype;
use crate::shape::display;
use crate::transforms::tape::{Step, Tape};
use crate::transforms::tracing::traced;
use crate::transforms::vjp::or_zeros;
use crate::transforms::{Meaning, missing};

/// What a function gives, and the tangents of its outputs for those of its inputs: `(outputs, jvps)`. An output that does not
/// depend on the inputs has a tangent of zeros.
pub fn jvp(
    f: impl Fn(&[Array]) -> Result<Vec<Array>>,
    primals: &[Array],
    tangents: &[Array],
) -> Result<(Vec<Array>, Vec<Array>)> {
    if primals.len() != tangents.len() {
        let (inputs, given) = (primals.len(), tangents.len());
        return Err(Error::Value(format!("[jvp] there must be {inputs} tangents, as inputs, but there are {given}.")));
    }
    let seeds = primals.iter().zip(tangents).map(|(x, t)| seed(x, t).map(Some)).collect::<Result<Vec<_>>>()?;
    let inputs = primals.iter().map(Array::to_tracer).collect::<Result<Vec<_>>>()?;
    let outputs = traced(|| f(&inputs))?;
    let found = push(&inputs, &outputs, &seeds)?;
    let tangents = or_zeros(found, &outputs)?;
    Ok((outputs, tangents))
}

/// An input's tangent in the input's type.
fn seed(input: &Array, tangent: &Array) -> Result<Array> {
    if input.shape() != tangent.shape() {
        let [input, given] = [input, tangent].map(|a| display(a.shape()));
        return Err(Error::Value(format!("[jvp] a tangent must have its input's shape {input} but has {given}.")));
    }
    astype(tangent, input.dtype())
}

/// The tangents of outputs from those of traced inputs; none stands for zero.
fn push(inputs: &[Array], outputs: &[Array], tangents: &[Option<Array>]) -> Result<Vec<Option<Array>>> {
    let tape = Tape::between(inputs, outputs);
    let seeds = inputs.iter().zip(tangents).filter_map(|(input, t)| Some((input.id(), t.clone()?)));
    let mut known: HashMap<usize, Array> = seeds.collect();
    for step in &tape.steps {
        push_step(step, &mut known)?;
    }
    Ok(outputs.iter().map(|output| known.get(&output.id()).cloned()).collect())
}

fn push_step(step: &Step, known: &mut HashMap<usize, Array>) -> Result<()> {
    let tangents: Vec<Option<Array>> = step.call.inputs.iter().map(|input| known.get(&input.id()).cloned()).collect();
    if tangents.iter().all(Option::is_none) {
        return Ok(());
    }
    let outputs = with_stream(step.call.stream, || step.all_outputs())?;
    let pushed = with_stream(step.call.stream, || step.call.op.jvp(&step.at(&outputs), &tangents))?;
    known.extend(outputs.iter().map(Array::id).zip(pushed));
    Ok(())
}

/// The jvp of an op through its meaning.
pub(crate) fn jvp_of_meaning(
    op: &str,
    at: &At<'_>,
    tangents: &[Option<Array>],
    meaning: Meaning<'_>,
) -> Result<Vec<Array>> {
    let inputs = at.inputs.iter().map(Array::to_tracer).collect::<Result<Vec<_>>>()?;
    let outputs = traced(|| meaning(&inputs))?.ok_or_else(|| missing(op, "jvp"))?;
    or_zeros(push(&inputs, &outputs, tangents)?, &outputs)
}
