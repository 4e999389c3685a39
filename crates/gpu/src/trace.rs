//! Tracing: when the device did what, launch by launch, and when the driver compiled what.
//!
//! While a device is traced, every launch, copy and fill of its streams is followed by a timestamp, and so is every barrier. What stands
//! between two barriers runs side by side: such operations begin together, and end when everything recorded before them has
//! ended too. Plans that are replayed are not looked into. A timestamp costs the device about a microsecond, so short kernels look longer than
//! they are.
//!
//! Device times are told in the host's: when tracing starts, the device is asked for its clock a few times, and the answer that took
//! the shortest time counts. The two clocks then agree to some ten microseconds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::commands::Commands;
use crate::device::Device;
use crate::error::Result;
use crate::timestamps::{Timestamp, Timestamps};

/// How often the device is asked for its clock.
const ASKED: usize = 8;

/// Something that was done.
#[derive(Clone, Debug)]
pub struct Span {
    /// The kernel, `copy` or `fill`.
    pub name: Arc<str>,
    /// Where it was done.
    pub track: Track,
    /// When it began, from when tracing started.
    pub start: Duration,
    /// How long it lasted.
    pub length: Duration,
    /// Workgroups of a launch.
    pub groups: Option<[u32; 3]>,
}

/// Where something was done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Track {
    /// On the device: the stream, and the how-manieth of what ran side by side.
    Stream {
        /// The stream's number.
        number: u64,
        /// 0 if it ran alone.
        lane: u32,
    },
    /// By the driver, which compiled a kernel.
    Compiler,
}

/// What a device knows of being traced.
#[derive(Default)]
pub(crate) struct Tracer {
    on: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    began: Option<Instant>,
    /// Device nanoseconds when tracing started.
    zero: f64,
    pending: Vec<Submitted>,
    compiled: Vec<Span>,
}

/// Operations of a submission.
struct Submitted {
    value: u64,
    stream: u64,
    timed: Vec<Timed>,
}

/// An operation between two timestamps.
pub(crate) struct Timed {
    name: Arc<str>,
    groups: Option<[u32; 3]>,
    lane: u32,
    start: Timestamp,
    end: Timestamp,
}

/// The times of a command buffer that is being recorded.
#[derive(Default)]
pub(crate) struct Times {
    /// When what is recorded now can begin.
    start: Option<Timestamp>,
    lane: u32,
    pub(crate) timed: Vec<Timed>,
}

/// What makes timestamps for a command buffer.
pub(crate) struct Clock<'a> {
    pub(crate) device: &'a Device,
    pub(crate) timestamps: &'a mut Timestamps,
}

impl Device {
    /// Starts to trace; times are counted from `began`. Does nothing on a device without timestamps.
    pub fn start_trace(&self, began: Instant) -> Result<()> {
        if !self.limits().has_timestamps {
            return Ok(());
        }
        let zero = self.device_time_at(began)?;
        let mut state = self.tracer().lock();
        *state = State { began: Some(began), zero, ..State::default() };
        self.tracer().on.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// What was done since this was last asked, as far as the device is through with it.
    pub fn traced(&self) -> Result<Vec<Span>> {
        let completed = self.timeline().poll()?;
        self.tracer().lock().until(completed)
    }

    /// Ends tracing: waits for what was submitted, and gives what was not asked for yet.
    pub fn stop_trace(&self) -> Result<Vec<Span>> {
        self.tracer().on.store(false, Ordering::Relaxed);
        self.timeline().wait_idle("stop_trace")?;
        self.traced()
    }

    /// What the device's clock said at some moment, in nanoseconds.
    fn device_time_at(&self, moment: Instant) -> Result<f64> {
        let stream = self.stream()?;
        let mut best = (Duration::MAX, 0.0);
        for _ in 0..ASKED {
            let before = Instant::now();
            let asked = stream.timestamp()?;
            stream.synchronize()?;
            let took = before.elapsed();
            if took < best.0 {
                let then = (before + took / 2).duration_since(moment);
                best = (took, asked.nanoseconds()? - then.as_secs_f64() * 1e9);
            }
        }
        Ok(best.1)
    }
}

impl Tracer {
    /// Whether the device is traced.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Takes the times of what was submitted.
    pub(crate) fn submitted(&self, value: u64, stream: u64, timed: Vec<Timed>) {
        if !timed.is_empty() {
            self.lock().pending.push(Submitted { value, stream, timed });
        }
    }

    /// Notes that the driver has just compiled a kernel.
    pub(crate) fn compiled(&self, name: &str, start: Instant) {
        let mut state = self.lock();
        if let (true, Some(began)) = (self.is_on(), state.began) {
            let (start, length) = (start.saturating_duration_since(began), start.elapsed());
            state.compiled.push(Span { name: name.into(), track: Track::Compiler, start, length, groups: None });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn until(&mut self, completed: u64) -> Result<Vec<Span>> {
        let mut spans = std::mem::take(&mut self.compiled);
        let submitted = std::mem::take(&mut self.pending).into_iter();
        let (done, pending): (Vec<Submitted>, _) = submitted.partition(|submitted| submitted.value <= completed);
        self.pending = pending;
        for Submitted { stream, timed, .. } in done {
            for timed in timed {
                spans.push(self.span(stream, timed)?);
            }
        }
        Ok(spans)
    }

    fn span(&self, number: u64, timed: Timed) -> Result<Span> {
        let Timed { name, groups, lane, start, end } = timed;
        let since = (start.nanoseconds()? - self.zero).max(0.0);
        let track = Track::Stream { number, lane };
        Ok(Span { name, track, start: Duration::from_nanos(since as u64), length: end.since(&start)?, groups })
    }
}

impl Times {
    /// Before an operation: `waits` if a barrier stands before it.
    pub(crate) fn before(&mut self, clock: &mut Clock<'_>, commands: &mut Commands, waits: bool) {
        self.lane = if waits || self.start.is_none() { 0 } else { self.lane + 1 };
        if self.lane == 0 {
            self.start = clock.now(commands);
        }
    }

    /// After it.
    pub(crate) fn after(
        &mut self,
        clock: &mut Clock<'_>,
        commands: &mut Commands,
        name: Arc<str>,
        groups: Option<[u32; 3]>,
    ) {
        if let (Some(start), Some(end)) = (self.start.clone(), clock.now(commands)) {
            self.timed.push(Timed { name, groups, lane: self.lane, start, end });
        }
    }
}

impl Clock<'_> {
    /// A timestamp; none if the device has no room for its query: then there is one time less to tell.
    fn now(&mut self, commands: &mut Commands) -> Option<Timestamp> {
        let timestamp = self.timestamps.next(self.device).ok()?;
        timestamp.record(commands);
        Some(timestamp)
    }
}
