//! Derivatives of scatters, and how they carry an extra axis.

use super::{Combine, Pointing, Scatter};
use crate::array::{Array, call_one};
use crate::error::{Error, Result};
use crate::op::At;
use crate::ops::astype::astype;
use crate::ops::binary::{equal, multiply};
use crate::ops::full::zeros_like;
use crate::ops::gather::{gather, mapped_indices, take_along_axis, with_front_axis, with_own_index};
use crate::ops::views::reshape;
use crate::shape::Shape;
use crate::transforms::align_mapped;

impl Scatter {
    /// The same scatter of other arrays.
    fn of(&self, x: &Array, indices: &[Array], updates: &Array) -> Result<Array> {
        let inputs = std::iter::once(x).chain(indices).chain([updates]);
        call_one(self.clone(), inputs.cloned())
    }

    /// What an array has where the updates go.
    fn back(&self, x: &Array, indices: &[Array], updates: &Array) -> Result<Array> {
        match &self.pointing {
            Pointing::Parts(axes) => {
                let axes: Vec<i32> = axes.iter().map(|&axis| axis as i32).collect();
                gather(x, indices, &axes, &updates.shape()[updates.ndim() - x.ndim()..])
            }
            Pointing::Along(axis) => take_along_axis(x, &indices[0], Some(*axis as i32)),
        }
    }
}

pub(super) fn vjp(op: &Scatter, at: &At<'_>, cotangent: &Array) -> Result<Vec<Option<Array>>> {
    let last = at.inputs.len() - 1;
    let (x, indices, updates) = (&at.inputs[0], &at.inputs[1..last], &at.inputs[last]);
    let mut all = vec![None; at.inputs.len()];
    let passes = |g: Array, result: &Array, given: &Array| multiply(&g, astype(&equal(result, given)?, g.dtype())?);
    if at.wanted[0] {
        all[0] = Some(match op.combine {
            Combine::Replace => op.of(cotangent, indices, &zeros_like(updates)?)?,
            Combine::Add => cotangent.clone(),
            Combine::Max | Combine::Min => passes(cotangent.clone(), &at.outputs[0], x)?,
            Combine::Multiply => return Err(missing(op, "vjp")),
        });
    }
    if at.wanted[last] {
        let g = op.back(cotangent, indices, updates)?;
        all[last] = Some(match op.combine {
            Combine::Replace | Combine::Add => g,
            Combine::Max | Combine::Min => passes(g, &op.back(&at.outputs[0], indices, updates)?, updates)?,
            Combine::Multiply => return Err(missing(op, "vjp")),
        });
    }
    Ok(all)
}

pub(super) fn jvp(op: &Scatter, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Array> {
    let last = at.inputs.len() - 1;
    if !matches!(op.combine, Combine::Replace | Combine::Add) {
        return Err(missing(op, "jvp"));
    }
    let tangent = |i: usize| tangents[i].clone().map_or_else(|| zeros_like(&at.inputs[i]), Ok);
    op.of(&tangent(0)?, &at.inputs[1..last], &tangent(last)?)
}

fn missing(op: &Scatter, rule: &str) -> Error {
    Error::Runtime(format!("[{rule}] {} must have a rule for it but has none.", op.combine.name()))
}

pub(super) fn vmap(op: &Scatter, inputs: &[Array], axes: &[Option<usize>]) -> Result<(Array, Option<usize>)> {
    let last = inputs.len() - 1;
    let pointing = match &op.pointing {
        Pointing::Along(axis) => {
            let (inputs, mapped) = align_mapped(inputs, axes)?;
            let axis = axis + mapped.is_some_and(|mapped| mapped <= *axis) as usize;
            let op = Scatter { combine: op.combine, pointing: Pointing::Along(axis) };
            return Ok((call_one(op, inputs)?, mapped));
        }
        Pointing::Parts(pointing) => pointing,
    };
    let found = inputs.iter().zip(axes).find_map(|(input, axis)| axis.map(|axis| input.shape()[axis]));
    let Some(n) = found else { return Ok((op.of(&inputs[0], &inputs[1..last], &inputs[last])?, None)) };
    let x = with_front_axis(&inputs[0], axes[0], n)?;
    let updates = with_front_axis(&inputs[last], axes[last], n)?;
    let (indices, mapped) = mapped_indices(&inputs[1..last], &axes[1..last])?;
    let indices = match mapped {
        Some(_) => indices,
        None => indices.iter().map(|index| with_front_axis(index, None, n)).collect::<Result<Vec<Array>>>()?,
    };
    let mut shifted = pointing.iter().map(|axis| axis + 1).collect();
    let indices = with_own_index(n, indices, &mut shifted)?;
    let mut shape = Shape::from_slice(updates.shape());
    shape.insert(indices[0].ndim(), 1);
    let op = Scatter { combine: op.combine, pointing: Pointing::Parts(shifted) };
    Ok((op.of(&x, &indices, &reshape(&updates, &shape)?)?, Some(0)))
}
