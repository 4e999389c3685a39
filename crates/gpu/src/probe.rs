//! Which devices there are, and which one is used.

use std::ffi::CStr;
use std::sync::OnceLock;

use ash::vk;

use crate::calls::{INSTALL, InstanceCalls};
use crate::error::{Error, Result};
use crate::instance::Instance;
use crate::limits::{Features, Limits, Properties};
use crate::memory::device_memory_bytes;
use crate::options;

/// The Vulkan devices of this machine, found once per process. [`Error::NoVulkan`] when there is no loader, driver or
/// device.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    static DEVICES: OnceLock<Result<Vec<DeviceInfo>>> = OnceLock::new();
    DEVICES.get_or_init(|| find(options::wanted_device().as_deref())).clone()
}

/// What is known about a device before it is opened.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Its place in the driver's list, which is what `PUMICE_DEVICE=0` means.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// The driver's name and version.
    pub driver: String,
    /// The driver's version as a number; part of the key of the pipeline cache.
    pub driver_version: u32,
    /// The PCI number of its maker.
    pub vendor_id: u32,
    /// The PCI number of the model.
    pub device_id: u32,
    /// What it is.
    pub kind: DeviceKind,
    /// The Vulkan version it supports, as (major, minor, patch).
    pub api_version: (u32, u32, u32),
    /// The size of its memory.
    pub memory_bytes: u64,
    /// Whether host and device share one memory.
    pub unified: bool,
    /// A number of this very device, the same in every process.
    pub uuid: [u8; 16],
    /// A number of the driver's pipeline format.
    pub pipeline_uuid: [u8; 16],
    /// What it can do.
    pub limits: Limits,
    /// What it lacks of what this crate needs; empty for a device that can be used.
    pub missing: Vec<&'static str>,
    /// Whether this is the device that is used.
    pub chosen: bool,
    /// Why it was chosen, or why not.
    pub reason: String,
}

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// A GPU with its own memory.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU seen through a virtual machine.
    Virtual,
    /// A driver that runs on the CPU.
    Software,
    /// Something else.
    Other,
}

impl DeviceKind {
    /// Lower is better.
    fn rank(self) -> u32 {
        match self {
            DeviceKind::Discrete => 0,
            DeviceKind::Integrated => 1,
            DeviceKind::Virtual => 2,
            DeviceKind::Other => 3,
            DeviceKind::Software => 4,
        }
    }
}

fn find(wanted: Option<&str>) -> Result<Vec<DeviceInfo>> {
    let instance = Instance::shared()?;
    let raw = instance.calls.physical_devices().map_err(no_device)?;
    if raw.is_empty() {
        return Err(Error::NoVulkan(format!("a Vulkan device must be present but the drivers found none. {INSTALL}")));
    }
    let described = raw.iter().enumerate().map(|(index, &device)| describe(&instance.calls, device, index));
    let mut devices = described.collect::<Result<Vec<_>>>()?;
    choose(&mut devices, wanted);
    Ok(devices)
}

/// A driver that does not start is the same to the user as none.
fn no_device(error: Error) -> Error {
    match error {
        Error::Vulkan { code, .. } if code == vk::Result::ERROR_INITIALIZATION_FAILED.as_raw() => {
            Error::NoVulkan(format!("a Vulkan driver must start but none did. {INSTALL}"))
        }
        other => other,
    }
}

/// The physical device of `instance` that is the one described by `info`.
pub(crate) fn physical_device(calls: &InstanceCalls, info: &DeviceInfo) -> Result<vk::PhysicalDevice> {
    let found = calls.physical_devices()?;
    let same = |device: &&vk::PhysicalDevice| {
        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut v11);
        calls.properties(**device, &mut chain);
        v11.device_uuid == info.uuid
    };
    // Some drivers give all their devices one number; then the place in the list decides.
    let at_index = found.get(info.index).filter(|device| same(device));
    let device = at_index.or_else(|| found.iter().find(same)).copied();
    device.ok_or_else(|| Error::NoVulkan(format!("device {} must still be present but is not.", info.name)))
}

fn describe(calls: &InstanceCalls, device: vk::PhysicalDevice, index: usize) -> Result<DeviceInfo> {
    let mut plain = vk::PhysicalDeviceProperties2::default();
    calls.properties(device, &mut plain);
    let core = plain.properties;
    let memory = calls.memory_properties(device);
    let kind = kind(core.device_type);
    let mut info = DeviceInfo {
        index,
        name: text(&core.device_name),
        driver: String::new(),
        driver_version: core.driver_version,
        vendor_id: core.vendor_id,
        device_id: core.device_id,
        kind,
        api_version: version(core.api_version),
        memory_bytes: device_memory_bytes(&memory),
        unified: matches!(kind, DeviceKind::Integrated | DeviceKind::Software) && all_visible(&memory),
        uuid: [0; 16],
        pipeline_uuid: core.pipeline_cache_uuid,
        limits: Limits::default(),
        missing: Vec::new(),
        chosen: false,
        reason: String::new(),
    };
    if core.api_version < vk::API_VERSION_1_3 {
        info.missing = vec!["Vulkan 1.3"];
    } else {
        describe_1_3(calls, device, &mut info)?;
    }
    Ok(info)
}

fn describe_1_3(calls: &InstanceCalls, device: vk::PhysicalDevice, info: &mut DeviceInfo) -> Result<()> {
    let features = Features::wanted(calls, device)?;
    let properties = Properties::query(calls, device, &features);
    let queue = compute_family(calls, device);
    let timestamp_bits = queue.map_or(0, |(_, family)| family.timestamp_valid_bits);
    info.driver = format!("{} {}", text(&properties.v12.driver_name), text(&properties.v12.driver_info));
    info.uuid = properties.v11.device_uuid;
    info.limits = properties.limits(calls, device, &features, timestamp_bits)?;
    info.missing = features.missing();
    if queue.is_none() {
        info.missing.push("a compute queue");
    }
    Ok(())
}

/// The queue family to compute on: the one that also draws, where there is one, for that is the one drivers care for
/// most.
pub(crate) fn compute_family(
    calls: &InstanceCalls,
    device: vk::PhysicalDevice,
) -> Option<(u32, vk::QueueFamilyProperties)> {
    let families = calls.queue_families(device).into_iter().enumerate();
    let compute = families.filter(|(_, family)| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
    let best = compute.min_by_key(|(_, family)| !family.queue_flags.contains(vk::QueueFlags::GRAPHICS));
    best.map(|(at, family)| (at as u32, family))
}

/// Marks one device as chosen and gives every device its reason.
fn choose(devices: &mut [DeviceInfo], wanted: Option<&str>) {
    let usable = |info: &&DeviceInfo| info.missing.is_empty();
    let asked = wanted.and_then(|wanted| devices.iter().filter(usable).find(|info| matches(info, wanted)));
    let best = devices.iter().filter(usable).min_by_key(|info| (info.kind.rank(), u64::MAX - info.memory_bytes));
    let chosen = asked.or(best).map(|info| info.index);
    let by_wish = asked.is_some();
    for info in devices.iter_mut() {
        info.chosen = Some(info.index) == chosen;
        info.reason = reason(info, wanted, by_wish);
    }
}

fn matches(info: &DeviceInfo, wanted: &str) -> bool {
    match wanted.parse::<usize>() {
        Ok(index) => info.index == index,
        Err(_) => info.name.to_lowercase().contains(&wanted.to_lowercase()),
    }
}

fn reason(info: &DeviceInfo, wanted: Option<&str>, by_wish: bool) -> String {
    match (info.chosen, wanted) {
        _ if !info.missing.is_empty() => format!("cannot be used: lacks {}", info.missing.join(", ")),
        (true, Some(wanted)) if by_wish => format!("chosen by PUMICE_DEVICE={wanted}"),
        (true, Some(wanted)) => format!("chosen as the best, for no usable device matches PUMICE_DEVICE={wanted}"),
        (true, None) => "chosen: discrete before integrated before software, then the largest memory".to_owned(),
        (false, Some(wanted)) if by_wish => format!("not chosen: PUMICE_DEVICE={wanted} names another"),
        (false, _) => "not chosen: another is faster by kind or has more memory".to_owned(),
    }
}

fn kind(raw: vk::PhysicalDeviceType) -> DeviceKind {
    match raw {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
        vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
        vk::PhysicalDeviceType::CPU => DeviceKind::Software,
        _ => DeviceKind::Other,
    }
}

fn all_visible(memory: &vk::PhysicalDeviceMemoryProperties) -> bool {
    let wanted = vk::MemoryPropertyFlags::DEVICE_LOCAL
        | vk::MemoryPropertyFlags::HOST_VISIBLE
        | vk::MemoryPropertyFlags::HOST_COHERENT;
    memory.memory_types_as_slice().iter().any(|kind| kind.property_flags.contains(wanted))
}

fn version(raw: u32) -> (u32, u32, u32) {
    (vk::api_version_major(raw), vk::api_version_minor(raw), vk::api_version_patch(raw))
}

/// A fixed array of C characters as text; an unterminated one is cut.
fn text(raw: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = raw.iter().map(|&c| c as u8).collect();
    CStr::from_bytes_until_nul(&bytes).map(|found| found.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(index: usize, name: &str, kind: DeviceKind, memory_bytes: u64) -> DeviceInfo {
        DeviceInfo {
            index,
            name: name.into(),
            driver: String::new(),
            driver_version: 0,
            vendor_id: 0,
            device_id: 0,
            kind,
            api_version: (1, 3, 0),
            memory_bytes,
            unified: false,
            uuid: [0; 16],
            pipeline_uuid: [0; 16],
            limits: Limits::default(),
            missing: Vec::new(),
            chosen: false,
            reason: String::new(),
        }
    }

    fn machine() -> Vec<DeviceInfo> {
        vec![
            info(0, "llvmpipe", DeviceKind::Software, 64 << 30),
            info(1, "Iris", DeviceKind::Integrated, 32 << 30),
            info(2, "RTX small", DeviceKind::Discrete, 8 << 30),
            info(3, "RTX large", DeviceKind::Discrete, 24 << 30),
        ]
    }

    fn chosen(wanted: Option<&str>, devices: &mut [DeviceInfo]) -> (String, String) {
        choose(devices, wanted);
        let found: Vec<_> = devices.iter().filter(|info| info.chosen).collect();
        assert_eq!(found.len(), 1);
        (found[0].name.clone(), found[0].reason.clone())
    }

    #[test]
    fn a_discrete_device_with_most_memory_is_chosen() {
        assert_eq!(chosen(None, &mut machine()).0, "RTX large");
    }

    #[test]
    fn a_wish_goes_by_index_or_by_part_of_a_name() {
        assert_eq!(chosen(Some("1"), &mut machine()).0, "Iris");
        let (name, reason) = chosen(Some("LLVM"), &mut machine());
        assert_eq!((name.as_str(), reason.as_str()), ("llvmpipe", "chosen by PUMICE_DEVICE=LLVM"));
    }

    #[test]
    fn a_wish_nobody_meets_is_mentioned() {
        let (name, reason) = chosen(Some("voodoo"), &mut machine());
        assert_eq!(name, "RTX large");
        assert!(reason.contains("no usable device matches PUMICE_DEVICE=voodoo"), "{reason}");
    }

    #[test]
    fn a_device_without_the_baseline_is_never_chosen() {
        let mut devices = machine();
        devices[3].missing = vec!["bufferDeviceAddress"];
        assert_eq!(chosen(Some("3"), &mut devices).0, "RTX small");
        assert_eq!(devices[3].reason, "cannot be used: lacks bufferDeviceAddress");
    }
}
