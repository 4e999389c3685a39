//! `PUMICE_DEBUG=1..5`: what each layer hands the next, on the standard error.
//!
//! | level | what it prints as well |
//! |--:|---|
//! | 1 | launches and steps of the CPU, with their times |
//! | 2 | the graphs that are planned |
//! | 3 | the kernels that are compiled |
//! | 4 | each of them after each pass |
//! | 5 | its SPIR-V |

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Duration;

use crate::eval::order::{Tape, ValueId};
use crate::shape;

/// The level from which times are printed.
pub(crate) const TIMES: u8 = 1;
/// That of graphs.
pub(crate) const GRAPHS: u8 = 2;
/// That of kernels.
pub(crate) const KERNELS: u8 = 3;
/// That of passes.
pub(crate) const PASSES: u8 = 4;
/// That of SPIR-V.
pub(crate) const SPIRV: u8 = 5;

/// The level that the environment asks for; 0 for nothing.
#[inline]
pub(crate) fn level() -> u8 {
    static LEVEL: OnceLock<u8> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let Ok(value) = std::env::var("PUMICE_DEBUG") else { return 0 };
        value.parse().unwrap_or_else(|_| {
            eprintln!("pumice: [PUMICE_DEBUG] the level must be a number from 0 to 5 but is {value:?}.");
            0
        })
    })
}

/// Prints a text if the level is high enough.
pub(crate) fn say(at: u8, text: impl FnOnce() -> String) {
    if level() >= at {
        eprintln!("{}", text().trim_end());
    }
}

/// A line for something that was done.
pub(crate) fn timed(name: &str, length: Duration, groups: Option<[u32; 3]>) -> String {
    let groups = groups.map_or(String::new(), |[x, y, z]| format!("  {x} x {y} x {z} workgroups"));
    format!("{:>12.1} us  {name}{groups}", length.as_nanos() as f64 / 1e3)
}

/// A graph in the order in which it is computed: a line for each call, then who is looked at.
pub(crate) fn graph(tape: &Tape) -> String {
    let mut text = format!("graph of {} calls\n", tape.calls.len());
    let value = |id: ValueId| {
        let value = &tape.values[id as usize];
        format!("v{id} {}{}", value.spec.dtype, shape::display(&value.spec.shape))
    };
    let list = |ids: &[ValueId]| ids.iter().map(|&id| value(id)).collect::<Vec<_>>().join(", ");
    for call in &tape.calls {
        let inputs = call.inputs.iter().map(|id| format!("v{id}")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "  {} = {}({inputs}) on {}", list(&call.outputs), call.op.name(), call.stream);
    }
    let leaves: Vec<ValueId> =
        (0..tape.values.len() as ValueId).filter(|&id| tape.values[id as usize].leaf.is_some()).collect();
    let results: Vec<ValueId> = tape.receivers.iter().map(|(_, id)| *id).collect();
    let _ = writeln!(text, "  given: {}\n  looked at: {}", list(&leaves), list(&results));
    text
}
