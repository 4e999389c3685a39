//! Reductions: one element from all along some axes. A table, a row each.
//!
//! A row says what it computes in, what the result of no elements is, and what two partial results become: that is all the GPU's
//! kernels need. The CPU has its own loops, which compilers make vectors of.

pub(crate) mod axes;
pub(crate) mod cpu;
pub(crate) mod gpu;
pub(crate) mod order;
mod others;
mod row_combiner;
mod rules;
mod statistics;
mod table;
#[cfg(test)]
mod tests;

use smallvec::{SmallVec, smallvec};

use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::op::{Accepts, At, Host, Kernels, Key, Lowering, Op, Place, Sizes, Specs, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::{full, zeros_like};
use crate::ops::views::reshape;
use crate::shape::{Shape, Spec, normalize_axes};
use axes::Order;

pub(crate) use row_combiner::RowCombiner;
pub use statistics::{mean, std, var};
pub use table::{Row, TABLE, all, any, max, min, prod, sum};
pub(crate) use table::{precise, row};

/// Axes of a reduction, counted from the front, ascending.
pub(crate) type AxisList = SmallVec<[usize; 4]>;

/// A reduction that derivatives are asked about.
pub(crate) struct Along<'a> {
    pub x: &'a Array,
    /// The result, its reduced axes kept.
    pub result: Array,
    pub axes: &'a [usize],
}

pub(crate) fn apply(row: &'static Row, x: &Array, axes: Option<&[i32]>, keepdims: bool) -> Result<Array> {
    let axes = axes_of(row.name, x, axes)?;
    if axes.is_empty() {
        // Nothing is reduced, so sums do not widen; truth is truth all the same.
        return if (row.gives)(x.dtype()) == Dtype::Bool { astype(x, Dtype::Bool) } else { Ok(x.clone()) };
    }
    let empty = axes.iter().copied().find(|&axis| x.shape()[axis] == 0);
    match (empty, row.empty) {
        (None, _) => call_one(Reduce { row, axes, keepdims }, [x.clone()]),
        (Some(_), Some(value)) => full(&reduced_shape(x.shape(), &axes, keepdims), value, Some((row.gives)(x.dtype()))),
        (Some(axis), None) => Err(Error::Value(format!(
            "[{}] axes that are reduced must have elements but axis {axis} has none.",
            row.name
        ))),
    }
}

/// The axes that are meant: all of them if none are given.
pub(crate) fn axes_of(op: &str, x: &Array, axes: Option<&[i32]>) -> Result<AxisList> {
    match axes {
        Some(axes) => normalize_axes(op, axes, x.ndim()),
        None => Ok((0..x.ndim()).collect()),
    }
}

/// The shape without the axes, or with one element along each.
pub(crate) fn reduced_shape(shape: &[i32], axes: &[usize], keepdims: bool) -> Shape {
    let kept = shape.iter().enumerate().filter(|(axis, _)| keepdims || !axes.contains(axis));
    kept.map(|(axis, &n)| if axes.contains(&axis) { 1 } else { n }).collect()
}

#[derive(Debug)]
struct Reduce {
    row: &'static Row,
    axes: AxisList,
    keepdims: bool,
}

impl Along<'_> {
    /// The axes, as public functions take them.
    pub fn given(&self) -> Vec<i32> {
        self.axes.iter().map(|&axis| axis as i32).collect()
    }
}

impl Reduce {
    fn along<'a>(&'a self, at: &'a At<'_>) -> Result<Along<'a>> {
        let x = &at.inputs[0];
        let result = reshape(&at.outputs[0], &reduced_shape(x.shape(), &self.axes, true))?;
        Ok(Along { x, result, axes: &self.axes })
    }
}

impl Op for Reduce {
    fn name(&self) -> &'static str {
        self.row.name
    }

    fn key(&self, key: &mut Key) {
        self.axes.iter().for_each(|&axis| key.word(axis as u64));
        // Rows of one name differ in what halves become.
        key.word((self.keepdims as u64) << 8 | (self.row.gives)(Dtype::F16) as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        let shape = reduced_shape(&x.shape, &self.axes, self.keepdims);
        Ok(smallvec![Spec::new(shape, (self.row.gives)(x.dtype))])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let Some(rule) = self.row.vjp else { return Ok(vec![None]) };
        let along = self.along(at)?;
        let g = reshape(&cotangents[0], along.result.shape())?;
        Ok(vec![Some(rule(&along, &g)?)])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        let result = &at.outputs[0];
        match (&tangents[0], self.row.jvp) {
            (Some(tangent), Some(rule)) => Ok(vec![reshape(&rule(&self.along(at)?, tangent)?, result.shape())?]),
            _ => Ok(vec![zeros_like(result)?]),
        }
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (along, mapped) = beside_mapped(&self.axes, axes[0], self.keepdims);
        let op = Reduce { row: self.row, axes: along, keepdims: self.keepdims };
        Ok(vec![(call_one(op, [inputs[0].clone()])?, mapped)])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match place.device {
            DeviceKind::Cpu => Lowering::Host(self),
            DeviceKind::Gpu => Lowering::Kernels(self),
        }
    }
}

/// Where the axes of a reduction lie in an array with a mapped axis, and where the result has that axis.
pub(crate) fn beside_mapped(axes: &[usize], mapped: Option<usize>, keepdims: bool) -> (AxisList, Option<usize>) {
    let Some(mapped) = mapped else { return (axes.into(), None) };
    let along: AxisList = axes.iter().map(|&axis| axis + (axis >= mapped) as usize).collect();
    let dropped = if keepdims { 0 } else { along.iter().filter(|&&axis| axis < mapped).count() };
    (along, Some(mapped - dropped))
}

impl Kernels for Reduce {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        let combiner = RowCombiner { row: self.row, dtype: site.input_spec(0).dtype };
        gpu::launch(&combiner, site, &self.axes, Order::Free)
    }

    fn accepts(&self) -> Accepts {
        Accepts { before: true, after: true }
    }
}

impl Host for Reduce {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        (self.row.host)(site.inputs[0].dtype)(site, &self.axes)
    }

    fn row_axes(&self, place: &Place<'_>) -> Option<usize> {
        leading_axes(&self.axes, place.inputs[0])
    }
}

/// How many axes stand before those that are reduced, if these are the last ones and short: long rows are work for several threads.
pub(crate) fn leading_axes(axes: &[usize], x: &Spec) -> Option<usize> {
    let leading = x.ndim() - axes.len();
    let row: usize = x.shape[leading..].iter().map(|&n| n as usize).product();
    (axes.first() == Some(&leading) && leading > 0 && (1..=cpu::WORTH).contains(&row)).then_some(leading)
}

pub(super) fn entries() -> Vec<Entry> {
    let table = TABLE.iter().map(|row| Entry { name: row.name, doc: row.doc, cases: cases(row) });
    table.chain(statistics::entries()).collect()
}

fn cases(row: &'static Row) -> Vec<Case> {
    let case = |name: &str, shape: &[i32], axes: Option<&'static [i32]>, keepdims: bool| Case {
        name: name.into(),
        inputs: vec![Sample::new(shape)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![apply(row, &x[0], axes, keepdims)?])),
        differentiable: row.vjp.is_some(),
    };
    vec![
        case("rows", &[3, 37], Some(&[-1]), false),
        case("columns", &[37, 3], Some(&[0]), true),
        case("all", &[4, 5], None, false),
        case("outer axes", &[3, 4, 5], Some(&[0, 2]), false),
        case("scalar", &[], None, false),
        case("empty", &[0, 2], Some(&[1]), false),
    ]
}
