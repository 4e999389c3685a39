//! The end of the process: drivers must not be at work when they are unloaded.
//!
//! A device in a static is never dropped. When `main` returns, the libraries' own clean-up runs while threads of ours may still be
//! compiling pipelines, and NVIDIA's driver answers that with a segmentation fault. So what is open then is brought to rest
//! first: builders end, the disk cache is written, and submitted work is waited for.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::ffi::c_void;
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

/// Lets this process, which was made by `fork`, end without the clean-up that was registered before: a driver's gives back what is
/// the parent's. NVIDIA's did so when a child returned from `main`, and the parent then looked for ever for work to end.
pub(crate) fn spare_the_parent() {
    // SAFETY: the function lives as long as the program, takes a status and nothing else, and does not unwind.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    let _ = unsafe { on_exit(leave, std::ptr::null_mut()) };
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
extern "C" fn leave(status: i32, _: *mut c_void) {
    rest();
    // SAFETY: null stands for all of C's files, and ending the process touches nothing.
    unsafe {
        fflush(std::ptr::null_mut());
        _exit(status)
    }
}

// SAFETY: these are the declarations of the C standard library.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

// SAFETY: these are the declarations of the GNU C library.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
unsafe extern "C" {
    fn on_exit(function: extern "C" fn(i32, *mut c_void), argument: *mut c_void) -> i32;
    fn fflush(file: *mut c_void) -> i32;
    fn _exit(status: i32) -> !;
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
