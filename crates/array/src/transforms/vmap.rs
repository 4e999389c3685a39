//! `vmap`: a function over one more axis than it was written for. It is traced once without the axis; then every call of its
//! tape is asked to work over the axis.

use std::collections::HashMap;

use crate::array::Array;
use crate::device::with_stream;
use crate::error::{Error, Result};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::views::moveaxis;
use crate::shape::{Shape, Spec, display};
use crate::transforms::tape::{Step, Tape};
use crate::transforms::tracing::traced;
use crate::transforms::{Meaning, missing};

/// Which axis of each array is mapped over.
#[derive(Clone, Debug)]
pub enum Axes {
    /// The same one of all.
    All(i32),
    /// One of each, or none.
    Each(Vec<Option<i32>>),
}

impl Axes {
    fn of(&self, what: &str, count: usize) -> Result<Vec<Option<i32>>> {
        match self {
            Axes::All(axis) => Ok(vec![Some(*axis); count]),
            Axes::Each(axes) if axes.len() == count => Ok(axes.clone()),
            Axes::Each(axes) => {
                let given = axes.len();
                Err(Error::Value(format!("[vmap] there must be {count} axes, as {what}, but there are {given}.")))
            }
        }
    }
}

impl From<i32> for Axes {
    fn from(axis: i32) -> Axes {
        Axes::All(axis)
    }
}

impl<const N: usize> From<[Option<i32>; N]> for Axes {
    fn from(axes: [Option<i32>; N]) -> Axes {
        Axes::Each(axes.to_vec())
    }
}

impl From<Vec<Option<i32>>> for Axes {
    fn from(axes: Vec<Option<i32>>) -> Axes {
        Axes::Each(axes)
    }
}

/// The function over inputs that have one more axis, where `in_axes` says so; its results have it where `out_axes` says so.
pub fn vmap<F>(f: F, in_axes: impl Into<Axes>, out_axes: impl Into<Axes>) -> impl Fn(&[Array]) -> Result<Vec<Array>>
where
    F: Fn(&[Array]) -> Result<Vec<Array>>,
{
    let (in_axes, out_axes) = (in_axes.into(), out_axes.into());
    move |inputs| Mapping::new(&f, &in_axes, inputs)?.placed(&out_axes)
}

/// What a function gives over one more axis of its inputs, before it is settled where the axis goes in the results.
pub struct Mapping {
    outputs: Vec<Mapped>,
    /// Elements along the axis.
    size: i32,
}

impl Mapping {
    /// Traces the function and maps what it did.
    pub fn new(f: impl Fn(&[Array]) -> Result<Vec<Array>>, in_axes: &Axes, inputs: &[Array]) -> Result<Mapping> {
        let axes = in_axes.of("inputs", inputs.len())?;
        let axes = inputs.iter().zip(axes).map(|(x, axis)| input_axis(x, axis)).collect::<Result<Vec<_>>>()?;
        let size = mapped_size(inputs, &axes)?;
        let traces = traces(inputs, &axes);
        let outputs = traced(|| f(&traces))?;
        Ok(Mapping { outputs: map_tape(inputs, &axes, &traces, &outputs)?, size })
    }

    /// Whether each result depends on a mapped input.
    pub fn is_mapped(&self) -> impl Iterator<Item = bool> {
        self.outputs.iter().map(|(_, axis)| axis.is_some())
    }

    /// The results with the axis where it is wanted.
    pub fn placed(self, out_axes: &Axes) -> Result<Vec<Array>> {
        let places = out_axes.of("outputs", self.outputs.len())?;
        let outputs = self.outputs.into_iter().zip(places);
        outputs.map(|((y, axis), place)| placed(y, axis, place, self.size)).collect()
    }
}

fn input_axis(x: &Array, axis: Option<i32>) -> Result<Option<usize>> {
    let Some(axis) = axis else { return Ok(None) };
    let n = x.ndim() as i32;
    let front = if axis < 0 { axis + n } else { axis };
    if !(0..n).contains(&front) {
        let shape = display(x.shape());
        return Err(Error::Index(format!("[vmap] the axis must be one of an array of shape {shape} but is {axis}.")));
    }
    Ok(Some(front as usize))
}

fn mapped_size(inputs: &[Array], axes: &[Option<usize>]) -> Result<i32> {
    let mut sizes = inputs.iter().zip(axes).filter_map(|(x, &axis)| Some(x.shape()[axis?]));
    let Some(size) = sizes.next() else {
        return Err(Error::Value("[vmap] at least one input must be mapped but none is.".into()));
    };
    match sizes.find(|&other| other != size) {
        Some(other) => Err(Error::Value(format!("[vmap] mapped axes must have one size but have {size} and {other}."))),
        None => Ok(size),
    }
}

/// What the function is traced with: inputs without the mapped axis, which have no values.
fn traces(inputs: &[Array], axes: &[Option<usize>]) -> Vec<Array> {
    let trace = |(x, axis): (&Array, &Option<usize>)| match axis {
        None => x.clone(),
        Some(axis) => {
            let mut shape = Shape::from_slice(x.shape());
            shape.remove(*axis);
            Array::placeholder(Spec::new(shape, x.dtype()))
        }
    };
    inputs.iter().zip(axes).map(trace).collect()
}

/// A result with its extra axis where it is wanted.
fn placed(y: Array, axis: Option<usize>, place: Option<i32>, size: i32) -> Result<Array> {
    let Some(place) = place else {
        return match axis {
            None => Ok(y),
            Some(_) => Err(Error::Value("[vmap] an output without an axis must not depend on mapped inputs.".into())),
        };
    };
    let n = y.ndim() as i32 + axis.is_none() as i32;
    let front = if place < 0 { place + n } else { place };
    if !(0..n).contains(&front) {
        let n = n - 1;
        return Err(Error::Index(format!("[vmap] an output of {n} axes must get its axis in them but at {place}.")));
    }
    match axis {
        Some(axis) => moveaxis(&y, axis as i32, front),
        None => {
            let mut shape = Shape::from_elem(size, 1);
            shape.extend_from_slice(y.shape());
            moveaxis(&broadcast_to(&y, &shape)?, 0, front)
        }
    }
}

/// An array and its mapped axis.
type Mapped = (Array, Option<usize>);

/// What a traced function gives over the mapped axes of its inputs.
fn map_tape(inputs: &[Array], axes: &[Option<usize>], traces: &[Array], outputs: &[Array]) -> Result<Vec<Mapped>> {
    let entries = inputs.iter().zip(axes).zip(traces).filter(|((_, axis), _)| axis.is_some());
    let (roots, mut known): (Vec<Array>, HashMap<usize, Mapped>) =
        entries.map(|((x, &axis), trace)| (trace.clone(), (trace.id(), (x.clone(), axis)))).unzip();
    let tape = Tape::between(&roots, outputs);
    for step in &tape.steps {
        map_step(step, &mut known)?;
    }
    Ok(outputs.iter().map(|output| mapped(output, &known)).collect())
}

fn map_step(step: &Step, known: &mut HashMap<usize, Mapped>) -> Result<()> {
    let (inputs, axes): (Vec<_>, Vec<_>) = step.call.inputs.iter().map(|input| mapped(input, known)).unzip();
    let results = with_stream(step.call.stream, || step.call.op.vmap(&inputs, &axes))?;
    let held = step.outputs.iter().zip(results).filter_map(|(output, result)| Some((output.as_ref()?.id(), result)));
    known.extend(held);
    Ok(())
}

fn mapped(array: &Array, known: &HashMap<usize, Mapped>) -> Mapped {
    known.get(&array.id()).cloned().unwrap_or_else(|| (array.clone(), None))
}

/// The vmap of an op through its meaning.
pub(crate) fn vmap_of_meaning(
    op: &str,
    inputs: &[Array],
    axes: &[Option<usize>],
    meaning: Meaning<'_>,
) -> Result<Vec<Mapped>> {
    let traces = traces(inputs, axes);
    let outputs = traced(|| meaning(&traces))?.ok_or_else(|| missing(op, "vmap"))?;
    map_tape(inputs, axes, &traces, &outputs)
}
