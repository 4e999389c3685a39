//! f32 products whose last wave is cut along K (`kernels::matmul::last_wave`), beside the same with whole tiles.

use pumice::gpu::Buffer;
use pumice::kernel::arguments::Argument;
use pumice::kernels::matmul::last_wave::{LastWave, Work as Waves};
use pumice::kernels::matmul::{pieces, tiled};
use pumice::launch::{Build, Compiled, fold_groups};
use pumice::{Dtype, Error};

use super::case::{Case, Figure, Session, Work, gpu_time};
use super::memory::filled;

/// How the tiles of the last wave are made.
#[derive(Clone, Copy)]
enum Wave {
    Whole,
    /// Cut as the model says.
    Shortest,
    /// Cut by so many tiles of a bundle and so many shares.
    Cut(i64, i64),
    /// Cut as the model says, and only one of the launches: to see where the time goes.
    Only(usize),
}

/// The launches of a product whose last wave is cut.
const LAUNCHES: [&str; 3] = ["whole", "pieces", "sum"];

/// Sizes, and cuts to try: those that the model likes best on 264 places, then coarser ones.
const SWEEP: [(u64, &[(i64, i64)]); 2] =
    [(4096, &[(29, 33), (8, 9), (9, 10), (14, 15)]), (8192, &[(17, 33), (8, 15), (7, 13), (3, 5), (4, 7)])];

/// The cases: each size with whole tiles, and with its last wave cut; with `sweep`, cut in other ways too.
pub fn cases(sweep: bool) -> Vec<Case> {
    let case = |name, size, wave| Case::new(name, move |session: &Session| product(session, size, wave));
    let mut cases = Vec::new();
    for (size, cuts) in SWEEP {
        cases.push(case(format!("matmul/f32/{size}"), size, Wave::Whole));
        cases.push(case(format!("matmul/f32/{size}/filled"), size, Wave::Shortest));
        if sweep {
            let name = |way: String| format!("sweep/filled/{size}/{way}");
            let ways = cuts.iter().map(|&(bundle, shares)| (format!("{bundle}of{shares}"), Wave::Cut(bundle, shares)));
            let parts = LAUNCHES.iter().enumerate().map(|(i, part)| (part.to_string(), Wave::Only(i)));
            cases.extend(ways.chain(parts).map(|(way, wave)| case(name(way), size, wave)));
        }
    }
    cases
}

/// A product of square matrices; nothing where its last wave cannot be cut so, or the device does not tell how many multiprocessors
/// it has.
fn product(session: &Session, size: u64, wave: Wave) -> Result<Option<Figure>, Error> {
    let (target, cut) = (session.gpu.target(), tiled::CUTS[0]);
    let size = session.size(size, 384);
    let form = tiled::Form { fused: target.fused_fma, ..tiled::Form::plain(cut) };
    let sizes = [size as i32; 3];
    // A software driver has no multiprocessors: as many places as leave something to cut.
    let places = if session.small { 5 } else { target.multiprocessors as i64 * cut.resident as i64 };
    let work = Waves { tiles: form.plain_groups(sizes) as i64, steps: size as i64 / cut.step as i64, places };
    let found = match wave {
        Wave::Whole => None,
        Wave::Shortest | Wave::Only(_) => LastWave::shortest(work),
        Wave::Cut(bundle, shares) => LastWave::cut(work, bundle, shares),
    };
    let cannot = found.is_none() && !matches!(wave, Wave::Whole);
    if cannot || cut.shared_bytes(Dtype::F32) > target.shared_bytes {
        return Ok(None);
    }
    let mut launches = launches(session, &form, sizes, found)?;
    if let Wave::Only(one) = wave {
        launches = vec![launches.swap_remove(one)];
    }
    let time = gpu_time(session, |stream| {
        launches.iter().try_for_each(|launch| {
            let buffers: Vec<&Buffer> = launch.buffers.iter().collect();
            launch.kernel.launch(stream, launch.groups, &buffers, &launch.scalars)
        })
    })?;
    Ok(Some(Figure { time, work: Work::Flops(2.0 * (size as f64).powi(3)) }))
}

/// A kernel with what it is given.
struct Launch {
    kernel: Compiled,
    groups: [u32; 3],
    buffers: Vec<Buffer>,
    scalars: Vec<Argument>,
}

/// The tiles of whole waves; then, with no barrier between them, the pieces; then their sum.
fn launches(
    session: &Session,
    form: &tiled::Form,
    sizes: [i32; 3],
    wave: Option<LastWave>,
) -> Result<Vec<Launch>, Error> {
    let bytes = 4 * sizes[0] as u64 * sizes[0] as u64;
    let [a, b] = [filled(session, bytes, 1)?, filled(session, bytes, 2)?];
    let out = session.gpu.allocate(bytes)?;
    let launch = |kernel, groups, buffers, scalars| {
        let kernel = session.gpu.compile(&kernel, Build::Fast)?;
        Ok::<_, Error>(Launch { kernel, groups: fold_groups(groups), buffers, scalars })
    };
    let (whole, scalars) = (tiled::kernel(form)?, tiled::Form::plain_scalars(sizes).to_vec());
    let tiles = wave.map_or(form.plain_groups(sizes), |wave| wave.before() as u64);
    let mut launches = vec![launch(whole, tiles, vec![a.clone(), b.clone(), out.clone()], scalars)?];
    if let Some(wave) = wave {
        let sum = pieces::Sum { tile: form.cut.tile, wide: true, long: false };
        let parts = session.gpu.allocate(4 * wave.slots() as u64 * (form.cut.tile as u64).pow(2))?;
        let (kernel, scalars) = (pieces::kernel(form)?, pieces::plain_scalars(form, sizes, &wave));
        launches.push(launch(kernel, wave.slots() as u64, vec![a, b, parts.clone()], scalars)?);
        let (kernel, scalars) = (pieces::add(&sum)?, pieces::plain_adding_scalars(sizes, &wave));
        launches.push(launch(kernel, sum.groups(wave.tiles()), vec![parts, out], scalars)?);
    }
    Ok(launches)
}
