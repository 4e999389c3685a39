//! What evaluation did, in numbers. Look at these first, then optimise what dominates.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::open_gpu;
use crate::gpu::Statistics;

/// The live counters.
#[derive(Default)]
pub(crate) struct Counters {
    pub plan_hits: AtomicU64,
    pub plan_misses: AtomicU64,
    pub evaluations: AtomicU64,
    pub calls: AtomicU64,
    pub host_calls: AtomicU64,
    pub block_programs: AtomicU64,
}

static COUNTERS: Counters = Counters {
    plan_hits: AtomicU64::new(0),
    plan_misses: AtomicU64::new(0),
    evaluations: AtomicU64::new(0),
    calls: AtomicU64::new(0),
    host_calls: AtomicU64::new(0),
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
    /// Calls that Rust computed on the CPU.
    pub host_calls: u64,
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
        host_calls: read(&COUNTERS.host_calls),
        block_programs: read(&COUNTERS.block_programs),
        launches: gpu.as_ref().map(|stats| stats.launches.clone()).unwrap_or_default(),
        gpu,
    }
}
