//! What evaluation did, in numbers. Look at these first, then optimise what dominates.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::device::open_gpu;
use crate::gpu::Statistics;

/// The live counters.
#[derive(Default)]
pub(crate) struct Counters {
    pub plan_hits: AtomicU64,
    pub plan_misses: AtomicU64,
    pub evaluations: AtomicU64,
    pub calls: AtomicU64,
    pub block_programs: AtomicU64,
}

static COUNTERS: Counters = Counters {
    plan_hits: AtomicU64::new(0),
    plan_misses: AtomicU64::new(0),
    evaluations: AtomicU64::new(0),
    calls: AtomicU64::new(0),
    block_programs: AtomicU64::new(0),
};

/// Counts one.
pub(crate) fn count(which: impl FnOnce(&Counters) -> &AtomicU64) {
    add(which, 1);
}

/// Counts several.
pub(crate) fn add(which: impl FnOnce(&Counters) -> &AtomicU64, n: u64) {
    which(&COUNTERS).fetch_add(n, Ordering::Relaxed);
}

/// Calls that Rust computed, by their ops.
static HOST: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

/// Counts a call that Rust computes.
pub(crate) fn count_host(op: &'static str) {
    *host().entry(op).or_default() += 1;
}

fn host() -> MutexGuard<'static, BTreeMap<&'static str, u64>> {
    HOST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was done since the process began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Evaluations that found something to do.
    pub evaluations: u64,
    /// Calls of ops they computed.
    pub calls: u64,
    /// Evaluations that found their plan made.
    pub plan_hits: u64,
    /// Evaluations that had to make one.
    pub plan_misses: u64,
    /// Calls that Rust computed on the CPU, by their ops.
    pub host_calls: BTreeMap<String, u64>,
    /// Block programs run on the CPU.
    pub block_programs: u64,
    /// Launches per kernel on the GPU.
    pub launches: BTreeMap<String, u64>,
    /// The GPU's other counters.
    pub gpu: Option<Statistics>,
}

/// What was done since the process began.
pub fn stats() -> Stats {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let gpu = open_gpu().map(|gpu| gpu.device().stats());
    Stats {
        evaluations: read(&COUNTERS.evaluations),
        calls: read(&COUNTERS.calls),
        plan_hits: read(&COUNTERS.plan_hits),
        plan_misses: read(&COUNTERS.plan_misses),
        host_calls: host().iter().map(|(op, count)| (op.to_string(), *count)).collect(),
        block_programs: read(&COUNTERS.block_programs),
        launches: gpu.as_ref().map(|stats| stats.launches.clone()).unwrap_or_default(),
        gpu,
    }
}

/// Forgets what was counted.
pub fn reset_stats() {
    let Counters { plan_hits, plan_misses, evaluations, calls, block_programs } = &COUNTERS;
    [plan_hits, plan_misses, evaluations, calls, block_programs].iter().for_each(|c| c.store(0, Ordering::Relaxed));
    host().clear();
    if let Some(gpu) = open_gpu() {
        gpu.device().reset_stats();
    }
}

impl fmt::Display for Stats {
    /// What dominates stands first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stats { evaluations, calls, plan_hits, plan_misses, block_programs, .. } = self;
        writeln!(f, "evaluations {evaluations}, calls {calls}, plans found {plan_hits}, plans made {plan_misses}")?;
        let host_calls = self.host_calls.values().sum::<u64>();
        writeln!(f, "CPU: block programs {block_programs}, host functions {host_calls}")?;
        write_counts(f, &self.host_calls, |_| String::new())?;
        let Some(gpu) = &self.gpu else { return Ok(()) };
        let (launches, barriers, submits) = (gpu.total_launches(), gpu.barriers, gpu.submits);
        writeln!(f, "GPU: launches {launches}, barriers {barriers}, submissions {submits}, replays {}", gpu.replays)?;
        write_counts(f, &self.launches, |kernel| gpu.launch_sizes.get(kernel).map(sizes).unwrap_or_default())?;
        let (hits, misses, compiled) = (gpu.pipeline_hits, gpu.pipeline_misses, gpu.pipelines_compiled);
        writeln!(f, "pipelines: found {hits}, made {misses}, compiled by the driver {compiled}")?;
        let (up, down) = (gpu.bytes_uploaded, gpu.bytes_downloaded);
        writeln!(f, "bytes: to the GPU {up}, from it {down}; waits {}", gpu.waits)
    }
}

fn write_counts(
    f: &mut fmt::Formatter<'_>,
    counts: &BTreeMap<String, u64>,
    more: impl Fn(&str) -> String,
) -> fmt::Result {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    counts.into_iter().try_for_each(|(name, count)| writeln!(f, "{count:>12}  {name}{}", more(name)))
}

/// How many launches had about how many workgroups.
fn sizes(sizes: &BTreeMap<u64, u64>) -> String {
    let one = |(&groups, &count): (&u64, &u64)| match groups {
        1 | 2 => format!("{count} of {groups}"),
        _ => format!("{count} of {}..{groups}", groups / 2 + 1),
    };
    format!(" in workgroups: {}", sizes.iter().map(one).collect::<Vec<_>>().join(", "))
}
