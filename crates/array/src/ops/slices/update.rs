//! `slice_update(x, update, start, stop, strides)`: the array with a part replaced; in place if nobody else needs it.

use smallvec::smallvec;

use super::range::Ranges;
use super::slice::slice_ranges;
use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Key, Lowering, Op, Place, Specs, Starts, Write, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::{zeros, zeros_like};
use crate::ops::views::mapped_to_front;
use crate::shape::{self, Layout, Spec};

/// The array with the elements that [`slice`](super::slice) would give replaced by an update, which is broadcast to
/// them and becomes the array's type.
pub fn slice_update(x: &Array, update: &Array, start: &[i32], stop: &[i32], strides: &[i32]) -> Result<Array> {
    update_ranges(x, update, Ranges::new("slice_update", x.shape(), start, stop, strides)?)
}

pub(super) fn update_ranges(x: &Array, update: &Array, ranges: Ranges) -> Result<Array> {
    let shape = ranges.shape();
    if !shape::broadcast("slice_update", update.shape(), &shape).is_ok_and(|both| both == shape) {
        let [from, to] = [update.shape(), &shape].map(shape::display);
        return Err(Error::Value(format!(
            "[slice_update] the update must broadcast to the slice's shape {to} but has shape {from}."
        )));
    }
    let update = broadcast_to(&astype(update, x.dtype())?, &shape)?;
    if shape::size_of(&shape) == 0 {
        return Ok(x.clone());
    }
    if ranges.is_whole(x.shape()) {
        return Ok(update);
    }
    call_one(SliceUpdate { ranges }, [x.clone(), update])
}

#[derive(Debug)]
struct SliceUpdate {
    ranges: Ranges,
}

impl Op for SliceUpdate {
    fn name(&self) -> &'static str {
        "slice_update"
    }

    fn key(&self, key: &mut Key) {
        self.ranges.key(key);
    }

    fn plan_key(&self, key: &mut Key) {
        self.ranges.plan_key(key);
    }

    fn starts(&self) -> Option<Starts> {
        Some(self.ranges.starts())
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x, update] = expect_inputs(self.name(), inputs)?;
        if !self.ranges.fit(&x.shape) || update.shape != self.ranges.shape() || update.dtype != x.dtype {
            let [of, part] = [&x.shape, &update.shape].map(|s| shape::display(s));
            return Err(Error::Value(format!(
                "[slice_update] the update must fit the slice but they are {part} and a part of {of}."
            )));
        }
        Ok(smallvec![x])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let [x, update] = [0, 1].map(|i| at.wanted[i].then_some(&cotangents[0]));
        let nothing = zeros(&[], cotangents[0].dtype())?;
        let x = x.map(|cotangent| update_ranges(cotangent, &nothing, self.ranges.clone())).transpose()?;
        let update = update.map(|cotangent| slice_ranges(cotangent, self.ranges.clone())).transpose()?;
        Ok(vec![x, update])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        let tangent = |i: usize| tangents[i].clone().map_or_else(|| zeros_like(&at.inputs[i]), Ok);
        Ok(vec![update_ranges(&tangent(0)?, &tangent(1)?, self.ranges.clone())?])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (inputs, n) = mapped_to_front(inputs, axes)?;
        Ok(vec![(update_ranges(&inputs[0], &inputs[1], self.ranges.behind(n))?, Some(0))])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::Write(self)
    }
}

impl Write for SliceUpdate {
    fn has_base(&self) -> bool {
        true
    }

    fn parts(&self, place: &Place<'_>) -> Vec<Layout> {
        vec![self.ranges.layout(&Layout::contiguous(&place.outputs[0].shape))]
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, shapes: [&[i32]; 2], [start, stop, strides]: [&'static [i32]; 3]| Case {
        name: name.into(),
        inputs: shapes.iter().map(|shape| Sample::new(shape)).collect(),
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![slice_update(&x[0], &x[1], start, stop, strides)?])),
        differentiable: true,
    };
    let cases = vec![
        case("middle", [&[4, 5], &[2, 5]], [&[1, 0], &[3, 5], &[1, 1]]),
        case("strided", [&[4, 5], &[2, 2]], [&[0, 1], &[4, 5], &[2, 3]]),
        case("backwards", [&[5, 3], &[5, 2]], [&[4, 2], &[-1, -1], &[-1, -2]]),
        case("broadcast", [&[3, 4], &[4]], [&[0, 0], &[2, 4], &[1, 1]]),
        case("one element", [&[3], &[]], [&[1], &[2], &[1]]),
        case("all", [&[3], &[3]], [&[0], &[3], &[1]]),
        case("nothing", [&[3], &[0]], [&[2], &[2], &[1]]),
        case("empty", [&[0, 2], &[0, 1]], [&[0, 0], &[0, 1], &[1, 1]]),
    ];
    vec![Entry { name: "slice_update", doc: "An array with a part replaced.", cases }]
}
