//! Faults on demand: which Vulkan call shall fail, and how.
//!
//! A driver fails rarely and never when a test wants it to. A fault plan makes the shim return an error in place of a
//! call, so that every error path of the crate can be walked, one call after the other.

use ash::vk;

/// The ways in which a Vulkan call can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The device is lost: `VK_ERROR_DEVICE_LOST`.
    DeviceLost,
    /// The device has no memory left: `VK_ERROR_OUT_OF_DEVICE_MEMORY`.
    OutOfDeviceMemory,
    /// The driver found no memory on the host: `VK_ERROR_OUT_OF_HOST_MEMORY`.
    OutOfHostMemory,
    /// The time ran out: `VK_TIMEOUT`.
    Timeout,
}

impl Fault {
    /// All of them, for tests that try each.
    pub const ALL: [Fault; 4] = [Fault::DeviceLost, Fault::OutOfDeviceMemory, Fault::OutOfHostMemory, Fault::Timeout];

    pub(crate) fn code(self) -> vk::Result {
        match self {
            Fault::DeviceLost => vk::Result::ERROR_DEVICE_LOST,
            Fault::OutOfDeviceMemory => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
            Fault::OutOfHostMemory => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            Fault::Timeout => vk::Result::TIMEOUT,
        }
    }
}

/// Which call fails. Calls are counted from 0; only those that can fail are counted.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    rule: Option<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    select: Select,
    fault: Fault,
}

#[derive(Clone, Debug)]
enum Select {
    At(u64),
    From(u64),
    Named(String, u64),
}

impl FaultPlan {
    /// Nothing fails on purpose.
    pub const fn none() -> Self {
        FaultPlan { rule: None }
    }

    /// The call with this index fails, the ones after it do not.
    pub fn at(call_index: u64, fault: Fault) -> Self {
        Self::rule(Select::At(call_index), fault)
    }

    /// The call with this index and all calls after it fail.
    pub fn from_then_on(call_index: u64, fault: Fault) -> Self {
        Self::rule(Select::From(call_index), fault)
    }

    /// The n-th call (from 0) of the Vulkan command with this name fails.
    pub fn named(name: &str, nth: u64, fault: Fault) -> Self {
        Self::rule(Select::Named(name.to_owned(), nth), fault)
    }

    /// Whether nothing fails on purpose.
    pub fn is_none(&self) -> bool {
        self.rule.is_none()
    }

    /// The fault for a call, if it is its turn: the `index`-th of all, the `nth` of its name.
    pub(crate) fn strikes(&self, name: &str, index: u64, nth: u64) -> Option<Fault> {
        let rule = self.rule.as_ref()?;
        let struck = match &rule.select {
            Select::At(at) => index == *at,
            Select::From(from) => index >= *from,
            Select::Named(wanted, at) => wanted == name && nth == *at,
        };
        struck.then_some(rule.fault)
    }

    fn rule(select: Select, fault: Fault) -> Self {
        FaultPlan { rule: Some(Rule { select, fault }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_plan_strikes_nothing() {
        assert_eq!(FaultPlan::none().strikes("vkCreateBuffer", 0, 0), None);
    }

    #[test]
    fn an_index_strikes_once_and_a_start_strikes_ever_after() {
        let once = FaultPlan::at(3, Fault::DeviceLost);
        let ever = FaultPlan::from_then_on(3, Fault::DeviceLost);
        let struck = |plan: &FaultPlan| (0..6).filter(|&i| plan.strikes("x", i, i).is_some()).collect::<Vec<_>>();
        assert_eq!(struck(&once), [3]);
        assert_eq!(struck(&ever), [3, 4, 5]);
    }

    #[test]
    fn a_name_strikes_its_own_calls_only() {
        let plan = FaultPlan::named("vkCreateBuffer", 1, Fault::OutOfDeviceMemory);
        assert_eq!(plan.strikes("vkCreateBuffer", 7, 1), Some(Fault::OutOfDeviceMemory));
        assert_eq!(plan.strikes("vkCreateBuffer", 7, 0), None);
        assert_eq!(plan.strikes("vkMapMemory", 7, 1), None);
    }
}
