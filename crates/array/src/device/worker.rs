//! Workers: the thread behind a CPU stream, which does what `async_eval` gives it, one job after the other.
//!
//! The thread starts with the first job and ends with the stream, after its last one. What is evaluated at once needs no thread: whoever
//! waits for it does it.

use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{panic, thread};

use crate::error::Result;
use crate::eval::job::{Job, State};

/// Jobs that may wait; whoever has more to do waits for the first. They hold memory.
const MOST_WAITING: usize = 10;

type Task = Box<dyn FnOnce() + Send>;

/// The worker of a CPU stream.
#[derive(Default)]
pub(crate) struct Worker {
    tasks: Mutex<Option<Sender<Task>>>,
    /// Jobs that may not have ended, and those that failed since somebody last waited for all.
    jobs: Mutex<VecDeque<Arc<Job>>>,
}

impl Worker {
    /// Waits until less than the most that may wait does.
    pub fn make_room(&self) -> Result<()> {
        let first = {
            let mut jobs = lock(&self.jobs);
            jobs.retain(|job| job.state() == State::Running || job.is_news());
            let running = |job: &&Arc<Job>| job.state() == State::Running;
            let waiting = jobs.iter().filter(running).count();
            if waiting < MOST_WAITING { None } else { jobs.iter().find(running).cloned() }
        };
        first.map_or(Ok(()), |job| job.wait())
    }

    /// Has a job done by a task, after those that were submitted before.
    pub fn submit(&self, job: Arc<Job>, task: impl FnOnce() + Send + 'static) {
        lock(&self.jobs).push_back(job);
        let mut task: Task = Box::new(task);
        let mut tasks = lock(&self.tasks);
        if let Some(open) = &*tasks {
            match open.send(task) {
                Ok(()) => return,
                Err(back) => task = back.0,
            }
        }
        match start() {
            Some(open) => *tasks = open.send(task).ok().map(|()| open),
            // A system that gives no thread: the caller does it.
            None => task(),
        }
    }

    /// Waits for all jobs, and tells of a failure that nobody was told of.
    pub fn synchronize(&self) -> Result<()> {
        let jobs: Vec<Arc<Job>> = lock(&self.jobs).iter().cloned().collect();
        jobs.iter().try_for_each(|job| job.wait())?;
        lock(&self.jobs).retain(|job| job.state() == State::Running);
        jobs.iter().filter(|job| job.is_news()).try_for_each(|job| job.tell())
    }
}

/// The thread. A task that panics tells those who wait for it, and the next goes on.
fn start() -> Option<Sender<Task>> {
    let (open, tasks) = channel::<Task>();
    let work = move || tasks.into_iter().for_each(|task| drop(panic::catch_unwind(panic::AssertUnwindSafe(task))));
    thread::Builder::new().name("pumice-cpu".into()).spawn(work).ok()?;
    Some(open)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
