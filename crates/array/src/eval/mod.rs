//! Evaluation: order → fuse → plan → run. Nothing here knows which op it has.

pub(crate) mod cache;
#[cfg(test)]
mod first_look;
mod fuse;
mod lifetimes;
pub(crate) mod map;
mod order;
pub(crate) mod plan;
mod run;
pub mod site;
pub(crate) mod switches;

use crate::array::Array;
use crate::device::{DeviceKind, the_gpu};
use crate::error::Result;
use crate::gpu::Event;

pub use switches::set_disabled;

/// Computes arrays, and waits until they are there.
pub fn eval(arrays: &[Array]) -> Result<()> {
    for event in start(arrays)? {
        event.wait()?;
    }
    Ok(())
}

/// Starts to compute arrays. Whoever looks at one later waits for it.
pub fn async_eval(arrays: &[Array]) -> Result<()> {
    start(arrays).map(drop)
}

fn start(arrays: &[Array]) -> Result<Vec<Event>> {
    let pending: Vec<Array> = arrays.iter().filter(|a| !a.is_evaluated()).cloned().collect();
    if pending.is_empty() {
        return Ok(Vec::new());
    }
    let tape = order::order(&pending)?;
    let on_gpu = tape.calls.iter().any(|call| call.stream.device.kind == DeviceKind::Gpu);
    let target = if on_gpu { Some(the_gpu()?.target()) } else { None };
    let ways = fuse::ways(&tape, target);
    let units = fuse::fuse(&tape, &ways, !switches::disabled(switches::FUSION));
    let plan = plan::plan(&tape, &ways, &units, target)?;
    run::run(&plan, &tape)
}
