//! Matrix products.

use pumice::gpu::Buffer;
use pumice::kernel::arguments::Argument;
use pumice::kernel::{Elem, Kernel, MatrixScope};
use pumice::kernels::matmul::{cooperative, tiled, workgroup};
use pumice::launch::{Build, fold_groups};
use pumice::{Dtype, Error};

use super::case::{Case, Figure, Session, Work, gpu_time};
use super::last_wave;
use super::memory::filled;

/// The cases; with `sweep`, every candidate of the search space.
pub fn cases(sweep: bool) -> Vec<Case> {
    let mut cases = last_wave::cases(sweep);
    for elem in [Elem::BF16, Elem::F16] {
        let name = elem.name();
        for size in [512, 1024, 4096, 8192] {
            cases.push(Case::new(format!("matmul/{name}/{size}"), move |session| {
                let target = session.gpu.target();
                let n = size as i64;
                let shape =
                    cooperative::for_products([1, n, n, n], target.multiprocessors, target.subgroup_size, false);
                shape.map_or(Ok(None), |shape| cooperative_product(session, elem, size, shape))
            }));
        }
        cases.push(Case::new(format!("matmul/{name}/4096/workgroup"), move |session| {
            workgroup_product(session, elem, 4096, workgroup::best())
        }));
    }
    if sweep {
        cases.extend(
            tiled::CUTS
                .into_iter()
                .map(|cut| Case::new(format!("sweep/tiled/{}", cut.tile), move |session| f32_product(session, cut))),
        );
        for size in [512, 1024, 2048, 4096] {
            let shapes = [false, true].into_iter().flat_map(|transposed| cooperative::candidates(32, transposed));
            cases.extend(shapes.map(|shape| {
                Case::new(format!("sweep/cooperative/{size}/{shape}"), move |session| {
                    cooperative_product(session, Elem::BF16, size, shape)
                })
            }));
        }
        cases.extend(workgroup::candidates().into_iter().map(|shape| {
            Case::new(format!("sweep/workgroup/{shape}"), move |session| {
                workgroup_product(session, Elem::BF16, 4096, shape)
            })
        }));
    }
    cases
}

fn f32_product(session: &Session, cut: tiled::Cut) -> Result<Option<Figure>, Error> {
    let target = session.gpu.target();
    if cut.shared_bytes(Dtype::F32) > target.shared_bytes {
        return Ok(None);
    }
    let size = session.size(4096, 256);
    let form = tiled::Form { fused: target.fused_fma, ..tiled::Form::plain(cut) };
    let sizes = [size as i32; 3];
    let groups = fold_groups(form.plain_groups(sizes));
    let scalars = tiled::Form::plain_scalars(sizes);
    let time = product_time(session, &tiled::kernel(&form)?, groups, size, [4, 4, 4], &scalars)?;
    Ok(Some(Figure { time, work: Work::Flops(2.0 * (size as f64).powi(3)) }))
}

fn cooperative_product(
    session: &Session,
    elem: Elem,
    size: u64,
    shape: cooperative::Shape,
) -> Result<Option<Figure>, Error> {
    if !has_matrices(session, elem, MatrixScope::Subgroup) || shape.shared_bytes() > session.gpu.target().shared_bytes {
        return Ok(None);
    }
    let groups = fold_groups(shape.tiles(size as i64, size as i64) as u64);
    let time = product_time(session, &cooperative::matmul(elem, shape)?, groups, size, [2, 2, 2], &square(size))?;
    Ok(Some(Figure { time, work: Work::MatrixFlops(2.0 * (size as f64).powi(3)) }))
}

fn workgroup_product(
    session: &Session,
    elem: Elem,
    size: u64,
    shape: workgroup::Shape,
) -> Result<Option<Figure>, Error> {
    if !has_matrices(session, elem, MatrixScope::Workgroup) {
        return Ok(None);
    }
    let groups = fold_groups(size.div_ceil(shape.tile_m as u64) * size.div_ceil(shape.tile_n as u64));
    let time = product_time(session, &workgroup::matmul(elem, shape)?, groups, size, [2, 2, 4], &square(size))?;
    Ok(Some(Figure { time, work: Work::MatrixFlops(2.0 * (size as f64).powi(3)) }))
}

/// The scalars of a product of square matrices.
fn square(size: u64) -> [Argument; 3] {
    [Argument::I32(size as i32); 3]
}

fn has_matrices(session: &Session, elem: Elem, scope: MatrixScope) -> bool {
    session.gpu.target().matrices.iter().any(|s| s.scope == scope && s.factor == elem && s.accumulator == Elem::F32)
}

fn product_time(
    session: &Session,
    kernel: &Kernel,
    groups: [u32; 3],
    size: u64,
    bytes: [u64; 3],
    scalars: &[Argument],
) -> Result<std::time::Duration, Error> {
    let compiled = session.gpu.compile(kernel, Build::Fast)?;
    let buffers: Vec<Buffer> = bytes
        .iter()
        .zip(1..)
        .map(|(each, seed)| filled(session, size * size * each, seed))
        .collect::<Result<_, _>>()?;
    let buffers: Vec<&Buffer> = buffers.iter().collect();
    gpu_time(session, |stream| compiled.launch(stream, groups, &buffers, scalars))
}
