//! The same elements in the same order, in another shape: `reshape`, `flatten`, `unflatten`, `expand_dims`, `squeeze`
//! and `atleast_1d` to `atleast_3d`.
//!
//! They are one op of five kinds. A kind that names axes, not sizes, keeps its sense when the sizes change.

use smallvec::{SmallVec, smallvec};

use crate::array::Array;
use crate::error::{Error, Result};
use crate::op::{At, Key, Lowering, Op, Place, Sizes, Specs, View, expect_inputs};
use crate::ops::catalogue::Entry;
use crate::ops::views::{case_of, look_as, moveaxis};
use crate::shape::{self, Layout, Shape, Spec, Strides, normalize_axes, normalize_axis};
use crate::transforms::tracing;

type Axes = SmallVec<[usize; 4]>;

/// The elements in order, in another shape. One size may be -1: it is what the others leave.
pub fn reshape(x: &Array, shape: &[i32]) -> Result<Array> {
    let shape = resolve("reshape", x.size(), shape)?;
    refold(x, Refold::Reshape(shape))
}

/// The array with the axes from `start` to `end`, both included, made one. Axes out of range are taken as the nearest
/// one.
pub fn flatten(x: &Array, start: i32, end: i32) -> Result<Array> {
    if x.ndim() == 0 {
        return reshape(x, &[1]);
    }
    let n = x.ndim() as i32;
    let from_front = |axis: i32| if axis < 0 { axis.saturating_add(n) } else { axis };
    let (first, last) = (from_front(start).max(0), from_front(end).min(n - 1));
    if first > last {
        return Err(Error::Value(format!(
            "[flatten] the start axis must not be after the end axis but they are {start} and {end}."
        )));
    }
    refold(x, Refold::Flatten(first as usize, last as usize))
}

/// The array with one axis made several. One size may be -1: it is what the others leave.
pub fn unflatten(x: &Array, axis: i32, sizes: &[i32]) -> Result<Array> {
    if sizes.is_empty() {
        return Err(Error::Value("[unflatten] the shape must have sizes but is ().".into()));
    }
    let axis = normalize_axis("unflatten", axis, x.ndim())?;
    let sizes = resolve("unflatten", x.shape()[axis] as usize, sizes)?;
    refold(x, Refold::Unflatten(axis, sizes))
}

/// The array with new axes of one element; they are counted in the result.
pub fn expand_dims(x: &Array, axes: &[i32]) -> Result<Array> {
    let axes = normalize_axes("expand_dims", axes, x.ndim() + axes.len())?;
    refold(x, Refold::ExpandDims(axes))
}

/// The array without the given axes, or without all axes, of one element.
pub fn squeeze(x: &Array, axes: Option<&[i32]>) -> Result<Array> {
    let axes = match axes {
        Some(axes) => normalize_axes("squeeze", axes, x.ndim())?,
        None => (0..x.ndim()).filter(|&axis| x.shape()[axis] == 1).collect(),
    };
    refold(x, Refold::Squeeze(axes))
}

/// The array, with an axis if it has none.
pub fn atleast_1d(x: &Array) -> Result<Array> {
    if x.ndim() == 0 { expand_dims(x, &[0]) } else { Ok(x.clone()) }
}

/// The array with two axes at least; new ones come first.
pub fn atleast_2d(x: &Array) -> Result<Array> {
    match x.ndim() {
        0 => expand_dims(x, &[0, 1]),
        1 => expand_dims(x, &[0]),
        _ => Ok(x.clone()),
    }
}

/// The array with three axes at least: a vector becomes the middle one, a matrix the first two.
pub fn atleast_3d(x: &Array) -> Result<Array> {
    match x.ndim() {
        0 => expand_dims(x, &[0, 1, 2]),
        1 => expand_dims(x, &[0, 2]),
        2 => expand_dims(x, &[2]),
        _ => Ok(x.clone()),
    }
}

fn refold(x: &Array, op: Refold) -> Result<Array> {
    let shape = op.result(x.shape())?;
    let by_chance = op.sizes() == Sizes::Fixed && tracing::depends_on_sizes(x);
    if shape.as_slice() == x.shape() && !by_chance { Ok(x.clone()) } else { look_as(op, x, shape) }
}

/// A shape of `size` elements, -1 replaced by what the other sizes leave.
fn resolve(op: &str, size: usize, shape: &[i32]) -> Result<Shape> {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    let unknown = shape.iter().filter(|&&n| n == -1).count();
    let known: Option<i64> =
        shape.iter().filter(|&&n| n != -1).try_fold(1i64, |all, &n| all.checked_mul(n as i64).filter(|&all| all >= 0));
    let refuse = |what: &str| {
        let shape = shape::display(shape);
        Err(Error::Value(format!("[{op}] the shape must have {what} but is {shape}.")))
    };
    if shape.iter().any(|&n| n < -1) {
        return refuse("no negative sizes other than one -1");
    }
    match (unknown, known) {
        (0, Some(known)) if known == size => Ok(Shape::from_slice(shape)),
        (0 | 1, None) | (0, _) => refuse(&format!("{size} elements")),
        (1, Some(0)) => refuse("sizes other than 0 beside -1"),
        (1, Some(known)) if size % known == 0 => match i32::try_from(size / known) {
            Ok(rest) => Ok(shape.iter().map(|&n| if n == -1 { rest } else { n }).collect()),
            Err(_) => refuse(&format!("{size} elements, with sizes of 32 bits,")),
        },
        (1, _) => refuse(&format!("{size} elements")),
        _ => refuse("one -1 at most"),
    }
}

/// Which shape the elements get.
#[derive(Debug)]
enum Refold {
    Reshape(Shape),
    /// The axes from the first to the second become one.
    Flatten(usize, usize),
    /// The axis gets these sizes.
    Unflatten(usize, Shape),
    /// New axes of one element, counted in the result.
    ExpandDims(Axes),
    /// Axes of one element that go.
    Squeeze(Axes),
}

impl Refold {
    fn result(&self, from: &[i32]) -> Result<Shape> {
        match self {
            Refold::Reshape(shape) => resolve(self.name(), shape::size_of(from), shape),
            Refold::Flatten(first, last) => {
                let joined = shape::size_of(&from[*first..=*last]);
                let Ok(joined) = i32::try_from(joined) else {
                    return Err(Error::Value(format!("[flatten] a size must fit 32 bits but would be {joined}.")));
                };
                Ok(from[..*first].iter().copied().chain([joined]).chain(from[last + 1..].iter().copied()).collect())
            }
            Refold::Unflatten(axis, sizes) => {
                let sizes = resolve(self.name(), from[*axis] as usize, sizes)?;
                Ok(from[..*axis].iter().chain(&sizes).chain(&from[axis + 1..]).copied().collect())
            }
            Refold::ExpandDims(axes) => {
                let mut rest = from.iter().copied();
                let size = |axis| if axes.contains(&axis) { 1 } else { rest.next().expect("the rest are the array's") };
                Ok((0..from.len() + axes.len()).map(size).collect())
            }
            Refold::Squeeze(axes) => {
                if let Some(&axis) = axes.iter().find(|&&axis| from[axis] != 1) {
                    let n = from[axis];
                    return Err(Error::Value(format!("[squeeze] axis {axis} must have one element but has {n}.")));
                }
                Ok((0..from.len()).filter(|axis| !axes.contains(axis)).map(|axis| from[axis]).collect())
            }
        }
    }

    /// The same with an axis of `n` before all others.
    fn behind(&self, n: i32) -> Refold {
        let shifted = |axes: &Axes| axes.iter().map(|axis| axis + 1).collect();
        match self {
            Refold::Reshape(shape) => Refold::Reshape(std::iter::once(n).chain(shape.iter().copied()).collect()),
            Refold::Flatten(first, last) => Refold::Flatten(first + 1, last + 1),
            Refold::Unflatten(axis, sizes) => Refold::Unflatten(axis + 1, sizes.clone()),
            Refold::ExpandDims(axes) => Refold::ExpandDims(shifted(axes)),
            Refold::Squeeze(axes) => Refold::Squeeze(shifted(axes)),
        }
    }
}

impl Op for Refold {
    fn name(&self) -> &'static str {
        match self {
            Refold::Reshape(_) => "reshape",
            Refold::Flatten(..) => "flatten",
            Refold::Unflatten(..) => "unflatten",
            Refold::ExpandDims(_) => "expand_dims",
            Refold::Squeeze(_) => "squeeze",
        }
    }

    fn key(&self, key: &mut Key) {
        let axes = |key: &mut Key, axes: &[usize]| axes.iter().for_each(|&axis| key.word(axis as u64));
        match self {
            Refold::Reshape(shape) => key.ints(shape),
            Refold::Flatten(first, last) => axes(key, &[*first, *last]),
            Refold::Unflatten(axis, sizes) => {
                axes(key, &[*axis]);
                key.ints(sizes);
            }
            Refold::ExpandDims(all) | Refold::Squeeze(all) => {
                key.word(all.len() as u64);
                axes(key, all);
            }
        }
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![Spec::new(self.result(&x.shape)?, x.dtype)])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![Some(reshape(&cotangents[0], at.inputs[0].shape())?)])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        tangents.iter().flatten().map(|tangent| reshape(tangent, at.outputs[0].shape())).collect()
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let x = moveaxis(&inputs[0], axes[0].expect("an input is mapped") as i32, 0)?;
        let n = x.shape()[0];
        Ok(vec![(refold(&x, self.behind(n))?, Some(0))])
    }

    fn sizes(&self) -> Sizes {
        match self {
            Refold::Flatten(..) | Refold::ExpandDims(_) | Refold::Squeeze(_) => Sizes::Any,
            Refold::Reshape(_) | Refold::Unflatten(..) => Sizes::Fixed,
        }
    }

    fn lower(&self, _: &Place<'_>) -> Lowering<'_> {
        Lowering::View(self)
    }
}

impl View for Refold {
    fn view(&self, input: &Layout, output: &Spec) -> Option<Layout> {
        refold_layout(input, &output.shape)
    }
}

/// The layout in another shape; none if no strides reach the elements in order.
pub(crate) fn refold_layout(layout: &Layout, shape: &[i32]) -> Option<Layout> {
    if layout.size() == 0 || layout.is_row_contiguous() {
        return Some(Layout { offset: layout.offset, ..Layout::contiguous(shape) });
    }
    let (sizes, strides) = shape::collapse(&layout.shape, &[&layout.strides]);
    let mut runs = sizes.iter().zip(&strides[0]).rev();
    // From the last axis to the first: each takes its part of the run of evenly spaced elements that it lies in.
    let (mut left, mut stride) = (1i64, 1i64);
    let mut result: Strides = SmallVec::from_elem(0, shape.len());
    for (axis, &n) in shape.iter().enumerate().rev() {
        if n > 1 && left == 1 {
            (left, stride) = runs.next().map(|(&size, &stride)| (size, stride))?;
        }
        if left % n as i64 != 0 {
            return None;
        }
        result[axis] = stride;
        left /= n as i64;
        stride *= n as i64;
    }
    Some(Layout { shape: Shape::from_slice(shape), strides: result, offset: layout.offset })
}

pub(super) fn entries() -> Vec<Entry> {
    vec![
        Entry {
            name: "reshape",
            doc: "The elements in order, in another shape.",
            cases: vec![
                case_of("rows", &[2, 6], |x| reshape(x, &[3, -1])),
                case_of("empty", &[0, 3], |x| reshape(x, &[2, 0, 5])),
                case_of("scalar", &[], |x| reshape(x, &[1, 1])),
                case_of("to a scalar", &[1, 1], |x| reshape(x, &[])),
            ],
        },
        Entry {
            name: "flatten",
            doc: "Axes made one.",
            cases: vec![
                case_of("all", &[2, 3, 2], |x| flatten(x, 0, -1)),
                case_of("two", &[2, 3, 2], |x| flatten(x, -2, -1)),
                case_of("scalar", &[], |x| flatten(x, 0, -1)),
                case_of("empty", &[2, 0], |x| flatten(x, 0, -1)),
            ],
        },
        Entry {
            name: "unflatten",
            doc: "An axis made several.",
            cases: vec![
                case_of("middle", &[2, 6, 2], |x| unflatten(x, 1, &[-1, 2])),
                case_of("empty", &[0], |x| unflatten(x, 0, &[0, 3])),
            ],
        },
        Entry {
            name: "expand_dims",
            doc: "New axes of one element.",
            cases: vec![
                case_of("ends", &[2, 3], |x| expand_dims(x, &[0, -1])),
                case_of("scalar", &[], |x| expand_dims(x, &[0])),
                case_of("empty", &[0, 2], |x| expand_dims(x, &[1])),
            ],
        },
        Entry {
            name: "squeeze",
            doc: "Without axes of one element.",
            cases: vec![
                case_of("all", &[1, 3, 1, 2], |x| squeeze(x, None)),
                case_of("last", &[1, 3, 1], |x| squeeze(x, Some(&[-1]))),
                case_of("empty", &[1, 0], |x| squeeze(x, None)),
            ],
        },
    ]
}
