//! Products whose last wave is cut along K: whole waves by the tiled kernel, beside them the pieces, then their sum.

use super::{Job, Scalars, Way};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::site::{Placed, Site};
use crate::eval::switches::{LAST_WAVE, disabled};
use crate::kernels::matmul::last_wave::{LastWave, Work};
use crate::kernels::matmul::pieces::{self, Sum};
use crate::kernels::matmul::tiled::{Cut, Form};
use crate::launch::fold_groups;

/// How the last wave of a product of so many tiles is cut, if it is: where that pays for a product that runs alone. Products beside it
/// would fill the wave as well, but what a product's bits are must not depend on them.
pub(super) fn of(site: &Site<'_>, job: &Job, cut: &Cut, way: Way, tiles: i64) -> Option<LastWave> {
    if job.dtype != Dtype::F32 {
        return None;
    }
    let steps = (job.pair.a.depth as u64).div_ceil(cut.step as u64) as i64;
    let shortest = |places: u32| LastWave::shortest(Work { tiles, steps, places: places as i64 });
    let wave = match way {
        Way::Filled(_, places) => shortest(places),
        Way::Best if !disabled(LAST_WAVE) => {
            shortest(site.target().multiprocessors * cut.resident).filter(LastWave::pays)
        }
        _ => None,
    };
    wave.filter(|wave| elements(wave, cut) <= i32::MAX as i64 / 2)
}

/// Elements of scratch memory.
fn elements(wave: &LastWave, cut: &Cut) -> i64 {
    wave.slots() * (cut.tile as i64).pow(2)
}

/// Launches the pieces and their sum, into what the tiled kernel was given. It and the pieces write different memory, so no barrier
/// stands between them.
pub(super) fn launch(site: &mut Site<'_>, job: &Job, form: &Form, wave: &LastWave, out: &Placed) -> Result<()> {
    let (a, b) = (&job.pair.a, &job.pair.b);
    let parts = site.scratch(&[elements(wave, &form.cut) as i32], Dtype::F32);
    let mut scalars = Scalars::new(form.long);
    scalars.ints([a.extent, b.extent]);
    scalars.list.extend(wave.scalars(form.cut.step, a.depth));
    scalars.factors(job, form.orders);
    let (operands, groups) = ([&a.placed, &b.placed, &parts], fold_groups(wave.slots() as u64));
    site.launch(&pieces::key(form), || Ok(pieces::kernel(form)?), groups, &operands, &scalars.list)?;
    let sum = Sum { tile: form.cut.tile, wide: form.wide_out, long: form.long };
    let mut scalars = Scalars::new(form.long);
    scalars.ints([a.extent, b.extent]);
    scalars.list.extend(wave.adding_scalars());
    let groups = fold_groups(sum.groups(wave.tiles()));
    site.launch(&sum.key(), || Ok(pieces::add(&sum)?), groups, &[&parts, out], &scalars.list)
}
