//! How gathers and scatters carry an extra axis.

use smallvec::SmallVec;

use super::Gather;
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::create::arange;
use crate::ops::views::{expand_dims, moveaxis, reshape};
use crate::shape::Shape;

/// The gather over inputs with an extra axis, and where the result's is.
pub(super) fn mapped_gather(op: &Gather, inputs: &[Array], axes: &[Option<usize>]) -> Result<(Array, Option<usize>)> {
    let (indices, positions) = mapped_indices(&inputs[1..], &axes[1..])?;
    let Some(axis) = axes[0] else {
        return Ok((op.of(&inputs[0], &indices)?, positions.map(|_| 0)));
    };
    let x = moveaxis(&inputs[0], axis as i32, 0)?;
    let n = x.shape()[0];
    let mut op = Gather { axes: op.axes.iter().map(|axis| axis + 1).collect(), sizes: op.sizes.clone() };
    match positions {
        // The same indices everywhere: the extra axis is one more of each part.
        None => {
            op.sizes.insert(0, n);
            let after = indices.first().map_or(0, Array::ndim);
            Ok((op.of(&x, &indices)?, Some(after)))
        }
        // Other indices everywhere: an index array of its own points along the extra axis.
        Some(_) => {
            op.sizes.insert(0, 1);
            let indices = with_own_index(n, indices, &mut op.axes)?;
            let parts = op.of(&x, &indices)?;
            let mut shape = Shape::from_slice(parts.shape());
            shape.remove(indices[0].ndim());
            Ok((reshape(&parts, &shape)?, Some(0)))
        }
    }
}

/// Index arrays with their extra axis in front, repeated where they have none; none if none has it.
pub(crate) fn mapped_indices(indices: &[Array], axes: &[Option<usize>]) -> Result<(Vec<Array>, Option<i32>)> {
    let found = indices.iter().zip(axes).find_map(|(index, axis)| axis.map(|axis| index.shape()[axis]));
    let Some(n) = found else { return Ok((indices.to_vec(), None)) };
    let front = indices.iter().zip(axes).map(|(index, axis)| with_front_axis(index, *axis, n));
    Ok((front.collect::<Result<Vec<Array>>>()?, Some(n)))
}

/// An array with its extra axis in front, repeated if it has none.
pub(crate) fn with_front_axis(x: &Array, axis: Option<usize>, n: i32) -> Result<Array> {
    match axis {
        Some(axis) => moveaxis(x, axis as i32, 0),
        None => {
            let mut shape = Shape::from_slice(&[n]);
            shape.extend_from_slice(x.shape());
            broadcast_to(&expand_dims(x, &[0])?, &shape)
        }
    }
}

/// Adds the index array that points along the extra axis in front, before the others.
pub(crate) fn with_own_index(n: i32, indices: Vec<Array>, axes: &mut SmallVec<[usize; 2]>) -> Result<Vec<Array>> {
    let given = indices.first().map_or(Dtype::I32, Array::dtype);
    // The type must hold the numbers of the extra axis too.
    let dtype = if given.size() < 4 { Dtype::I32 } else { given };
    let indices = indices.iter().map(|index| astype(index, dtype)).collect::<Result<Vec<Array>>>()?;
    let shape = indices.first().map_or_else(|| vec![n], |index| index.shape().to_vec());
    let mut column = vec![1; shape.len()];
    column[0] = n;
    let own = reshape(&arange(0, n, 1, Some(dtype))?, &column)?;
    axes.insert(0, 0);
    Ok(std::iter::once(broadcast_to(&own, &shape)?).chain(indices).collect())
}
