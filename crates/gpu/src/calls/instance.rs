//! The instance-level Vulkan calls: finding drivers and devices, asking what they can do, opening one.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use ash::vk;

use super::names::Call;
use super::shim::Shim;
use crate::error::{Error, Result};
use crate::extensions;

/// What to do about a missing driver; ends every [`Error::NoVulkan`].
pub(crate) const INSTALL: &str = "Install the GPU vendor's Vulkan driver, or Mesa's (Debian and Ubuntu: apt install libvulkan1 mesa-vulkan-drivers).";

/// The opened Vulkan library, before an instance exists.
pub(crate) struct Library {
    entry: ash::Entry,
    pub(crate) shim: Arc<Shim>,
}

impl Library {
    pub(crate) fn open(shim: Arc<Shim>) -> Result<Self> {
        shim.void(Call::LoadLibrary);
        // SAFETY: the system's Vulkan loader is the one library this crate opens; its initialisers are as trusted as
        // the driver's.
        let entry = unsafe { ash::Entry::load() }.map_err(|cause| {
            Error::NoVulkan(format!("libvulkan must be present but could not be opened ({cause}). {INSTALL}"))
        })?;
        Ok(Library { entry, shim })
    }

    pub(crate) fn version(&self) -> Result<u32> {
        let version = self.shim.fallible(Call::EnumerateInstanceVersion, || {
            // SAFETY: the command has no preconditions.
            unsafe { self.entry.try_enumerate_instance_version() }
        })?;
        Ok(version.unwrap_or(vk::API_VERSION_1_0))
    }

    pub(crate) fn has_layer(&self, name: &CStr) -> Result<bool> {
        let layers = self.shim.fallible(Call::EnumerateInstanceLayers, || {
            // SAFETY: the command has no preconditions.
            unsafe { self.entry.enumerate_instance_layer_properties() }
        })?;
        Ok(layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(name)))
    }

    /// Creates the instance. Safety is the caller's: every pointer inside `info` must be valid.
    ///
    /// # Safety
    /// As `vkCreateInstance` asks.
    pub(crate) unsafe fn create_instance(self, info: &vk::InstanceCreateInfo<'_>) -> Result<InstanceCalls> {
        let instance = self.shim.fallible(Call::CreateInstance, || {
            // SAFETY: passed on to the caller.
            unsafe { self.entry.create_instance(info, None) }
        })?;
        let messenger = ash::ext::debug_utils::Instance::new(&self.entry, &instance);
        let cooperative = ash::khr::cooperative_matrix::Instance::new(&self.entry, &instance);
        let flexible = extensions::FlexibleDimensions::load(&self.entry, instance.handle());
        Ok(InstanceCalls { _entry: self.entry, instance, messenger, cooperative, flexible, shim: self.shim })
    }
}

/// The calls of one instance.
pub(crate) struct InstanceCalls {
    _entry: ash::Entry,
    instance: ash::Instance,
    messenger: ash::ext::debug_utils::Instance,
    cooperative: ash::khr::cooperative_matrix::Instance,
    flexible: extensions::FlexibleDimensions,
    pub(crate) shim: Arc<Shim>,
}

impl InstanceCalls {
    /// # Safety
    /// As `vkDestroyInstance` asks: no object of the instance may be in use or live on.
    pub(crate) unsafe fn destroy_instance(&self) {
        self.shim.void(Call::DestroyInstance);
        // SAFETY: passed on to the caller.
        unsafe { self.instance.destroy_instance(None) }
    }

    /// # Safety
    /// As `vkCreateDebugUtilsMessengerEXT` asks; the extension must be enabled and the user data must outlive the
    /// messenger.
    pub(crate) unsafe fn create_messenger(
        &self,
        info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>,
    ) -> Result<vk::DebugUtilsMessengerEXT> {
        self.shim.fallible(Call::CreateMessenger, || {
            // SAFETY: passed on to the caller.
            unsafe { self.messenger.create_debug_utils_messenger(info, None) }
        })
    }

    /// # Safety
    /// As `vkDestroyDebugUtilsMessengerEXT` asks.
    pub(crate) unsafe fn destroy_messenger(&self, messenger: vk::DebugUtilsMessengerEXT) {
        self.shim.void(Call::DestroyMessenger);
        // SAFETY: passed on to the caller.
        unsafe { self.messenger.destroy_debug_utils_messenger(messenger, None) }
    }

    pub(crate) fn physical_devices(&self) -> Result<Vec<vk::PhysicalDevice>> {
        self.shim.fallible(Call::EnumeratePhysicalDevices, || {
            // SAFETY: the instance is alive while `self` is.
            unsafe { self.instance.enumerate_physical_devices() }
        })
    }

    pub(crate) fn device_extensions(&self, device: vk::PhysicalDevice) -> Result<Vec<CString>> {
        let found = self.shim.fallible(Call::EnumerateDeviceExtensions, || {
            // SAFETY: the physical device came from this instance.
            unsafe { self.instance.enumerate_device_extension_properties(device) }
        })?;
        Ok(names(&found))
    }

    pub(crate) fn properties(&self, device: vk::PhysicalDevice, into: &mut vk::PhysicalDeviceProperties2<'_>) {
        self.shim.void(Call::GetProperties);
        // SAFETY: the physical device came from this instance; the chain is made of structs that borrow each other.
        unsafe { self.instance.get_physical_device_properties2(device, into) }
    }

    pub(crate) fn features(&self, device: vk::PhysicalDevice, into: &mut vk::PhysicalDeviceFeatures2<'_>) {
        self.shim.void(Call::GetFeatures);
        // SAFETY: as above.
        unsafe { self.instance.get_physical_device_features2(device, into) }
    }

    pub(crate) fn memory_properties(&self, device: vk::PhysicalDevice) -> vk::PhysicalDeviceMemoryProperties {
        self.shim.void(Call::GetMemoryProperties);
        let mut properties = vk::PhysicalDeviceMemoryProperties2::default();
        // SAFETY: as above.
        unsafe { self.instance.get_physical_device_memory_properties2(device, &mut properties) };
        properties.memory_properties
    }

    pub(crate) fn queue_families(&self, device: vk::PhysicalDevice) -> Vec<vk::QueueFamilyProperties> {
        self.shim.void(Call::GetQueueFamilies);
        // SAFETY: the physical device came from this instance.
        unsafe { self.instance.get_physical_device_queue_family_properties(device) }
    }

    /// The shapes of `VK_KHR_cooperative_matrix`; the device must have the extension.
    pub(crate) fn cooperative_matrices(
        &self,
        device: vk::PhysicalDevice,
    ) -> Result<Vec<vk::CooperativeMatrixPropertiesKHR<'_>>> {
        self.shim.fallible(Call::GetCooperativeMatrixProperties, || {
            // SAFETY: the physical device came from this instance and has the extension.
            unsafe { self.cooperative.get_physical_device_cooperative_matrix_properties(device) }
        })
    }

    /// The shapes of `VK_NV_cooperative_matrix2`; none where the loader does not know the command.
    pub(crate) fn flexible_dimensions(
        &self,
        device: vk::PhysicalDevice,
    ) -> Result<Vec<extensions::FlexibleDimensionsProperties>> {
        self.shim.fallible(Call::GetFlexibleDimensions, || {
            // SAFETY: the physical device came from this instance and has the extension.
            unsafe { self.flexible.get(device) }
        })
    }

    /// # Safety
    /// As `vkCreateDevice` asks.
    pub(crate) unsafe fn create_device(
        &self,
        device: vk::PhysicalDevice,
        info: &vk::DeviceCreateInfo<'_>,
    ) -> Result<ash::Device> {
        self.shim.fallible(Call::CreateDevice, || {
            // SAFETY: passed on to the caller.
            unsafe { self.instance.create_device(device, info, None) }
        })
    }
}

fn names(found: &[vk::ExtensionProperties]) -> Vec<CString> {
    found.iter().filter_map(|extension| extension.extension_name_as_c_str().ok()).map(CString::from).collect()
}
