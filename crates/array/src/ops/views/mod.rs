//! Views: other looks at an array's memory. None copies, except where a reshape's strides do not allow a view.

mod as_strided;
mod contiguous;
mod methods;
mod refold;
mod transpose;

use crate::array::{Array, Data, call_one};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::op::{Op, View};
use crate::ops::broadcast_to::broadcast_together;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::shape::{Shape, Spec};

pub use as_strided::as_strided;
pub use contiguous::contiguous;
pub use refold::{atleast_1d, atleast_2d, atleast_3d, expand_dims, flatten, reshape, squeeze, unflatten};
pub use transpose::{moveaxis, swapaxes, transpose};

/// The arrays broadcast to the one shape they all fit.
pub fn broadcast_arrays(arrays: &[Array]) -> Result<Vec<Array>> {
    broadcast_together("broadcast_arrays", arrays)
}

/// Calls a view. Of what is known already, so is the view of it: no call is made.
pub(crate) fn look(op: impl Op + View, x: &Array) -> Result<Array> {
    let Some(data) = known(x) else { return call_one(op, [x.clone()]) };
    let shape = op.infer(&[x.spec()])?.remove(0).shape;
    view_of(op, x, data, shape)
}

/// Calls a view whose result is known to have a shape.
pub(crate) fn look_as(op: impl Op + View, x: &Array, shape: Shape) -> Result<Array> {
    match known(x) {
        Some(data) => view_of(op, x, data, shape),
        None => call_one(op, [x.clone()]),
    }
}

/// What an array is made of, if it is known and no transform follows it. float64 goes the long way, where a GPU stream refuses it.
fn known(x: &Array) -> Option<Data> {
    if x.dtype() == Dtype::F64 || x.is_tracer() { None } else { x.data() }
}

fn view_of(op: impl Op + View, x: &Array, data: Data, shape: Shape) -> Result<Array> {
    let spec = Spec::new(shape, x.dtype());
    match op.view(&data.layout, &spec) {
        Some(layout) => Ok(Array::evaluated(spec, Data { source: data.source, layout })),
        None => call_one(op, [x.clone()]),
    }
}

/// Inputs of which some have an extra axis: all of them with it in front, and its size.
pub(super) fn mapped_to_front(inputs: &[Array], axes: &[Option<usize>]) -> Result<(Vec<Array>, i32)> {
    let (inputs, axis) = crate::transforms::align_mapped(inputs, axes)?;
    let axis = axis.expect("an input is mapped");
    let size = inputs[0].shape()[axis];
    let inputs = inputs.iter().map(|x| moveaxis(x, axis as i32, 0)).collect::<Result<_>>()?;
    Ok((inputs, size))
}

/// A case of an op of one array, for the catalogue.
pub(super) fn case_of(
    name: &str,
    shape: &[i32],
    call: impl Fn(&Array) -> Result<Array> + Send + Sync + 'static,
) -> Case {
    Case {
        name: name.into(),
        inputs: vec![Sample::new(shape)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![call(&x[0])?])),
        differentiable: true,
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let mut all = refold::entries();
    all.extend(transpose::entries());
    all.extend(as_strided::entries());
    all.extend(contiguous::entries());
    all.push(broadcast_arrays_entry());
    all
}

fn broadcast_arrays_entry() -> Entry {
    let case = |name: &str, shapes: &[&[i32]]| Case {
        name: name.into(),
        inputs: shapes.iter().map(|shape| Sample::new(shape)).collect(),
        dtypes: &Dtype::ALL,
        call: Box::new(broadcast_arrays),
        differentiable: true,
    };
    let cases =
        vec![case("rows and columns", &[&[2, 1], &[3]]), case("scalar", &[&[], &[2, 2]]), case("empty", &[&[0], &[1]])];
    Entry { name: "broadcast_arrays", doc: "Arrays broadcast to the shape they all fit.", cases }
}

#[cfg(test)]
pub(crate) mod tests;
