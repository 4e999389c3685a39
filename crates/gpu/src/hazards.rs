//! Which operations need a barrier before them, decided by whole allocations as MLX does it.
//!
//! Every operation gets a serial number and every allocation remembers the serial of its last read and of its last
//! write. Two operations conflict when they touch one allocation, one of them writes, and no barrier stands between
//! them; so a hazard is a remembered serial at or after the last barrier. Nothing is cleared at a barrier: moving one
//! number forgets everything before it. One map lookup per buffer decides the barrier and tells whether the open
//! command buffer has to keep the buffer alive.
//!
//! Barriers act on everything submitted earlier to the queue, so the tracker lives as long as its stream and carries
//! over from one command buffer to the next.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Forgotten entries are swept when the map has grown to this size.
const SWEEP_AT: usize = 4096;

/// Tells for each operation whether it must wait for the ones before it.
#[derive(Debug, Default)]
pub(crate) struct HazardTracker {
    /// Serial of the operation being described; shared by all operations of a concurrent group.
    serial: u64,
    /// First serial after the last barrier.
    barrier: u64,
    /// First serial of the open command buffer.
    opened: u64,
    hazard: bool,
    concurrent: bool,
    planted: bool,
    sweep_at: usize,
    uses: HashMap<u64, Use, BuildHasherDefault<IdHasher>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Use {
    read: u64,
    written: u64,
}

impl Use {
    /// Whether what was done needs a barrier before the operation `serial` reads.
    fn hinders_read(self, barrier: u64, serial: u64) -> bool {
        pending(self.written, barrier, serial)
    }

    /// Whether what was done needs a barrier before the operation `serial` writes.
    fn hinders_write(self, barrier: u64, serial: u64) -> bool {
        pending(self.written, barrier, serial) || pending(self.read, barrier, serial)
    }
}

impl HazardTracker {
    /// Starts describing the next operation: then every `write`, then every `read`, then `finish`.
    ///
    /// Writes come first: an operation that updates a buffer in place would otherwise hide the reads before it.
    pub(crate) fn begin(&mut self) {
        self.serial = self.next();
        if self.uses.len() >= self.sweep_at.max(SWEEP_AT) {
            self.sweep();
        }
    }

    /// The operation writes this allocation. Returns whether this is its first use in the open command buffer.
    pub(crate) fn write(&mut self, allocation: u64) -> bool {
        let (serial, barrier) = (self.serial, self.barrier);
        let entry = self.uses.entry(allocation).or_default();
        let last = *entry;
        entry.written = serial;
        self.hazard |= last.hinders_write(barrier, serial);
        last.read.max(last.written) < self.opened
    }

    /// The operation reads this allocation. Returns whether this is its first use in the open command buffer.
    pub(crate) fn read(&mut self, allocation: u64) -> bool {
        let (serial, barrier) = (self.serial, self.barrier);
        let entry = self.uses.entry(allocation).or_default();
        let last = *entry;
        entry.read = serial;
        self.hazard |= last.hinders_read(barrier, serial);
        last.read.max(last.written) < self.opened
    }

    /// Ends the description. Returns whether a barrier must stand before the operation.
    pub(crate) fn finish(&mut self) -> bool {
        let needed = std::mem::take(&mut self.hazard);
        if needed {
            self.barrier = self.serial;
        }
        // Short-circuits: a planted hazard waits for a barrier that is needed.
        needed && !std::mem::take(&mut self.planted)
    }

    /// Whether a barrier will have to stand before an operation that writes and reads these allocations, if it is next.
    /// One may come all the same, where the map is swept.
    pub(crate) fn would_wait(
        &self,
        writes: impl IntoIterator<Item = u64>,
        reads: impl IntoIterator<Item = u64>,
    ) -> bool {
        let (serial, barrier) = (self.next(), self.barrier);
        let last = |allocation: u64| self.uses.get(&allocation).copied().unwrap_or_default();
        self.hazard
            || writes.into_iter().any(|id| last(id).hinders_write(barrier, serial))
            || reads.into_iter().any(|id| last(id).hinders_read(barrier, serial))
    }

    /// Serial of the operation that is described next.
    fn next(&self) -> u64 {
        if self.concurrent { self.serial } else { self.serial + 1 }
    }

    /// The next operation waits for everything before it, whatever it touches.
    pub(crate) fn require_barrier(&mut self) {
        self.hazard = true;
    }

    /// A barrier was recorded outside of any operation.
    pub(crate) fn passed_barrier(&mut self) {
        self.hazard = false;
        self.barrier = self.serial + 1;
    }

    /// A new command buffer opens: it holds no buffer yet.
    pub(crate) fn open_command_buffer(&mut self) {
        self.opened = self.serial + 1;
    }

    /// From here to `end_concurrent` operations are declared independent of each other, though not of what came before.
    pub(crate) fn begin_concurrent(&mut self) {
        self.serial += 1;
        self.concurrent = true;
    }

    /// Ends the group begun by `begin_concurrent`.
    pub(crate) fn end_concurrent(&mut self) {
        self.concurrent = false;
    }

    /// The number of the open concurrent group.
    pub(crate) fn group(&self) -> Option<u64> {
        self.concurrent.then_some(self.serial)
    }

    /// The next barrier that is needed is left out: a planted hazard, which the checker must find.
    pub(crate) fn plant_hazard(&mut self) {
        self.planted = true;
    }

    fn sweep(&mut self) {
        let oldest = self.barrier.min(self.opened);
        self.uses.retain(|_, last| last.read.max(last.written) >= oldest);
        // Where most of it is still needed, a barrier lets the next sweep forget it.
        self.hazard |= 2 * self.uses.len() >= self.sweep_at;
        self.sweep_at = SWEEP_AT.max(2 * self.uses.len());
    }
}

/// Whether a use at serial `last` still needs a barrier before the operation `serial`.
fn pending(last: u64, barrier: u64, serial: u64) -> bool {
    last != 0 && last >= barrier && last != serial
}

/// Allocation ids are consecutive numbers: one multiplication spreads them well enough.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = (self.0 ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(tracker: &mut HazardTracker, reads: &[u64], writes: &[u64]) -> bool {
        let foretold = tracker.would_wait(writes.iter().copied(), reads.iter().copied());
        let planted = tracker.planted;
        let waits = described(tracker, reads, writes);
        assert!(waits == foretold || planted, "{foretold} was foretold but {waits} it is");
        waits
    }

    fn described(tracker: &mut HazardTracker, reads: &[u64], writes: &[u64]) -> bool {
        tracker.begin();
        for &id in writes {
            tracker.write(id);
        }
        for &id in reads {
            tracker.read(id);
        }
        tracker.finish()
    }

    #[test]
    fn a_read_after_a_write_needs_a_barrier() {
        let mut tracker = HazardTracker::default();
        assert!(!operation(&mut tracker, &[], &[1]));
        assert!(operation(&mut tracker, &[1], &[2]));
    }

    #[test]
    fn a_write_after_a_read_needs_a_barrier() {
        let mut tracker = HazardTracker::default();
        assert!(!operation(&mut tracker, &[1], &[2]));
        assert!(operation(&mut tracker, &[3], &[1]));
    }

    #[test]
    fn a_write_after_a_write_needs_a_barrier() {
        let mut tracker = HazardTracker::default();
        assert!(!operation(&mut tracker, &[], &[1]));
        assert!(operation(&mut tracker, &[], &[1]));
    }

    #[test]
    fn reads_of_one_buffer_run_side_by_side() {
        let mut tracker = HazardTracker::default();
        assert!(!operation(&mut tracker, &[1], &[2]));
        assert!(!operation(&mut tracker, &[1], &[3]));
        assert!(!operation(&mut tracker, &[1], &[4]));
    }

    #[test]
    fn one_barrier_serves_everything_before_it() {
        let mut tracker = HazardTracker::default();
        for id in 1..=4 {
            assert!(!operation(&mut tracker, &[], &[id]));
        }
        assert!(operation(&mut tracker, &[1], &[11]));
        for id in 2..=4 {
            assert!(!operation(&mut tracker, &[id], &[10 + id]));
        }
        assert!(operation(&mut tracker, &[11, 12], &[20]));
    }

    #[test]
    fn an_update_in_place_is_no_hazard_with_itself() {
        let mut tracker = HazardTracker::default();
        assert!(!operation(&mut tracker, &[1], &[1]));
        assert!(operation(&mut tracker, &[1], &[1]));
        assert!(operation(&mut tracker, &[1], &[1]));
    }

    #[test]
    fn an_update_in_place_waits_for_earlier_reads() {
        let mut tracker = HazardTracker::default();
        assert!(!operation(&mut tracker, &[1], &[2]));
        assert!(operation(&mut tracker, &[1], &[1]));
    }

    #[test]
    fn hazards_reach_across_command_buffers() {
        let mut tracker = HazardTracker::default();
        assert!(!operation(&mut tracker, &[], &[1]));
        tracker.open_command_buffer();
        assert!(operation(&mut tracker, &[1], &[2]));
    }

    #[test]
    fn a_command_buffer_learns_of_each_buffer_once() {
        let mut tracker = HazardTracker::default();
        tracker.open_command_buffer();
        tracker.begin();
        assert!(tracker.write(1));
        assert!(!tracker.read(1));
        tracker.finish();
        tracker.begin();
        assert!(!tracker.read(1));
        assert!(tracker.read(2));
        tracker.finish();
        tracker.open_command_buffer();
        tracker.begin();
        assert!(tracker.read(1));
        tracker.finish();
    }

    #[test]
    fn a_concurrent_group_waits_for_others_but_not_for_itself() {
        let mut tracker = HazardTracker::default();
        assert!(!operation(&mut tracker, &[], &[1]));
        tracker.begin_concurrent();
        assert!(operation(&mut tracker, &[1], &[9]));
        assert!(!operation(&mut tracker, &[2], &[9]));
        assert!(!operation(&mut tracker, &[3], &[9]));
        tracker.end_concurrent();
        assert!(operation(&mut tracker, &[9], &[10]));
    }

    #[test]
    fn a_required_barrier_comes_once() {
        let mut tracker = HazardTracker::default();
        tracker.require_barrier();
        assert!(operation(&mut tracker, &[1], &[2]));
        assert!(!operation(&mut tracker, &[1], &[3]));
        tracker.passed_barrier();
        assert!(!operation(&mut tracker, &[2], &[1]));
    }

    #[test]
    fn a_planted_hazard_swallows_one_barrier() {
        let mut tracker = HazardTracker::default();
        tracker.plant_hazard();
        assert!(!operation(&mut tracker, &[], &[1]));
        assert!(!operation(&mut tracker, &[1], &[2]));
        assert!(operation(&mut tracker, &[2], &[3]));
    }

    #[test]
    fn the_map_stays_bounded_without_any_hazard() {
        let mut tracker = HazardTracker::default();
        for id in 1..=100_000u64 {
            if id % 100 == 0 {
                tracker.open_command_buffer();
            }
            described(&mut tracker, &[], &[id]);
        }
        assert!(tracker.uses.len() <= 2 * SWEEP_AT);
        assert!(operation(&mut tracker, &[100_000], &[1]));
    }
}
