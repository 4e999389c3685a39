//! Assignment by a mask: `x[mask] = value`.

use pumice_kernel::{Elem, Kernel};
use smallvec::smallvec;

use super::Index;
use crate::array::{Array, call_one};
use crate::device::DeviceKind;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::{HostSite, Site};
use crate::op::{At, Host, Kernels, Key, Lowering, Op, Place, Specs, expect_inputs};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::gather::take;
use crate::ops::select::where_;
use crate::ops::views::{flatten, moveaxis, reshape};
use crate::shape::{Shape, Spec, display};
use pumice_kernel::arguments::Argument;

/// Whether an index is an array of bools.
pub(super) fn is_mask(index: &Index) -> bool {
    matches!(index, Index::Array(array) if array.dtype() == Dtype::Bool)
}

/// The array with the elements that a mask of its first axes selects replaced: all by one value, or by one row of values after the
/// other.
pub(super) fn set_masked(x: &Array, mask: &Array, value: &Array) -> Result<Array> {
    let Some(rest) = x.shape().strip_prefix(mask.shape()) else {
        let [mask, x] = [mask.shape(), x.shape()].map(display);
        return Err(Error::Value(format!("[index] a mask must have the shape {x} begins with but has shape {mask}.")));
    };
    if value.ndim() > rest.len() + 1 {
        let [value, rest] = [value.shape(), rest].map(display);
        return Err(Error::Value(format!("[index] rows of values must broadcast to {rest} but have shape {value}.")));
    }
    let mut spread = Shape::from_slice(mask.shape());
    spread.extend(rest.iter().map(|_| 1));
    let spread = reshape(mask, &spread)?;
    if value.ndim() <= rest.len() {
        return where_(&spread, broadcast_to(value, rest)?, x);
    }
    if value.shape()[0] == 0 || x.size() == 0 {
        return Ok(x.clone());
    }
    let mut rows = Shape::from_slice(&value.shape()[..1]);
    rows.extend_from_slice(rest);
    let ranks = call_one(Ranks, [flatten(mask, 0, -1)?])?;
    let rows = take(&broadcast_to(value, &rows)?, &ranks, Some(0))?;
    where_(&spread, reshape(&rows, x.shape())?, x)
}

/// How many are true before each element of a vector of bools.
#[derive(Debug)]
struct Ranks;

impl Op for Ranks {
    fn name(&self) -> &'static str {
        "ranks"
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [mask] = expect_inputs(self.name(), inputs)?;
        Ok(smallvec![mask.with_dtype(Dtype::I32)])
    }

    fn vjp(&self, _: &At<'_>, _: &[Array]) -> Result<Vec<Option<Array>>> {
        Ok(vec![None])
    }

    fn jvp(&self, at: &At<'_>, _: &[Option<Array>]) -> Result<Vec<Array>> {
        Ok(vec![crate::ops::full::zeros_like(&at.outputs[0])?])
    }

    fn vmap(&self, inputs: &[Array], axes: &[Option<usize>]) -> Result<Vec<(Array, Option<usize>)>> {
        let x = match axes[0] {
            Some(axis) => moveaxis(&inputs[0], axis as i32, 0)?,
            None => inputs[0].clone(),
        };
        Ok(vec![(call_one(Ranks, [x])?, axes[0].map(|_| 0))])
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        match place.device {
            DeviceKind::Cpu => Lowering::Host(self),
            DeviceKind::Gpu => Lowering::Kernels(self),
        }
    }
}

impl Host for Ranks {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        let mask = &site.inputs[0];
        let n = mask.layout.shape.last().copied().unwrap_or(1).max(1) as usize;
        let values: Vec<u8> = mask.offsets().map(|at| mask.bytes()[at]).collect();
        let rows = site.outputs[0].elements::<i32>().chunks_mut(n).zip(values.chunks(n));
        for (ranks, row) in rows {
            let mut before = 0;
            for (rank, &value) in ranks.iter_mut().zip(row) {
                *rank = before;
                before += value as i32;
            }
        }
        Ok(())
    }
}

/// Invocations per workgroup.
const WORKGROUP: u32 = 256;

/// A workgroup a row: it counts one stretch of it after the other.
impl Kernels for Ranks {
    fn launch(&self, site: &mut Site<'_>) -> Result<()> {
        let (mask, ranks) = (site.contiguous(0)?, site.output(0));
        let n = ranks.layout.shape.last().copied().unwrap_or(1);
        let rows = ranks.layout.size() / n.max(1) as usize;
        let mut key = Key::default();
        key.name("ranks");
        let groups = crate::launch::fold_groups(rows as u64);
        let scalars = [Argument::I32(rows as i32), Argument::I32(n)];
        site.launch(&key, kernel, groups, &[&mask, &ranks], &scalars)
    }
}

fn kernel() -> Result<Kernel> {
    Ok(Kernel::build("ranks", [WORKGROUP, 1, 1], |k| {
        let mask = k.input("mask", Elem::U8);
        let ranks = k.output("ranks", Elem::I32);
        let (rows, n) = (k.arg_i32("rows"), k.arg_i32("n"));
        let counts = k.shared("counts", Elem::I32, WORKGROUP);
        let (row, own) = (k.group_index(), k.local_index());
        k.when(row.lt_u(rows), || {
            k.for_(0, n, WORKGROUP as i32, k.i32(0), |first, before| {
                let at = first + own;
                let value = k.if_(at.lt(n), || mask.load(row * n + at), || k.i32(0));
                counts.store(own, value);
                k.barrier();
                let sum = k.fold(own, k.i32(0), |i, sum| sum + counts.load(i));
                k.when(at.lt(n), || ranks.store(row * n + at, before + sum));
                let whole = k.group_sum(value);
                k.barrier();
                before + whole
            });
        });
    })?)
}
