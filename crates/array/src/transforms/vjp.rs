//! `vjp`: from cotangents of a function's outputs to those of its inputs, backwards along its tape.

use std::collections::HashMap;

use crate::array::Array;
use crate::device::with_stream;
use crate::error::{Error, Result};
use crate::op::At;
use crate::ops::astype::astype;
use crate::ops::binary::add;
use crate::ops::full::zeros_like;
use crate::shape::display;
use crate::transforms::tape::{Step, Tape};
use crate::transforms::tracing::traced;
use crate::transforms::{Meaning, missing};

/// What a function gives, and the cotangents of its inputs for those of its outputs: `(outputs, vjps)`. An input that has no
/// influence has a cotangent of zeros.
pub fn vjp(
    f: impl Fn(&[Array]) -> Result<Vec<Array>>,
    primals: &[Array],
    cotangents: &[Array],
) -> Result<(Vec<Array>, Vec<Array>)> {
    let inputs = primals.iter().map(Array::to_tracer).collect::<Result<Vec<_>>>()?;
    let outputs = traced(|| f(&inputs))?;
    if outputs.len() != cotangents.len() {
        let (outputs, given) = (outputs.len(), cotangents.len());
        return Err(Error::Value(format!(
            "[vjp] there must be {outputs} cotangents, as outputs, but there are {given}."
        )));
    }
    let seeds = outputs.iter().zip(cotangents).map(|(output, g)| seed(output, g)).collect::<Result<Vec<_>>>()?;
    let found = pull(&inputs, &outputs, seeds)?;
    Ok((outputs, or_zeros(found, primals)?))
}

/// An output's cotangent in the output's type.
fn seed(output: &Array, cotangent: &Array) -> Result<Array> {
    if output.shape() != cotangent.shape() {
        let [output, given] = [output, cotangent].map(|a| display(a.shape()));
        return Err(Error::Value(format!("[vjp] a cotangent must have its output's shape {output} but has {given}.")));
    }
    astype(cotangent, output.dtype())
}

/// Zeros for every input that has no influence.
pub(super) fn or_zeros(found: Vec<Option<Array>>, like: &[Array]) -> Result<Vec<Array>> {
    found.into_iter().zip(like).map(|(found, like)| found.map_or_else(|| zeros_like(like), Ok)).collect()
}

/// The cotangents of traced inputs from those of outputs.
pub(super) fn pull(inputs: &[Array], outputs: &[Array], cotangents: Vec<Array>) -> Result<Vec<Option<Array>>> {
    let tape = Tape::between(inputs, outputs);
    let mut sums = Sums::default();
    for (output, cotangent) in outputs.iter().zip(cotangents) {
        sums.add(output, cotangent)?;
    }
    for step in tape.steps.into_iter().rev() {
        pull_step(&step, &mut sums)?;
    }
    Ok(inputs.iter().map(|input| sums.take(input)).collect())
}

fn pull_step(step: &Step, sums: &mut Sums) -> Result<()> {
    let found: Vec<Option<Array>> = step.outputs.iter().map(|output| sums.take(output.as_ref()?)).collect();
    if found.iter().all(Option::is_none) {
        return Ok(());
    }
    with_stream(step.call.stream, || {
        let outputs = step.all_outputs()?;
        let cotangents = or_zeros(found, &outputs)?;
        let pulled = step.call.op.vjp(&step.at(&outputs), &cotangents)?;
        for ((input, pulled), &depends) in step.call.inputs.iter().zip(pulled).zip(&step.depends) {
            if let Some(pulled) = pulled.filter(|_| depends) {
                sums.add(input, pulled)?;
            }
        }
        Ok(())
    })
}

/// The cotangents found so far, summed where an array is used more than once.
#[derive(Default)]
struct Sums(HashMap<usize, Array>);

impl Sums {
    fn add(&mut self, array: &Array, cotangent: Array) -> Result<()> {
        let sum = match self.0.remove(&array.id()) {
            Some(sum) => add(&sum, &cotangent)?,
            None => cotangent,
        };
        self.0.insert(array.id(), sum);
        Ok(())
    }

    fn take(&mut self, array: &Array) -> Option<Array> {
        self.0.remove(&array.id())
    }
}

/// The vjp of an op through its meaning.
pub(crate) fn vjp_of_meaning(
    op: &str,
    at: &At<'_>,
    cotangents: &[Array],
    meaning: Meaning<'_>,
) -> Result<Vec<Option<Array>>> {
    let inputs = at.inputs.iter().map(Array::to_tracer).collect::<Result<Vec<_>>>()?;
    let outputs = traced(|| meaning(&inputs))?.ok_or_else(|| missing(op, "vjp"))?;
    pull(&inputs, &outputs, cotangents.to_vec())
}
