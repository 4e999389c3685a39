//! Fast paths that are switched off by name: `PUMICE_DISABLE=softmax,fusion` runs what they mean instead. That is how people bisect.
//! And kernels that test their indices.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

/// The name under which fusion is switched off.
pub(crate) const FUSION: &str = "fusion";
/// The name under which the replay of compiled functions is.
pub(crate) const REPLAY: &str = "replay";
/// The name under which the ordering of independent work side by side is.
pub(crate) const SCHEDULE: &str = "schedule";
/// The name under which cutting the last wave of f32 products is.
pub(crate) const LAST_WAVE: &str = "last_wave";

/// Whether a fast path is switched off.
pub(crate) fn disabled(name: &str) -> bool {
    let switches = switches();
    switches.any.load(Ordering::Relaxed) && switches.names.read().unwrap_or_else(PoisonError::into_inner).contains(name)
}

/// Switches a fast path off or on again, for the whole process: an op by its name, `fusion`, `schedule`, `compile`,
/// `replay` or `last_wave`.
pub fn set_disabled(name: &str, off: bool) {
    let switches = switches();
    let mut names = switches.names.write().unwrap_or_else(PoisonError::into_inner);
    let changed = if off { names.insert(name.to_string()) } else { names.remove(name) };
    switches.any.store(!names.is_empty(), Ordering::Relaxed);
    GENERATION.fetch_add(changed as u64, Ordering::Relaxed);
}

/// The fast paths that are switched off, in alphabetical order.
pub fn disabled_names() -> Vec<String> {
    let mut names: Vec<String> =
        switches().names.read().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
    names.sort();
    names
}

/// Whether kernels test every index and eval reports the first that is out of bounds, for the whole process. `PUMICE_CHECKED=1`
/// says so from the start.
pub fn set_checked(on: bool) {
    let changed = checked_flag().swap(on, Ordering::Relaxed) != on;
    GENERATION.fetch_add(changed as u64, Ordering::Relaxed);
}

/// Whether kernels test every index.
pub(crate) fn checked() -> bool {
    checked_flag().load(Ordering::Relaxed)
}

fn checked_flag() -> &'static AtomicBool {
    static CHECKED: OnceLock<AtomicBool> = OnceLock::new();
    CHECKED.get_or_init(|| AtomicBool::new(std::env::var_os("PUMICE_CHECKED").is_some_and(|v| v == "1")))
}

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// A number that changes with every switch: plans made under others are not used.
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// What is switched off, and whether anything is: every call asks.
struct Switches {
    names: RwLock<HashSet<String>>,
    any: AtomicBool,
}

fn switches() -> &'static Switches {
    static SWITCHES: OnceLock<Switches> = OnceLock::new();
    SWITCHES.get_or_init(|| {
        let given = std::env::var("PUMICE_DISABLE").unwrap_or_default();
        let names = given.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: HashSet<String> = names.map(String::from).collect();
        let any = AtomicBool::new(!names.is_empty());
        Switches { names: RwLock::new(names), any }
    })
}
