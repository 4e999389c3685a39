//! Plans that were made before, by the structure of what they evaluate.
//!
//! Evaluating an equal graph again costs its key, not its planning. Where a graph is new, nobody waits for a fused kernel: the graph
//! runs as its parts while the driver compiles in the background, and the plan with the fused kernels takes over when they are
//! there. Fusion never changes bits, so only the clock can tell.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use pumice_kernel::Target;

use crate::array::Data;
use crate::debug;
use crate::device::{DeviceKind, the_gpu};
use crate::error::Result;
use crate::eval::fuse;
use crate::eval::hash::BuildWordHasher;
use crate::eval::inline;
use crate::eval::order::{self, Tape, Value};
use crate::eval::plan::{self, Plan, leaf_align, start_multiples};
use crate::eval::replay;
use crate::eval::switches;
use crate::launch::PendingCompiled;
use crate::op::Key;
use crate::storage::{Source, Users};

/// Plans a thread keeps. Beyond that, those used longest ago are forgotten.
const MOST_PLANS: usize = 1024;

/// When fused kernels are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tier {
    /// As soon as the driver has compiled them in the background.
    WhenReady,
    /// At once: whoever evaluates waits for the driver.
    Now,
    /// Never.
    Never,
}

static TIER: AtomicU8 = AtomicU8::new(Tier::WhenReady as u8);

/// Says when fused kernels are used, for the whole process.
pub fn set_tier(tier: Tier) {
    TIER.store(tier as u8, Ordering::Relaxed);
}

fn tier() -> Tier {
    match TIER.load(Ordering::Relaxed) {
        _ if switches::disabled(switches::FUSION) => Tier::Never,
        t if t == Tier::Now as u8 => Tier::Now,
        t if t == Tier::Never as u8 => Tier::Never,
        _ => Tier::WhenReady,
    }
}

/// What a thread knows.
#[derive(Default)]
struct Plans {
    known: HashMap<Key, Known, BuildWordHasher>,
    key: Key,
    uses: u64,
}

struct Known {
    plan: Arc<Plan>,
    /// Fused kernels that are being compiled; the plan runs as its parts until they are there.
    waiting_for: Vec<Arc<PendingCompiled>>,
    last_use: u64,
}

thread_local! {
    static PLANS: RefCell<Plans> = RefCell::default();
}

/// The plan of a tape: one made before for an equal tape, or a new one.
pub(crate) fn find(tape: &mut Tape) -> Result<Arc<Plan>> {
    PLANS.with_borrow_mut(|plans| {
        plans.uses += 1;
        let Plans { known, key, uses } = plans;
        key.clear();
        let tier = tier();
        tape.see_what_is_free();
        write_key(tape, tier, key);
        if let Some(found) = known.get_mut(key) {
            found.last_use = *uses;
            let waited = !found.waiting_for.is_empty();
            if waited && found.waiting_for.iter().all(|pending| pending.ready()) {
                (found.plan, found.waiting_for) = make(tape, tier)?;
            }
            super::stats::count(|c| &c.plan_hits);
            return Ok(found.plan.clone());
        }
        super::stats::count(|c| &c.plan_misses);
        let (plan, waiting_for) = make(tape, tier)?;
        if known.len() >= MOST_PLANS {
            let middle = *uses - MOST_PLANS as u64 / 2;
            known.retain(|_, known| known.last_use > middle);
        }
        known.insert(key.clone(), Known { plan: plan.clone(), waiting_for, last_use: *uses });
        Ok(plan)
    })
}

/// Plans a tape, fused if its kernels are there, otherwise as its parts; gives the kernels that are waited for.
fn make(tape: &mut Tape, tier: Tier) -> Result<(Arc<Plan>, Vec<Arc<PendingCompiled>>)> {
    let ordered = order::in_order(tape);
    let found = std::mem::replace(&mut tape.calls, ordered);
    debug::say(debug::GRAPHS, || debug::graph(tape));
    let made = make_in_order(tape, tier);
    tape.calls = found;
    made
}

fn make_in_order(tape: &mut Tape, tier: Tier) -> Result<(Arc<Plan>, Vec<Arc<PendingCompiled>>)> {
    let on_gpu = tape.calls.iter().any(|call| call.stream.device.kind == DeviceKind::Gpu);
    let target: Option<&'static Target> = if on_gpu { Some(the_gpu()?.target()) } else { None };
    if !inline::has_programs(tape, target) {
        let (plan, waiting_for) = make_of_calls(tape, target, tier)?;
        return Ok((Arc::new(plan), waiting_for));
    }
    // Who compiles a function wants its fused kernels from the start.
    let tier = if tier == Tier::WhenReady { Tier::Now } else { tier };
    let ((mut plan, waiting_for), leaves) = inline::inlined(tape, target, |tape| make_of_calls(tape, target, tier))?;
    plan.leaves = leaves;
    let replayed = replay::is_worthwhile(&plan) && !switches::disabled(switches::REPLAY);
    plan.replay = replayed.then(Mutex::default);
    Ok((Arc::new(plan), waiting_for))
}

fn make_of_calls(
    tape: &Tape,
    target: Option<&'static Target>,
    tier: Tier,
) -> Result<(Plan, Vec<Arc<PendingCompiled>>)> {
    let ways = fuse::ways(tape, target);
    let mut waiting_for = Vec::new();
    if tier != Tier::Never {
        let units = fuse::fuse(tape, &ways, true);
        let later = (tier == Tier::WhenReady).then_some(&mut waiting_for);
        let fused = plan::plan(tape, &ways, &units, target, later)?;
        if waiting_for.is_empty() {
            return Ok((fused, waiting_for));
        }
    }
    let units = fuse::fuse(tape, &ways, false);
    Ok((plan::plan(tape, &ways, &units, target, None)?, waiting_for))
}

/// What distinguishes a tape from others: its leaves' layouts, its calls, and who looks at what afterwards.
fn write_key(tape: &Tape, tier: Tier, key: &mut Key) {
    key.word((switches::generation() << 8) | tier as u64);
    key.word((tape.values.len() as u64) << 32 | tape.calls.len() as u64);
    for (i, value) in tape.values.iter().enumerate() {
        if let Some(data) = &value.leaf {
            key.word(i as u64);
            write_leaf(value, data, key);
        }
    }
    // Not a leaf's number.
    key.word(u64::MAX);
    for values in tape.values.chunks(64) {
        key.word(values.iter().fold(0, |bits, value| bits << 1 | value.held as u64));
    }
    for call in &tape.calls {
        key.name(call.op.name());
        call.op.plan_key(key);
        if let Some(starts) = call.op.starts() {
            let whole = &tape.values[call.inputs[0] as usize].spec;
            start_multiples(&starts, &whole.shape, whole.dtype).iter().for_each(|&multiple| key.word(multiple));
        }
        key.word((call.stream.index as u64) << 32 | (call.inputs.len() as u64) << 16 | call.outputs.len() as u64);
        for values in [&call.inputs[..], &call.outputs[..]] {
            let (pairs, rest) = values.as_chunks::<2>();
            pairs.iter().for_each(|[a, b]| key.word((*a as u64) << 32 | *b as u64));
            rest.iter().for_each(|&value| key.word(value as u64));
        }
    }
}

fn write_leaf(value: &Value, data: &Data, key: &mut Key) {
    let layout = &data.layout;
    let in_memory = matches!(data.source, Source::Memory(_));
    let align = if in_memory { leaf_align(layout.offset, value.spec.dtype) } else { 0 };
    key.word((align as u64) << 32 | (value.spec.dtype as u64) << 16 | layout.shape.len() as u64);
    layout.shape.iter().for_each(|&n| key.word(n as u64));
    layout.strides.iter().for_each(|&stride| key.int(stride));
    key.word(value.donatable.map_or(0, |bytes| bytes as u64 + 1));
    if let (Some(_), Source::Memory(storage)) = (value.donatable, &data.source) {
        key.word(match storage.users() {
            Users::Nobody => u64::MAX,
            Users::Many => u64::MAX - 1,
            Users::One(stream) => stream as u64,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Device, default_stream, with_stream};
    use crate::dtype::Dtype;
    use crate::eval::eval;
    use crate::ops::full::ones;

    /// Donations of a plan that is made while another thread lets go of its leaf's memory, or with nobody else there.
    fn donations(another: bool) -> usize {
        let x = &ones(&[64, 64], Dtype::F32).expect("any shape") + 1.0f32;
        eval(std::slice::from_ref(&x)).expect("it is computed");
        let y = &x + 1.0f32;
        drop(x);
        let mut tape = order::order(std::slice::from_ref(&y)).expect("it is there");
        let memory = tape.values.iter().find_map(|value| match &value.leaf.as_ref()?.source {
            Source::Memory(storage) if another => Some(storage.clone()),
            _ => None,
        });
        tape.see_what_is_free();
        drop(memory);
        let (plan, _) = make(&mut tape, Tier::Now).expect("it is planned");
        plan.steps.iter().map(|step| step.donations.len()).sum()
    }

    #[test]
    fn what_was_kept_when_the_key_was_written_is_not_given_away() {
        with_stream(default_stream(Device::CPU).expect("the CPU is there"), || {
            assert_eq!([donations(false), donations(true)], [1, 0]);
        });
    }
}
