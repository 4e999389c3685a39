//! Evaluation: order → fuse → plan → run. Nothing here knows which op it has.

mod around;
mod bands;
pub(crate) mod cache;
pub mod elements;
#[cfg(test)]
mod first_look;
mod fuse;
mod growth;
mod hash;
mod inline;
pub(crate) mod interrupt;
mod lifetimes;
pub(crate) mod map;
mod order;
pub(crate) mod plan;
mod plans;
mod reads;
mod replay;
mod rows;
mod run;
mod schedule;
mod seen;
pub mod site;
mod stats;
mod survey;
pub(crate) mod switches;
mod write;

use crate::array::Array;
use crate::device::expect_no_helpers;
use crate::error::{Error, Result};
use crate::gpu::Event;

pub use interrupt::set_interrupt;
pub use plans::{Tier, set_tier};
pub use stats::{Stats, stats};
pub use switches::{set_checked, set_disabled, set_enabled};

/// Computes arrays, and waits until they are there.
pub fn eval(arrays: &[Array]) -> Result<()> {
    let started: Vec<Event> = arrays.iter().filter_map(Array::unfinished).collect();
    let mut events = start(arrays)?;
    events.extend(started);
    for event in &events {
        interrupt::wait(event)?;
    }
    if events.is_empty() { Ok(()) } else { cache::violations() }
}

/// Starts to compute arrays. Whoever looks at one later waits for it.
pub fn async_eval(arrays: &[Array]) -> Result<()> {
    if arrays.iter().any(Array::is_tracer) {
        return Err(Error::Value("[async_eval] arrays must not be followed by a transform but one is.".into()));
    }
    start(arrays).map(drop)
}

fn start(arrays: &[Array]) -> Result<Vec<Event>> {
    let pending: Vec<Array> = arrays.iter().filter(|a| !a.is_evaluated()).cloned().collect();
    if pending.is_empty() {
        return Ok(Vec::new());
    }
    expect_no_helpers();
    let mut tape = order::order(&pending)?;
    stats::count(|c| &c.evaluations);
    stats::add(|c| &c.calls, tape.calls.len() as u64);
    let plan = plans::find(&mut tape)?;
    let events = run::run(&plan, &tape);
    tape.let_go();
    events
}
