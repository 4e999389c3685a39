//! What happens before and after every Vulkan call: it is counted, it may be made to fail, and a lost device is
//! remembered.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use ash::vk;

use super::faults::FaultPlan;
use super::names::{Call, OBJECTS};
use crate::error::{Error, Result};

/// Whether the device still answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Health {
    /// As far as anybody knows, it does.
    Working = 0,
    /// The driver reported its loss. Nothing runs on it any more, so its objects may be destroyed.
    Lost = 1,
    /// It did not finish in time and may be running still: its objects must not be destroyed, only forgotten.
    Hung = 2,
    /// It is another process's, from which this one was forked: it must not be touched, nor its objects destroyed.
    Abandoned = 3,
}

/// Counters, fault plan and health; one per device, shared with the instance where the device owns its instance.
#[derive(Debug)]
pub(crate) struct Shim {
    made: Vec<AtomicU64>,
    failed: Vec<AtomicU64>,
    fallible: AtomicU64,
    armed: AtomicBool,
    faults: Mutex<FaultPlan>,
    health: AtomicU8,
}

impl Shim {
    pub(crate) fn new(faults: FaultPlan) -> Self {
        let zeros = || Call::ALL.iter().map(|_| AtomicU64::new(0)).collect();
        Shim {
            made: zeros(),
            failed: zeros(),
            fallible: AtomicU64::new(0),
            armed: AtomicBool::new(!faults.is_none()),
            faults: Mutex::new(faults),
            health: AtomicU8::new(Health::Working as u8),
        }
    }

    /// Makes a call that can fail, unless the device is lost or the plan wants it to fail.
    #[inline]
    pub(crate) fn fallible<T>(
        &self,
        call: Call,
        make: impl FnOnce() -> std::result::Result<T, vk::Result>,
    ) -> Result<T> {
        let nth = self.made[call as usize].fetch_add(1, Ordering::Relaxed);
        let index = self.fallible.fetch_add(1, Ordering::Relaxed);
        let outcome = match self.refusal(call, index, nth) {
            Some(code) => Err(code),
            None => make(),
        };
        outcome.map_err(|code| self.failure(call, code))
    }

    /// Counts a call that cannot fail.
    #[inline]
    pub(crate) fn void(&self, call: Call) {
        self.made[call as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn set_faults(&self, faults: FaultPlan) {
        let armed = !faults.is_none();
        *self.lock_faults() = faults;
        self.armed.store(armed, Ordering::Release);
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        by_name(name).map_or(0, |call| self.made[call as usize].load(Ordering::Relaxed))
    }

    pub(crate) fn failures(&self, name: &str) -> u64 {
        by_name(name).map_or(0, |call| self.failed[call as usize].load(Ordering::Relaxed))
    }

    pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
        let count = |call: &Call| (call.name(), self.made[*call as usize].load(Ordering::Relaxed));
        Call::ALL.iter().map(count).filter(|(_, made)| *made > 0).collect()
    }

    pub(crate) fn fallible_calls(&self) -> u64 {
        self.fallible.load(Ordering::Relaxed)
    }

    /// The kinds of objects that were created and not destroyed, with how many of each.
    pub(crate) fn live_objects(&self) -> Vec<(&'static str, u64)> {
        let made = |call: Call| self.made[call as usize].load(Ordering::Relaxed);
        let failed = |call: Call| self.failed[call as usize].load(Ordering::Relaxed);
        let live = |&(kind, create, destroy): &(&'static str, Call, Call)| {
            (kind, made(create).saturating_sub(failed(create)).saturating_sub(made(destroy)))
        };
        OBJECTS.iter().map(live).filter(|(_, live)| *live > 0).collect()
    }

    #[inline]
    pub(crate) fn health(&self) -> Health {
        match self.health.load(Ordering::Acquire) {
            0 => Health::Working,
            1 => Health::Lost,
            2 => Health::Hung,
            _ => Health::Abandoned,
        }
    }

    /// Remembers that the device is lost or hung; a hung device stays so.
    pub(crate) fn mark(&self, health: Health) {
        self.health.fetch_max(health as u8, Ordering::AcqRel);
    }

    #[inline]
    fn refusal(&self, call: Call, index: u64, nth: u64) -> Option<vk::Result> {
        if self.health() != Health::Working {
            return Some(vk::Result::ERROR_DEVICE_LOST);
        }
        if !self.armed.load(Ordering::Acquire) {
            return None;
        }
        self.lock_faults().strikes(call.name(), index, nth).map(|fault| fault.code())
    }

    #[cold]
    fn failure(&self, call: Call, code: vk::Result) -> Error {
        self.failed[call as usize].fetch_add(1, Ordering::Relaxed);
        if code == vk::Result::ERROR_DEVICE_LOST {
            self.mark(Health::Lost);
        }
        Error::from_call(call.name(), code)
    }

    fn lock_faults(&self) -> std::sync::MutexGuard<'_, FaultPlan> {
        self.faults.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn by_name(name: &str) -> Option<Call> {
    Call::ALL.iter().copied().find(|call| call.name() == name)
}

#[cfg(test)]
mod tests {
    use super::super::faults::Fault;
    use super::*;

    #[test]
    fn a_struck_call_is_not_made() {
        let shim = Shim::new(FaultPlan::at(1, Fault::OutOfHostMemory));
        let mut made = 0;
        for _ in 0..3 {
            let _ = shim.fallible(Call::CreateBuffer, || {
                made += 1;
                Ok(())
            });
        }
        assert_eq!(made, 2);
        assert_eq!(shim.count("vkCreateBuffer"), 3);
        assert_eq!(shim.live_objects(), [("VkBuffer", 2)]);
    }

    #[test]
    fn after_a_loss_calls_fail_without_being_made() {
        let shim = Shim::new(FaultPlan::named("vkQueueSubmit2", 0, Fault::DeviceLost));
        assert!(matches!(shim.fallible(Call::QueueSubmit, || Ok(())), Err(Error::DeviceLost { .. })));
        let later =
            shim.fallible(Call::CreateBuffer, || -> std::result::Result<(), vk::Result> { panic!("must not be made") });
        assert!(matches!(later, Err(Error::DeviceLost { during: "vkCreateBuffer", .. })));
        assert_eq!(shim.health(), Health::Lost);
    }

    #[test]
    fn destroyed_objects_are_not_live() {
        let shim = Shim::new(FaultPlan::none());
        shim.fallible(Call::CreateSemaphore, || Ok(())).expect("nothing strikes");
        assert_eq!(shim.live_objects(), [("VkSemaphore", 1)]);
        shim.void(Call::DestroySemaphore);
        assert!(shim.live_objects().is_empty());
    }

    #[test]
    fn a_hung_device_does_not_become_merely_lost() {
        let shim = Shim::new(FaultPlan::none());
        shim.mark(Health::Hung);
        shim.mark(Health::Lost);
        assert_eq!(shim.health(), Health::Hung);
    }
}
