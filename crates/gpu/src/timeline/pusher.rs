//! The thread that hands over what waits when the host does not come back.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{Line, lock};
use crate::error::Result;

/// How long the thread sleeps before it looks again: at first, and after many looks.
const FIRST_PAUSE: Duration = Duration::from_micros(20);
const LAST_PAUSE: Duration = Duration::from_millis(1);

/// A thread that is started when it is first needed.
#[derive(Default)]
pub(super) struct Pusher {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    thread: Option<JoinHandle<()>>,
    /// Whether something waits that the thread has not looked at.
    waiting: bool,
    stop: bool,
}

impl Pusher {
    /// Says that something waits.
    pub fn wake(&self, line: &Arc<Line>) {
        let mut state = self.lock();
        state.waiting = true;
        if state.thread.is_none() && !state.stop {
            let line = line.clone();
            // Without a thread what waits goes when somebody asks for it.
            state.thread = thread::Builder::new().name("pumice-push".into()).spawn(move || line.push()).ok();
        }
        self.changed.notify_one();
    }

    /// Ends the thread.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stop = true;
        let thread = state.thread.take();
        drop(state);
        self.changed.notify_one();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    /// Waits until something waits; false when it is time to stop.
    fn next(&self) -> bool {
        let idle = |state: &mut State| !state.waiting && !state.stop;
        let mut state = self.changed.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        state.waiting = false;
        !state.stop
    }

    fn is_stopped(&self) -> bool {
        self.lock().stop
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    fn push(&self) {
        while self.pusher.next() {
            let mut pause = FIRST_PAUSE;
            // An error is told to whoever waits for what stays here.
            while !self.pusher.is_stopped() && self.push_unless_busy().is_ok_and(|some_wait| some_wait) {
                thread::sleep(pause);
                pause = LAST_PAUSE.min(2 * pause);
            }
        }
    }

    /// Hands over what waits if the device is nearly through; says whether some still wait.
    fn push_unless_busy(&self) -> Result<bool> {
        let mut queue = lock(&self.queue);
        if !queue.waiting.is_empty() && !self.is_busy(&mut queue)? {
            self.hand_over(&mut queue)?;
        }
        Ok(!queue.waiting.is_empty())
    }
}
