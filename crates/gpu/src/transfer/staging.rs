//! Staging: pieces of cached host memory through which bytes travel to and from memory the host cannot reach.
//!
//! Pieces go two at a time, so that the host fills or empties one while the device works on the other.

use std::sync::{Arc, Mutex, PoisonError};

use super::copy;
use crate::calls::Calls;
use crate::commands::{Commands, Span, Usage};
use crate::error::Result;
use crate::memory::{Buffer, Memory, MemoryKind};
use crate::recording::Held;
use crate::timeline::{Batch, Timeline};

/// The size of a piece.
const PIECE: u64 = 8 << 20;
/// How many pieces one transfer uses.
const LANES: usize = 2;
/// How many pieces are kept for later transfers.
const KEPT: usize = 4;

/// The pieces of a device that are not in use.
pub(crate) struct Staging {
    calls: Arc<Calls>,
    memory: Arc<Memory>,
    queue_family: u32,
    idle: Mutex<Vec<Lane>>,
}

/// A piece of staging memory with the commands that copy it, and the submission that last did.
struct Lane {
    commands: Commands,
    buffer: Buffer,
    /// The submission to wait for before the piece is touched; 0 for none.
    busy: u64,
}

impl Staging {
    pub(crate) fn new(calls: Arc<Calls>, memory: Arc<Memory>, queue_family: u32) -> Self {
        Staging { calls, memory, queue_family, idle: Mutex::default() }
    }

    /// Copies the bytes to the buffer and waits until they are there.
    pub(super) fn upload(&self, timeline: &Timeline, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        self.with_lanes(timeline, bytes.len() as u64, |lanes| {
            for (at, piece) in bytes.chunks(PIECE as usize).enumerate() {
                let lane = &mut lanes[at % LANES];
                lane.wait(timeline, "upload")?;
                copy::write(&lane.buffer, 0, piece);
                let part = Span { buffer: to, offset: offset + at as u64 * PIECE };
                lane.send(timeline, part, piece.len() as u64)?;
            }
            lanes.iter_mut().try_for_each(|lane| lane.wait(timeline, "upload"))
        })
    }

    /// Copies the buffer's bytes to the host.
    pub(super) fn download(&self, timeline: &Timeline, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<()> {
        self.with_lanes(timeline, into.len() as u64, |lanes| {
            let pieces: Vec<_> = (0..into.len()).step_by(PIECE as usize).collect();
            let len = |start: usize| (into.len() - start).min(PIECE as usize);
            let lens: Vec<_> = pieces.iter().map(|&start| len(start)).collect();
            let fetch = |lanes: &mut [Lane], at: usize| {
                let part = Span { buffer: from, offset: offset + pieces[at] as u64 };
                lanes[at % LANES].fetch(timeline, part, lens[at] as u64)
            };
            (0..pieces.len().min(LANES)).try_for_each(|at| fetch(lanes, at))?;
            for (at, &start) in pieces.iter().enumerate() {
                let lane = &mut lanes[at % LANES];
                lane.wait(timeline, "download")?;
                copy::read(&lane.buffer, 0, &mut into[start..start + lens[at]]);
                if at + LANES < pieces.len() {
                    fetch(lanes, at + LANES)?;
                }
            }
            Ok(())
        })
    }

    /// Lends out pieces. After a failure the device may still be using them, so that is settled before they go.
    fn with_lanes(&self, timeline: &Timeline, bytes: u64, work: impl FnOnce(&mut [Lane]) -> Result<()>) -> Result<()> {
        let mut lanes = self.take(bytes.div_ceil(PIECE).min(LANES as u64) as usize)?;
        let outcome = work(&mut lanes);
        match outcome {
            Ok(()) => {
                timeline.retire();
                self.put_back(lanes);
            }
            Err(_) => timeline.settle(lanes.iter().map(|lane| lane.busy).max().unwrap_or(0)),
        }
        outcome
    }

    fn take(&self, count: usize) -> Result<Vec<Lane>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle.len() - count.min(idle.len());
        let mut lanes = idle.split_off(kept);
        drop(idle);
        while lanes.len() < count {
            lanes.push(Lane {
                commands: Commands::new(&self.calls, self.queue_family)?,
                buffer: self.memory.allocate(MemoryKind::Staging, PIECE)?,
                busy: 0,
            });
        }
        Ok(lanes)
    }

    fn put_back(&self, lanes: Vec<Lane>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(lanes);
        idle.truncate(KEPT);
    }
}

impl Lane {
    /// Waits until the device has left the piece.
    fn wait(&mut self, timeline: &Timeline, during: &'static str) -> Result<()> {
        timeline.wait(self.busy, during)
    }

    /// Has the device copy the piece's first bytes to a part of a buffer.
    fn send(&mut self, timeline: &Timeline, to: Span<'_>, len: u64) -> Result<()> {
        self.commands.begin(Usage::Once)?;
        self.commands.copy(Span { buffer: &self.buffer, offset: 0 }, to, len);
        // For whatever is submitted later; the streams' own barriers know nothing of this copy.
        self.commands.barrier();
        self.commands.end()?;
        self.submit(timeline, to.buffer)
    }

    /// Has the device copy a part of a buffer to the piece.
    fn fetch(&mut self, timeline: &Timeline, from: Span<'_>, len: u64) -> Result<()> {
        self.commands.begin(Usage::Once)?;
        // The host has waited for the work that wrote it, but only a barrier makes its writes visible here.
        self.commands.barrier();
        self.commands.copy(from, Span { buffer: &self.buffer, offset: 0 }, len);
        self.commands.host_barrier();
        self.commands.end()?;
        self.submit(timeline, from.buffer)
    }

    fn submit(&mut self, timeline: &Timeline, other: &Buffer) -> Result<()> {
        let held = Held { buffers: vec![self.buffer.clone(), other.clone()], ..Held::default() };
        let commands = [self.commands.raw()];
        self.busy = timeline.submit(Batch { commands: &commands, held, log: None })?;
        timeline.counters().copies.add(1);
        Ok(())
    }
}
