//! The place of one pipeline: wanted, being built, or there. Whoever needs it first builds it; all others wait for
//! that.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::registry::Shared;
use super::{Pipeline, PipelineRequest};
use crate::error::{Error, Result};

/// A pipeline that is built in the background.
pub struct PendingPipeline {
    pub(super) slot: Arc<Slot>,
    pub(super) shared: Arc<Shared>,
}

impl PendingPipeline {
    /// Whether `wait` would answer at once, with the pipeline or with the reason why there is none.
    pub fn ready(&self) -> bool {
        matches!(*self.slot.lock(), State::Done(_))
    }

    /// The pipeline. If nobody has begun to build it, this thread does.
    pub fn wait(&self) -> Result<Pipeline> {
        self.shared.finish(&self.slot)
    }
}

/// One pipeline's place.
pub(super) struct Slot {
    pub(super) request: PipelineRequest,
    state: Mutex<State>,
    done: Condvar,
}

enum State {
    Wanted,
    Building,
    Done(Result<Pipeline>),
}

impl Slot {
    pub(super) fn new(request: PipelineRequest) -> Self {
        Slot { request, state: Mutex::new(State::Wanted), done: Condvar::new() }
    }

    /// Claims the work of building. At most one caller gets it.
    pub(super) fn claim(&self) -> Option<Claim<'_>> {
        let mut state = self.lock();
        match *state {
            State::Wanted => {
                *state = State::Building;
                Some(Claim { slot: self, settled: false })
            }
            State::Building | State::Done(_) => None,
        }
    }

    /// Waits for whoever claimed the work.
    pub(super) fn wait(&self) -> Result<Pipeline> {
        let mut state = self.lock();
        loop {
            match &*state {
                State::Done(outcome) => return outcome.clone(),
                State::Wanted | State::Building => {
                    state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn settle(&self, outcome: Result<Pipeline>) {
        *self.lock() = State::Done(outcome);
        self.done.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The duty to settle a slot. Dropped without an outcome (a panic in a driver's callback, say), it settles with an
/// error.
pub(super) struct Claim<'a> {
    slot: &'a Slot,
    settled: bool,
}

impl Claim<'_> {
    pub(super) fn settle(mut self, outcome: Result<Pipeline>) {
        self.settled = true;
        self.slot.settle(outcome);
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !self.settled {
            let kernel = self.slot.request.name.clone();
            self.slot.settle(Err(Error::Pipeline { kernel, reason: "the thread that built it failed".into() }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot() -> Slot {
        Slot::new(PipelineRequest { name: "k".into(), spirv: [].into(), subgroup_size: None })
    }

    #[test]
    fn only_one_gets_to_build() {
        let slot = slot();
        let claim = slot.claim();
        assert!(claim.is_some());
        assert!(slot.claim().is_none());
    }

    #[test]
    fn a_claim_that_is_given_up_ends_the_wait_with_an_error() {
        let slot = slot();
        std::thread::scope(|scope| {
            let claim = slot.claim();
            let waiter = scope.spawn(|| slot.wait());
            drop(claim);
            assert!(matches!(waiter.join().expect("no panic"), Err(Error::Pipeline { .. })));
        });
    }
}
