//! `slice(x, start, stop, strides)`: every so many-th element of each axis, forwards or backwards, without copying.

use smallvec::smallvec;

use super::range::Ranges;
use crate::array::Array;
use crate::error::{Error, Result};
use crate::op::{At, Key, Lowering, Op, Place, Specs, Starts, View, expect_inputs};
use crate::ops::catalogue::Entry;
use crate::ops::full::zeros_like;
use crate::ops::slices::update::update_ranges;
use crate::ops::views::{case_of, look, moveaxis};
use crate::shape::{self, Layout, Spec};
use crate::transforms::tracing;

/// The elements from `start` to before `stop` along each axis, by strides of either sign. Places are counted from the
/// front (with a negative stride, a stop of -1 is before the first element), and those out of range are left out.
pub fn slice(x: &Array, start: &[i32], stop: &[i32], strides: &[i32]) -> Result<Array> {
    slice_ranges(x, Ranges::new("slice", x.shape(), start, stop, strides)?)
}

pub(super) fn slice_ranges(x: &Array, ranges: Ranges) -> Result<Array> {
    if ranges.is_whole(x.shape()) && !tracing::depends_on_sizes(x) {
        return Ok(x.clone());
    }
    look(Slice { ranges }, x)
}

#[derive(Debug)]
struct Slice {
    ranges: Ranges,
}

impl Op for Slice {
    fn name(&self) -> &'static str {
        "slice"
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
        let [x] = expect_inputs(self.name(), inputs)?;
        if !self.ranges.fit(&x.shape) {
            let shape = shape::display(&x.shape);
            return Err(Error::Value(format!("[slice] the slice must lie in the array but its shape is {shape}.")));
        }
        Ok(smallvec![Spec::new(self.ranges.shape(), x.dtype)])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let zeros = zeros_like(&at.inputs[0])?;
        Ok(vec![Some(update_ranges(&zeros, &cotangents[0], self.ranges.clone())?)])
    }

    fn jvp(&self, _: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        tangents.iter().flatten().map(|tangent| slice_ranges(tangent, self.ranges.clone())).collect()
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let x = moveaxis(&inputs[0], axes[0].expect("an input is mapped") as i32, 0)?;
        let ranges = self.ranges.behind(x.shape()[0]);
        Ok(vec![(slice_ranges(&x, ranges)?, Some(0))])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::View(self)
    }
}

impl View for Slice {
    fn view(&self, input: &Layout, _: &Spec) -> Option<Layout> {
        Some(self.ranges.layout(input))
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let cases = vec![
        case_of("middle", &[4, 5], |x| slice(x, &[1, 0], &[3, 5], &[1, 1])),
        case_of("strided", &[7, 3], |x| slice(x, &[1, 0], &[7, 3], &[3, 2])),
        case_of("backwards", &[5, 3], |x| slice(x, &[4, 2], &[-1, -1], &[-2, -1])),
        case_of("nothing", &[4], |x| slice(x, &[3], &[1], &[1])),
        case_of("empty", &[0, 2], |x| slice(x, &[0, 1], &[0, 2], &[1, 1])),
        case_of("scalar", &[], |x| slice(x, &[], &[], &[])),
    ];
    vec![Entry { name: "slice", doc: "Every so many-th element of each axis.", cases }]
}
