//! Record once, replay: a plan is a command buffer whose arguments live in memory.
//!
//! A recorder collects operations and puts the barriers where they are needed; `finish` turns it into a plan, which can
//! only be replayed and patched. Submitting a plan costs about 15 µs whatever its length. Its argument blocks are patched
//! on the host; a plan whose arguments change between replays has two instances (command buffer and argument blocks), so
//! that one is written while the other runs. A plan begins with a barrier, so it may follow anything, itself included.

mod instance;
mod recorder;

use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use instance::Instance;
pub use recorder::Recorder;

use crate::device::Device;
use crate::error::{Error, Result};
use instance::Script;

/// Instances of a plan whose arguments change: one runs while the other is written.
const INSTANCES: usize = 2;

/// Recorded work that can be submitted again and again.
pub struct Plan {
    device: Device,
    script: Arc<Script>,
    state: Mutex<State>,
}

struct State {
    /// The argument blocks as they shall be at the next replay; the mapped ones are never read.
    arguments: Vec<u8>,
    /// Counts patches.
    patches: u64,
    /// For each launch the patch that changed its block last.
    patched: Vec<u64>,
    instances: Vec<Ready>,
    current: usize,
}

struct Ready {
    instance: Arc<Instance>,
    /// The patches its argument blocks contain.
    patches: u64,
    /// The device is done with it at this value of the timeline.
    busy_until: u64,
}

impl Plan {
    /// Number of launches, in the order they were recorded.
    pub fn launches(&self) -> usize {
        self.script.blocks.len()
    }

    /// Changes bytes of a launch's argument block from the next replay on. Replays in flight keep what they had.
    pub fn patch(&self, launch: usize, offset: usize, bytes: &[u8]) -> Result<()> {
        let range = self.script.block(launch, offset, bytes.len())?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.arguments[range.clone()] == *bytes {
            return Ok(());
        }
        state.arguments[range].copy_from_slice(bytes);
        state.patches += 1;
        state.patched[launch] = state.patches;
        Ok(())
    }

    /// Hands an up-to-date instance to `submit`, which returns the value at which the device is done with it.
    pub(crate) fn run(&self, device: &Device, submit: impl FnOnce(Arc<Instance>) -> Result<u64>) -> Result<()> {
        if !device.is_same(&self.device) {
            return Err(Error::InvalidArgument(
                "[replay] the stream must belong to the plan's device but belongs to another.".into(),
            ));
        }
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.bring_up_to_date(state)?;
        let ready = &mut state.instances[state.current];
        ready.busy_until = submit(ready.instance.clone())?;
        self.device.timeline().counters().replays.add(1);
        self.script.count(self.device.timeline().counters());
        Ok(())
    }

    /// Makes `current` an instance with the present arguments. Only one that the device is done with is written.
    fn bring_up_to_date(&self, state: &mut State) -> Result<()> {
        if state.instances[state.current].patches == state.patches {
            return Ok(());
        }
        let timeline = self.device.timeline();
        if !timeline.is_done(state.instances[state.current].busy_until)? {
            state.current = (state.current + 1) % INSTANCES;
        }
        if state.current == state.instances.len() {
            state
                .instances
                .push(Ready::new(Instance::new(&self.device, &self.script, &state.arguments)?, state.patches));
            return Ok(());
        }
        let ready = &mut state.instances[state.current];
        timeline.wait(ready.busy_until, "replay")?;
        for (launch, &patch) in state.patched.iter().enumerate() {
            if patch > ready.patches {
                ready.instance.write(&self.script.blocks[launch], &state.arguments);
            }
        }
        ready.patches = state.patches;
        Ok(())
    }
}

impl Ready {
    fn new(instance: Instance, patches: u64) -> Self {
        Self { instance: Arc::new(instance), patches, busy_until: 0 }
    }
}
