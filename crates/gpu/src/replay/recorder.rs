//! The recorder of a plan: the same operations as a stream's, written down instead of submitted.

use std::sync::{Arc, Mutex};

use super::instance::{Instance, Script, Step};
use super::{Plan, Ready, State};
use crate::arguments::BLOCK_ALIGNMENT;
use crate::checker::Command;
use crate::commands::Span;
use crate::device::Device;
use crate::encoder::{self, Launch};
use crate::error::Result;
use crate::hazards::HazardTracker;
use crate::memory::{Buffer, writing};
use crate::recording;

/// Collects the operations of a plan. Nothing runs until the finished plan is replayed.
pub struct Recorder {
    device: Device,
    tracker: HazardTracker,
    script: Script,
    arguments: Vec<u8>,
}

impl Device {
    /// Starts recording a plan.
    pub fn recorder(&self) -> Result<Recorder> {
        self.timeline().check("recorder")?;
        let mut tracker = HazardTracker::default();
        tracker.open_command_buffer();
        // Whatever the plan will follow is not known here.
        tracker.require_barrier();
        Ok(Recorder { device: self.clone(), tracker, script: Script::default(), arguments: Vec::new() })
    }
}

impl Recorder {
    /// Records a launch and returns its number, by which its arguments can be patched.
    pub fn launch(&mut self, launch: &Launch<'_>) -> Result<usize> {
        launch.check(self.device.limits().max_workgroups)?;
        self.order(launch.reads, launch.writes, || launch.pipeline.name().clone())?;
        self.script.held.launched(launch);
        let start = self.arguments.len().next_multiple_of(BLOCK_ALIGNMENT as usize);
        self.arguments.resize(start, 0);
        self.arguments.extend_from_slice(launch.arguments);
        self.script.blocks.push(start..self.arguments.len());
        self.script.steps.push(Step::Launch {
            pipeline: launch.pipeline.clone(),
            groups: launch.groups,
            arguments: start as u64,
        });
        Ok(self.script.blocks.len() - 1)
    }

    /// Records a copy of `len` bytes between buffers, or between parts of one that do not overlap.
    pub fn copy(&mut self, from: &Buffer, from_offset: u64, to: &Buffer, to_offset: u64, len: u64) -> Result<()> {
        let spans = (Span { buffer: from, offset: from_offset }, Span { buffer: to, offset: to_offset });
        encoder::check_copy(spans.0, spans.1, len)?;
        if len > 0 {
            self.order(&[from], &[to], || "copy".into())?;
            self.script.tally.copies += 1;
            let (from, to) = ((from.clone(), from_offset), (to.clone(), to_offset));
            self.script.steps.push(Step::Copy { from, to, len });
        }
        Ok(())
    }

    /// Records filling a part of a buffer with a repeated word. Offset and length are multiples of four.
    pub fn fill(&mut self, buffer: &Buffer, offset: u64, len: u64, word: u32) -> Result<()> {
        encoder::check_fill(Span { buffer, offset }, len)?;
        if len > 0 {
            self.order(&[], &[buffer], || "fill".into())?;
            self.script.tally.fills += 1;
            self.script.steps.push(Step::Fill { to: (buffer.clone(), offset), len, word });
        }
        Ok(())
    }

    /// Operations recorded inside run side by side although they share buffers: the caller knows that they touch
    /// different parts.
    pub fn concurrent<R>(&mut self, record: impl FnOnce(&mut Recorder) -> Result<R>) -> Result<R> {
        self.tracker.begin_concurrent();
        let outcome = record(self);
        self.tracker.end_concurrent();
        outcome
    }

    /// Turns what was recorded into a plan.
    pub fn finish(self) -> Result<Plan> {
        self.device.timeline().check("finish")?;
        let script = Arc::new(self.script);
        let first = Ready::new(Instance::new(&self.device, &script, &self.arguments)?, 0);
        let patched = vec![0; script.blocks.len()];
        let state = State { arguments: self.arguments, patches: 0, patched, instances: vec![first], current: 0 };
        Ok(Plan { device: self.device, script, state: Mutex::new(state) })
    }

    fn order(&mut self, reads: &[&Buffer], writes: &[&Buffer], name: impl FnOnce() -> Arc<str>) -> Result<()> {
        writing("record", writes, || {
            self.hold(reads, writes);
            Ok(())
        })?;
        let work = recording::logged(name(), reads, writes, self.tracker.group());
        self.script.log.push(Command::Work(work));
        Ok(())
    }

    /// Puts a barrier where the operation needs one and takes hold of its buffers.
    fn hold(&mut self, reads: &[&Buffer], writes: &[&Buffer]) {
        self.tracker.begin();
        for buffer in writes {
            if self.tracker.write(buffer.allocation_id()) {
                self.script.held.buffers.push((*buffer).clone());
            }
        }
        for buffer in reads {
            if self.tracker.read(buffer.allocation_id()) {
                self.script.held.buffers.push((*buffer).clone());
            }
        }
        if self.tracker.finish() {
            self.script.steps.push(Step::Barrier);
            self.script.tally.barriers += 1;
            self.script.log.push(Command::Barrier);
        }
    }
}
