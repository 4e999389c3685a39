//! Which lanes are active.

use super::loops::{Chunk, LANES, Lanes};

/// Active lanes of a block.
#[derive(Clone, Default)]
pub(super) struct Mask {
    /// All ones where a lane is active; not looked at where all are.
    chunks: Vec<Chunk<u32>>,
    all: bool,
}

impl Mask {
    /// The first lanes of a block; all of them if it is full.
    pub(super) fn first(lanes: usize) -> Mask {
        if lanes.is_multiple_of(LANES) {
            return Mask { chunks: Vec::new(), all: true };
        }
        let mut chunks = vec![[u32::MAX; LANES]; lanes.div_ceil(LANES)];
        if let Some(last) = chunks.last_mut() {
            last[lanes % LANES..].fill(0);
        }
        Mask { chunks, all: false }
    }

    /// Whether all lanes are active.
    pub(super) fn is_all(&self) -> bool {
        self.all
    }

    /// Whether a lane is active.
    pub(super) fn holds(&self, lane: usize) -> bool {
        self.all || self.chunks[lane / LANES][lane % LANES] != 0
    }

    /// Keeps the lanes for which a function of a chunk's number has all ones; says whether any are left. `uniform`: the
    /// function is the same for all chunks.
    pub(super) fn keep(&mut self, chunks: usize, uniform: bool, f: impl Fn(usize) -> Chunk<u32>) -> bool {
        if uniform {
            let one = f(0)[0] != 0;
            if !one {
                (self.all, self.chunks) = (false, vec![[0; LANES]; chunks]);
            }
            return one;
        }
        if self.all {
            self.chunks.clear();
            self.chunks.resize(chunks, [u32::MAX; LANES]);
        }
        let (mut any, mut every) = (0, u32::MAX);
        for (i, chunk) in self.chunks.iter_mut().enumerate() {
            let kept = f(i);
            for lane in 0..LANES {
                chunk[lane] &= kept[lane];
                any |= chunk[lane];
                every &= chunk[lane];
            }
        }
        self.all = every == u32::MAX;
        any != 0
    }

    /// As `keep`, by a bool that must be `wanted`.
    pub(super) fn keep_where(&mut self, chunks: usize, uniform: bool, condition: Lanes<'_, u32>, wanted: bool) -> bool {
        let flip = if wanted { 0 } else { u32::MAX };
        self.keep(chunks, uniform, |i| condition.at(i).map(|word| word ^ flip))
    }

    /// Copies active lanes.
    pub(super) fn copy<T: Blend>(&self, to: &mut [Chunk<T>], from: Lanes<'_, T>) {
        for (i, to) in to.iter_mut().enumerate() {
            let from = from.at(i);
            if self.all {
                *to = *from;
                continue;
            }
            let mask = &self.chunks[i];
            for lane in 0..LANES {
                to[lane] = T::blend(mask[lane], from[lane], to[lane]);
            }
        }
    }
}

/// Choosing by a mask of all ones or none.
pub(super) trait Blend: Copy + Default + 'static {
    /// `a` where the mask is ones, else `b`.
    fn blend(mask: u32, a: Self, b: Self) -> Self;
}

impl Blend for u32 {
    #[inline(always)]
    fn blend(mask: u32, a: u32, b: u32) -> u32 {
        (a & mask) | (b & !mask)
    }
}

impl Blend for u64 {
    #[inline(always)]
    fn blend(mask: u32, a: u64, b: u64) -> u64 {
        let mask = mask as i32 as i64 as u64;
        (a & mask) | (b & !mask)
    }
}
