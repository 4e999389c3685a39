//! What a plan runs: the script all its instances share, and an instance with a command buffer and argument blocks.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::arguments::MappedBuffer;
use crate::checker::Command;
use crate::commands::{Commands, Span, Usage};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::Buffer;
use crate::pipeline::Pipeline;
use crate::recording::{Held, Launched, Tally};
use crate::stats::Counters;

/// The operations of a plan, with the barriers decided.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) steps: Vec<Step>,
    /// The argument block of each launch, in bytes of the plan's arguments.
    pub(crate) blocks: Vec<Range<usize>>,
    pub(crate) held: Held,
    pub(crate) tally: Tally,
    pub(crate) log: Vec<Command>,
}

/// One command of a plan.
pub(crate) enum Step {
    Barrier,
    Launch { pipeline: Pipeline, groups: [u32; 3], arguments: u64 },
    Copy { from: (Buffer, u64), to: (Buffer, u64), len: u64 },
    Fill { to: (Buffer, u64), len: u64, word: u32 },
}

/// A recorded command buffer and the argument blocks it refers to. Submissions hold it, and with it all it uses.
pub(crate) struct Instance {
    commands: Commands,
    arguments: Option<Mutex<MappedBuffer>>,
    script: Arc<Script>,
}

impl Script {
    /// Where bytes of a launch's argument block lie, if they are inside it.
    pub(crate) fn block(&self, launch: usize, offset: usize, len: usize) -> Result<Range<usize>> {
        let Some(block) = self.blocks.get(launch) else {
            return Err(Error::InvalidArgument(format!(
                "[patch] the launch must be one of the plan's {} but {launch} was asked for.",
                self.blocks.len()
            )));
        };
        if offset.checked_add(len).is_none_or(|end| end > block.len()) {
            return Err(Error::InvalidArgument(format!(
                "[patch] the bytes must lie in the argument block of {} bytes but {len} bytes at {offset} were given.",
                block.len()
            )));
        }
        Ok(block.start + offset..block.start + offset + len)
    }

    /// Counts one replay; its launches are counted with the submission.
    pub(crate) fn count(&self, counters: &Counters) {
        counters.barriers.add(self.tally.barriers);
        counters.copies.add(self.tally.copies);
        counters.fills.add(self.tally.fills);
    }
}

impl Instance {
    /// Records the script on argument blocks of its own.
    pub(crate) fn new(device: &Device, script: &Arc<Script>, arguments: &[u8]) -> Result<Self> {
        let mut blocks = None;
        if !arguments.is_empty() {
            let mut mapped = MappedBuffer::new(device, arguments.len() as u64)?;
            mapped.write(0, arguments);
            blocks = Some(mapped);
        }
        let base = blocks.as_ref().map_or(0, MappedBuffer::address);
        let timeline = device.timeline();
        let recorded = record(device, script, base).map_err(|error| timeline.report(error))?;
        Ok(Self { commands: recorded, arguments: blocks.map(Mutex::new), script: script.clone() })
    }

    /// Writes one argument block. The device must be done with the instance.
    pub(crate) fn write(&self, block: &Range<usize>, arguments: &[u8]) {
        if let Some(mapped) = &self.arguments {
            let mut mapped = mapped.lock().unwrap_or_else(PoisonError::into_inner);
            mapped.write(block.start as u64, &arguments[block.clone()]);
        }
    }

    /// The command buffer to submit.
    pub(crate) fn commands(&self) -> &Commands {
        &self.commands
    }

    /// What the checker shall know of it.
    pub(crate) fn logged(&self) -> &[Command] {
        &self.script.log
    }

    /// What it launches.
    pub(crate) fn launches(&self) -> &[Launched] {
        &self.script.held.kernels
    }
}

fn record(device: &Device, script: &Script, base: u64) -> Result<Commands> {
    let mut commands = Commands::new(device.timeline().calls(), device.queue_family())?;
    commands.begin(Usage::Replayed)?;
    let mut for_host = device.info().unified;
    for step in &script.steps {
        match step {
            Step::Barrier => commands.barrier(),
            Step::Launch { pipeline, groups, arguments } => commands.dispatch(pipeline, *groups, base + arguments),
            Step::Copy { from, to, len } => {
                commands.copy(span(from), span(to), *len);
                for_host |= to.0.is_mapped();
            }
            Step::Fill { to, len, word } => commands.fill(span(to), *len, *word),
        }
    }
    if for_host {
        commands.host_barrier();
    }
    commands.end()?;
    Ok(commands)
}

fn span((buffer, offset): &(Buffer, u64)) -> Span<'_> {
    Span { buffer, offset: *offset }
}
