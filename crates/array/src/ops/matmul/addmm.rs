//! `addmm(c, a, b, alpha, beta) = alpha · (a · b) + beta · c`, rounded once.

use smallvec::smallvec;

use super::factors::Factors;
use super::gpu::Way;
use super::{INEXACT, cpu, gpu, infer_product, matmul};
use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::op::{Host, Kernels, Key, Lowering, Op, Place, Sizes, Specs, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::binary::{add, multiply};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::full::zeros;
use crate::ops::views::reshape;
use crate::shape::{self, Spec};

/// `alpha` times the matrix product of `a` and `b`, plus `beta` times `c`, which broadcasts to the product's shape. A factor of zero
/// takes its term out, whatever the term is.
pub fn addmm(c: &Array, a: &Array, b: &Array, alpha: f32, beta: f32) -> Result<Array> {
    addmm_by([c, a, b], AddMm { alpha, beta, way: Way::Best })
}

/// The same, computed in a given way on the GPU.
pub(super) fn addmm_by([c, a, b]: [&Array; 3], op: AddMm) -> Result<Array> {
    let dtype = c.dtype().promote(a.dtype()).promote(b.dtype());
    if !dtype.is_inexact() {
        let [c, a, b] = [c, a, b].map(Array::dtype);
        return Err(Error::Value(format!(
            "[addmm] the inputs must promote to a floating or complex type but {c}, {a} and {b} give {dtype}."
        )));
    }
    let factors = Factors::new("addmm", a, b, dtype)?;
    let fits = shape::broadcast("addmm", c.shape(), &factors.shape).is_ok_and(|shape| shape == factors.shape);
    if !fits {
        let [c, product] = [c.shape(), &factors.shape].map(shape::display);
        return Err(Error::Value(format!(
            "[addmm] c must broadcast to the product's shape {product} but has shape {c}."
        )));
    }
    let c = broadcast_to(&astype(c, dtype)?, &factors.shape)?;
    if factors.depth() == 0 {
        return multiply(&c, op.beta);
    }
    let c = reshape(&c, &factors.matrices())?;
    let Factors { a, b, shape } = factors;
    reshape(&call_one(op, [c, a, b])?, &shape)
}

/// The factors of the two terms, and how the product is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddMm {
    pub alpha: f32,
    pub beta: f32,
    pub way: Way,
}

impl Op for AddMm {
    fn name(&self) -> &'static str {
        "addmm"
    }

    fn key(&self, key: &mut Key) {
        key.float(self.alpha as f64);
        key.float(self.beta as f64);
        key.word(self.way.code());
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [c, a, b] = expect_inputs(self.name(), inputs)?;
        let product = infer_product(self.name(), &a, &b)?;
        if c != product {
            let [given, wanted] = [&c, &product].map(|s| format!("{} {}", s.dtype, shape::display(&s.shape)));
            return Err(Error::Value(format!("[addmm] c must be {wanted} but is {given}.")));
        }
        Ok(smallvec![product])
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let [c, a, b] = inputs else { unreachable!("infer counted them") };
        let scaled = |x: &Array, factor: f32| if factor == 1.0 { Ok(x.clone()) } else { multiply(x, factor) };
        Ok(Some(vec![match (self.alpha == 0.0, self.beta == 0.0) {
            (true, true) => zeros(c.shape(), c.dtype())?,
            (true, false) => scaled(c, self.beta)?,
            (false, true) => scaled(&matmul(a, b)?, self.alpha)?,
            (false, false) => add(scaled(&matmul(a, b)?, self.alpha)?, scaled(c, self.beta)?)?,
        }]))
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

impl Kernels for AddMm {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        gpu::launch(site, gpu::Inputs { a: 1, b: 2, c: Some((0, *self)) }, self.way)
    }
}

impl Host for AddMm {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        cpu::run(site, cpu::Inputs { a: 1, b: 2, c: Some((0, *self)) })
    }
}

pub(super) fn entry() -> Entry {
    let case = |name: &str, [c, a, b]: [&[i32]; 3], alpha: f32, beta: f32| Case {
        name: name.into(),
        inputs: vec![Sample::new(c), Sample::new(a), Sample::new(b)],
        dtypes: INEXACT,
        call: Box::new(move |x| Ok(vec![addmm(&x[0], &x[1], &x[2], alpha, beta)?])),
        differentiable: true,
    };
    let cases = vec![
        case("matrices", [&[5, 3], &[5, 7], &[7, 3]], 1.0, 1.0),
        case("a row for all", [&[3], &[5, 7], &[7, 3]], 0.5, 2.0),
        case("vectors", [&[], &[6], &[6]], 1.0, -1.0),
        case("stacks", [&[2, 1, 5], &[2, 3, 4], &[2, 4, 5]], 1.0, 0.25),
        case("a stack and a matrix", [&[5], &[2, 3, 4], &[4, 5]], 2.0, 1.0),
        case("without c", [&[3], &[2, 4], &[4, 3]], 1.5, 0.0),
        case("without the product", [&[3], &[2, 4], &[4, 3]], 0.0, 1.5),
        case("empty", [&[2], &[0, 3], &[3, 2]], 1.0, 1.0),
        case("nothing to sum", [&[3], &[2, 0], &[0, 3]], 1.0, 0.5),
    ];
    Entry { name: "addmm", doc: "A matrix product, scaled, plus a scaled array.", cases }
}
