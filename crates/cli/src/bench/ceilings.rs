//! What the device can do at best, measured: moving memory, plain fma, cooperative matrix products out of registers.

use std::time::Duration;

use pumice::Error;
use pumice::gpu::Buffer;
use pumice::kernel::arguments::Argument;
use pumice::kernel::{Access, Elem, Kernel, Matrix, MatrixRole, MatrixScope, Val};
use pumice::kernels::binary;
use pumice::launch::{Build, fold_groups};

use super::case::{Session, gpu_time};
use super::memory::filled;

/// Per second.
pub struct Ceilings {
    /// Bytes read plus written by a kernel that only moves them.
    pub bytes: f64,
    /// f32 operations, two for an fma.
    pub flops: f64,
    /// Operations of the device's best 16-bit cooperative matrices, if it has any.
    pub matrix_flops: Option<f64>,
}

/// Measures all of them, and warms the clocks for it.
pub fn measure(session: &Session) -> Result<Ceilings, Error> {
    warm_clocks(session)?;
    Ok(Ceilings { bytes: memory(session)?, flops: fma(session)?, matrix_flops: matrices(session)? })
}

/// Clocks rise only under load: 300 ms of it.
fn warm_clocks(session: &Session) -> Result<(), Error> {
    let start = std::time::Instant::now();
    while !session.small && start.elapsed() < Duration::from_millis(300) {
        fma(session)?;
    }
    Ok(())
}

/// The better of two kernels that do nothing but move bytes: one array in and one out, two in and one out.
fn memory(session: &Session) -> Result<f64, Error> {
    let bytes = session.size(1 << 30, 1 << 20);
    let n = bytes / 4;
    let arrays = (0..3).map(|seed| filled(session, bytes, seed)).collect::<Result<Vec<_>, _>>()?;
    let groups = fold_groups(n.div_ceil(binary::elements_per_group(Elem::U32)));
    let scalars = [Argument::I32(n as i32)];
    let rate = |reads: u64, kernel: Kernel, buffers: &[&Buffer]| -> Result<f64, Error> {
        let compiled = session.gpu.compile(&kernel, Build::Fast)?;
        let time = gpu_time(session, |stream| compiled.launch(stream, groups, buffers, &scalars))?;
        Ok(((reads + 1) * bytes) as f64 / time.as_secs_f64())
    };
    // Only the first operand is used, so the second is not read.
    let copy = rate(1, binary::binary("copy", Elem::U32, |a, _| a)?, &[&arrays[0], &arrays[0], &arrays[2]])?;
    let merge = rate(2, binary::binary("merge", Elem::U32, |a, b| a ^ b)?, &[&arrays[0], &arrays[1], &arrays[2]])?;
    Ok(copy.max(merge))
}

/// Independent chains of fma per invocation: enough to hide the latency of one.
const CHAINS: usize = 16;

fn fma(session: &Session) -> Result<f64, Error> {
    let kernel = Kernel::build("fma_ceiling", [256, 1, 1], |k| {
        let out = k.output("out", Elem::F32);
        let (turns, scale) = (k.arg_i32("turns"), k.arg_f32("scale"));
        let start: Vec<Val> = (0..CHAINS).map(|i| k.f32(i as f32) + scale).collect();
        let ends = k.fold(turns, start, |_, sums| {
            (0..4).fold(sums, |sums, _| sums.iter().map(|&sum| sum.fma(scale, scale)).collect())
        });
        out.store(k.global_index(), ends.into_iter().reduce(|a, b| a + b).expect("there are chains"));
    })?;
    let (groups, turns) = (session.size(132 * 16, 8), session.size(512, 16));
    let compiled = session.gpu.compile(&kernel, Build::Fast)?;
    let out = session.gpu.allocate(groups * 256 * 4)?;
    let scalars = [Argument::I32(turns as i32), Argument::F32(0.999)];
    let time = gpu_time(session, |stream| compiled.launch(stream, [groups as u32, 1, 1], &[&out], &scalars))?;
    let operations = (groups * 256 * turns) as f64 * (4 * CHAINS * 2) as f64;
    Ok(operations / time.as_secs_f64())
}

/// Matrix products out of registers: every subgroup multiplies the same factors into eight accumulators.
fn matrices(session: &Session) -> Result<Option<f64>, Error> {
    let target = session.gpu.target();
    let shape = target.matrices.iter().find(|s| {
        s.scope == MatrixScope::Subgroup && matches!(s.factor, Elem::BF16 | Elem::F16) && s.accumulator == Elem::F32
    });
    let Some(&shape) = shape else { return Ok(None) };
    let matrix = |elem, rows, cols, role| Matrix { scope: MatrixScope::Subgroup, elem, rows, cols, role };
    let kernel = Kernel::build("matrix_ceiling", [8 * target.subgroup_size, 1, 1], |k| {
        let factors = k.buffer("factors", shape.factor, Access::Read, 16);
        let out = k.buffer("out", Elem::F32, Access::Write, 16);
        let turns = k.arg_i32("turns");
        let row_major = pumice::kernel::MatrixLayout::RowMajor;
        let a = factors.load_matrix(matrix(shape.factor, shape.m, shape.k, MatrixRole::A), 0, shape.k, row_major, 16);
        let b = factors.load_matrix(matrix(shape.factor, shape.k, shape.n, MatrixRole::B), 0, shape.n, row_major, 16);
        let zero = k.matrix_fill(matrix(Elem::F32, shape.m, shape.n, MatrixRole::Accumulator), 0.0);
        let sums = k.fold(turns, vec![zero; 8], |_, sums| sums.iter().map(|&s| a.matrix_mul_add(b, s)).collect());
        let whole = sums.into_iter().reduce(|a, b| a.matrix_add(b)).expect("there are eight");
        let place = (k.group_index() * 8 + k.subgroup_id()) * (shape.m * shape.n);
        out.store_matrix(whole, place, shape.n, row_major, 16);
    })?;
    let (groups, turns) = (132 * 8, 1024);
    let compiled = session.gpu.compile(&kernel, Build::Fast)?;
    let factors = session.gpu.allocate((shape.k * shape.m.max(shape.n) * 2) as u64)?;
    let out = session.gpu.allocate((groups * 8 * shape.m * shape.n * 4) as u64)?;
    session.gpu.stream().fill(&factors, 0, factors.len() / 4 * 4, 0x3f81_3f7e)?;
    session.gpu.stream().synchronize()?;
    let scalars = [Argument::I32(turns)];
    let time = gpu_time(session, |stream| compiled.launch(stream, [groups, 1, 1], &[&factors, &out], &scalars))?;
    let products = groups as f64 * 8.0 * turns as f64 * 8.0;
    Ok(Some(products * 2.0 * (shape.m * shape.n * shape.k) as f64 / time.as_secs_f64()))
}
