//! The threads behind the pipelines: builders, and a keeper that writes the disk cache once building has gone quiet.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::registry::Shared;
use super::slot::Slot;

/// At most this many pipelines are built in the background at once; drivers use threads of their own as well.
const BUILDERS: usize = 4;
/// The cache is written when nothing was built for this long.
const QUIET: Duration = Duration::from_millis(500);

/// The threads of one device; each kind is started when it is first needed.
pub(super) struct Workers {
    shared: Arc<Shared>,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    builders: Vec<JoinHandle<()>>,
    keeper: Option<JoinHandle<()>>,
}

/// What the threads wait for.
#[derive(Default)]
pub(super) struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Arc<Slot>>,
    idle: usize,
    stop: bool,
}

impl Workers {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Workers { shared, threads: Mutex::default() }
    }

    /// Hands a slot to the builders.
    pub(super) fn push(&self, slot: Arc<Slot>) {
        let mut state = self.shared.inbox.lock();
        state.jobs.push_back(slot);
        let short = state.idle < state.jobs.len();
        drop(state);
        self.shared.inbox.changed.notify_all();
        if short {
            self.add_builder();
        }
    }

    /// Makes sure that somebody writes the disk cache, if there is one.
    pub(super) fn keep_store(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.keeper.is_none() && self.shared.store.is_kept() {
            let shared = self.shared.clone();
            threads.keeper = spawn("pumice-cache", move || keep(&shared));
        }
    }

    /// Ends all threads; slots that nobody has begun stay for those who wait for them.
    pub(super) fn stop(&self) {
        self.shared.inbox.lock().stop = true;
        self.shared.inbox.changed.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads.builders.into_iter().chain(threads.keeper) {
            let _ = thread.join();
        }
    }

    fn add_builder(&self) {
        let limit = BUILDERS.min(thread::available_parallelism().map_or(1, usize::from));
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.builders.len() < limit {
            let shared = self.shared.clone();
            threads.builders.extend(spawn("pumice-build", move || build(&shared)));
        }
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next slot to build; none when it is time to stop.
    fn next(&self) -> Option<Arc<Slot>> {
        let mut state = self.lock();
        loop {
            if state.stop {
                return None;
            }
            if let Some(slot) = state.jobs.pop_front() {
                return Some(slot);
            }
            state.idle += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Wakes the threads because something outside the inbox has changed.
    pub(super) fn nudge(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }

    /// Waits until the condition holds; false when it is time to stop.
    fn wait_for(&self, condition: impl Fn() -> bool) -> bool {
        let state = self.lock();
        let waited = self.changed.wait_while(state, |state| !state.stop && !condition());
        !waited.unwrap_or_else(PoisonError::into_inner).stop
    }

    /// Waits this long; false when it is time to stop.
    fn pause(&self, time: Duration) -> bool {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, time, |state| !state.stop);
        !waited.unwrap_or_else(PoisonError::into_inner).0.stop
    }
}

/// A thread that cannot be had is done without: whoever waits for a pipeline builds it.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    thread::Builder::new().name(name.into()).spawn(work).ok()
}

fn build(shared: &Shared) {
    while let Some(slot) = shared.inbox.next() {
        // The outcome is in the slot.
        let _ = shared.finish(&slot);
    }
}

/// Writes the cache whenever it has grown and then been left alone for a while. The last time is `Pipelines::drop`'s.
fn keep(shared: &Shared) {
    while shared.inbox.wait_for(|| shared.store.is_dirty()) {
        let seen = shared.store.growth();
        if !shared.inbox.pause(QUIET) {
            return;
        }
        if seen == shared.store.growth() {
            // What could not be written stays dirty and is tried again after the next pause.
            let _ = shared.store.save();
        }
    }
}
