//! The generic check: every op of the catalogue, on every device, against what must hold for any op.
//!
//! - the CPU and the GPU agree, and so do what the op means and floats of other widths ([`values`]);
//! - inputs may lie in memory in any way ([`layouts`]);
//! - derivatives agree with finite differences, forwards with backwards ([`derivatives`]);
//! - a mapped call is a loop of calls ([`mapping`]).
//!
//! Every case meets every type it takes on the CPU; on the GPU, an op's first case does, and of the others each meets one
//! ([`types`]). Two processes share the work ([`share`]). Errors planted on purpose must be found ([`planted`]), or finding none
//! proves nothing.
//!
//! `PUMICE_CHECK=softmax cargo test --test check` checks one op; `PUMICE_SLOW=1` every case with every type on the GPU too.

mod data;
mod derivatives;
mod layouts;
mod mapping;
mod planted;
#[path = "../rig/mod.rs"]
mod rig;
mod share;
mod types;
mod values;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use data::Data;
use pumice::eval::{Tier, set_tier};
use pumice::ops::catalogue::{Case, Entry, catalogue};
use pumice::{Array, Device, Dtype, Error, Result, default_stream, with_stream};
use types::{Met, Types};

/// Tests start in the order of their names: this one first.
#[test]
fn another_process_checks_every_second_op() {
    share::run_other();
}

/// One call that is checked: a case of an op with inputs of a type.
struct Call<'a> {
    op: &'static str,
    case: &'a Case,
    dtype: Dtype,
    device: Device,
}

impl Call<'_> {
    /// Makes it; the device is the current stream's.
    fn make(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        (self.case.call)(inputs)
    }

    /// Values of the inputs; another `variant`, other values.
    fn inputs(&self, variant: u64) -> Vec<Data> {
        let samples = self.case.inputs.iter().enumerate();
        samples.map(|(i, sample)| Data::sample(sample, self.dtype, self.seed(variant, i))).collect()
    }

    /// A number of its own for every input of every case.
    fn seed(&self, variant: u64, i: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.op, &self.case.name, variant, i).hash(&mut hasher);
        hasher.finish()
    }
}

/// Runs a check over the calls of the catalogue, and panics with all that fail.
fn check(types: Types, devices: &[Device], verify: impl Fn(&Call) -> Result<Option<String>> + Sync) {
    let only = std::env::var("PUMICE_CHECK").ok();
    let all = catalogue().into_iter().enumerate().filter(|(number, _)| share::is_mine(*number)).map(|(_, entry)| entry);
    let entries: Vec<Entry> = all.filter(|entry| only.as_deref().is_none_or(|name| name == entry.name)).collect();
    let failures = failures(&entries, types, devices, verify);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// What fails a check, each with op, case, type and device.
fn failures(
    entries: &[Entry],
    types: Types,
    devices: &[Device],
    verify: impl Fn(&Call) -> Result<Option<String>> + Sync,
) -> Vec<String> {
    // Nobody waits for fused kernels, nor are they compiled behind the check's back: fusion has tests of its own.
    set_tier(Tier::Never);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failures = Vec::new();
        while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
            failures.extend(check_entry(entry, types, devices, &verify));
        }
        failures
    };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("checks catch panics")).collect()
    })
}

fn check_entry(
    entry: &Entry,
    types: Types,
    devices: &[Device],
    verify: &impl Fn(&Call) -> Result<Option<String>>,
) -> Vec<String> {
    let mut failures = Vec::new();
    for (index, case) in entry.cases.iter().enumerate() {
        for &device in devices.iter().filter(|device| rig::devices().contains(device)) {
            for dtype in types(&Met { op: entry.name, index, case, device }) {
                let call = Call { op: entry.name, case, dtype, device };
                if let Some(why) = attempt(&call, verify) {
                    failures.push(format!("{} / {} / {dtype} / {device}: {why}", entry.name, case.name));
                }
            }
        }
    }
    failures
}

fn attempt(call: &Call, verify: &impl Fn(&Call) -> Result<Option<String>>) -> Option<String> {
    let stream = default_stream(call.device).expect("the device is there");
    match catch_unwind(AssertUnwindSafe(|| with_stream(stream, || verify(call)))) {
        Ok(Ok(why)) => why,
        Ok(Err(error)) if only_on_the_cpu(call, &error) => None,
        Ok(Err(error)) => Some(format!("error: {error}")),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Some(format!("panic: {}", text.unwrap_or("without a text")))
        }
    }
}

/// GPUs have no float64, neither given nor asked for.
fn only_on_the_cpu(call: &Call, error: &Error) -> bool {
    call.device == Device::GPU && error.to_string().contains("float64 is not supported on the GPU")
}
