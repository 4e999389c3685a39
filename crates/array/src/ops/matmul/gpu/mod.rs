//! Products on the GPU: which kernel makes one, and what it is given.
//!
//! | kernel | for |
//! |---|---|
//! | `kernels::matmul::cooperative` | f16 and bf16, whole tiles |
//! | `kernels::matmul::workgroup` | f16 and bf16, rows aligned to 16 bytes; `combine` rounds |
//! | `thin` | few rows or few columns |
//! | `kernels::matmul::tiled` | everything else |
//!
//! Where a large f32 product leaves places idle at its end, its last tiles are cut along K (`last_wave`).
//! Where the result is small and K long, K is cut into parts that run side by side, and `combine` adds them.

mod combine;
mod last_wave;
mod matrices;
mod sides;
mod thin;

use pumice_kernel::arguments::Argument;
use smallvec::SmallVec;

use super::addmm::AddMm;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::eval::site::{Placed, Site};
use crate::kernels::matmul::Order;
use crate::kernels::matmul::tiled::{self, CUTS, Cut, Guard};
use crate::launch::fold_groups;
use crate::shape::{Strides, collapse};
use sides::{Pair, Side};

/// Which inputs are what: the factors, and what is added with which scales.
#[derive(Clone, Copy)]
pub(super) struct Inputs {
    pub a: usize,
    pub b: usize,
    pub c: Option<(usize, AddMm)>,
}

/// How a product is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// As is best for its shape.
    Best,
    /// By the tiled kernel in one of its cuts: what the tests hold against each other.
    #[cfg_attr(not(test), expect(dead_code))]
    Tiled(usize),
    /// The same with its last wave cut for so many places, whether or not that pays.
    #[cfg_attr(not(test), expect(dead_code))]
    Filled(usize, u32),
}

impl Way {
    /// A number for each.
    pub fn code(self) -> u64 {
        match self {
            Way::Best => 0,
            Way::Tiled(cut) => 1 + cut as u64,
            Way::Filled(cut, places) => ((places as u64) << 32) | (1 + cut as u64),
        }
    }
}

/// A product to be launched: where it goes, and in how many parts of K.
struct Job {
    pair: Pair,
    /// Whether the pair is the transposed product's.
    swapped: bool,
    dtype: Dtype,
    /// Whether there is something to do after the sums.
    finish: bool,
}

/// Workgroups that keep a large GPU busy.
const BUSY: i64 = 256;
/// The least of K that a part is worth.
const PART: i64 = 256;

/// Launches the product.
pub(super) fn launch(site: &mut Site<'_>, inputs: Inputs, way: Way) -> Result<()> {
    let factors = [inputs.a, inputs.b];
    let dtype = site.output_spec(0).dtype;
    let finish = inputs.c.is_some();
    let pair = Pair::new(site, factors, false)?;
    let few = pair.a.extent.min(pair.b.extent) <= thin::FEW;
    if way == Way::Best && few && dtype != Dtype::C64 {
        let swapped = pair.b.extent < pair.a.extent;
        let pair = if swapped { pair.swapped() } else { pair };
        if pair.b.order().is_some() {
            return launch_thin(site, &Job { pair, swapped, dtype, finish }, &inputs);
        }
    }
    let pair = Pair::new(site, factors, true)?;
    let job = Job { pair, swapped: false, dtype, finish };
    if way == Way::Best && matrices::launch(site, &job, &inputs)? {
        return Ok(());
    }
    launch_tiled(site, &job, &inputs, way)
}

impl Job {
    /// Rows and columns of the result.
    fn size(&self) -> [i64; 2] {
        let sides = [self.pair.a.extent, self.pair.b.extent];
        if self.swapped { [sides[1], sides[0]] } else { sides }
    }

    /// Elements of the result.
    fn total(&self) -> i64 {
        self.size().iter().product::<i64>() * self.pair.count()
    }

    fn is_long(&self, parts: i64) -> bool {
        self.pair.a.is_long() || self.pair.b.is_long() || self.total() * parts > i32::MAX as i64 / 2
    }

    /// The length and number of the parts of K that keep the GPU busy with `groups` workgroups a part.
    fn parts(&self, groups: i64) -> (i64, i64) {
        let depth = self.pair.a.depth;
        let wanted = (BUSY / groups.max(1)).min(depth / PART).max(1);
        // A multiple of every step and of every access.
        let span = (depth as u64).div_ceil(wanted as u64).next_multiple_of(64) as i64;
        if wanted == 1 { (depth, 1) } else { (span, (depth as u64).div_ceil(span as u64) as i64) }
    }

    /// What the kernel writes, and whether [`finish`] must follow.
    fn destination(&self, site: &mut Site<'_>, parts: i64) -> (Placed, bool) {
        if parts == 1 && !self.finish {
            return (site.output(0), false);
        }
        let [m, n] = self.size();
        (site.scratch(&[parts, self.pair.count(), m, n].map(|n| n as i32), self.sums()), true)
    }

    /// The type that sums have.
    fn sums(&self) -> Dtype {
        if self.dtype == Dtype::C64 { Dtype::C64 } else { Dtype::F32 }
    }
}

/// Scalars of a launch; indices are of the width that the kernel has.
struct Scalars {
    list: SmallVec<[Argument; 32]>,
    long: bool,
}

impl Scalars {
    fn new(long: bool) -> Scalars {
        Scalars { list: SmallVec::new(), long }
    }

    /// Adds I32 values.
    fn ints(&mut self, values: impl IntoIterator<Item = i64>) {
        self.list.extend(values.into_iter().map(|v| Argument::I32(v as i32)));
    }

    /// Adds indices.
    fn indices(&mut self, values: impl IntoIterator<Item = i64>) {
        let index = |v: i64| if self.long { Argument::I64(v) } else { Argument::I32(v as i32) };
        self.list.extend(values.into_iter().map(index));
    }

    /// Adds the axes in front, and where both factors lie.
    fn factors(&mut self, job: &Job, orders: [Order; 2]) {
        self.ints(job.pair.batch.iter().copied());
        for (side, order) in [&job.pair.a, &job.pair.b].into_iter().zip(orders) {
            self.strided(side.start, [side.pitch(order), 0], &side.batch);
        }
    }

    /// Adds a strided array's arguments.
    fn strided(&mut self, start: i64, strides: [i64; 2], batch: &Strides) {
        self.indices([start]);
        self.indices(strides);
        self.indices(batch.iter().copied());
    }
}

fn launch_tiled(site: &mut Site<'_>, job: &Job, inputs: &Inputs, way: Way) -> Result<()> {
    let (a, b) = (&job.pair.a, &job.pair.b);
    let orders = [a, b].map(|side| side.order().expect("copied if it had none"));
    let cut = match way {
        Way::Tiled(cut) | Way::Filled(cut, _) => CUTS[cut],
        Way::Best => choose_cut(site, job),
    };
    let tiles = |n: i64| (n as u64).div_ceil(cut.tile as u64) as i64;
    let groups = tiles(a.extent) * tiles(b.extent) * job.pair.count();
    let (span, parts) = job.parts(groups);
    let (out, finish_it) = job.destination(site, parts);
    let wave = if parts == 1 { last_wave::of(site, job, &cut, way, groups) } else { None };
    let form = tiled::Form {
        dtype: job.dtype,
        out: out.dtype,
        cut,
        orders,
        guard: guard_of(job, &cut, orders),
        wide_out: b.extent % 4 == 0 && out.dtype != Dtype::C64,
        rank: job.pair.batch.len(),
        long: job.is_long(parts),
        fused: site.target().fused_fma,
    };
    let groups = wave.map_or(groups * parts, |wave| wave.before());
    if groups > 0 {
        let mut scalars = Scalars::new(form.long);
        scalars.ints([a.extent, b.extent, a.depth, job.pair.count(), span, parts]);
        scalars.factors(job, orders);
        let operands = [&a.placed, &b.placed, &out];
        let groups = fold_groups(groups as u64);
        site.launch(&form.key(), || Ok(tiled::kernel(&form)?), groups, &operands, &scalars.list)?;
    }
    if let Some(wave) = wave {
        last_wave::launch(site, job, &form, &wave, &out)?;
    }
    if finish_it { finish(site, job, inputs, &out, parts) } else { Ok(()) }
}

/// The largest cut whose tiles keep the GPU busy.
fn choose_cut(site: &Site<'_>, job: &Job) -> Cut {
    let [m, n] = job.size();
    let target = site.target();
    let fits = |cut: &&Cut| {
        let tiles = |n: i64| (n as u64).div_ceil(cut.tile as u64) as i64;
        let busy = tiles(m) * tiles(n) * job.pair.count() >= BUSY / 2 && m.min(n) * 2 > cut.tile as i64;
        let room = cut.shared_bytes(job.dtype) <= target.shared_bytes && cut.threads() <= target.max_invocations;
        busy && room && job.dtype != Dtype::C64
    };
    CUTS.iter().find(fits).copied().unwrap_or(CUTS[CUTS.len() - 1])
}

fn guard_of(job: &Job, cut: &Cut, orders: [Order; 2]) -> Guard {
    let sides = [&job.pair.a, &job.pair.b];
    let wide = |(side, order): (&Side, Order)| side.is_wide(order, 4);
    let whole = |side: &Side| side.extent % cut.tile as i64 == 0;
    if job.dtype == Dtype::C64 || !sides.into_iter().zip(orders).all(wide) {
        Guard::Elements
    } else if sides.into_iter().all(whole) && job.pair.a.depth % cut.step as i64 == 0 {
        Guard::Exact
    } else {
        Guard::Quads
    }
}

fn launch_thin(site: &mut Site<'_>, job: &Job, inputs: &Inputs) -> Result<()> {
    let (x, w) = (&job.pair.a, &job.pair.b);
    let order = w.order().expect("asked before");
    let wide = if w.is_wide(order, 16 / job.dtype.size() as i64) { 16 / job.dtype.size() as u32 } else { 1 };
    let team = if w.extent * job.pair.count() >= 2 * BUSY { thin::Team::Subgroup } else { thin::Team::Workgroup };
    let mut form = thin::Form {
        dtype: job.dtype,
        out: job.dtype,
        few: (x.extent as u32).next_power_of_two(),
        order,
        wide,
        wide_x: wide > 1 && order == Order::AlongDepth && x.is_wide(Order::AlongDepth, wide as i64),
        team,
        rank: job.pair.batch.len(),
        long: false,
        fused: site.target().fused_fma,
    };
    let blocks = (w.extent as u64).div_ceil(form.columns(site.target().subgroup_size) as u64) as i64;
    let (span, parts) = job.parts(blocks * job.pair.count());
    let (out, finish_it) = job.destination(site, parts);
    (form.out, form.long) = (out.dtype, job.is_long(parts));
    let mut scalars = Scalars::new(form.long);
    scalars.ints([x.extent, w.extent, x.depth, job.pair.count(), span, parts, blocks]);
    scalars.ints(job.pair.batch.iter().copied());
    scalars.strided(x.start, x.strides, &x.batch);
    scalars.strided(w.start, [w.pitch(order), 0], &w.batch);
    let [m, n] = job.size();
    let (by_row, by_column) = if job.swapped { (1, n) } else { (n, 1) };
    scalars.indices([job.total(), m * n, by_row, by_column]);
    let groups = fold_groups((blocks * job.pair.count() * parts) as u64);
    let operands = [&x.placed, &w.placed, &out];
    site.launch(&form.key(), || Ok(thin::kernel(&form)?), groups, &operands, &scalars.list)?;
    if finish_it { finish(site, job, inputs, &out, parts) } else { Ok(()) }
}

/// Adds the parts, and what is added to the product.
fn finish(site: &mut Site<'_>, job: &Job, inputs: &Inputs, sums: &Placed, parts: i64) -> Result<()> {
    let output = site.output(0);
    let c = inputs.c.map(|(i, scales)| Ok::<_, crate::Error>((site.input(i)?, scales))).transpose()?;
    let mut form =
        combine::Form { parts: job.sums(), out: job.dtype, with_c: c.is_some(), rank: 0, long: job.is_long(parts) };
    let mut operands: SmallVec<[Placed; 3]> = SmallVec::from_iter([sums.clone()]);
    let mut rest = None;
    if let Some((placed, scales)) = c {
        let (base, start) = placed.base();
        let last = placed.layout.shape.len() - 1;
        let (sizes, mut joined) = collapse(&placed.layout.shape[..last - 1], &[&placed.layout.strides[..last - 1]]);
        form.rank = sizes.len();
        form.long |= placed.layout.extent().is_some_and(|(low, high)| high - low > i32::MAX as i64 / 2);
        let strides = [placed.layout.strides[last - 1], placed.layout.strides[last]];
        rest = Some((sizes, start, strides, joined.swap_remove(0), scales));
        operands.push(base);
    }
    operands.push(output);
    let mut scalars = Scalars::new(form.long);
    scalars.indices([job.total()]);
    scalars.ints([parts]);
    if let Some((sizes, start, strides, batch, scales)) = rest {
        scalars.ints(job.size());
        scalars.ints(sizes.iter().copied());
        scalars.strided(start, strides, &batch);
        scalars.list.extend([scales.alpha, scales.beta].map(Argument::F32));
    }
    let groups = fold_groups((job.total() as u64).div_ceil(combine::WORKGROUP as u64));
    let operands: SmallVec<[&Placed; 3]> = operands.iter().collect();
    site.launch(&form.key(), || Ok(combine::kernel(&form)?), groups, &operands, &scalars.list)
}
