//! When a stream commits: MLX's rule, with numbers per class of device.

use crate::probe::DeviceKind;
use crate::stream::StreamOptions;

/// The first commit after an idle moment comes after this many operations, so that the device starts early.
const FIRST_COMMIT: u64 = 10;
/// A command buffer that is due is submitted at this many times what makes it due, if nothing that follows waits.
const PATIENCE: u64 = 2;
/// Submissions in flight before a commit waits for the oldest.
const IN_FLIGHT: usize = 8;

/// How much is recorded before it is submitted, and how much is submitted before somebody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thresholds {
    operations: u64,
    megabytes: u64,
    /// Submissions in flight.
    pub(crate) in_flight: usize,
}

/// Whether a command buffer is to be submitted before something else is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// It has room.
    No,
    /// As soon as what follows has to wait for what it holds.
    BeforeABarrier,
    /// Whatever follows.
    AtOnce,
}

impl Thresholds {
    /// The options, else the environment, else the device's class decides.
    pub(crate) fn new(kind: DeviceKind, options: &StreamOptions) -> Self {
        Self::with(kind, options, |name| std::env::var(name).ok())
    }

    /// Whether a command buffer with this many operations on this many bytes is due.
    #[inline]
    pub(crate) fn due(&self, operations: u64, bytes: u64, first: bool) -> Due {
        let most = if first { self.operations.min(FIRST_COMMIT) } else { self.operations };
        let reached = |times: u64| {
            operations >= most.saturating_mul(times) || (bytes >> 20) > self.megabytes.saturating_mul(times)
        };
        if !reached(1) {
            Due::No
        } else if !reached(PATIENCE) {
            Due::BeforeABarrier
        } else {
            Due::AtOnce
        }
    }

    fn with(kind: DeviceKind, options: &StreamOptions, variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str| variable(name)?.trim().parse().ok();
        let (operations, megabytes) = match kind {
            DeviceKind::Discrete => (100, 1024),
            _ => (50, 100),
        };
        Self {
            operations: options
                .max_operations
                .or_else(|| number("MLX_MAX_OPS_PER_BUFFER"))
                .unwrap_or(operations)
                .max(1),
            megabytes: options.max_megabytes.or_else(|| number("MLX_MAX_MB_PER_BUFFER")).unwrap_or(megabytes),
            in_flight: options.in_flight.unwrap_or(IN_FLIGHT).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(kind: DeviceKind) -> Thresholds {
        Thresholds::with(kind, &StreamOptions::default(), |_| None)
    }

    #[test]
    fn the_first_commit_comes_early() {
        let thresholds = plain(DeviceKind::Discrete);
        assert_eq!(thresholds.due(10, 0, true), Due::BeforeABarrier);
        assert_eq!(thresholds.due(99, 0, false), Due::No);
        assert_eq!(thresholds.due(100, 0, false), Due::BeforeABarrier);
    }

    #[test]
    fn many_bytes_commit_too() {
        let thresholds = plain(DeviceKind::Integrated);
        assert_eq!(thresholds.due(1, 100 << 20, false), Due::No);
        assert_eq!(thresholds.due(1, 101 << 20, false), Due::BeforeABarrier);
    }

    #[test]
    fn patience_ends_at_twice_as_much() {
        let thresholds = plain(DeviceKind::Integrated);
        assert_eq!(thresholds.due(19, 0, true), Due::BeforeABarrier);
        assert_eq!(thresholds.due(20, 0, true), Due::AtOnce);
        assert_eq!(thresholds.due(100, 0, false), Due::AtOnce);
        assert_eq!(thresholds.due(1, 200 << 20, false), Due::BeforeABarrier);
        assert_eq!(thresholds.due(1, 201 << 20, false), Due::AtOnce);
    }

    #[test]
    fn the_environment_overrides_the_class_and_options_override_both() {
        let variable = |name: &str| (name == "MLX_MAX_OPS_PER_BUFFER").then(|| "7".to_string());
        let thresholds = Thresholds::with(DeviceKind::Discrete, &StreamOptions::default(), variable);
        assert_eq!(thresholds.operations, 7);
        let options = StreamOptions { max_operations: Some(3), ..StreamOptions::default() };
        assert_eq!(Thresholds::with(DeviceKind::Discrete, &options, variable).operations, 3);
    }

    #[test]
    fn a_senseless_variable_is_ignored() {
        let thresholds = Thresholds::with(DeviceKind::Discrete, &StreamOptions::default(), |_| Some("many".into()));
        assert_eq!(thresholds, plain(DeviceKind::Discrete));
    }
}
