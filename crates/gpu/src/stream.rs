//! Streams: work goes in, events come out.
//!
//! A stream has one encoder with one open command buffer. It is committed after a number of operations or bytes, as MLX
//! does it, and the first one after an idle moment early, so that the device starts while the host is still recording.
//! A commit that is due waits a while for an operation that would wait anyway: a device runs what needs no barrier side
//! by side within a submission, but ends one submission before it begins the next.
//! At most a window of submissions is in flight, which bounds the memory they hold. Streams of a device share its queue;
//! one waits for another by a barrier behind the other's submission, not by a semaphore: 2 µs instead of 14 on H200.

mod thresholds;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::checker::CommandLog;
use crate::commands::{Commands, Span};
use crate::device::Device;
use crate::encoder::{Encoder, Launch};
use crate::error::Result;
use crate::event::Event;
use crate::memory::Buffer;
use crate::recording::{Held, Recording};
use crate::replay::{Instance, Plan};
use crate::timeline::{Batch, LoggedCommands, Timeline};
use crate::timestamps::Timestamp;
use thresholds::{Due, Thresholds};

/// A sequence of device work. Several threads may share one; a stream per thread is faster.
///
/// Dropping a stream submits what was recorded and waits for it.
pub struct Stream {
    device: Device,
    number: u64,
    thresholds: Thresholds,
    log: Option<CommandLog>,
    state: Mutex<State>,
}

/// How a stream differs from the device's usual ones.
#[derive(Clone, Debug, Default)]
pub struct StreamOptions {
    /// Writes down what is submitted, for the hazard checker.
    pub log: Option<CommandLog>,
    /// Commit after this many operations, or up to twice as many that need no barrier; otherwise
    /// `MLX_MAX_OPS_PER_BUFFER` or the class of device decides.
    pub max_operations: Option<u64>,
    /// Commit after work on more mebibytes, or on up to twice as many that needs no barrier; otherwise
    /// `MLX_MAX_MB_PER_BUFFER` or the class of device decides.
    pub max_megabytes: Option<u64>,
    /// Submissions in flight before a commit waits for the oldest; otherwise 8.
    pub in_flight: Option<usize>,
}

struct State {
    encoder: Encoder,
    /// Value of the last submission, 0 before the first.
    last: u64,
    /// Whether nothing was submitted since the last explicit commit: the next submission comes early.
    first: bool,
    in_flight: VecDeque<(u64, Option<Commands>)>,
}

impl Device {
    /// A new stream.
    pub fn stream(&self) -> Result<Stream> {
        self.stream_with(StreamOptions::default())
    }

    /// A new stream that differs from the usual ones.
    pub fn stream_with(&self, options: StreamOptions) -> Result<Stream> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        self.timeline().check("stream")?;
        let encoder = Encoder::new(self.clone(), options.log.is_some());
        Ok(Stream {
            device: self.clone(),
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            thresholds: Thresholds::new(self.info().kind, &options),
            log: options.log,
            state: Mutex::new(State { encoder, last: 0, first: true, in_flight: VecDeque::new() }),
        })
    }
}

impl Stream {
    /// Records a kernel launch. Launches that touch the same buffers run in order, others side by side.
    pub fn launch(&self, launch: &Launch<'_>) -> Result<()> {
        self.record("launch", launch.reads, launch.writes, |encoder| encoder.launch(launch))
    }

    /// Records a copy of `len` bytes between buffers, or between parts of one that do not overlap.
    pub fn copy(&self, from: &Buffer, from_offset: u64, to: &Buffer, to_offset: u64, len: u64) -> Result<()> {
        let (from, to) = (Span { buffer: from, offset: from_offset }, Span { buffer: to, offset: to_offset });
        self.record("copy", &[from.buffer], &[to.buffer], |encoder| encoder.copy(from, to, len))
    }

    /// Records filling a part of a buffer with a repeated word. Offset and length are multiples of four.
    pub fn fill(&self, buffer: &Buffer, offset: u64, len: u64, word: u32) -> Result<()> {
        self.record("fill", &[], &[buffer], |encoder| encoder.fill(Span { buffer, offset }, len, word))
    }

    /// Operations recorded inside run side by side although they share buffers: the caller knows that they touch
    /// different parts. They wait for what came before, and what comes after waits for them.
    pub fn concurrent<R>(&self, record: impl FnOnce(&Stream) -> Result<R>) -> Result<R> {
        let _group = Concurrent::begin(self);
        record(self)
    }

    /// Submits what was recorded. The event is reached when the device is done with everything this stream was given.
    pub fn commit(&self) -> Result<Event> {
        self.timeline().check("commit")?;
        let state = &mut *self.lock();
        self.submit(state, None)?;
        Ok(self.event(state))
    }

    /// Submits what was recorded and waits until the device is done with everything this stream was given.
    pub fn synchronize(&self) -> Result<()> {
        let event = self.commit()?;
        self.timeline().wait(event.value, "synchronize")?;
        self.timeline().retire();
        Ok(())
    }

    /// Everything recorded later waits for the event.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        if !event.device.is_same(&self.device) {
            return event.wait();
        }
        if event.value > 0 && event.stream != self.number {
            // The event's work stands on the queue already, and a barrier orders all that was submitted before it.
            self.lock().encoder.tracker().require_barrier();
        }
        Ok(())
    }

    /// Submits what was recorded and then a plan, in one go. Costs the same whatever the plan's length.
    pub fn replay(&self, plan: &Plan) -> Result<Event> {
        self.replay_holding(plan, &[])
    }

    /// The same for a plan that was patched to use these buffers: they are kept until the device is done.
    pub fn replay_holding(&self, plan: &Plan, buffers: &[Buffer]) -> Result<Event> {
        self.timeline().check("replay")?;
        let state = &mut *self.lock();
        plan.run(&self.device, |instance| {
            self.submit(state, Some(Replayed { instance, buffers }))?;
            Ok(state.last)
        })?;
        Ok(self.event(state))
    }

    /// Records a point whose device time can be read once the device has passed it.
    pub fn timestamp(&self) -> Result<Timestamp> {
        self.record("timestamp", &[], &[], Encoder::timestamp)
    }

    /// The device time that the work recorded inside takes. Waits for it.
    pub fn time(&self, record: impl FnOnce(&Stream) -> Result<()>) -> Result<Duration> {
        let start = self.timestamp()?;
        record(self)?;
        let end = self.timestamp()?;
        self.synchronize()?;
        end.since(&start)
    }

    /// The device the stream belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Leaves out the next barrier that is needed. For tests of the checker.
    #[doc(hidden)]
    pub fn plant_hazard(&self) {
        self.lock().encoder.tracker().plant_hazard();
    }

    fn record<R>(
        &self,
        during: &'static str,
        reads: &[&Buffer],
        writes: &[&Buffer],
        record: impl FnOnce(&mut Encoder) -> Result<R>,
    ) -> Result<R> {
        self.timeline().check(during)?;
        let state = &mut *self.lock();
        let tally = state.encoder.tally();
        let commit = match self.thresholds.due(tally.operations, tally.bytes, state.first) {
            Due::No => false,
            Due::BeforeABarrier => state.encoder.would_wait(reads, writes),
            Due::AtOnce => true,
        };
        if commit {
            self.submit(state, None)?;
            state.first = false;
        }
        record(&mut state.encoder)
    }

    /// Hands the open command buffer, followed by a plan, to the queue.
    fn submit(&self, state: &mut State, plan: Option<Replayed<'_>>) -> Result<()> {
        state.first = true;
        let open = state.encoder.close()?;
        if open.is_none() && plan.is_none() {
            return Ok(());
        }
        if plan.is_some() {
            // The plan's own barriers are not the tracker's.
            state.encoder.tracker().require_barrier();
        }
        let (commands, value) = self.hand_over(open, plan)?;
        state.last = value;
        state.in_flight.push_back((value, commands));
        self.reclaim(state)
    }

    fn hand_over(&self, open: Option<Recording>, plan: Option<Replayed<'_>>) -> Result<(Option<Commands>, u64)> {
        let counters = self.timeline().counters();
        let (mut held, mut logged, mut own, mut timed) = (Held::default(), Vec::new(), None, Vec::new());
        if let Some(recording) = open {
            counters.barriers.add(recording.tally.barriers);
            counters.copies.add(recording.tally.copies);
            counters.fills.add(recording.tally.fills);
            held = recording.held;
            timed = recording.times.timed;
            logged = recording.log.unwrap_or_default();
            own = Some(recording.commands);
        }
        if let (Some(_), Some(plan)) = (&self.log, &plan) {
            logged.extend_from_slice(plan.instance.logged());
        }
        let planned = plan.as_ref().map(|plan| plan.instance.commands());
        let raw: Vec<_> = own.iter().chain(planned).map(Commands::raw).collect();
        if let Some(Replayed { instance, buffers }) = plan {
            held.plan = Some(instance);
            held.buffers.extend_from_slice(buffers);
        }
        let log = self.log.clone().map(|log| LoggedCommands { log, stream: self.number, commands: logged });
        let value = self.timeline().submit(Batch { commands: &raw, held, log })?;
        self.device.tracer().submitted(value, self.number, timed);
        Ok((own, value))
    }

    /// Takes back what the device is done with, and waits where too much is in flight.
    fn reclaim(&self, state: &mut State) -> Result<()> {
        let mut completed = self.timeline().poll()?;
        while let Some((value, _)) = state.in_flight.front() {
            if *value > completed {
                if state.in_flight.len() <= self.thresholds.in_flight {
                    break;
                }
                self.timeline().wait(*value, "commit")?;
                completed = *value;
            }
            let (_, commands) = state.in_flight.pop_front().expect("the front was just seen");
            if let Some(commands) = commands {
                state.encoder.recycle(commands);
            }
        }
        self.timeline().retire();
        Ok(())
    }

    fn event(&self, state: &State) -> Event {
        Event { device: self.device.clone(), stream: self.number, value: state.last }
    }

    fn timeline(&self) -> &Timeline {
        self.device.timeline()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A plan that is submitted, and the buffers it was patched to use.
struct Replayed<'a> {
    instance: Arc<Instance>,
    buffers: &'a [Buffer],
}

/// A concurrent group that ends also when recording panics.
struct Concurrent<'a>(&'a Stream);

impl<'a> Concurrent<'a> {
    fn begin(stream: &'a Stream) -> Self {
        stream.lock().encoder.tracker().begin_concurrent();
        Self(stream)
    }
}

impl Drop for Concurrent<'_> {
    fn drop(&mut self) {
        self.0.lock().encoder.tracker().end_concurrent();
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // A failure was reported to whoever recorded, or concerns a device that has failed: nobody is left to tell.
        let _ = self.commit();
        let last = self.lock().last;
        self.timeline().settle(last);
    }
}
