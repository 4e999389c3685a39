//! The end of the process: drivers must not be at work when they are unloaded.
//!
//! A device in a static is never dropped. When `main` returns, the libraries' own clean-up runs while threads of ours may still be
//! compiling pipelines, and NVIDIA's driver answers that with a segmentation fault. So what is open then is brought to rest
//! first: builders end, the disk cache is written, and submitted work is waited for.

use std::panic::catch_unwind;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::device::Inner;

static OPEN: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());
static LAST_WORDS: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// Has a function called when the process ends, while devices can still be asked.
pub fn at_exit(call: fn()) {
    LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    come_first();
}

/// Brings the device to rest when the process ends, if it is still open then.
pub(crate) fn watch(device: &Arc<Inner>) {
    come_first();
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|device| device.strong_count() > 0);
    open.push(Arc::downgrade(device));
}

/// Lets the rest come before all clean-up that was registered so far: what is registered last runs first. To be called after
/// anything that makes a library run code for the first time. The validation layer fills tables while it reads a shader and
/// has them cleared at the end, and a builder that reads them then ends the process with a segmentation fault.
pub(crate) fn come_first() {
    // SAFETY: the function lives as long as the program, takes nothing and does not unwind. Only its first run finds devices.
    let _ = unsafe { atexit(rest) };
}

// SAFETY: this is the declaration of the C standard library.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

extern "C" fn rest() {
    // Nobody is left to tell what goes wrong here.
    let _ = catch_unwind(|| {
        let calls = std::mem::take(&mut *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner));
        calls.into_iter().for_each(|call| call());
        let open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
        for device in open.iter().filter_map(Weak::upgrade) {
            device.rest();
            // The process takes the memory back; closing the device now would only take time.
            std::mem::forget(device);
        }
    });
}
