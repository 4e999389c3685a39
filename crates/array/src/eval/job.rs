//! Jobs: evaluations that a CPU stream's worker does while whoever asked for them goes on.
//!
//! The arrays that a job computes are *in flight* until it ends. Looking at one waits for it; whoever waits is told of its failure,
//! once, and the arrays are then as they were before, to be evaluated again.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::array::{Array, Data};
use crate::device::{DeviceKind, Worker, cpu_worker, has_helpers};
use crate::error::{Error, Result};
use crate::eval::interrupt::{self, Pace};
use crate::eval::order::{Tape, ValueId};
use crate::eval::plan::Plan;
use crate::eval::run;
use crate::transforms::tracing;

/// Bytes below which a plan is run at once: handing it over would take longer.
const WORTH_HANDING_OVER: usize = 32 << 10;

/// An evaluation that somebody else does.
#[derive(Default)]
pub(crate) struct Job {
    /// A [`State`], to be seen without the lock.
    state: AtomicU8,
    failure: Mutex<Option<Error>>,
    ended: Condvar,
    told: AtomicBool,
}

/// How far a job is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// It waits or is done.
    Running,
    /// Its arrays have their values.
    Done,
    /// Its arrays are as they were.
    Failed,
}

impl Job {
    /// How far it is.
    pub fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) {
            0 => State::Running,
            1 => State::Done,
            _ => State::Failed,
        }
    }

    /// Waits until it has ended, unless an interrupt comes first.
    pub fn wait(&self) -> Result<()> {
        let mut failure = self.lock();
        while self.state() == State::Running {
            failure = self.ended.wait_timeout(failure, interrupt::EVERY).unwrap_or_else(PoisonError::into_inner).0;
            if self.state() == State::Running {
                drop(failure);
                interrupt::ask()?;
                failure = self.lock();
            }
        }
        Ok(())
    }

    /// Waits until it has ended, whatever comes.
    pub fn wait_for_end(&self) {
        let running = |_: &mut Option<Error>| self.state() == State::Running;
        drop(self.ended.wait_while(self.lock(), running).unwrap_or_else(PoisonError::into_inner));
    }

    /// Why it failed, to tell whoever waited.
    pub fn tell(&self) -> Result<()> {
        match self.lock().clone() {
            Some(error) => {
                self.told.store(true, Ordering::Relaxed);
                Err(error)
            }
            None => Ok(()),
        }
    }

    /// Whether it failed, and nobody was told.
    pub fn is_news(&self) -> bool {
        self.state() == State::Failed && !self.told.load(Ordering::Relaxed)
    }

    fn end(&self, result: Result<()>) {
        let mut failure = self.lock();
        let state = if result.is_ok() { 1 } else { 2 };
        *failure = result.err();
        self.state.store(state, Ordering::Release);
        self.ended.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job that was handed over. It ends as failed if it is dropped before: whoever waits for a job that panicked must hear of it.
struct Unfinished(Arc<Job>);

/// Jobs of the process that have not ended.
static UNFINISHED: Mutex<usize> = Mutex::new(0);
static FEWER: Condvar = Condvar::new();

impl Unfinished {
    fn new(job: Arc<Job>) -> Unfinished {
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Unfinished(job)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.0.state() == State::Running {
            self.0.end(Err(Error::Runtime("[async_eval] an evaluation must come to its end but panicked.".into())));
        }
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        FEWER.notify_all();
    }
}

/// Waits until everything that `async_eval` gave to the CPU is done. To be called before a process forks, by whoever forks it: its child
/// has none of the threads that would do the rest. Python's package does.
pub fn come_to_rest() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    drop(FEWER.wait_while(unfinished, |unfinished| *unfinished > 0).unwrap_or_else(PoisonError::into_inner));
}

/// Who can run a plan while its caller goes on: the worker of its CPU stream, if the CPU does all of it and it is worth handing over.
pub(super) fn worker_for(plan: &Plan) -> Option<Arc<Worker>> {
    let first = plan.steps.first()?.stream;
    let on_cpu = plan.steps.iter().all(|step| step.stream.device.kind == DeviceKind::Cpu);
    // What a transform follows, it may look at at once.
    if !on_cpu || !has_helpers() || tracing::active() || plan.slots.iter().sum::<usize>() < WORTH_HANDING_OVER {
        return None;
    }
    cpu_worker(first)
}

/// Hands a plan over. Its arrays are in flight from now on.
pub(super) fn hand_over(plan: Arc<Plan>, tape: Tape, worker: &Worker) -> Result<()> {
    worker.make_room()?;
    let job = Arc::new(Job::default());
    for (array, _) in &tape.receivers {
        array.take_off(&job);
    }
    let unfinished = Unfinished::new(job.clone());
    worker.submit(job, move || {
        let result = compute(&plan, tape);
        unfinished.0.end(result);
    });
    Ok(())
}

/// Computes, and gives the arrays their values. Nothing of the tape is held any longer when the job is said to have ended: who may
/// overwrite what is decided by who holds it.
fn compute(plan: &Plan, mut tape: Tape) -> Result<()> {
    let done = run::run(plan, &tape, Pace::deaf())?;
    let receivers: Vec<(Array, ValueId)> = std::mem::take(&mut tape.receivers);
    tape.let_go();
    let values: Vec<(Array, Data)> =
        receivers.into_iter().map(|(array, value)| (array, done.data[&value].clone())).collect();
    drop(done);
    values.into_iter().for_each(|(array, data)| array.set_data(data));
    Ok(())
}
