//! How a device is opened, and every environment variable this crate reads.

use std::path::PathBuf;
use std::time::Duration;

use crate::calls::FaultPlan;
use crate::leaks::LeakLog;

/// What to open a device with. The default takes its values from the environment.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which Vulkan calls fail on purpose.
    pub faults: FaultPlan,
    /// What the Khronos validation layer does; [`Validation::Strict`] with `PUMICE_VALIDATION=1`, else off.
    pub validation: Validation,
    /// Where pipelines are kept between runs: `PUMICE_CACHE_DIR`, else `pumice` in the user's cache folder. None keeps
    /// nothing.
    pub cache_dir: Option<PathBuf>,
    /// The most that any wait lasts without progress: `PUMICE_TIMEOUT_MS`, else 60 s.
    pub timeout: Duration,
    /// The most that arrays may hold in bytes; the device's memory when not set.
    pub memory_capacity: Option<u64>,
    /// How host and device exchange bytes.
    pub transfers: Transfers,
    /// Where leaks are noted, also those of a device that could not be opened to the end.
    pub leak_log: LeakLog,
}

/// What the Khronos validation layer does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// It is not loaded.
    #[default]
    Off,
    /// Its messages are collected for `Device::validation_messages`.
    Collect,
    /// Its messages are collected and printed, and a device that was given any panics when it is destroyed: no test
    /// passes with one.
    Strict,
}

/// How host and device exchange bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfers {
    /// As is best for the device: directly where memory is unified.
    #[default]
    Automatic,
    /// Through staging buffers, as a discrete device without mapped memory would. For tests of that path.
    Staged,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            faults: FaultPlan::none(),
            validation: if flag("PUMICE_VALIDATION") { Validation::Strict } else { Validation::Off },
            cache_dir: default_cache_dir(),
            timeout: Duration::from_millis(number("PUMICE_TIMEOUT_MS").unwrap_or(60_000)),
            memory_capacity: None,
            transfers: Transfers::Automatic,
            leak_log: LeakLog::default(),
        }
    }
}

/// The device the user asked for by `PUMICE_DEVICE`: an index, or a part of a name.
pub(crate) fn wanted_device() -> Option<String> {
    text("PUMICE_DEVICE")
}

fn default_cache_dir() -> Option<PathBuf> {
    if let Some(dir) = text("PUMICE_CACHE_DIR") {
        return Some(dir.into());
    }
    let user = text("XDG_CACHE_HOME").map(PathBuf::from);
    let user = user.or_else(|| text("HOME").map(|home| PathBuf::from(home).join(".cache")));
    user.map(|dir| dir.join("pumice"))
}

fn flag(name: &str) -> bool {
    text(name).is_some_and(|value| value != "0")
}

fn number(name: &str) -> Option<u64> {
    text(name)?.parse().ok()
}

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
