//! What the Khronos validation layers say, collected where tests can read it.

use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use crate::options::Validation;

/// The Khronos validation layer.
pub(crate) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The messages of the validation layers. Clones share the list, which outlives the device: leaks are reported while it
/// is destroyed.
#[derive(Clone, Default)]
pub struct ValidationLog(Arc<Mutex<Vec<String>>>);

impl ValidationLog {
    /// The messages so far; empty without validation layers.
    pub fn messages(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn push(&self, message: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }
}

impl fmt::Debug for ValidationLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.messages()).finish()
    }
}

/// What the layers call. It stays where it is until its instance is destroyed.
#[derive(Default)]
pub(crate) struct Collector {
    pub(crate) log: ValidationLog,
    mode: Validation,
}

impl Collector {
    pub(crate) fn new(mode: Validation) -> Self {
        Collector { log: ValidationLog::default(), mode }
    }

    /// The description of a messenger that calls this collector, which must outlive it and not move.
    pub(crate) fn messenger(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        let severity = vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING;
        let kind = vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE;
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(severity)
            .message_type(kind)
            .pfn_user_callback(Some(collect))
            .user_data(std::ptr::from_ref(self).cast_mut().cast())
    }

    /// Fails the program if it is strict and there were messages. Called when the instance is gone.
    pub(crate) fn finish(&self) {
        let messages = self.log.messages();
        if self.mode == Validation::Strict && !messages.is_empty() && !std::thread::panicking() {
            panic!("[validation] the layers must be silent but said:\n{}", messages.join("\n"));
        }
    }

    fn hear(&self, message: String) {
        if self.mode == Validation::Strict {
            // Not through the test harness, which shows what a test prints only if that test fails.
            let _ = writeln!(std::io::stderr(), "[validation] {message}");
        }
        self.log.push(message);
    }
}

/// Called by the layers, on whatever thread made the offending call.
unsafe extern "system" fn collect(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    collector: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes a valid struct, and the user data is the collector that the instance keeps alive beyond
    // itself.
    let (data, collector) = unsafe { (&*data, &*collector.cast::<Collector>()) };
    let text = |pointer: *const c_char| match pointer.is_null() {
        true => String::new(),
        // SAFETY: the strings are valid C strings during the callback.
        false => unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned(),
    };
    collector.hear(format!("{severity:?} {}: {}", text(data.p_message_id_name), text(data.p_message)));
    vk::FALSE
}
