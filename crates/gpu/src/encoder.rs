//! The encoder of a stream: turns launches, copies and fills into commands of its one open command buffer.

use crate::arguments::ArgumentRing;
use crate::commands::{Commands, Span};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::hazards::HazardTracker;
use crate::memory::{Buffer, writing};
use crate::pipeline::Pipeline;
use crate::recording::{Recording, Tally};
use crate::timestamps::{Timestamp, Timestamps};
use crate::trace::Clock;

/// One kernel launch.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// The compiled kernel.
    pub pipeline: &'a Pipeline,
    /// Workgroups in each dimension.
    pub groups: [u32; 3],
    /// The argument block, copied before the call returns: buffer addresses, shapes, strides, scalars.
    pub arguments: &'a [u8],
    /// Buffers the kernel reads. What is both read and written need only be among the writes.
    pub reads: &'a [&'a Buffer],
    /// Buffers the kernel writes.
    pub writes: &'a [&'a Buffer],
}

/// Records work and knows what it must wait for.
pub(crate) struct Encoder {
    device: Device,
    log: bool,
    tracker: HazardTracker,
    recording: Option<Recording>,
    idle: Vec<Commands>,
    arguments: ArgumentRing,
    timestamps: Timestamps,
}

impl Encoder {
    /// An encoder without an open command buffer; `log` makes it write down what it records.
    pub(crate) fn new(device: Device, log: bool) -> Self {
        Self {
            device,
            log,
            tracker: HazardTracker::default(),
            recording: None,
            idle: Vec::new(),
            arguments: ArgumentRing::default(),
            timestamps: Timestamps::default(),
        }
    }

    /// Records a launch.
    pub(crate) fn launch(&mut self, launch: &Launch<'_>) -> Result<()> {
        launch.check(self.device.limits().max_workgroups)?;
        self.open()?;
        let recording = self.recording.as_mut().expect("a recording was just opened");
        let hold = |chunk| recording.held.buffers.push(chunk);
        let arguments = self.arguments.write(&self.device, launch.arguments, hold)?;
        let clock = clock(&self.device, &mut self.timestamps);
        writing("launch", launch.writes, || {
            recording.launch(&mut self.tracker, launch, arguments, clock);
            Ok(())
        })
    }

    /// Records a copy.
    pub(crate) fn copy(&mut self, from: Span<'_>, to: Span<'_>, len: u64) -> Result<()> {
        check_copy(from, to, len)?;
        if len > 0 {
            self.open()?;
            let recording = self.recording.as_mut().expect("a recording was just opened");
            let clock = clock(&self.device, &mut self.timestamps);
            writing("copy", &[to.buffer], || {
                recording.copy(&mut self.tracker, from, to, len, clock);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Records a fill.
    pub(crate) fn fill(&mut self, to: Span<'_>, len: u64, word: u32) -> Result<()> {
        check_fill(to, len)?;
        if len > 0 {
            self.open()?;
            let recording = self.recording.as_mut().expect("a recording was just opened");
            let clock = clock(&self.device, &mut self.timestamps);
            writing("fill", &[to.buffer], || {
                recording.fill(&mut self.tracker, to, len, word, clock);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Records a timestamp.
    pub(crate) fn timestamp(&mut self) -> Result<Timestamp> {
        self.open()?;
        let timestamp = self.timestamps.next(&self.device)?;
        let recording = self.recording.as_mut().expect("a recording was just opened");
        recording.timestamp(&mut self.tracker, &timestamp);
        Ok(timestamp)
    }

    /// Whether a barrier will have to stand before an operation on these buffers, if it is next.
    pub(crate) fn would_wait(&self, reads: &[&Buffer], writes: &[&Buffer]) -> bool {
        let allocation = |buffer: &&Buffer| buffer.allocation_id();
        self.tracker.would_wait(writes.iter().map(allocation), reads.iter().map(allocation))
    }

    /// How much the open command buffer holds.
    pub(crate) fn tally(&self) -> Tally {
        self.recording.as_ref().map(|recording| recording.tally).unwrap_or_default()
    }

    /// Closes the open command buffer, if there is one.
    pub(crate) fn close(&mut self) -> Result<Option<Recording>> {
        let Some(mut recording) = self.recording.take() else { return Ok(None) };
        if let Err(error) = recording.close() {
            // Earlier submissions may still read the argument blocks it holds.
            self.device.timeline().hold(recording.held);
            return Err(self.device.timeline().report(error));
        }
        Ok(Some(recording))
    }

    /// Takes a command buffer back that the device is done with.
    pub(crate) fn recycle(&mut self, commands: Commands) {
        self.idle.push(commands);
    }

    /// What the next operations are ordered by.
    pub(crate) fn tracker(&mut self) -> &mut HazardTracker {
        &mut self.tracker
    }

    #[inline]
    fn open(&mut self) -> Result<()> {
        if self.recording.is_none() {
            self.recording = Some(self.start()?);
        }
        Ok(())
    }

    fn start(&mut self) -> Result<Recording> {
        let timeline = self.device.timeline();
        let commands = match self.idle.pop() {
            Some(commands) => Ok(commands),
            None => Commands::new(timeline.calls(), self.device.queue_family()),
        };
        let opened = commands.and_then(|commands| Recording::open(commands, self.log, self.device.info().unified));
        self.tracker.open_command_buffer();
        opened.map_err(|error| timeline.report(error))
    }
}

/// What tells the times of operations, while the device is traced.
#[inline]
fn clock<'a>(device: &'a Device, timestamps: &'a mut Timestamps) -> Option<Clock<'a>> {
    device.tracer().is_on().then_some(Clock { device, timestamps })
}

impl Launch<'_> {
    /// Checks that the launch fits the device.
    pub(crate) fn check(&self, most: [u32; 3]) -> Result<()> {
        if self.groups.iter().zip(most).all(|(&groups, most)| groups <= most) {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "[launch] kernel {} must have at most {most:?} workgroups but has {:?}.",
            self.pipeline.name(),
            self.groups
        )))
    }
}

/// Checks that a copy stays inside its buffers and does not overlap itself.
pub(crate) fn check_copy(from: Span<'_>, to: Span<'_>, len: u64) -> Result<()> {
    check_range("copy", from, len)?;
    check_range("copy", to, len)?;
    let same = from.buffer.allocation_id() == to.buffer.allocation_id();
    if same && from.offset < to.offset + len && to.offset < from.offset + len {
        return Err(Error::InvalidArgument(format!(
            "[copy] source and destination must not overlap but {len} bytes go from {} to {} of one buffer.",
            from.offset, to.offset
        )));
    }
    Ok(())
}

/// Checks that a fill stays inside its buffer and is made of whole words.
pub(crate) fn check_fill(to: Span<'_>, len: u64) -> Result<()> {
    check_range("fill", to, len)?;
    if !to.offset.is_multiple_of(4) || !len.is_multiple_of(4) {
        return Err(Error::InvalidArgument(format!(
            "[fill] offset and length must be multiples of 4 but are {} and {len}.",
            to.offset
        )));
    }
    Ok(())
}

fn check_range(operation: &str, span: Span<'_>, len: u64) -> Result<()> {
    if span.offset.checked_add(len).is_some_and(|end| end <= span.buffer.len()) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "[{operation}] the range must lie in the buffer of {} bytes but {len} bytes at {} were asked for.",
        span.buffer.len(),
        span.offset
    )))
}
