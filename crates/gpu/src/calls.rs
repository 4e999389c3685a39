//! The shim: every Vulkan call of the crate goes through here.
//!
//! No other module calls a driver function. That buys three things: calls are counted by name, any call can be made to
//! fail by a [`FaultPlan`], and a lost device is noticed at one place, after which calls fail at once without reaching
//! the driver. It also says which objects are alive, because it sees what is created and what is destroyed.

mod device;
mod faults;
mod instance;
mod names;
mod shim;

use std::fmt;
use std::sync::Arc;

use ash::vk;

pub use faults::{Fault, FaultPlan};
pub(crate) use instance::{INSTALL, InstanceCalls, Library};
pub use shim::Health;
pub(crate) use shim::Shim;

use crate::error::{Error, Result};
use crate::instance::Instance;
use crate::leaks::LeakLog;
use names::Call;

/// The calls of one open device, and the device itself: it is destroyed when the last holder of its calls is gone.
pub struct Calls {
    raw: ash::Device,
    shim: Arc<Shim>,
    leaks: LeakLog,
    instance: Arc<Instance>,
}

impl Calls {
    /// Takes over a device that was just created from `instance`.
    pub(crate) fn new(raw: ash::Device, instance: Arc<Instance>, shim: Arc<Shim>, leaks: LeakLog) -> Self {
        Calls { raw, shim, leaks, instance }
    }

    /// How often the Vulkan command with this name was called, failed calls included.
    pub fn count(&self, name: &str) -> u64 {
        self.shim.count(name)
    }

    /// How often the Vulkan command with this name failed, on purpose or not.
    pub fn failures(&self, name: &str) -> u64 {
        self.shim.failures(name)
    }

    /// All commands that were called, with how often.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        self.shim.counts()
    }

    /// How many calls that can fail were made: the indices a [`FaultPlan`] can name.
    pub fn fallible_calls(&self) -> u64 {
        self.shim.fallible_calls()
    }

    /// From now on calls fail as this plan says.
    pub fn set_faults(&self, plan: FaultPlan) {
        self.shim.set_faults(plan);
    }

    /// Whether the device still answers.
    pub fn health(&self) -> Health {
        self.shim.health()
    }

    /// The kinds of Vulkan objects that exist on this device, with how many of each.
    pub fn live_objects(&self) -> Vec<(&'static str, u64)> {
        self.shim.live_objects()
    }

    /// Fails when the device is lost or hung.
    pub(crate) fn working(&self, during: &'static str) -> Result<()> {
        match self.health() {
            Health::Working => Ok(()),
            _ => Err(Error::DeviceLost { during, last_kernels: Vec::new() }),
        }
    }

    /// Remembers that the device is lost, or hung and perhaps running still.
    pub(crate) fn mark(&self, health: Health) {
        self.shim.mark(health);
    }

    /// Whether objects of this device may be destroyed: not while a hung kernel may still use them, nor if they are another
    /// process's.
    pub(crate) fn may_destroy(&self) -> bool {
        matches!(self.health(), Health::Working | Health::Lost)
    }

    pub(crate) fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    pub(crate) fn leaks(&self) -> &LeakLog {
        &self.leaks
    }

    /// Waits until a lost device has really stopped, so that its objects can be destroyed. A loss that was only
    /// injected leaves work running; a real one makes the driver answer at once. Not subject to faults: it stands for
    /// the hardware, not for an answer.
    pub(crate) fn drain_lost(&self) {
        self.shim.void(Call::DeviceWaitIdle);
        // SAFETY: the device is alive; the queue is not used by others, since calls to a lost device do not reach the
        // driver.
        let _ = unsafe { self.raw.device_wait_idle() };
    }

    /// Creates a semaphore and forgets it: a leak that the detectors must report. For tests of the detectors.
    #[doc(hidden)]
    pub fn plant_leak(&self) -> Result<()> {
        // SAFETY: a plain semaphore needs nothing.
        unsafe { self.create_semaphore(&Default::default()) }.map(|_| ())
    }
}

impl Calls {
    /// Breaks a rule of Vulkan in a way that harms nobody but must be reported. For tests of the validation log.
    #[doc(hidden)]
    pub fn plant_violation(&self) {
        // A buffer without any usage breaks VUID-VkBufferCreateInfo-None-09499, formerly a rule of requiredbitmask.
        let info = vk::BufferCreateInfo::default().size(256);
        // SAFETY: drivers create such a buffer or refuse it; it is never used, and destroyed at once.
        unsafe {
            if let Ok(buffer) = self.create_buffer(&info) {
                self.destroy_buffer(buffer);
            }
        }
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        if !self.may_destroy() {
            // A hung kernel may still write: the device, the instance and the library stay for ever. That is no leak
            // but a choice.
            std::mem::forget(self.instance.clone());
            return;
        }
        self.leaks.record_objects(&self.shim.live_objects());
        self.shim.void(Call::DestroyDevice);
        // SAFETY: the last holder is gone, so no object of the device is used by this crate any more.
        unsafe { self.raw.destroy_device(None) }
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls").field("health", &self.health()).field("counts", &self.counts()).finish()
    }
}
