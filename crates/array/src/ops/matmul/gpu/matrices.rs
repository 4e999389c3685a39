//! Products by cooperative matrices, where the device has them and the factors suit them.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{MatrixScope, Target};

use super::sides::Side;
use super::{Inputs, Job, finish};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::site::{Placed, Site};
use crate::kernels::matmul::Order;
use crate::kernels::matmul::{cooperative, workgroup};
use crate::launch::fold_groups;
use crate::op::Key;

/// The most matrices of a stack that are worth a launch each.
const STACK: i64 = 32;

/// Launches the product by cooperative matrices if that can be; says whether it did.
pub(super) fn launch(site: &mut Site<'_>, job: &Job, inputs: &Inputs) -> Result<bool> {
    if !matches!(job.dtype, Dtype::F16 | Dtype::BF16) || job.is_long(1) || job.pair.count() > STACK {
        return Ok(false);
    }
    if !job.finish && launch_subgroups(site, job)? {
        return Ok(true);
    }
    launch_workgroup(site, job, inputs)
}

/// Whether the device multiplies such matrices.
fn offers(target: &Target, dtype: Dtype, scope: MatrixScope, invocations: u32) -> bool {
    target.matrices.iter().any(|shape| {
        let types = shape.factor == dtype.elem() && shape.accumulator == pumice_kernel::Elem::F32;
        let size = scope == MatrixScope::Workgroup || [shape.m, shape.n, shape.k] == [16; 3];
        shape.scope == scope && types && size && shape.invocations == invocations
    })
}

/// Whole tiles, rows without gaps.
fn launch_subgroups(site: &mut Site<'_>, job: &Job) -> Result<bool> {
    let (a, b, target) = (&job.pair.a, &job.pair.b, site.target());
    let transposed = is_plain(b, Order::AlongDepth);
    let [m, n, k] = [a.extent, b.extent, a.depth];
    let sizes = [job.pair.count(), m, n, k];
    let chosen = cooperative::for_products(sizes, target.multiprocessors, target.subgroup_size, transposed);
    let Some(shape) = chosen else { return Ok(false) };
    let room = shape.shared_bytes() <= target.shared_bytes && shape.invocations() <= target.max_invocations;
    let plain = is_plain(a, Order::AlongDepth) && (transposed || is_plain(b, Order::AlongSide));
    let groups = shape.tiles(m, n) as u64;
    let ready = offers(target, job.dtype, MatrixScope::Subgroup, 0) && room;
    if !(ready && plain && folds_evenly(groups)) {
        return Ok(false);
    }
    let mut key = Key::default();
    key.text("matmul_cooperative");
    key.text(&format!("{shape} {}", shape.subgroup));
    key.word(job.dtype as u64);
    let build = || Ok(cooperative::matmul(job.dtype.elem(), shape)?);
    for number in 0..job.pair.count() {
        let out = shifted(&site.output(0), number * m * n);
        let operands = [&matrix(a, job, number), &matrix(b, job, number), &out];
        let scalars = [m, n, k].map(|n| Argument::I32(n as i32));
        site.launch(&key, build, fold_groups(groups), &operands, &scalars)?;
    }
    Ok(true)
}

/// Any size, rows without gaps and aligned to 16 bytes; sums in f32, rounded afterwards.
fn launch_workgroup(site: &mut Site<'_>, job: &Job, inputs: &Inputs) -> Result<bool> {
    let (a, b, target) = (&job.pair.a, &job.pair.b, site.target());
    let shape = workgroup::best();
    let [m, n, k] = [a.extent, b.extent, a.depth];
    let aligned = k % 8 == 0 && n % 8 == 0 && m.min(n) >= 64 && k >= 64;
    let plain = is_plain(a, Order::AlongDepth) && is_plain(b, Order::AlongSide);
    let tiles = |n: i64, tile: u32| (n as u64).div_ceil(tile as u64);
    let groups = tiles(m, shape.tile_m) * tiles(n, shape.tile_n);
    let offered = offers(target, job.dtype, MatrixScope::Workgroup, shape.invocations) && target.tensor_addressing;
    if !(offered && aligned && plain && folds_evenly(groups)) {
        return Ok(false);
    }
    let mut key = Key::default();
    key.text("matmul_workgroup");
    key.text(&shape.to_string());
    key.word(job.dtype as u64);
    let sums = site.scratch(&[job.total() as i32], Dtype::F32);
    for number in 0..job.pair.count() {
        let operands = [&matrix(a, job, number), &matrix(b, job, number), &shifted(&sums, number * m * n)];
        let scalars = [m, n, k].map(|n| Argument::I32(n as i32));
        let build = || Ok(workgroup::matmul(job.dtype.elem(), shape)?);
        site.launch(&key, build, fold_groups(groups), &operands, &scalars)?;
    }
    finish(site, job, inputs, &sums, 1)?;
    Ok(true)
}

/// Whether a factor's matrices lie without gaps in this order, each aligned to 16 bytes.
fn is_plain(side: &Side, order: Order) -> bool {
    side.order() == Some(order) && side.is_compact(order) && side.is_wide(order, 16 / side.placed.dtype.size() as i64)
}

/// Whether folding this many workgroups leaves none too many: these kernels do not look.
fn folds_evenly(groups: u64) -> bool {
    let [x, y, _] = fold_groups(groups);
    x as u64 * y as u64 == groups
}

/// One matrix of a factor's stack.
fn matrix(side: &Side, job: &Job, number: i64) -> Placed {
    let (mut rest, mut elements) = (number, 0);
    for (&size, &stride) in job.pair.batch.iter().zip(&side.batch).rev() {
        elements += rest % size * stride;
        rest /= size;
    }
    shifted(&side.placed, side.start + elements)
}

fn shifted(placed: &Placed, elements: i64) -> Placed {
    let mut placed = placed.clone();
    placed.layout.offset += elements;
    placed
}
