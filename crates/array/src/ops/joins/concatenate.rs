//! `concatenate(arrays, axis)`: arrays one after the other along an axis; `stack` puts them along a new one.

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Key, Lowering, Op, Place, Specs, Write};
use crate::ops::astype::astype;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros_like;
use crate::ops::slices::slice;
use crate::ops::views::{expand_dims, mapped_to_front};
use crate::shape::{self, Layout, Shape, Spec, normalize_axis};

/// The arrays one after the other along an axis, in the type that all of them promote to.
pub fn concatenate(arrays: &[Array], axis: i32) -> Result<Array> {
    let Some(first) = arrays.first() else {
        return Err(Error::Value("[concatenate] one array at least must be given but none is.".into()));
    };
    let axis = normalize_axis("concatenate", axis, first.ndim())?;
    if arrays.len() == 1 {
        return Ok(first.clone());
    }
    let dtype = arrays.iter().skip(1).fold(first.dtype(), |dtype, array| dtype.promote(array.dtype()));
    let arrays = arrays.iter().map(|array| astype(array, dtype)).collect::<Result<Vec<Array>>>()?;
    call_one(Concatenate { axis }, arrays)
}

/// The arrays, all of one shape, along a new axis.
pub fn stack(arrays: &[Array], axis: i32) -> Result<Array> {
    let Some(first) = arrays.first() else {
        return Err(Error::Value("[stack] one array at least must be given but none is.".into()));
    };
    let axis = normalize_axis("stack", axis, first.ndim() + 1)? as i32;
    if let Some(other) = arrays.iter().find(|array| array.shape() != first.shape()) {
        let [a, b] = [first, other].map(|array| shape::display(array.shape()));
        return Err(Error::Value(format!("[stack] the arrays must have one shape but have {a} and {b}.")));
    }
    let arrays = arrays.iter().map(|array| expand_dims(array, &[axis])).collect::<Result<Vec<Array>>>()?;
    concatenate(&arrays, axis)
}

#[derive(Debug)]
struct Concatenate {
    axis: usize,
}

impl Concatenate {
    /// Refuses an array that differs from the first along another axis.
    fn check(&self, first: &Spec, other: &Spec) -> Result<()> {
        let fits = |axis: usize| axis == self.axis || first.shape[axis] == other.shape[axis];
        if first.ndim() == other.ndim() && (0..first.ndim()).all(fits) {
            return Ok(());
        }
        let ([a, b], axis) = ([first, other].map(|spec| shape::display(&spec.shape)), self.axis);
        Err(Error::Value(format!("[concatenate] shapes must match but along axis {axis} but are {a} and {b}.")))
    }
}

impl Op for Concatenate {
    fn name(&self) -> &'static str {
        "concatenate"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.axis as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let first = inputs[0];
        inputs.iter().try_for_each(|other| self.check(first, other))?;
        let n: i64 = inputs.iter().map(|spec| spec.shape[self.axis] as i64).sum();
        let Ok(n) = i32::try_from(n) else {
            return Err(Error::Value(format!("[concatenate] a size must fit 32 bits but would be {n}.")));
        };
        let mut spec = first.clone();
        spec.shape[self.axis] = n;
        Ok(smallvec![spec])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let cotangent = &cotangents[0];
        let (mut start, strides): (Shape, Shape) = (smallvec![0; cotangent.ndim()], smallvec![1; cotangent.ndim()]);
        let mut parts = Vec::with_capacity(at.inputs.len());
        for (input, &wanted) in at.inputs.iter().zip(at.wanted) {
            let mut stop = Shape::from_slice(cotangent.shape());
            stop[self.axis] = start[self.axis] + input.shape()[self.axis];
            parts.push(wanted.then(|| slice(cotangent, &start, &stop, &strides)).transpose()?);
            start[self.axis] = stop[self.axis];
        }
        Ok(parts)
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        let all = at.inputs.iter().zip(tangents);
        let all = all.map(|(input, tangent)| tangent.clone().map_or_else(|| zeros_like(input), Ok));
        Ok(vec![concatenate(&all.collect::<Result<Vec<Array>>>()?, self.axis as i32)?])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (inputs, _) = mapped_to_front(inputs, axes)?;
        Ok(vec![(concatenate(&inputs, self.axis as i32 + 1)?, Some(0))])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Write(self)
    }
}

impl Write for Concatenate {
    fn has_base(&self) -> bool {
        false
    }

    fn parts(&self, place: &Place<'_>) -> Vec<Layout> {
        let whole = Layout::contiguous(&place.outputs[0].shape);
        let mut before = 0;
        let part = |spec: &&Spec| {
            let offset = before * whole.strides[self.axis];
            before += spec.shape[self.axis] as i64;
            Layout { shape: spec.shape.clone(), strides: whole.strides.clone(), offset }
        };
        place.inputs.iter().map(part).collect()
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, shapes: &[&[i32]], call: fn(&[Array]) -> Result<Array>| Case {
        name: name.into(),
        inputs: shapes.iter().map(|shape| Sample::new(shape)).collect(),
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![call(x)?])),
        differentiable: true,
    };
    vec![
        Entry {
            name: "concatenate",
            doc: "Arrays one after the other along an axis.",
            cases: vec![
                case("rows", &[&[2, 3], &[1, 3], &[4, 3]], |x| concatenate(x, 0)),
                case("columns", &[&[2, 3, 2], &[2, 5, 2]], |x| concatenate(x, 1)),
                case("last axis", &[&[3, 4], &[3, 8]], |x| concatenate(x, -1)),
                case("one", &[&[3]], |x| concatenate(x, 0)),
                case("an empty one", &[&[0, 3], &[2, 3]], |x| concatenate(x, 0)),
                case("empty", &[&[2, 0], &[1, 0]], |x| concatenate(x, 0)),
            ],
        },
        Entry {
            name: "stack",
            doc: "Arrays along a new axis.",
            cases: vec![
                case("front", &[&[2, 3], &[2, 3]], |x| stack(x, 0)),
                case("end", &[&[2, 3], &[2, 3], &[2, 3]], |x| stack(x, -1)),
                case("scalars", &[&[], &[]], |x| stack(x, 0)),
                case("empty", &[&[0], &[0]], |x| stack(x, 1)),
            ],
        },
    ]
}
