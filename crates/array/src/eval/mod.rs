//! Evaluation: order → fuse → plan → run. Nothing here knows which op it has.

mod around;
mod bands;
pub(crate) mod cache;
pub mod elements;
mod environment;
#[cfg(test)]
mod first_look;
mod fuse;
mod growth;
mod hash;
mod inline;
pub(crate) mod interrupt;
pub(crate) mod job;
mod lifetimes;
pub(crate) mod map;
pub(crate) mod order;
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
use crate::eval::interrupt::Pace;
use crate::gpu::Event;
use crate::trace;

pub use interrupt::set_interrupt;
pub use job::come_to_rest;
pub use plans::{Tier, set_tier};
pub use stats::{Stats, reset_stats, stats};
pub use switches::{disabled_names, set_checked, set_disabled};

/// Computes arrays, and waits until they are there.
pub fn eval(arrays: &[Array]) -> Result<()> {
    environment::heed();
    let _whole = trace::span(|| "eval");
    arrays.iter().try_for_each(Array::land)?;
    let started: Vec<Event> = arrays.iter().filter_map(Array::unfinished).collect();
    let mut events = start(arrays, When::Now)?;
    events.extend(started);
    {
        let _wait = trace::span(|| "wait");
        events.iter().try_for_each(interrupt::wait)?;
    }
    trace::attend();
    if events.is_empty() { Ok(()) } else { cache::violations() }
}

/// Starts to compute arrays. Whoever looks at one later waits for it, and is told if it failed.
pub fn async_eval(arrays: &[Array]) -> Result<()> {
    if arrays.iter().any(Array::is_tracer) {
        let text = "[async_eval] arrays must not be inside a transformed function (grad, vmap, compile) but one is.";
        return Err(Error::Value(text.into()));
    }
    environment::heed();
    let _whole = trace::span(|| "async_eval");
    start(arrays, When::Later).map(drop)
}

/// When arrays must be there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// When the call returns: whoever calls does what the CPU has to do.
    Now,
    /// When somebody looks.
    Later,
}

fn start(arrays: &[Array], when: When) -> Result<Vec<Event>> {
    let pending: Vec<Array> = arrays.iter().filter(|a| !a.is_started()).cloned().collect();
    if pending.is_empty() {
        return Ok(Vec::new());
    }
    expect_no_helpers();
    trace::attend();
    let mut tape = {
        let _order = trace::span(|| "order");
        order::order(&pending)?
    };
    stats::count(|c| &c.evaluations);
    stats::add(|c| &c.calls, tape.calls.len() as u64);
    let plan = {
        let _plan = trace::span(|| "plan").of("calls", tape.calls.len());
        plans::find(&mut tape)?
    };
    run::expect_streams(&plan)?;
    if when == When::Later
        && let Some(worker) = job::worker_for(&plan)
    {
        return job::hand_over(plan, tape, &worker).map(|()| Vec::new());
    }
    let done = run::run(&plan, &tape, Pace::new());
    let events = done.map(|done| done.publish(&tape.receivers));
    tape.let_go();
    events
}
