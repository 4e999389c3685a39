//! One queue and the semaphore that counts what it has finished.
//!
//! All streams of a device submit to one queue (a hop between queues costs 178 µs on NVIDIA, 14 µs within one), and
//! every submission raises one timeline semaphore by one. So the order of the queue is the order of the values, an
//! event is a value, and everything a submission needs stays alive here until its value is reached.
//!
//! From one submission to the next the device stands idle for 8 µs on H200. So while it has enough ahead of it, further batches
//! wait here and go to the driver in one submission: when the device is nearly through, when somebody waits for one of them, or
//! when they are many.

mod pusher;

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;

use crate::calls::{Calls, Health};
use crate::checker::{Command, CommandLog, Submission};
use crate::error::{Error, Result};
use crate::probe::DeviceKind;
use crate::recording::Held;
use crate::stats::Counters;
use crate::watchdog::{Patience, Watchdog};
use pusher::Pusher;

/// How long the host looks at the counter before it blocks: who sleeps is woken 50 µs late on H200.
const SPIN: Duration = Duration::from_millis(5);
/// The same for a driver that needs the host's cores for the work.
const SPIN_BESIDE_SOFTWARE: Duration = Duration::from_micros(50);
/// How long it looks without letting other threads go first.
const STARE: Duration = Duration::from_micros(50);
/// How long it goes on looking with naps in between. Blocking in the driver costs a third of a millisecond once on an H200, 1.4 % of
/// eight products of 4096 × 4096 matrices; naps cost what one takes at most, and some percent of a core.
const DOZE: Duration = Duration::from_secs(1);
/// The part of the time waited so far that a nap takes, and what it takes at least and at most.
const NAP_PART: u32 = 1024;
const NAP: (Duration, Duration) = (Duration::from_micros(10), Duration::from_millis(1));

/// Submissions that the driver has and the device is not done with, before further batches wait for them: while one ends, the
/// next keeps the device busy until what waits is handed over.
const AHEAD: usize = 3;
/// Command buffers that wait at most.
const MOST_WAITING: usize = 64;

/// A queue, its semaphore, and what its unfinished submissions hold.
pub(crate) struct Timeline {
    line: Arc<Line>,
}

/// What the threads of a timeline share.
pub(crate) struct Line {
    calls: Arc<Calls>,
    counters: Arc<Counters>,
    semaphore: vk::Semaphore,
    queue: Mutex<Queue>,
    submitted: AtomicU64,
    /// The last value that the driver will reach by itself.
    handed: AtomicU64,
    completed: AtomicU64,
    held: Mutex<VecDeque<Holding>>,
    watchdog: Watchdog,
    spin: Duration,
    /// Whether waiting goes on in naps before it blocks.
    naps: bool,
    pusher: Pusher,
}

struct Queue {
    raw: vk::Queue,
    last: u64,
    /// Values of submissions that are not known to be done.
    in_flight: VecDeque<u64>,
    /// What the driver does not have yet.
    waiting: Vec<vk::CommandBuffer>,
}

struct Holding {
    value: u64,
    /// Only there to be dropped.
    _held: Held,
}

/// Command buffers that go to the queue together, with what they need and what they are called.
pub(crate) struct Batch<'a> {
    pub(crate) commands: &'a [vk::CommandBuffer],
    pub(crate) held: Held,
    pub(crate) log: Option<LoggedCommands>,
}

/// What a logging stream recorded into a batch.
pub(crate) struct LoggedCommands {
    pub(crate) log: CommandLog,
    pub(crate) stream: u64,
    pub(crate) commands: Vec<Command>,
}

impl Deref for Timeline {
    type Target = Line;

    fn deref(&self) -> &Line {
        &self.line
    }
}

impl Timeline {
    /// Takes over a queue of a device of this kind. Waits give up when the device makes no progress for `limit`.
    pub(crate) fn new(
        calls: Arc<Calls>,
        counters: Arc<Counters>,
        queue: vk::Queue,
        kind: DeviceKind,
        limit: Duration,
    ) -> Result<Self> {
        let mut counting = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut counting);
        // SAFETY: the info and its chain live until the call returns; the device has timeline semaphores.
        let semaphore = unsafe { calls.create_semaphore(&info) }?;
        let queue = Queue { raw: queue, last: 0, in_flight: VecDeque::new(), waiting: Vec::new() };
        let line = Line {
            calls,
            counters,
            semaphore,
            queue: Mutex::new(queue),
            submitted: AtomicU64::new(0),
            handed: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            held: Mutex::default(),
            watchdog: Watchdog::new(limit),
            spin: if kind == DeviceKind::Software { SPIN_BESIDE_SOFTWARE } else { SPIN },
            naps: kind != DeviceKind::Software,
            pusher: Pusher::default(),
        };
        Ok(Self { line: Arc::new(line) })
    }

    /// Takes command buffers for the queue and returns the value that says they are done.
    pub(crate) fn submit(&self, batch: Batch<'_>) -> Result<u64> {
        self.check("submit")?;
        let mut queue = lock(&self.queue);
        let busy = self.is_busy(&mut queue)?;
        let value = queue.last + 1;
        // Remembered before it starts, so that an error names its kernels.
        let completed = self.completed.load(Ordering::Relaxed);
        self.watchdog.submitted(value, completed, batch.held.launches().map(|launches| launches.kernel));
        queue.last = value;
        queue.waiting.extend_from_slice(batch.commands);
        let handed = if busy { Ok(()) } else { self.hand_over(&mut queue) };
        if let Err(error) = handed {
            // The caller keeps its command buffers. Earlier submissions may need some of the rest.
            queue.last = value - 1;
            let kept = queue.waiting.len() - batch.commands.len();
            queue.waiting.truncate(kept);
            lock(&self.held).push_back(Holding { value: queue.last, _held: batch.held });
            return Err(error);
        }
        self.counters.submits.add(1);
        self.counters.add_launches(batch.held.launches());
        self.submitted.store(value, Ordering::Release);
        if let Some(logged) = batch.log {
            logged.log.push(Submission { value, stream: logged.stream, commands: logged.commands });
        }
        lock(&self.held).push_back(Holding { value, _held: batch.held });
        drop(queue);
        if busy {
            self.pusher.wake(&self.line);
        }
        Ok(value)
    }

    /// Ends the thread that hands over what waits.
    pub(crate) fn stop(&self) {
        self.pusher.stop();
    }
}

impl Line {
    /// Whether further batches had better wait.
    fn is_busy(&self, queue: &mut Queue) -> Result<bool> {
        if queue.waiting.len() >= MOST_WAITING {
            return Ok(false);
        }
        if queue.unfinished(self.completed.load(Ordering::Acquire)) < AHEAD {
            return Ok(false);
        }
        Ok(queue.unfinished(self.poll()?) >= AHEAD)
    }

    /// Gives the driver what waits, as one submission.
    fn hand_over(&self, queue: &mut Queue) -> Result<()> {
        if queue.waiting.is_empty() {
            return Ok(());
        }
        let info = |&raw: &vk::CommandBuffer| vk::CommandBufferSubmitInfo::default().command_buffer(raw);
        let infos: Vec<_> = queue.waiting.iter().map(info).collect();
        let signal = vk::SemaphoreSubmitInfo::default()
            .semaphore(self.semaphore)
            .value(queue.last)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS);
        let submit = vk::SubmitInfo2::default()
            .command_buffer_infos(&infos)
            .signal_semaphore_infos(std::slice::from_ref(&signal));
        // SAFETY: the queue is used under its lock; the command buffers are recorded, not pending, or recorded for
        // simultaneous use, and they and all they use are held until the value is reached.
        let outcome = unsafe { self.calls.queue_submit(queue.raw, &[submit], vk::Fence::null()) };
        outcome.map_err(|error| self.report(error))?;
        queue.waiting.clear();
        queue.in_flight.push_back(queue.last);
        self.handed.store(queue.last, Ordering::Release);
        Ok(())
    }

    /// Sees to it that the driver will reach a value.
    fn expect(&self, value: u64) -> Result<()> {
        if value <= self.handed.load(Ordering::Acquire) {
            return Ok(());
        }
        self.hand_over(&mut lock(&self.queue))
    }

    /// Holds things until everything submitted so far is done.
    pub(crate) fn hold(&self, held: Held) {
        let queue = lock(&self.queue);
        lock(&self.held).push_back(Holding { value: queue.last, _held: held });
    }

    /// The highest value reached, as the device says now.
    pub(crate) fn poll(&self) -> Result<u64> {
        // SAFETY: the semaphore is alive as long as self.
        let value = unsafe { self.calls.semaphore_counter(self.semaphore) }.map_err(|error| self.report(error))?;
        self.completed.fetch_max(value, Ordering::AcqRel);
        Ok(value)
    }

    /// Whether a value is reached.
    pub(crate) fn is_done(&self, value: u64) -> Result<bool> {
        if self.completed.load(Ordering::Acquire) >= value {
            return Ok(true);
        }
        self.check("event")?;
        self.expect(value)?;
        Ok(self.poll()? >= value)
    }

    /// Waits until a value is reached; fails when the device stops making progress.
    pub(crate) fn wait(&self, value: u64, during: &'static str) -> Result<()> {
        self.wait_while(value, during, Duration::MAX, || true).map(drop)
    }

    /// The same, but asks every so often whether to go on, and says whether the value was reached.
    pub(crate) fn wait_while(
        &self,
        value: u64,
        during: &'static str,
        every: Duration,
        mut go_on: impl FnMut() -> bool,
    ) -> Result<bool> {
        if self.is_done(value)? {
            return Ok(true);
        }
        self.counters.waits.add(1);
        let mut patience = Patience::new(self.watchdog.limit(), self.poll()?);
        let start = Instant::now();
        if self.spin(value, self.spin.min(self.watchdog.limit()))? {
            return Ok(true);
        }
        loop {
            let progress = self.poll()?;
            if progress >= value {
                return Ok(true);
            }
            let Some(left) = patience.left(progress) else {
                return Err(self.hang(during));
            };
            self.rest(value, start, left.min(every))?;
            if self.poll()? < value && !go_on() {
                return Ok(false);
            }
        }
    }

    /// Waits until a value is reached or the time is over, and says which.
    pub(crate) fn wait_for(&self, value: u64, time: Duration) -> Result<bool> {
        if self.is_done(value)? {
            return Ok(true);
        }
        self.counters.waits.add(1);
        let start = Instant::now();
        let end = start + time;
        if self.spin(value, self.spin.min(time))? {
            return Ok(true);
        }
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(self.poll()? >= value);
            }
            self.rest(value, start, left)?;
            if self.poll()? >= value {
                return Ok(true);
            }
        }
    }

    /// Waits for everything submitted so far and lets go of what it held.
    pub(crate) fn wait_idle(&self, during: &'static str) -> Result<()> {
        self.wait(self.submitted.load(Ordering::Acquire), during)?;
        self.retire();
        Ok(())
    }

    /// Lets go of what finished submissions held.
    pub(crate) fn retire(&self) {
        let completed = self.completed.load(Ordering::Acquire);
        loop {
            let mut held = lock(&self.held);
            if held.front().is_none_or(|oldest| oldest.value > completed) {
                return;
            }
            let done = held.pop_front();
            // Dropping a buffer goes to the allocator, which may be the caller: not under this lock.
            drop(held);
            drop(done);
        }
    }

    /// Waits for a stream's last submission before the stream goes. Where the device has failed, nothing waits: what it
    /// held is freed if the device is gone, and leaked if a kernel may still be running.
    pub(crate) fn settle(&self, value: u64) {
        if self.wait(value, "drop stream").is_ok() {
            return self.retire();
        }
        let abandoned = std::mem::take(&mut *lock(&self.held));
        match self.calls.health() {
            Health::Hung | Health::Abandoned => std::mem::forget(abandoned),
            _ => self.calls.drain_lost(),
        }
    }

    /// Fails when the device has failed before.
    pub(crate) fn check(&self, during: &'static str) -> Result<()> {
        if self.calls.health() == Health::Working {
            return Ok(());
        }
        self.watchdog.check()?;
        self.calls.working(during).map_err(|error| self.report(error))
    }

    /// Passes an error of any Vulkan call on; a fatal one gets the last kernels' names and ends the device.
    pub(crate) fn report(&self, error: Error) -> Error {
        if matches!(error, Error::Timeout { .. }) {
            self.calls.mark(Health::Hung);
        }
        self.watchdog.report(error, self.completed.load(Ordering::Acquire))
    }

    pub(crate) fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    fn spin(&self, value: u64, time: Duration) -> Result<bool> {
        let start = Instant::now();
        while start.elapsed() < time {
            if self.poll()? >= value {
                return Ok(true);
            }
            match start.elapsed() < STARE {
                true => std::hint::spin_loop(),
                false => std::thread::yield_now(),
            }
        }
        Ok(false)
    }

    /// Sleeps until the value is reached, at most `time`: in naps for a while from `start` on, then in the driver.
    fn rest(&self, value: u64, start: Instant, time: Duration) -> Result<()> {
        let end = Instant::now() + time.min(DOZE);
        while self.naps && start.elapsed() < DOZE {
            if self.poll()? >= value || Instant::now() >= end {
                return Ok(());
            }
            std::thread::sleep((start.elapsed() / NAP_PART).clamp(NAP.0, NAP.1));
        }
        self.block(value, time)
    }

    /// Sleeps in the driver until the value is reached, at most `time`.
    fn block(&self, value: u64, time: Duration) -> Result<()> {
        let value = lock(&self.queue).signalled(value);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (semaphores, values) = ([self.semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: the semaphore is alive as long as self, the info as long as the call.
        match unsafe { self.calls.wait_semaphores(&info, nanoseconds) } {
            Err(Error::Timeout { .. }) => Ok(()),
            other => other.map_err(|error| self.report(error)),
        }
    }

    fn hang(&self, during: &'static str) -> Error {
        self.report(Error::Timeout { during, after: self.watchdog.limit(), last_kernels: Vec::new() })
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        let last = lock(&self.queue).last;
        self.settle(last);
        self.stop();
        if self.calls.may_destroy() {
            // SAFETY: the queue is idle or lost for good, and nobody else knows the semaphore.
            unsafe { self.calls.destroy_semaphore(self.semaphore) };
        }
    }
}

impl Queue {
    /// The value by which the driver says that it has reached this one: the last of a submission. The validation layer loses count
    /// when others are waited for.
    fn signalled(&self, value: u64) -> u64 {
        self.in_flight.iter().copied().find(|&signalled| signalled >= value).unwrap_or(value)
    }

    /// How many submissions the device is not done with when it has reached a value.
    fn unfinished(&mut self, completed: u64) -> usize {
        while self.in_flight.front().is_some_and(|&value| value <= completed) {
            self.in_flight.pop_front();
        }
        self.in_flight.len()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
