//! What the Khronos validation layers say, collected where tests can read it.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::sync::{Arc, Mutex};

use ash::vk;

/// The Khronos validation layer.
pub(crate) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The messages of the validation layers. Clones share the list, which outlives the device: leaks are reported while it is destroyed.
#[derive(Clone, Default)]
pub struct ValidationLog(Arc<Mutex<Vec<String>>>);

impl ValidationLog {
    /// The messages so far; empty without validation layers.
    pub fn messages(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    fn push(&self, message: String) {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(message);
    }

    /// The description of a messenger that writes into this log. The log must outlive the messenger and stay where it is.
    pub(crate) fn messenger(self: &Arc<Self>) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        let severity = vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING;
        let kind = vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE;
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(severity)
            .message_type(kind)
            .pfn_user_callback(Some(collect))
            .user_data(Arc::as_ptr(self).cast_mut().cast())
    }
}

impl fmt::Debug for ValidationLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.messages()).finish()
    }
}

/// Called by the layers, on whatever thread made the offending call.
unsafe extern "system" fn collect(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    log: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes a valid struct, and the user data is the log that `Instance` keeps alive beyond its messenger.
    let (data, log) = unsafe { (&*data, &*log.cast::<ValidationLog>()) };
    // SAFETY: the strings are null or valid C strings during the callback.
    let text = |pointer: *const std::ffi::c_char| match pointer.is_null() {
        true => String::new(),
        false => unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned(),
    };
    log.push(format!("{severity:?} {}: {}", text(data.p_message_id_name), text(data.p_message)));
    vk::FALSE
}
