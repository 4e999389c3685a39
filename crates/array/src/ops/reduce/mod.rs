//! Reductions: one element from all along some axes. A table, a row each.
//!
//! A row says what it computes in, what the result of no elements is, and what two partial results become: that is all the GPU's
//! kernels need. The CPU has its own loops, which compilers make vectors of.

pub(crate) mod axes;
pub(crate) mod cpu;
pub(crate) mod gpu;
#[cfg(test)]
mod tests;

use pumice_kernel::{Builder, Val};
use smallvec::{SmallVec, smallvec};

use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::op::{At, Host, Kernels, Key, Lowering, Op, Place, Specs, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::full;
use crate::ops::views::reshape;
use crate::shape::{Shape, Spec, normalize_axes};
use crate::typed::Typed;
use axes::Order;
use cpu::folds::{self, HostReduce};
use gpu::combiner::{Combiner, Parts};

/// Axes of a reduction, counted from the front, ascending.
pub(crate) type AxisList = SmallVec<[usize; 4]>;

/// One reduction.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// One line that says what it gives.
    pub doc: &'static str,
    /// The type of its results.
    pub gives: fn(Dtype) -> Dtype,
    /// The type it computes in.
    pub computes: fn(Dtype) -> Dtype,
    /// The result of no elements; none where there is none.
    pub empty: Option<i32>,
    /// What no elements count as beside others.
    pub identity: for<'k> fn(&'k Builder, Dtype) -> Typed<'k>,
    /// What two partial results become.
    pub combine: for<'k> fn(Typed<'k>, Typed<'k>) -> Typed<'k>,
    /// The CPU's way.
    pub(crate) host: fn(Dtype) -> HostReduce,
    /// From the result's cotangent to the input's.
    pub(crate) vjp: Option<Rule>,
    /// From the input's tangent to the result's.
    pub(crate) jvp: Option<Rule>,
}

/// A derivative: what it is asked about, and the cotangent (with its reduced axes kept) or tangent.
pub(crate) type Rule = fn(&Along<'_>, &Array) -> Result<Array>;

/// A reduction that derivatives are asked about.
pub(crate) struct Along<'a> {
    pub x: &'a Array,
    /// The result, its reduced axes kept.
    pub result: Array,
    pub axes: &'a [usize],
}

/// Makes a public function and a row of the table of each reduction.
macro_rules! reductions {
    ($(#[doc = $doc:literal] $name:ident => $row:expr;)*) => {
        $(
            #[doc = $doc]
            pub fn $name(x: &Array, axes: Option<&[i32]>, keepdims: bool) -> Result<Array> {
                apply(&TABLE[Index::$name as usize], x, axes, keepdims)
            }
        )*

        /// Where each reduction stands in the table.
        #[allow(non_camel_case_types)]
        enum Index {
            $($name),*
        }

        /// Every reduction.
        pub static TABLE: &[Row] = &[$(Row { name: stringify!($name), doc: $doc.trim_ascii(), ..$row }),*];
    };
}

reductions! {
    /// The sum along axes; along all of them if none are given.
    sum => Row { vjp: Some(|at, g| broadcast_to(g, at.x.shape())), jvp: Some(|at, t| sum(t, Some(&at.given()), true)), ..SUM };
}

/// Sums widen integers and compute halves in float32.
const SUM: Row = Row {
    name: "",
    doc: "",
    gives: summed,
    computes: |dtype| precise(summed(dtype)),
    empty: Some(0),
    identity: |k, dtype| crate::typed::constant(k, dtype, 0.0),
    combine: |a, b| a + b,
    host: folds::sum,
    vjp: None,
    jvp: None,
};

/// The type of a sum: of integers 32 bits at least.
fn summed(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::Bool | Dtype::I8 | Dtype::I16 => Dtype::I32,
        Dtype::U8 | Dtype::U16 => Dtype::U32,
        _ => dtype,
    }
}

/// The type that a result of a type is computed in.
pub(crate) fn precise(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::F16 | Dtype::BF16 => Dtype::F32,
        _ => dtype,
    }
}

fn apply(row: &'static Row, x: &Array, axes: Option<&[i32]>, keepdims: bool) -> Result<Array> {
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
        key.word(self.keepdims as u64);
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
            _ => Ok(vec![crate::ops::full::zeros_like(result)?]),
        }
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (along, mapped) = beside_mapped(&self.axes, axes[0], self.keepdims);
        let op = Reduce { row: self.row, axes: along, keepdims: self.keepdims };
        Ok(vec![(call_one(op, [inputs[0].clone()])?, mapped)])
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
}

impl Host for Reduce {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        (self.row.host)(site.inputs[0].dtype)(site, &self.axes)
    }
}

/// A row of the table for elements of a type.
struct RowCombiner {
    row: &'static Row,
    dtype: Dtype,
}

impl Combiner for RowCombiner {
    fn name(&self) -> &'static str {
        self.row.name
    }

    fn key(&self, key: &mut Key) {
        key.word(self.dtype as u64);
    }

    fn types(&self) -> SmallVec<[Dtype; 2]> {
        smallvec![(self.row.computes)(self.dtype)]
    }

    fn identity<'k>(&self, k: &'k Builder) -> Parts<'k> {
        smallvec![(self.row.identity)(k, self.types()[0])]
    }

    fn lift<'k>(&self, x: Typed<'k>, _: Val<'k>) -> Parts<'k> {
        smallvec![x.to(self.types()[0])]
    }

    fn combine<'k>(&self, a: &[Typed<'k>], b: &[Typed<'k>]) -> Parts<'k> {
        smallvec![(self.row.combine)(a[0], b[0])]
    }

    fn finish<'k>(&self, parts: &[Typed<'k>]) -> Typed<'k> {
        parts[0].to((self.row.gives)(self.dtype))
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub(super) fn entries() -> Vec<Entry> {
    TABLE.iter().map(|row| Entry { name: row.name, doc: row.doc, cases: cases(row) }).collect()
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
