//! Events: moments of a stream that the host and other streams can wait for.

use std::fmt;
use std::time::Duration;

use crate::device::Device;
use crate::error::Result;

/// A moment of a stream: everything that was submitted when it was made.
#[derive(Clone)]
pub struct Event {
    pub(crate) device: Device,
    /// Number of the stream that made it.
    pub(crate) stream: u64,
    /// The timeline's value at that moment, 0 when nothing was submitted yet.
    pub(crate) value: u64,
}

impl Event {
    /// Whether the device has reached it.
    pub fn is_done(&self) -> Result<bool> {
        self.device.timeline().is_done(self.value)
    }

    /// Waits until the device has reached it. Fails when the device stops making progress.
    pub fn wait(&self) -> Result<()> {
        self.device.timeline().wait(self.value, "wait")?;
        self.device.timeline().retire();
        Ok(())
    }

    /// Waits like [`wait`](Event::wait), but asks every so often whether to go on, and says whether the device has reached it.
    pub fn wait_while(&self, every: Duration, go_on: impl FnMut() -> bool) -> Result<bool> {
        let reached = self.device.timeline().wait_while(self.value, "wait", every, go_on)?;
        self.device.timeline().retire();
        Ok(reached)
    }

    /// Waits at most this long and says whether the device has reached it.
    pub fn wait_for(&self, time: Duration) -> Result<bool> {
        self.device.timeline().wait_for(self.value, time)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("stream", &self.stream).field("value", &self.value).finish()
    }
}
