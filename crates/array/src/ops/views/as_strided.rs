//! `as_strided(x, shape, strides, offset)`: any look at the elements in order. Elements may occur several times.

use smallvec::{SmallVec, smallvec};

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{At, Key, Lowering, Op, Place, Specs, View, expect_inputs};
use crate::ops::catalogue::Entry;
use crate::ops::create::arange;
use crate::ops::full::{zeros, zeros_like};
use crate::ops::scatter::scatter_add;
use crate::ops::views::{case_of, expand_dims, look, moveaxis, reshape};
use crate::shape::{self, Layout, Shape, Spec, Strides};

/// The elements that lie at an offset and strides among the array's elements in order. Without a shape it is the
/// array's, without strides those of a shape without gaps.
pub fn as_strided(x: &Array, shape: Option<&[i32]>, strides: Option<&[i64]>, offset: i64) -> Result<Array> {
    let shape = Shape::from_slice(shape.unwrap_or(x.shape()));
    if let Some(n) = shape.iter().find(|&&n| n < 0) {
        return Err(Error::Value(format!("[as_strided] the sizes of a shape must not be negative but one is {n}.")));
    }
    let strides = strides.map_or_else(|| shape::contiguous_strides(&shape), SmallVec::from_slice);
    if shape.len() != strides.len() {
        let (sizes, strides) = (shape.len(), strides.len());
        return Err(Error::Value(format!(
            "[as_strided] there must be {sizes} strides, one an axis, but are {strides}."
        )));
    }
    look(AsStrided { shape, strides, offset }, x)
}

#[derive(Debug)]
struct AsStrided {
    shape: Shape,
    strides: Strides,
    offset: i64,
}

impl AsStrided {
    /// Whether all places are among so many elements.
    fn fits(&self, size: usize) -> bool {
        let spans = self.shape.iter().zip(&self.strides).map(|(&n, &stride)| (n as i128 - 1) * stride as i128);
        let (mut low, mut high) = (self.offset as i128, self.offset as i128);
        spans.for_each(|span| if span < 0 { low += span } else { high += span });
        self.shape.contains(&0) || (low >= 0 && high < size as i128)
    }
}

impl Op for AsStrided {
    fn name(&self) -> &'static str {
        "as_strided"
    }

    fn key(&self, key: &mut Key) {
        key.ints(&self.shape);
        key.ints(&self.strides);
        key.int(self.offset);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        if !self.fits(x.size()) {
            let (size, shape, strides) = (x.size(), shape::display(&self.shape), &self.strides);
            return Err(Error::Value(format!(
                "[as_strided] the elements must be among the array's {size} but shape {shape}, strides {strides:?} and \
                 offset {} lead out of them.",
                self.offset
            )));
        }
        Ok(smallvec![Spec::new(self.shape.clone(), x.dtype)])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let x = &at.inputs[0];
        if cotangents[0].size() == 0 {
            return Ok(vec![Some(zeros_like(x)?)]);
        }
        let places = arange(0, x.size() as i64, 1, Some(Dtype::I64))?;
        let places = as_strided(&places, Some(&self.shape), Some(&self.strides), self.offset)?;
        let flat = zeros(&[x.size() as i32], x.dtype())?;
        let sums = scatter_add(&flat, &[places], &expand_dims(&cotangents[0], &[-1])?, &[0])?;
        Ok(vec![Some(reshape(&sums, x.shape())?)])
    }

    fn jvp(&self, _: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        let view = |tangent| as_strided(tangent, Some(&self.shape), Some(&self.strides), self.offset);
        tangents.iter().flatten().map(view).collect()
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let x = moveaxis(&inputs[0], axes[0].expect("an input is mapped") as i32, 0)?;
        let each = shape::size_of(&x.shape()[1..]) as i64;
        let shape: Shape = x.shape()[..1].iter().chain(&self.shape).copied().collect();
        let strides: Strides = std::iter::once(each).chain(self.strides.iter().copied()).collect();
        Ok(vec![(as_strided(&x, Some(&shape), Some(&strides), self.offset)?, Some(0))])
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::View(self)
    }
}

impl View for AsStrided {
    fn view(&self, input: &Layout, output: &Spec) -> Option<Layout> {
        let offset = input.offset + if output.size() == 0 { 0 } else { self.offset };
        let layout = Layout { shape: self.shape.clone(), strides: self.strides.clone(), offset };
        input.is_row_contiguous().then_some(layout)
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let cases = vec![
        case_of("windows", &[6], |x| as_strided(x, Some(&[3, 2]), Some(&[1, 1]), 1)),
        case_of("backwards", &[2, 3], |x| as_strided(x, Some(&[3]), Some(&[-2]), 5)),
        case_of("as it is", &[2, 3], |x| as_strided(x, None, None, 0)),
        case_of("scalar", &[], |x| as_strided(x, Some(&[2]), Some(&[0]), 0)),
        case_of("empty", &[0], |x| as_strided(x, Some(&[0, 3]), Some(&[1, 1]), 0)),
    ];
    vec![Entry { name: "as_strided", doc: "Any look at the elements in order.", cases }]
}
