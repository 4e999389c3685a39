//! `logsumexp(x, axes)`: `log Σ exp x` along axes, computed around the greatest element so that nothing overflows.

use pumice_kernel::{Builder, Val};
use smallvec::{SmallVec, smallvec};

use super::{cpu, refuse_axes_of_scalars};
use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::op::{Accepts, At, Host, Kernels, Key, Lowering, Op, Place, Specs, expect_inputs};
use crate::ops::astype::astype;
use crate::ops::binary::{add, multiply, subtract};
use crate::ops::catalogue::Entry;
use crate::ops::reduce::axes::Order;
use crate::ops::reduce::gpu::combiner::{Combiner, Parts};
use crate::ops::reduce::{self, AxisList, axes_of, beside_mapped, leading_axes, max, precise, reduced_shape, sum};
use crate::ops::select::where_;
use crate::ops::unary::{exp, isfinite, log, stop_gradient, transposed};
use crate::ops::views::reshape;
use crate::shape::{Spec, display};
use crate::typed::{Typed, constant};

/// The logarithm of the sum of exponentials along axes; along all of them if none are given.
pub fn logsumexp(x: &Array, axes: Option<&[i32]>, keepdims: bool) -> Result<Array> {
    refuse_axes_of_scalars("logsumexp", x, axes)?;
    if x.size() == 0 {
        return Err(Error::Value(format!("[logsumexp] x must have elements but has shape {}.", display(x.shape()))));
    }
    let axes = axes_of("logsumexp", x, axes)?;
    let x = astype(x, x.dtype().at_least_float())?;
    if axes.is_empty() {
        return Ok(x);
    }
    call_one(LogSumExp { axes, keepdims }, [x])
}

#[derive(Debug)]
struct LogSumExp {
    axes: AxisList,
    keepdims: bool,
}

impl Op for LogSumExp {
    fn name(&self) -> &'static str {
        "logsumexp"
    }

    fn key(&self, key: &mut Key) {
        self.axes.iter().for_each(|&axis| key.word(axis as u64));
        key.word(self.keepdims as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [x] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![Spec::new(reduced_shape(&x.shape, &self.axes, self.keepdims), x.dtype)])
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let dtype = inputs[0].dtype();
        let axes: Vec<i32> = self.axes.iter().map(|&axis| axis as i32).collect();
        let x = astype(&inputs[0], precise(dtype))?;
        let most = stop_gradient(&max(&x, Some(&axes), true)?)?;
        // Around an infinite element there is nothing to compute with.
        let around = where_(isfinite(&most)?, &most, 0.0)?;
        let total = sum(&exp(&subtract(&x, &around)?)?, Some(&axes), true)?;
        let result = astype(&add(log(&total)?, &around)?, dtype)?;
        Ok(Some(vec![reshape(&result, &reduced_shape(x.shape(), &self.axes, self.keepdims))?]))
    }

    fn vjp(&self, at: &At<'_>, cotangents: &[Array]) -> Result<Vec<Option<Array>>> {
        let g = reshape(&cotangents[0], &self.kept(at))?;
        Ok(vec![Some(transposed(&g, |g| multiply(g, self.weights(at)?))?)])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Array>]) -> Result<Vec<Array>> {
        let axes: Vec<i32> = self.axes.iter().map(|&axis| axis as i32).collect();
        let along = |tangent: &Array| sum(&multiply(tangent, self.weights(at)?)?, Some(&axes), self.keepdims);
        tangents.iter().flatten().map(along).collect()
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let (along, mapped) = beside_mapped(&self.axes, axes[0], self.keepdims);
        let op = LogSumExp { axes: along, keepdims: self.keepdims };
        Ok(vec![(call_one(op, [inputs[0].clone()])?, mapped)])
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match (place.device, place.inputs[0].dtype) {
            (_, Dtype::C64) => Lowering::Decompose,
            (DeviceKind::Cpu, _) => Lowering::Host(self),
            (DeviceKind::Gpu, _) => Lowering::Kernels(self),
        }
    }
}

impl LogSumExp {
    fn kept(&self, at: &At<'_>) -> crate::shape::Shape {
        reduced_shape(at.inputs[0].shape(), &self.axes, true)
    }

    /// The softmax: how much each element counts.
    fn weights(&self, at: &At<'_>) -> Result<Array> {
        exp(&subtract(&at.inputs[0], reshape(&at.outputs[0], &self.kept(at))?)?)
    }
}

impl Kernels for LogSumExp {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        let combiner = Exponentials { dtype: site.input_spec(0).dtype };
        reduce::gpu::launch(&combiner, site, &self.axes, Order::Free)
    }

    fn accepts(&self) -> Accepts {
        Accepts { before: true, after: true }
    }
}

impl Host for LogSumExp {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        cpu::logsumexp(site, &self.axes);
        Ok(())
    }

    fn row_axes(&self, place: &Place<'_>) -> Option<usize> {
        leading_axes(&self.axes, place.inputs[0])
    }
}

/// Pairs: the greatest element, and the sum of exponentials around it.
pub(super) struct Exponentials {
    pub dtype: Dtype,
}

impl Combiner for Exponentials {
    fn name(&self) -> &'static str {
        "logsumexp"
    }

    fn key(&self, key: &mut Key) {
        key.word(self.dtype as u64);
    }

    fn types(&self) -> SmallVec<[Dtype; 2]> {
        smallvec![Dtype::F32, Dtype::F32]
    }

    fn identity<'k>(&self, k: &'k Builder) -> Parts<'k> {
        smallvec![constant(k, Dtype::F32, f64::NEG_INFINITY), constant(k, Dtype::F32, 0.0)]
    }

    fn lift<'k>(&self, x: Typed<'k>, _: Val<'k>) -> Parts<'k> {
        smallvec![x.to(Dtype::F32), constant(x.builder(), Dtype::F32, 1.0)]
    }

    fn combine<'k>(&self, a: &[Typed<'k>], b: &[Typed<'k>]) -> Parts<'k> {
        let [(most_a, sum_a), (most_b, sum_b)] = [a, b].map(|parts| (parts[0].val, parts[1].val));
        // Equal infinities are no distance apart.
        let apart = most_a.eq(most_b).select(0.0, most_a - most_b);
        let scale = (-apart.abs()).exp();
        let below = apart.lt(0.0);
        let sum = below.select(sum_a, sum_b) * scale + below.select(sum_b, sum_a);
        smallvec![Typed::new(most_a.max(most_b), Dtype::F32), Typed::new(sum, Dtype::F32)]
    }

    fn finish<'k>(&self, parts: &[Typed<'k>]) -> Typed<'k> {
        Typed::new(parts[0].val + parts[1].val.log(), Dtype::F32).to(self.dtype)
    }
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The logarithm of the sum of exponentials along axes.";
    vec![Entry { name: "logsumexp", doc, cases: super::cases(logsumexp) }]
}
