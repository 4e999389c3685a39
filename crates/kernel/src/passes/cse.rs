//! Common subexpressions: what was computed in a surrounding block is not computed again.
//!
//! Constants, builtins and plain arguments are wanted everywhere, so they move to the top of the kernel. A load is
//! repeated once something may have written what it reads: a write through the same buffer or array, or a barrier. A write
//! through another buffer may not (see `Access`: what is written through one buffer is not read afterwards through
//! another), and a buffer that is only read is never written.

use super::key::{Key, QuickMap, constant_key};
use crate::ir::{Access, Block, Inst, Kernel, MatrixOp, Op, Place, Value};

/// Removes common subexpressions.
pub fn cse(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    let mut pass = Pass::new(kernel);
    pass.block(&mut body);
    let mut insts = pass.top;
    insts.append(&mut body.insts);
    kernel.body = Block { insts, ..body };
}

struct Pass<'a> {
    kernel: &'a Kernel,
    /// What stands for each value.
    stands: Vec<Value>,
    /// Constants among the values.
    constants: QuickMap<Value, u64>,
    /// What was computed: its first result, and the block that holds it.
    seen: QuickMap<Key, (Value, usize)>,
    /// The other results of wide loads, by the first.
    others: QuickMap<Value, Vec<Value>>,
    /// For every block entered so far whether it is still open; the kernel's body is the first. What stands in a closed block
    /// is out of reach.
    open: Vec<bool>,
    /// The innermost open block.
    at: usize,
    top: Vec<Inst>,
    epochs: Epochs,
}

impl<'a> Pass<'a> {
    fn new(kernel: &'a Kernel) -> Pass<'a> {
        Pass {
            kernel,
            stands: (0..kernel.types.len() as u32).map(Value).collect(),
            constants: QuickMap::default(),
            seen: QuickMap::with_capacity_and_hasher(kernel.types.len() / 2, Default::default()),
            others: QuickMap::default(),
            open: Vec::new(),
            at: 0,
            top: Vec::new(),
            epochs: Epochs::new(kernel),
        }
    }

    fn block(&mut self, block: &mut Block) {
        let outer = std::mem::replace(&mut self.at, self.open.len());
        self.open.push(true);
        block.insts.retain_mut(|inst| self.inst(inst));
        block.yields.iter_mut().for_each(|v| *v = self.stands[v.index()]);
        self.open[self.at] = false;
        self.at = outer;
    }

    /// Whether the instruction is still needed where it stands.
    fn inst(&mut self, inst: &mut Inst) -> bool {
        inst.op.map_operands(|v| self.stands[v.index()]);
        if let Some(key) = self.everywhere(inst) {
            if !self.replace(key, inst, 0) {
                if let Op::Const(bits) = inst.op {
                    self.constants.insert(inst.results[0], bits);
                }
                let (results, op) = (std::mem::take(&mut inst.results), inst.op.clone());
                self.top.push(Inst { results, op, line: inst.line });
            }
            return false;
        }
        if let Some(key) = Key::of(self.kernel, inst, &self.epochs) {
            if self.replace(key, inst, self.at) {
                return false;
            }
            if inst.results.len() > 1 {
                self.others.insert(inst.results[0], inst.results[1..].to_vec());
            }
            return true;
        }
        self.effects(inst);
        true
    }

    /// The key of what moves to the top.
    fn everywhere(&self, inst: &Inst) -> Option<Key> {
        let movable = match inst.op {
            Op::Const(_) | Op::Builtin(_) | Op::Arg { index: None, .. } => true,
            Op::Arg { param, index: Some(index) } => {
                let len = self.kernel.scalars[param as usize].len as u64;
                self.constants.get(&index).is_some_and(|bits| *bits < len)
            }
            _ => false,
        };
        if movable { constant_key(self.kernel, inst) } else { None }
    }

    /// Lets an earlier instruction stand for this one, if there is one; otherwise this is the first, in the given block.
    fn replace(&mut self, key: Key, inst: &Inst, block: usize) -> bool {
        let (first, holder) = *self.seen.entry(key).or_insert((inst.results[0], block));
        if first == inst.results[0] {
            return false;
        }
        if !self.open[holder] {
            self.seen.insert(key, (inst.results[0], block));
            return false;
        }
        self.stands[inst.results[0].index()] = first;
        for (mine, theirs) in inst.results[1..].iter().zip(self.others.get(&first).into_iter().flatten()) {
            self.stands[mine.index()] = *theirs;
        }
        true
    }

    fn effects(&mut self, inst: &mut Inst) {
        match &mut inst.op {
            Op::If { then, otherwise, .. } => {
                let before = self.epochs.clone();
                self.block(then);
                self.epochs.restart(&before);
                self.block(otherwise);
                self.epochs.restart(&before);
                self.epochs.note(&inst.op);
            }
            Op::For { .. } | Op::While { .. } => {
                // A turn may see what an earlier one wrote.
                self.epochs.note(&inst.op);
                for nested in inst.op.blocks_mut() {
                    self.block(nested);
                }
                self.epochs.note(&inst.op);
            }
            op => self.epochs.note(op),
        }
    }
}

/// When each place was last written, as far as one can tell.
#[derive(Clone)]
pub(super) struct Epochs {
    clock: u32,
    buffers: Vec<u32>,
    shared: Vec<u32>,
    private: Vec<u32>,
    /// Buffers the kernel writes.
    written: Vec<bool>,
}

impl Epochs {
    fn new(kernel: &Kernel) -> Epochs {
        Epochs {
            clock: 0,
            buffers: vec![0; kernel.buffers.len()],
            shared: vec![0; kernel.shared.len()],
            private: vec![0; kernel.private.len()],
            written: kernel.buffers.iter().map(|b| b.access != Access::Read).collect(),
        }
    }

    /// A number that changes whenever the place may have been written.
    pub fn at(&self, place: Place) -> u32 {
        match place {
            Place::Buffer(i) => self.buffers[i as usize],
            Place::Shared(i) => self.shared[i as usize],
            Place::Private(i) => self.private[i as usize],
        }
    }

    /// Goes back to what was known; the clock runs on, so that no number comes twice.
    fn restart(&mut self, before: &Epochs) {
        let clock = self.clock;
        *self = before.clone();
        self.clock = clock;
    }

    /// Notes what an instruction, and those nested in it, may write.
    fn note(&mut self, op: &Op) {
        self.clock += 1;
        match op {
            Op::Store { place, .. } | Op::Atomic { place, .. } => self.write(*place),
            Op::Matrix(MatrixOp::Store { place, .. }) => self.write(*place),
            Op::Matrix(MatrixOp::StoreTile { buffer, .. }) => self.write(Place::Buffer(*buffer)),
            Op::Barrier(_) => {
                self.shared.fill(self.clock);
                for (epoch, written) in self.buffers.iter_mut().zip(&self.written) {
                    if *written {
                        *epoch = self.clock;
                    }
                }
            }
            _ => {
                for block in op.blocks() {
                    block.insts.iter().for_each(|i| self.note(&i.op));
                }
            }
        }
    }

    fn write(&mut self, place: Place) {
        match place {
            Place::Buffer(i) => self.buffers[i as usize] = self.clock,
            Place::Shared(i) => self.shared[i as usize] = self.clock,
            Place::Private(i) => self.private[i as usize] = self.clock,
        }
    }
}
