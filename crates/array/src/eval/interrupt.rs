//! Interrupts: while evaluation works or waits for long, it asks now and then whether to go on.
//!
//! Python's Ctrl-C comes through by this. What is given up was not begun: between two steps on the host, or while the GPU works on.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::gpu::Event;

/// How long nobody is asked.
pub(super) const EVERY: Duration = Duration::from_millis(50);

/// An error to end the evaluation with.
type Ask = fn() -> Result<()>;

static ASK: OnceLock<Ask> = OnceLock::new();

/// Has a function asked, by the thread that evaluates, every 50 ms while an evaluation lasts; its error ends the evaluation. Arrays
/// that were not reached are as before, and what the GPU was given goes on. The first function that is set stays.
pub fn set_interrupt(ask: fn() -> Result<()>) {
    // Whoever set one before has the say.
    let _ = ASK.set(ask);
}

/// Waits for an event, unless an interrupt comes first.
pub(crate) fn wait(event: &Event) -> Result<()> {
    let Some(ask) = ASK.get() else { return Ok(event.wait()?) };
    let mut answer = Ok(());
    event.wait_while(EVERY, || {
        answer = ask();
        answer.is_ok()
    })?;
    answer
}

/// Asks whether to go on.
pub(super) fn ask() -> Result<()> {
    ASK.get().map_or(Ok(()), |ask| ask())
}

/// The clock of one evaluation's work on the host.
pub(crate) struct Pace {
    ask: Option<Ask>,
    asked: Instant,
}

impl Pace {
    /// Starts now.
    pub fn new() -> Pace {
        Pace { ask: ASK.get().copied(), asked: Instant::now() }
    }

    /// Of work that nobody interrupts.
    pub fn deaf() -> Pace {
        Pace { ask: None, ..Pace::new() }
    }

    /// Asks if it is time to.
    pub fn ask(&mut self) -> Result<()> {
        match self.ask {
            Some(ask) if self.asked.elapsed() >= EVERY => {
                let answer = ask();
                self.asked = Instant::now();
                answer
            }
            _ => Ok(()),
        }
    }
}
