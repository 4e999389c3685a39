//! The Vulkan instance: one for the process, or one of its own for a device that wants validation or faults.

use std::sync::{Arc, OnceLock};

use ash::vk;

use crate::calls::{FaultPlan, INSTALL, InstanceCalls, Library, Shim};
use crate::error::{Error, Result};
use crate::options::Validation;
use crate::validation::{self, Collector, ValidationLog};

/// An instance and, with validation, the messenger that collects what the layers say.
pub(crate) struct Instance {
    pub(crate) calls: InstanceCalls,
    messenger: Option<vk::DebugUtilsMessengerEXT>,
    /// In a box, for the layers know its address.
    collector: Box<Collector>,
}

impl Instance {
    /// The instance that devices without special wishes share.
    pub(crate) fn shared() -> Result<Arc<Instance>> {
        static SHARED: OnceLock<Result<Arc<Instance>>> = OnceLock::new();
        let open = || Instance::new(Arc::new(Shim::new(FaultPlan::none())), Validation::Off).map(Arc::new);
        SHARED.get_or_init(open).clone()
    }

    /// A new instance whose calls go through `shim`.
    pub(crate) fn new(shim: Arc<Shim>, mode: Validation) -> Result<Instance> {
        let library = Library::open(shim)?;
        require_1_3(&library)?;
        let validated = mode != Validation::Off;
        if validated {
            require_layer(&library)?;
        }
        let collector = Box::new(Collector::new(mode));
        let calls = create(library, validated, &collector)?;
        let mut instance = Instance { calls, messenger: None, collector };
        if validated {
            let info = instance.collector.messenger();
            // SAFETY: the extension is enabled; the collector lives as long as the instance, which destroys the
            // messenger.
            instance.messenger = Some(unsafe { instance.calls.create_messenger(&info) }?);
        }
        Ok(instance)
    }

    pub(crate) fn log(&self) -> &ValidationLog {
        &self.collector.log
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: devices hold their instance, so none is left; the messenger goes before the instance, the collector
        // after both.
        unsafe {
            if let Some(messenger) = self.messenger.take() {
                self.calls.destroy_messenger(messenger);
            }
            self.calls.destroy_instance();
        }
        self.collector.finish();
    }
}

fn create(library: Library, validated: bool, collector: &Collector) -> Result<InstanceCalls> {
    let application = vk::ApplicationInfo::default()
        .application_name(c"pumice")
        .engine_name(c"pumice")
        .api_version(vk::API_VERSION_1_3);
    let layers = [validation::LAYER.as_ptr()];
    let extensions = [ash::ext::debug_utils::NAME.as_ptr()];
    // This one hears what is said while the instance itself is created and destroyed.
    let mut messenger = collector.messenger();
    let mut info = vk::InstanceCreateInfo::default().application_info(&application);
    if validated {
        info = info.enabled_layer_names(&layers).enabled_extension_names(&extensions).push_next(&mut messenger);
    }
    // SAFETY: everything `info` points to lives in this function, and the collector as long as the instance.
    let created = unsafe { library.create_instance(&info) };
    created.map_err(|error| match error {
        Error::Vulkan { code, .. } if code == vk::Result::ERROR_INCOMPATIBLE_DRIVER.as_raw() => {
            Error::NoVulkan(format!("a Vulkan driver must be installed but the loader found none. {INSTALL}"))
        }
        other => other,
    })
}

fn require_1_3(library: &Library) -> Result<()> {
    let version = library.version()?;
    if version >= vk::API_VERSION_1_3 {
        return Ok(());
    }
    let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
    Err(Error::NoVulkan(format!("the Vulkan loader must support version 1.3 but supports {major}.{minor}. {INSTALL}")))
}

fn require_layer(library: &Library) -> Result<()> {
    if library.has_layer(validation::LAYER)? {
        return Ok(());
    }
    Err(Error::NoVulkan(
        "the Khronos validation layer must be installed for validation but is not. Install vulkan-validationlayers."
            .into(),
    ))
}
