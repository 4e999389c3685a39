//! The end of the process: drivers must not be at work when they are unloaded.
//!
//! A device in a static is never dropped. When `main` returns, the libraries' own clean-up runs while threads of ours may still be
//! compiling pipelines, and NVIDIA's driver answers that with a segmentation fault. So what is open then is brought to rest
//! first: builders end, the disk cache is written, and submitted work is waited for.

use std::panic::catch_unwind;
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};

use crate::device::Inner;

static OPEN: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

/// Brings the device to rest when the process ends, if it is still open then.
pub(crate) fn watch(device: &Arc<Inner>) {
    static REGISTER: Once = Once::new();
    // The driver is loaded by now: what is registered later runs earlier than the driver's own clean-up.
    REGISTER.call_once(|| {
        // SAFETY: the function lives as long as the program, takes nothing and does not unwind.
        let _ = unsafe { atexit(rest) };
    });
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|device| device.strong_count() > 0);
    open.push(Arc::downgrade(device));
}

// SAFETY: this is the declaration of the C standard library.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

extern "C" fn rest() {
    // Nobody is left to tell what goes wrong here.
    let _ = catch_unwind(|| {
        let open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
        for device in open.iter().filter_map(Weak::upgrade) {
            device.rest();
            // The process takes the memory back; closing the device now would only take time.
            std::mem::forget(device);
        }
    });
}
