//! Blocks of one kind of memory, and ranges of them.

use super::block::Block;
use super::free_list::ALIGNMENT;
use crate::calls::Calls;
use crate::error::{Error, Result};

/// A range of a block. It must be given back to the pool it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) block: usize,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// How a pool grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// The size of the first block; later ones double.
    pub(crate) first: u64,
    /// The largest shared block.
    pub(crate) largest: u64,
    /// From this size on an allocation gets a block of its own.
    pub(crate) dedicated: u64,
}

/// The blocks of one kind of memory.
pub(crate) struct Pool {
    memory_type: u32,
    mapped: bool,
    growth: Growth,
    blocks: Vec<Option<Block>>,
    reserved: u64,
}

impl Pool {
    pub(crate) fn new(memory_type: u32, mapped: bool, growth: Growth) -> Self {
        Pool { memory_type, mapped, growth, blocks: Vec::new(), reserved: 0 }
    }

    /// How many bytes the driver has given for this pool.
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved
    }

    pub(crate) fn block(&self, range: Range) -> &Block {
        self.blocks[range.block].as_ref().expect("a range keeps its block")
    }

    /// Finds a range of `size` bytes (a multiple of the alignment), asking the driver for a block if none has room, but
    /// for no more than `capacity` bytes in all.
    pub(crate) fn take(&mut self, calls: &Calls, size: u64, capacity: u64) -> Result<Range> {
        debug_assert_eq!(size % ALIGNMENT, 0, "the allocator rounds sizes");
        if let Some(range) = self.take_existing(size) {
            return Ok(range);
        }
        let mut block_size = self.next_block_size(size);
        loop {
            match self.add_block(calls, block_size, capacity) {
                Ok(()) => break,
                Err(error) if error.is_fatal() || block_size == size => return Err(error),
                // A smaller block may still fit where a large one does not.
                Err(_) => block_size = (block_size / 4).max(size),
            }
        }
        Ok(self.take_existing(size).expect("the new block has room"))
    }

    /// Gives a range back; a block that becomes empty is returned to the driver unless it is the pool's last shared
    /// one.
    pub(crate) fn give_back(&mut self, calls: &Calls, range: Range) {
        let block = self.blocks[range.block].as_mut().expect("a range keeps its block");
        block.free.give_back(range.offset, range.size);
        if block.free.is_empty()
            && (block.size >= self.growth.dedicated.max(self.growth.first + 1) || self.blocks() > 1)
        {
            self.remove(calls, range.block);
        }
    }

    /// Returns all empty blocks to the driver.
    pub(crate) fn trim(&mut self, calls: &Calls) {
        for at in 0..self.blocks.len() {
            if self.blocks[at].as_ref().is_some_and(|block| block.free.is_empty()) {
                self.remove(calls, at);
            }
        }
    }

    /// Returns all blocks to the driver, whether or not ranges of them are taken.
    pub(crate) fn destroy(&mut self, calls: &Calls) {
        (0..self.blocks.len()).for_each(|at| self.remove(calls, at));
    }

    fn blocks(&self) -> usize {
        self.blocks.iter().flatten().count()
    }

    fn take_existing(&mut self, size: u64) -> Option<Range> {
        // Large arrays keep to their own blocks, or they would pin the shared ones.
        let dedicated = size >= self.growth.dedicated;
        let blocks = self.blocks.iter_mut().enumerate().filter_map(|(at, block)| Some((at, block.as_mut()?)));
        blocks.filter(|(_, block)| !dedicated || block.size == size).find_map(|(at, block)| {
            let offset = block.free.take(size)?;
            Some(Range { block: at, offset, size })
        })
    }

    fn next_block_size(&self, size: u64) -> u64 {
        if size >= self.growth.dedicated {
            return size;
        }
        let doubled = self.growth.first << self.blocks().min(8);
        doubled.min(self.growth.largest).max(size)
    }

    fn add_block(&mut self, calls: &Calls, size: u64, capacity: u64) -> Result<()> {
        let available = capacity.saturating_sub(self.reserved);
        if size > available {
            return Err(Error::OutOfMemory { during: "allocate", requested: size, available, capacity });
        }
        let block = Block::new(calls, size, self.memory_type, self.mapped)?;
        self.reserved += size;
        match self.blocks.iter().position(Option::is_none) {
            Some(at) => self.blocks[at] = Some(block),
            None => self.blocks.push(Some(block)),
        }
        Ok(())
    }

    fn remove(&mut self, calls: &Calls, at: usize) {
        if let Some(block) = self.blocks[at].take() {
            self.reserved -= block.size;
            block.destroy(calls);
        }
    }
}
