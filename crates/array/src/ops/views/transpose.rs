//! Axes in another order: `transpose`, `moveaxis`, `swapaxes`.

use smallvec::{SmallVec, smallvec};

use crate::array::Array;
use crate::error::{Error, Result};
use crate::op::{At, Key, Lowering, Op, Place, Sizes, Specs, View, expect_inputs};
use crate::ops::catalogue::Entry;
use crate::ops::views::{case_of, look};
use crate::shape::{Layout, Spec, normalize_axes, normalize_axis};

/// The array with its axes in the given order, or in reverse.
pub fn transpose(x: &Array, axes: Option<&[i32]>) -> Result<Array> {
    let n = x.ndim();
    let Some(axes) = axes else { return permute(x, (0..n).rev().collect()) };
    if axes.len() != n {
        let given = axes.len();
        return Err(Error::Value(format!("[transpose] all {n} axes must be given but {given} are.")));
    }
    normalize_axes("transpose", axes, n)?;
    let from_front = axes.iter().map(|&axis| normalize_axis("transpose", axis, n));
    permute(x, from_front.collect::<Result<_>>()?)
}

/// The array with an axis moved to another place.
pub fn moveaxis(x: &Array, source: i32, destination: i32) -> Result<Array> {
    let from = normalize_axis("moveaxis", source, x.ndim())?;
    let to = normalize_axis("moveaxis", destination, x.ndim())?;
    let mut order: SmallVec<[usize; 4]> = (0..x.ndim()).filter(|&axis| axis != from).collect();
    order.insert(to, from);
    permute(x, order)
}

/// The array with two axes in each other's place.
pub fn swapaxes(x: &Array, a: i32, b: i32) -> Result<Array> {
    let [a, b] = [a, b].map(|axis| normalize_axis("swapaxes", axis, x.ndim()));
    let mut order: SmallVec<[usize; 4]> = (0..x.ndim()).collect();
    order.swap(a?, b?);
    permute(x, order)
}

fn permute(x: &Array, order: SmallVec<[usize; 4]>) -> Result<Array> {
    if order.is_sorted() {
        return Ok(x.clone());
    }
    look(Transpose { order }, x)
}

#[derive(Debug)]
struct Transpose {
    /// The input's axis that each of the result's is.
    order: SmallVec<[usize; 4]>,
}

impl Transpose {
    fn inverse(&self) -> SmallVec<[usize; 4]> {
        let mut inverse: SmallVec<[usize; 4]> = smallvec![0; self.order.len()];
        self.order.iter().enumerate().for_each(|(to, &from)| inverse[from] = to);
        inverse
    }
}

impl Op for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.order.len() as u64);
        self.order.iter().for_each(|&axis| key.word(axis as u64));
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![Spec { shape: self.order.iter().map(|&axis| x.shape[axis]).collect(), dtype: x.dtype }])
    }

    fn vjp(&self, _: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![Some(permute(&cotangents[0], self.inverse())?)])
    }

    fn jvp(&self, _: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        tangents.iter().flatten().map(|tangent| permute(tangent, self.order.clone())).collect()
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let mapped = axes[0].expect("an input is mapped");
        let rest = self.order.iter().map(|&axis| axis + (axis >= mapped) as usize);
        Ok(vec![(permute(&inputs[0], std::iter::once(mapped).chain(rest).collect())?, Some(0))])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::View(self)
    }
}

impl View for Transpose {
    fn view(&self, input: &Layout, output: &Spec) -> Option<Layout> {
        let strides = self.order.iter().map(|&axis| input.strides[axis]).collect();
        Some(Layout { shape: output.shape.clone(), strides, offset: input.offset })
    }
}

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "transpose",
            doc: "Axes in another order.",
            cases: vec![
                case_of("reversed", &[2, 3, 4], |x| transpose(x, None)),
                case_of("rotated", &[2, 3, 4], |x| transpose(x, Some(&[1, -1, 0]))),
                case_of("scalar", &[], |x| transpose(x, None)),
                case_of("empty", &[2, 0, 3], |x| transpose(x, None)),
            ],
        },
        Entry {
            name: "moveaxis",
            doc: "An axis moved to another place.",
            cases: vec![
                case_of("to the end", &[2, 3, 4], |x| moveaxis(x, 0, -1)),
                case_of("to the front", &[2, 3, 4], |x| moveaxis(x, 2, 0)),
                case_of("empty", &[2, 0], |x| moveaxis(x, 1, 0)),
            ],
        },
        Entry {
            name: "swapaxes",
            doc: "Two axes in each other's place.",
            cases: vec![
                case_of("outer", &[2, 3, 4], |x| swapaxes(x, 0, -1)),
                case_of("empty", &[0, 3], |x| swapaxes(x, 0, 1)),
            ],
        },
    ]
}
