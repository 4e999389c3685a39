//! A command buffer being recorded: barriers where hazards are, a hold on what the work uses, and a count of it.

use std::sync::Arc;

use crate::checker::{Command, Work};
use crate::commands::{Commands, Span, Usage};
use crate::encoder::Launch;
use crate::error::Result;
use crate::hazards::HazardTracker;
use crate::memory::Buffer;
use crate::pipeline::Pipeline;
use crate::replay::Instance;
use crate::stats::LaunchCount;
use crate::timestamps::Timestamp;
use crate::trace::{Clock, Times};

/// Looking back this far finds the kernels of a repeating pattern without a map.
const RECENT_KERNELS: usize = 8;

/// An open command buffer, and after `close` its parts.
pub(crate) struct Recording {
    pub(crate) commands: Commands,
    pub(crate) held: Held,
    pub(crate) tally: Tally,
    pub(crate) log: Option<Vec<Command>>,
    /// When its operations begin and end, if somebody wants to know.
    pub(crate) times: Times,
    /// Whether the host may want to read what is written.
    for_host: bool,
}

/// What must outlive a submission.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) buffers: Vec<Buffer>,
    /// What was launched, in about the order of the last launch.
    pub(crate) kernels: Vec<Launched>,
    pub(crate) timestamps: Vec<Timestamp>,
    pub(crate) plan: Option<Arc<Instance>>,
}

/// Launches of one kernel of about one size.
pub(crate) struct Launched {
    pipeline: Pipeline,
    /// Their workgroups, rounded up to a power of two.
    groups: u64,
    count: u64,
}

/// How much was recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Launches, copies and fills.
    pub(crate) operations: u64,
    /// Bytes of the distinct buffers they use.
    pub(crate) bytes: u64,
    pub(crate) barriers: u64,
    pub(crate) copies: u64,
    pub(crate) fills: u64,
}

impl Recording {
    /// Opens a command buffer that the device is done with. `for_host` when the host sees everything it writes.
    pub(crate) fn open(mut commands: Commands, log: bool, for_host: bool) -> Result<Self> {
        commands.begin(Usage::Once)?;
        let log = log.then(Vec::new);
        let (held, tally, times) = Default::default();
        Ok(Self { commands, held, tally, log, times, for_host })
    }

    /// Records a launch on an argument block that already lies in device memory.
    pub(crate) fn launch(
        &mut self,
        tracker: &mut HazardTracker,
        launch: &Launch<'_>,
        arguments: u64,
        mut clock: Option<Clock<'_>>,
    ) {
        let waits = self.order(tracker, launch.reads, launch.writes, || launch.pipeline.name().clone());
        self.held.launched(launch);
        self.begin(&mut clock, waits);
        self.commands.dispatch(launch.pipeline, launch.groups, arguments);
        self.end(&mut clock, || (launch.pipeline.name().clone(), Some(launch.groups)));
    }

    /// Records a copy.
    pub(crate) fn copy(
        &mut self,
        tracker: &mut HazardTracker,
        from: Span<'_>,
        to: Span<'_>,
        len: u64,
        mut clock: Option<Clock<'_>>,
    ) {
        let waits = self.order(tracker, &[from.buffer], &[to.buffer], || "copy".into());
        self.begin(&mut clock, waits);
        self.commands.copy(from, to, len);
        self.end(&mut clock, || ("copy".into(), None));
        self.for_host |= to.buffer.is_mapped();
        self.tally.copies += 1;
    }

    /// Records a fill.
    pub(crate) fn fill(
        &mut self,
        tracker: &mut HazardTracker,
        to: Span<'_>,
        len: u64,
        word: u32,
        mut clock: Option<Clock<'_>>,
    ) {
        let waits = self.order(tracker, &[], &[to.buffer], || "fill".into());
        self.begin(&mut clock, waits);
        self.commands.fill(to, len, word);
        self.end(&mut clock, || ("fill".into(), None));
        self.tally.fills += 1;
    }

    /// Records that the time is to be written down when everything before is done.
    pub(crate) fn timestamp(&mut self, tracker: &mut HazardTracker, timestamp: &Timestamp) {
        // What comes later must not start before the time is taken.
        self.barrier();
        tracker.passed_barrier();
        timestamp.record(&mut self.commands);
        self.held.timestamps.push(timestamp.clone());
    }

    /// Ends recording.
    pub(crate) fn close(&mut self) -> Result<()> {
        if self.for_host {
            self.commands.host_barrier();
        }
        self.commands.end()
    }

    fn begin(&mut self, clock: &mut Option<Clock<'_>>, waits: bool) {
        if let Some(clock) = clock {
            self.times.before(clock, &mut self.commands, waits);
        }
    }

    fn end(&mut self, clock: &mut Option<Clock<'_>>, what: impl FnOnce() -> (Arc<str>, Option<[u32; 3]>)) {
        if let Some(clock) = clock {
            let (name, groups) = what();
            self.times.after(clock, &mut self.commands, name, groups);
        }
    }

    /// Puts a barrier where the operation needs one, and says whether it did; takes hold of its buffers.
    fn order(
        &mut self,
        tracker: &mut HazardTracker,
        reads: &[&Buffer],
        writes: &[&Buffer],
        name: impl FnOnce() -> Arc<str>,
    ) -> bool {
        tracker.begin();
        for buffer in writes {
            if tracker.write(buffer.allocation_id()) {
                self.first_use(buffer);
            }
        }
        for buffer in reads {
            if tracker.read(buffer.allocation_id()) {
                self.first_use(buffer);
            }
        }
        let waits = tracker.finish();
        if waits {
            self.barrier();
        }
        self.tally.operations += 1;
        if let Some(log) = &mut self.log {
            log.push(Command::Work(logged(name(), reads, writes, tracker.group())));
        }
        waits
    }

    fn first_use(&mut self, buffer: &Buffer) {
        self.tally.bytes += buffer.len();
        self.held.buffers.push(buffer.clone());
    }

    fn barrier(&mut self) {
        self.commands.barrier();
        self.tally.barriers += 1;
        if let Some(log) = &mut self.log {
            log.push(Command::Barrier);
        }
    }
}

impl Held {
    /// Counts a launch and holds its kernel.
    pub(crate) fn launched(&mut self, launch: &Launch<'_>) {
        let groups = launch.groups.iter().map(|&n| u64::from(n)).product::<u64>().next_power_of_two();
        for known in self.kernels.iter_mut().rev().take(RECENT_KERNELS) {
            if known.pipeline.raw() == launch.pipeline.raw() && known.groups == groups {
                known.count += 1;
                return;
            }
        }
        self.kernels.push(Launched { pipeline: launch.pipeline.clone(), groups, count: 1 });
    }

    /// What was launched, those of a replayed plan last.
    pub(crate) fn launches(&self) -> impl DoubleEndedIterator<Item = LaunchCount<'_>> {
        let planned = self.plan.iter().flat_map(|plan| plan.launches());
        let count = |launched| {
            let &Launched { ref pipeline, groups, count } = launched;
            LaunchCount { kernel: pipeline.name(), groups, count }
        };
        self.kernels.iter().chain(planned).map(count)
    }
}

/// An operation as the checker sees it.
pub(crate) fn logged(name: Arc<str>, reads: &[&Buffer], writes: &[&Buffer], group: Option<u64>) -> Work {
    let ids = |buffers: &[&Buffer]| buffers.iter().map(|buffer| buffer.allocation_id()).collect();
    Work { name, reads: ids(reads), writes: ids(writes), group }
}
