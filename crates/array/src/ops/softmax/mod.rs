//! `softmax(x, axes)`: `exp(x - max x) / Σ exp(x - max x)` along axes. Halves are computed in float32 and rounded once.

mod cpu;
mod gpu;
mod logsumexp;
#[cfg(test)]
mod tests;

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::op::{Accepts, At, Host, Kernels, Key, Lowering, Op, Place, Sizes, Specs, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::binary::{divide, multiply, subtract};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::ones_like;
use crate::ops::reduce::{axes_of, leading_axes, max, precise, sum};
use crate::ops::unary::{exp, stop_gradient, transposed};
use crate::ops::views::{moveaxis, reshape, transpose};
use crate::shape::{self, Shape, Spec};

pub use logsumexp::logsumexp;

/// Exponentials along axes, scaled to sum to one; along all of them if none are given. Halves are computed in float32 with and
/// without `precise`, which is there because MLX has it.
pub fn softmax(x: &Array, axes: Option<&[i32]>, precise: bool) -> Result<Array> {
    let _ = precise;
    refuse_axes_of_scalars("softmax", x, axes)?;
    if x.size() == 0 {
        return astype(x, x.dtype().at_least_float());
    }
    let axes = axes_of("softmax", x, axes)?;
    if axes.is_empty() {
        return ones_like(x);
    }
    let x = astype(x, x.dtype().at_least_float())?;
    along_last(&x, &axes, |x| call_one(Softmax, [x.clone()]))
}

/// MLX calls an axis of an array without axes a wrong value, not a wrong index.
fn refuse_axes_of_scalars(op: &str, x: &Array, axes: Option<&[i32]>) -> Result<()> {
    match (x.ndim(), axes) {
        (0, Some([axis, ..])) => {
            Err(Error::Value(format!("[{op}] an array without axes must be given none but was given axis {axis}.")))
        }
        _ => Ok(()),
    }
}

/// Applies a function to rows that are the axes in one, and puts the axes back.
fn along_last(x: &Array, axes: &[usize], f: impl FnOnce(&Array) -> Result<Array>) -> Result<Array> {
    let others = (0..x.ndim()).filter(|axis| !axes.contains(axis));
    let order: Vec<usize> = others.chain(axes.iter().copied()).collect();
    let back: Vec<i32> = (0..x.ndim()).map(|axis| place_of(&order, axis)).collect();
    let order: Vec<i32> = order.iter().map(|&axis| axis as i32).collect();
    let moved = transpose(x, Some(&order))?;
    if axes.len() == 1 {
        return transpose(&f(&moved)?, Some(&back));
    }
    let mut rows = Shape::from_slice(&moved.shape()[..x.ndim() - axes.len()]);
    let sizes: Shape = axes.iter().map(|&axis| x.shape()[axis]).collect();
    rows.push(i32::try_from(shape::size_of(&sizes)).map_err(|_| {
        let sizes = shape::display(&sizes);
        Error::Value(format!("[softmax] axes of sizes {sizes} together must have at most {} elements.", i32::MAX))
    })?);
    let result = f(&reshape(&moved, &rows)?)?;
    transpose(&reshape(&result, moved.shape())?, Some(&back))
}

fn place_of(order: &[usize], axis: usize) -> i32 {
    order.iter().position(|&other| other == axis).expect("an order has every axis") as i32
}

/// Softmax along the last axis.
#[derive(Debug)]
struct Softmax;

impl Op for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![x])
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let dtype = inputs[0].dtype();
        let x = astype(&inputs[0], precise(dtype))?;
        let most = stop_gradient(&max(&x, Some(&[-1]), true)?)?;
        let powers = exp(&subtract(&x, &most)?)?;
        let scaled = divide(&powers, sum(&powers, Some(&[-1]), true)?)?;
        Ok(Some(vec![astype(&scaled, dtype)?]))
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![Some(transposed(&cotangents[0], |g| derivative(&at.outputs[0], g))?)])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        tangents.iter().flatten().map(|tangent| derivative(&at.outputs[0], tangent)).collect()
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let Some(axis) = axes[0] else { return Ok(vec![(call_one(Softmax, [inputs[0].clone()])?, None)]) };
        let x = moveaxis(&inputs[0], axis as i32, 0)?;
        Ok(vec![(call_one(Softmax, [x])?, Some(0))])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match (place.device, place.inputs[0].dtype) {
            (_, Dtype::C64) => Lowering::Decompose,
            (DeviceKind::Cpu, _) => Lowering::Host(self),
            (DeviceKind::Gpu, _) => Lowering::Kernels(self),
        }
    }
}

/// `y (g - Σ g y)`: the matrix of derivatives is symmetric, so it serves tangents and cotangents.
fn derivative(y: &Array, g: &Array) -> Result<Array> {
    let weighed = multiply(g, y)?;
    subtract(&weighed, multiply(y, sum(&weighed, Some(&[-1]), true)?)?)
}

impl Kernels for Softmax {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        gpu::launch(site)
    }

    fn accepts(&self) -> Accepts {
        Accepts { before: true, after: true }
    }
}

impl Host for Softmax {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        cpu::softmax(site);
        Ok(())
    }

    fn row_axes(&self, place: &Place<'_>) -> Option<usize> {
        leading_axes(&[place.inputs[0].ndim() - 1], place.inputs[0])
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let mut cases = cases(softmax);
    cases.push(case(softmax, &[0, 3], Some(&[1])));
    let softmax = Entry { name: "softmax", doc: "Exponentials along axes, scaled to sum to one.", cases };
    std::iter::once(softmax).chain(logsumexp::entries()).collect()
}

/// A function of an array, axes and a flag.
type AlongAxes = fn(&Array, Option<&[i32]>, bool) -> Result<Array>;

fn case(call: AlongAxes, shape: &[i32], axes: Option<&'static [i32]>) -> Case {
    Case {
        name: format!("{shape:?} along {axes:?}"),
        inputs: vec![Sample::new(shape)],
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![call(&x[0], axes, false)?])),
        differentiable: true,
    }
}

/// What softmax and logsumexp are checked on.
fn cases(call: AlongAxes) -> Vec<Case> {
    vec![
        case(call, &[3, 37], Some(&[-1])),
        case(call, &[37, 3], Some(&[0])),
        case(call, &[2, 3, 4], Some(&[0, 2])),
        case(call, &[4, 5], None),
        case(call, &[], None),
    ]
}
