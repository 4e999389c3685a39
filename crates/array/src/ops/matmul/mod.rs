//! Matrix products: `matmul(a, b)[…, i, j] = Σ_k a[…, i, k] · b[…, k, j]`, and [`addmm`], [`inner`], [`outer`], [`tensordot`].
//!
//! The op itself takes matrices: both of one type, with the same axes in front of the last two, and at least one term in every
//! sum. The public functions promote, broadcast, make vectors matrices, and give zeros where there is nothing to sum. f16 and bf16
//! are summed in f32 and rounded once.

mod addmm;
mod cpu;
mod factors;
mod gpu;
mod products;
#[cfg(test)]
mod tests;

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::op::{At, Host, Kernels, Key, Lowering, Op, Place, Sizes, Specs, expect_inputs};
use crate::ops::binary::add;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros;
use crate::ops::unary::conjugate;
use crate::ops::views::{expand_dims, moveaxis, reshape, swapaxes};
use crate::shape::{self, Spec};

pub use addmm::addmm;
pub use products::{inner, outer, tensordot};

use factors::Factors;
use gpu::Way;

/// The matrix product. A vector on the left is a row, one on the right a column, and its axis is not in the result; axes in front
/// of the matrices broadcast.
pub fn matmul(a: &Array, b: &Array) -> Result<Array> {
    product_by(a, b, Way::Best)
}

/// The matrix product, computed in a given way on the GPU.
fn product_by(a: &Array, b: &Array, way: Way) -> Result<Array> {
    let dtype = a.dtype().promote(b.dtype());
    if !dtype.is_inexact() {
        let (a, b) = (a.dtype(), b.dtype());
        return Err(Error::Value(format!(
            "[matmul] the inputs must promote to a floating or complex type but {a} and {b} give {dtype}."
        )));
    }
    let factors = Factors::new("matmul", a, b, dtype)?;
    if factors.depth() == 0 {
        return zeros(&factors.shape, dtype);
    }
    let Factors { a, b, shape } = factors;
    let product = call_one(Matmul { way }, [a, b])?;
    // That it has the shape follows from the numbers of axes, not from sizes.
    if product.shape() == shape.as_slice() { Ok(product) } else { reshape(&product, &shape) }
}

#[derive(Debug)]
struct Matmul {
    way: Way,
}

/// The spec of a product of two matrices or stacks of them.
fn infer_product(op: &str, a: &Spec, b: &Spec) -> Result<Spec> {
    let (rank, batch) = (a.ndim(), a.ndim().saturating_sub(2));
    let fits = rank >= 2 && rank == b.ndim() && a.dtype == b.dtype && a.dtype.is_inexact();
    if !fits || a.shape[..batch] != b.shape[..batch] || a.shape[rank - 1] != b.shape[rank - 2] {
        let [left, right] = [a, b].map(|s| format!("{} {}", s.dtype, shape::display(&s.shape)));
        return Err(Error::Value(format!(
            "[{op}] the inputs must be matching matrices of one type but are {left} and {right}."
        )));
    }
    let mut shape = a.shape.clone();
    shape[rank - 1] = b.shape[rank - 1];
    Ok(Spec::new(shape, a.dtype))
}

impl Op for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.way.code());
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [a, b] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![infer_product(self.name(), &a, &b)?])
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let (a, b, g) = (&at.inputs[0], &at.inputs[1], &cotangents[0]);
        let left = at.wanted[0].then(|| matmul(g, &adjoint(b)?)).transpose()?;
        let right = at.wanted[1].then(|| matmul(&adjoint(a)?, g)).transpose()?;
        Ok(vec![left, right])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        let left = tangents[0].as_ref().map(|t| matmul(t, &at.inputs[1])).transpose()?;
        let right = tangents[1].as_ref().map(|t| matmul(&at.inputs[0], t)).transpose()?;
        Ok(vec![match (left, right) {
            (Some(left), Some(right)) => add(&left, &right)?,
            (left, right) => left.or(right).expect("asked where an input has a tangent"),
        }])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        if axes.iter().all(Option::is_none) {
            return Ok(vec![(matmul(&inputs[0], &inputs[1])?, None)]);
        }
        let [a, b] = [0, 1].map(|i| mapped_in_front(&inputs[i], axes[i]));
        Ok(vec![(matmul(&a?, &b?)?, Some(0))])
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match place.device {
            DeviceKind::Gpu => Lowering::Kernels(self),
            DeviceKind::Cpu => Lowering::Host(self),
        }
    }
}

/// The matrices transposed, of complex numbers conjugated.
fn adjoint(x: &Array) -> Result<Array> {
    let x = swapaxes(x, -1, -2)?;
    if x.dtype() == Dtype::C64 { conjugate(&x) } else { Ok(x) }
}

/// The mapped axis as the first. What is not mapped broadcasts: as one matrix where it is one, so that rows can be counted together.
fn mapped_in_front(x: &Array, axis: Option<usize>) -> Result<Array> {
    match axis {
        Some(axis) => moveaxis(x, axis as i32, 0),
        None if x.ndim() == 2 => Ok(x.clone()),
        None => expand_dims(x, &[0]),
    }
}

impl Kernels for Matmul {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        gpu::launch(site, gpu::Inputs { a: 0, b: 1, c: None }, self.way)
    }
}

impl Host for Matmul {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        cpu::run(site, cpu::Inputs { a: 0, b: 1, c: None })
    }
}

/// The types products are computed in.
const INEXACT: &[Dtype] = &[Dtype::F16, Dtype::F32, Dtype::F64, Dtype::BF16, Dtype::C64];

pub(super) fn entries() -> Vec<Entry> {
    let matmul =
        Entry { name: "matmul", doc: "The matrix product, over axes in front that broadcast.", cases: cases() };
    let mut all = vec![matmul, addmm::entry()];
    all.extend(products::entries());
    all
}

fn cases() -> Vec<Case> {
    let case = |name: &str, a: &[i32], b: &[i32]| Case {
        name: name.into(),
        inputs: vec![Sample::new(a), Sample::new(b)],
        dtypes: INEXACT,
        call: Box::new(|x| Ok(vec![matmul(&x[0], &x[1])?])),
        differentiable: true,
    };
    vec![
        case("matrices", &[5, 7], &[7, 3]),
        case("vectors", &[6], &[6]),
        case("vector and matrix", &[6], &[6, 4]),
        case("matrix and vector", &[4, 6], &[6]),
        case("stacks", &[2, 3, 4], &[2, 4, 5]),
        case("a stack and a matrix", &[2, 3, 4], &[4, 5]),
        case("broadcast stacks", &[2, 1, 3, 4], &[3, 4, 2]),
        case("empty", &[0, 3], &[3, 2]),
        case("nothing to sum", &[2, 0], &[0, 3]),
    ]
}
