//! What the environment asks for, heeded at the first evaluation: `PUMICE_TRACE`, `PUMICE_STATS`, `PUMICE_DEBUG`.

use std::sync::OnceLock;

use crate::gpu::at_exit;
use crate::{debug, eval, trace};

/// Heeds it, once.
#[inline]
pub(super) fn heed() {
    static HEEDED: OnceLock<()> = OnceLock::new();
    HEEDED.get_or_init(heed_now);
}

fn heed_now() {
    if debug::level() >= debug::TIMES {
        trace::watch();
        at_exit(trace::attend);
    }
    if let Some(path) = std::env::var_os("PUMICE_TRACE").filter(|path| !path.is_empty()) {
        match trace::start(&path) {
            Ok(()) => at_exit(end_trace),
            Err(error) => eprintln!("pumice: {error}"),
        }
    }
    if std::env::var("PUMICE_STATS").is_ok_and(|value| value == "1") {
        at_exit(print_stats);
    }
}

fn end_trace() {
    if let Err(error) = trace::stop() {
        eprintln!("pumice: {error}");
    }
}

fn print_stats() {
    eprint!("{}", eval::stats());
}
