//! Which arrays an evaluation has seen, and as which entry.
//!
//! Mostly that is written on the arrays themselves. One evaluation at a time can do so; those beside it keep a table.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::array::Array;
use crate::eval::hash::BuildWordHasher;

/// Arrays that were seen.
pub(super) enum Seen {
    /// Marks with this number are ours.
    Marked(MutexGuard<'static, u64>),
    Table(HashMap<usize, usize, BuildWordHasher>),
}

/// The number of the evaluation that marks arrays. Whoever holds it may mark.
static MARKING: Mutex<u64> = Mutex::new(0);

impl Seen {
    pub fn new() -> Seen {
        let mut number = match MARKING.try_lock() {
            Ok(number) => number,
            Err(TryLockError::Poisoned(number)) => number.into_inner(),
            Err(TryLockError::WouldBlock) => return Seen::Table(HashMap::default()),
        };
        *number += 1;
        Seen::Marked(number)
    }

    /// The array's entry.
    pub fn get(&self, array: &Array) -> Option<usize> {
        match self {
            Seen::Marked(number) => {
                let mark = &array.node.mark;
                (mark.number.load(Relaxed) == **number).then(|| mark.entry.load(Relaxed))
            }
            Seen::Table(table) => table.get(&array.id()).copied(),
        }
    }

    pub fn insert(&mut self, array: &Array, entry: usize) {
        match self {
            Seen::Marked(number) => {
                array.node.mark.number.store(**number, Relaxed);
                array.node.mark.entry.store(entry, Relaxed);
            }
            Seen::Table(table) => drop(table.insert(array.id(), entry)),
        }
    }
}
