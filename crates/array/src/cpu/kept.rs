//! Host memory that arrays have given up, kept for the next ones: a page that was never written costs a fault, several times
//! what an element-wise op does with it, and memory that comes back is still in the cache.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::Line;

/// Lines from which on memory is kept, 16 KiB: smaller pieces the allocator keeps itself.
const WORTH_KEEPING: usize = 1 << 10;
/// Lines that are kept at most if nobody says otherwise, 512 MiB.
const MOST: usize = 512 << 16;
/// Pieces that are kept at most.
const PIECES: usize = 64;

static KEPT: Mutex<Kept> = Mutex::new(Kept { pieces: Vec::new(), most: MOST });

/// Memory that was given back, whatever is in it, of a [`size_class`].
pub(crate) fn take(lines: usize) -> Option<Vec<Line>> {
    if lines < WORTH_KEEPING { None } else { lock().take(lines) }
}

/// Takes memory back.
pub(crate) fn give_back(memory: Vec<Line>) {
    let lines = memory.len();
    if lines >= WORTH_KEEPING && lines == size_class(lines) {
        let gone = lock().keep(memory);
        // Giving pages back to the system takes long: not while others wait for the lock.
        drop(gone);
    }
}

/// The lines that are taken for as many: a few sizes serve all, with at most an eighth to spare.
pub(crate) fn size_class(lines: usize) -> usize {
    match lines {
        0..WORTH_KEEPING => lines,
        _ => lines.checked_next_multiple_of(1 << (lines.ilog2() - 3)).unwrap_or(lines),
    }
}

/// Bytes that are kept.
pub(crate) fn bytes() -> usize {
    lock().lines() * size_of::<Line>()
}

/// Keeps nothing any longer.
pub(crate) fn clear() {
    let gone = std::mem::take(&mut lock().pieces);
    drop(gone);
}

/// Says how many bytes are kept at most, and gives what was said before.
pub(crate) fn set_limit(bytes: usize) -> usize {
    let mut kept = lock();
    let before = std::mem::replace(&mut kept.most, bytes / size_of::<Line>());
    let gone = kept.forget();
    drop(kept);
    drop(gone);
    before * size_of::<Line>()
}

fn lock() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Pieces of memory, those given up last at the end.
struct Kept {
    pieces: Vec<Vec<Line>>,
    most: usize,
}

impl Kept {
    fn lines(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    fn take(&mut self, lines: usize) -> Option<Vec<Line>> {
        let at = self.pieces.iter().rposition(|piece| piece.len() == lines)?;
        Some(self.pieces.remove(at))
    }

    /// Keeps one more; gives those there is no room for any longer.
    fn keep(&mut self, memory: Vec<Line>) -> Vec<Vec<Line>> {
        self.pieces.push(memory);
        self.forget()
    }

    fn forget(&mut self) -> Vec<Vec<Line>> {
        let (mut lines, mut gone) = (self.lines(), 0);
        while self.pieces.len() - gone > PIECES || lines > self.most {
            lines -= self.pieces[gone].len();
            gone += 1;
        }
        self.pieces.drain(..gone).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(lines: usize) -> Vec<Line> {
        bytemuck::allocation::zeroed_vec(lines)
    }

    #[test]
    fn memory_that_was_kept_is_taken_again() {
        let mut kept = Kept { pieces: Vec::new(), most: MOST };
        let memory = piece(2048);
        let place = memory.as_ptr().addr();
        assert!(kept.keep(memory).is_empty());
        assert!(kept.take(2049).is_none());
        assert_eq!(kept.take(2048).map(|memory| memory.as_ptr().addr()), Some(place));
        assert!(kept.take(2048).is_none());
    }

    #[test]
    fn there_is_a_bound_on_what_is_kept() {
        let mut kept = Kept { pieces: Vec::new(), most: 100_000 };
        let gone: usize = (0..2 * PIECES).map(|_| kept.keep(piece(WORTH_KEEPING)).len()).sum();
        assert_eq!((gone, kept.pieces.len()), (PIECES, PIECES));
        kept.keep(piece(50_000));
        kept.keep(piece(50_000));
        assert_eq!((kept.lines(), kept.pieces.len()), (100_000, 2));
        assert_eq!(kept.keep(piece(100_001)).len(), 3);
    }

    #[test]
    fn sizes_have_at_most_an_eighth_to_spare() {
        for lines in (0..3000).chain([65_535, 65_536, 65_537, 10_000_001, usize::MAX]) {
            let class = size_class(lines);
            assert!(class >= lines && class - lines <= lines / 8, "{lines} lines: {class}");
            assert!(size_class(class) == class || lines == usize::MAX);
        }
    }
}
