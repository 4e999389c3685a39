//! What a kernel uses, found in one walk before emission.

use crate::ir::{Block, Builtin, Fence, Kernel, MatrixOp, Op, Place};
use crate::types::Elem;

pub(super) struct Survey {
    /// Which buffers are accessed: their addresses are read at the start.
    pub buffers: Vec<bool>,
    /// Which shared arrays of floats are combined into atomically: those are kept as integers.
    pub float_atomics: Vec<bool>,
    /// Whether a barrier orders buffers: then accesses to the written ones take part in it.
    pub orders_buffers: bool,
    /// Whether the number of invocations in a subgroup matters.
    pub subgroups: bool,
}

impl Survey {
    pub fn of(kernel: &Kernel) -> Survey {
        let mut survey = Survey {
            buffers: vec![false; kernel.buffers.len()],
            float_atomics: vec![false; kernel.shared.len()],
            orders_buffers: false,
            subgroups: false,
        };
        survey.block(&kernel.body);
        survey
    }

    fn block(&mut self, block: &Block) {
        for inst in &block.insts {
            self.op(&inst.op);
        }
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Load { place, .. } | Op::Store { place, .. } => self.place(*place),
            Op::Atomic { place, elem, .. } => {
                self.place(*place);
                if let (Place::Shared(array), Elem::F32) = (place, elem) {
                    self.float_atomics[*array as usize] = true;
                }
            }
            Op::Barrier(fence) => self.orders_buffers |= *fence == Fence::All,
            Op::Subgroup { .. } | Op::Shuffle { .. } | Op::Ballot(_) | Op::Vote(..) => self.subgroups = true,
            Op::Builtin(Builtin::Lane | Builtin::SubgroupId | Builtin::SubgroupCount | Builtin::SubgroupSize) => {
                self.subgroups = true
            }
            Op::Matrix(op) => self.matrix(op),
            Op::If { then, otherwise, .. } => {
                self.block(then);
                self.block(otherwise);
            }
            Op::For { body, .. } => self.block(body),
            Op::While { test, body, .. } => {
                self.block(test);
                self.block(body);
            }
            _ => {}
        }
    }

    fn matrix(&mut self, op: &MatrixOp) {
        self.subgroups = true;
        match op {
            MatrixOp::Load { place, .. } | MatrixOp::Store { place, .. } => self.place(*place),
            MatrixOp::LoadTile { buffer, .. } | MatrixOp::StoreTile { buffer, .. } => {
                self.buffers[*buffer as usize] = true;
            }
            _ => {}
        }
    }

    fn place(&mut self, place: Place) {
        if let Place::Buffer(buffer) = place {
            self.buffers[buffer as usize] = true;
        }
    }
}
