//! An independent proof that the recorded work is ordered: the second opinion on `hazards`.
//!
//! A stream that logs writes down what went into its command buffers, not what its tracker thought. The checker lays
//! the submissions out in the order of the queue and looks at every pair of commands that touch one allocation, one of
//! them writing. Vulkan orders such a pair when a global barrier stands between the two in submission order, whichever
//! stream recorded it; any other pair is reported. It shares no code and no state with the tracker.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Where logging streams write down what they submit. Clones share one log.
#[derive(Clone, Debug, Default)]
pub struct CommandLog {
    submissions: Arc<Mutex<Vec<Submission>>>,
}

/// One command buffer as it went to the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Place in the order of the queue: the value of the timeline semaphore.
    pub value: u64,
    /// Number of the stream that recorded it.
    pub stream: u64,
    /// What was recorded, in order.
    pub commands: Vec<Command>,
}

/// One recorded command, as far as memory is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A launch, a copy or a fill.
    Work(Work),
    /// A global memory barrier.
    Barrier,
}

/// A command that reads and writes memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The kernel's name, or `copy` or `fill`.
    pub name: Arc<str>,
    /// Allocations it reads.
    pub reads: Vec<u64>,
    /// Allocations it writes.
    pub writes: Vec<u64>,
    /// Commands of one concurrent group are declared to touch different parts of what they share.
    pub group: Option<u64>,
}

/// Two commands that no barrier separates although their order matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// Which order is not kept.
    pub kind: HazardKind,
    /// The allocation both touch.
    pub allocation: u64,
    /// The earlier command.
    pub first: Place,
    /// The later command.
    pub second: Place,
}

/// The three orders that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HazardKind {
    /// The later command may read what the earlier one has not written yet.
    ReadAfterWrite,
    /// The later command may overwrite what the earlier one has not read yet.
    WriteAfterRead,
    /// The earlier command's bytes may win.
    WriteAfterWrite,
}

/// Where a command stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Timeline value of its submission.
    pub submission: u64,
    /// Stream that recorded it.
    pub stream: u64,
    /// Index among the commands of its submission.
    pub index: usize,
    /// The kernel's name, or `copy` or `fill`.
    pub name: Arc<str>,
}

impl CommandLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was submitted so far, in the order of the queue.
    pub fn submissions(&self) -> Vec<Submission> {
        let mut all = self.submissions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.sort_by_key(|submission| submission.value);
        all
    }

    /// Every hazard in what was submitted so far; empty means proven clean.
    pub fn check(&self) -> Vec<Hazard> {
        check(&self.submissions())
    }

    /// Number of logged barriers.
    pub fn barriers(&self) -> usize {
        let count = |submission: &Submission| submission.commands.iter().filter(|c| **c == Command::Barrier).count();
        self.submissions.lock().unwrap_or_else(PoisonError::into_inner).iter().map(count).sum()
    }

    pub(crate) fn push(&self, submission: Submission) {
        self.submissions.lock().unwrap_or_else(PoisonError::into_inner).push(submission);
    }
}

/// Every pair of commands whose order matters and is not kept. `submissions` stand in the order of the queue.
pub fn check(submissions: &[Submission]) -> Vec<Hazard> {
    let mut found = Vec::new();
    let mut accesses: HashMap<u64, Vec<Access<'_>>> = HashMap::new();
    for submission in submissions {
        for (index, command) in submission.commands.iter().enumerate() {
            match command {
                Command::Barrier => accesses.clear(),
                Command::Work(work) => {
                    for access in Access::all(submission, index, work) {
                        let earlier = accesses.entry(access.allocation).or_default();
                        found.extend(earlier.iter().filter_map(|first| first.conflict(&access)));
                        earlier.push(access);
                    }
                }
            }
        }
    }
    found
}

/// One allocation touched by one command since the last barrier.
struct Access<'a> {
    allocation: u64,
    reads: bool,
    writes: bool,
    submission: &'a Submission,
    index: usize,
    work: &'a Work,
}

impl<'a> Access<'a> {
    /// The accesses of a command, one per allocation however often it is named.
    fn all(submission: &'a Submission, index: usize, work: &'a Work) -> Vec<Self> {
        let mut ids: Vec<u64> = work.reads.iter().chain(&work.writes).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let access = |allocation| Access {
            allocation,
            reads: work.reads.contains(&allocation),
            writes: work.writes.contains(&allocation),
            submission,
            index,
            work,
        };
        ids.into_iter().map(access).collect()
    }

    fn conflict(&self, later: &Access<'_>) -> Option<Hazard> {
        let same_group = self.work.group.is_some()
            && self.work.group == later.work.group
            && self.submission.stream == later.submission.stream;
        if same_group {
            return None;
        }
        let kind = match (self.writes, later.reads, later.writes) {
            (true, true, _) => HazardKind::ReadAfterWrite,
            (true, false, true) => HazardKind::WriteAfterWrite,
            (false, _, true) => HazardKind::WriteAfterRead,
            _ => return None,
        };
        Some(Hazard { kind, allocation: self.allocation, first: self.place(), second: later.place() })
    }

    fn place(&self) -> Place {
        Place {
            submission: self.submission.value,
            stream: self.submission.stream,
            index: self.index,
            name: self.work.name.clone(),
        }
    }
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            HazardKind::ReadAfterWrite => "read after write",
            HazardKind::WriteAfterRead => "write after read",
            HazardKind::WriteAfterWrite => "write after write",
        };
        write!(f, "{what} of allocation {} without a barrier: {} then {}", self.allocation, self.first, self.second)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (submission {}, stream {}, command {})", self.name, self.submission, self.stream, self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(reads: &[u64], writes: &[u64]) -> Command {
        Command::Work(Work { name: "k".into(), reads: reads.to_vec(), writes: writes.to_vec(), group: None })
    }

    fn grouped(group: u64, writes: &[u64]) -> Command {
        Command::Work(Work { name: "k".into(), reads: vec![], writes: writes.to_vec(), group: Some(group) })
    }

    fn kinds(submissions: &[Submission]) -> Vec<HazardKind> {
        check(submissions).into_iter().map(|hazard| hazard.kind).collect()
    }

    fn one(commands: Vec<Command>) -> Vec<Submission> {
        vec![Submission { value: 1, stream: 0, commands }]
    }

    #[test]
    fn each_of_the_three_hazards_is_found() {
        assert_eq!(kinds(&one(vec![work(&[], &[1]), work(&[1], &[2])])), [HazardKind::ReadAfterWrite]);
        assert_eq!(kinds(&one(vec![work(&[1], &[2]), work(&[], &[1])])), [HazardKind::WriteAfterRead]);
        assert_eq!(kinds(&one(vec![work(&[], &[1]), work(&[], &[1])])), [HazardKind::WriteAfterWrite]);
    }

    #[test]
    fn a_barrier_between_makes_each_clean() {
        for (first, second) in [
            (work(&[], &[1]), work(&[1], &[2])),
            (work(&[1], &[2]), work(&[], &[1])),
            (work(&[], &[1]), work(&[], &[1])),
        ] {
            assert_eq!(kinds(&one(vec![first, Command::Barrier, second])), []);
        }
    }

    #[test]
    fn reads_do_not_conflict() {
        assert_eq!(kinds(&one(vec![work(&[1], &[2]), work(&[1], &[3])])), []);
    }

    #[test]
    fn a_barrier_too_late_does_not_help() {
        let commands = vec![work(&[], &[1]), work(&[1], &[2]), Command::Barrier];
        assert_eq!(kinds(&one(commands)), [HazardKind::ReadAfterWrite]);
    }

    #[test]
    fn hazards_between_submissions_of_different_streams_are_found() {
        let submissions = [
            Submission { value: 1, stream: 0, commands: vec![work(&[], &[1])] },
            Submission { value: 2, stream: 1, commands: vec![work(&[1], &[2])] },
        ];
        let found = check(&submissions);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].first.submission, found[0].second.submission), (1, 2));
        assert!(found[0].to_string().contains("read after write of allocation 1"));
    }

    #[test]
    fn a_barrier_of_another_stream_counts_in_queue_order() {
        let submissions = [
            Submission { value: 1, stream: 0, commands: vec![work(&[], &[1])] },
            Submission { value: 2, stream: 1, commands: vec![Command::Barrier, work(&[1], &[2])] },
        ];
        assert_eq!(kinds(&submissions), []);
    }

    #[test]
    fn a_concurrent_group_may_share_its_output() {
        assert_eq!(kinds(&one(vec![grouped(7, &[1]), grouped(7, &[1])])), []);
        assert_eq!(kinds(&one(vec![grouped(7, &[1]), grouped(8, &[1])])), [HazardKind::WriteAfterWrite]);
    }

    #[test]
    fn the_log_sorts_submissions_by_queue_order() {
        let log = CommandLog::new();
        log.push(Submission { value: 2, stream: 1, commands: vec![work(&[1], &[])] });
        log.push(Submission { value: 1, stream: 0, commands: vec![work(&[], &[1]), Command::Barrier] });
        assert_eq!(log.check(), []);
        assert_eq!(log.barriers(), 1);
    }
}
