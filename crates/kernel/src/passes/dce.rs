//! Dead code: what has no effect and gives nothing that is used goes, with the results of `if`s and the carried values of loops
//! that nobody asks for. A carried value that feeds only itself is one of them.

use crate::ir::{Block, Inst, Kernel, Op, Value};

/// Removes dead code.
pub fn dce(kernel: &mut Kernel) {
    let mut live = Live { used: vec![false; kernel.types.len()] };
    live.block(&kernel.body);
    live.sweep(&mut kernel.body);
}

struct Live {
    used: Vec<bool>,
}

impl Live {
    fn is(&self, value: &Value) -> bool {
        self.used[value.index()]
    }

    fn mark(&mut self, value: Value) {
        self.used[value.index()] = true;
    }

    fn keeps(&self, inst: &Inst) -> bool {
        inst.results.iter().any(|r| self.is(r)) || inst.op.has_effect()
    }

    /// Marks what a block uses, last instruction first; its yields are the caller's to mark.
    fn block(&mut self, block: &Block) {
        for inst in block.insts.iter().rev() {
            if self.keeps(inst) {
                self.inst(inst);
            }
        }
    }

    fn inst(&mut self, inst: &Inst) {
        match &inst.op {
            Op::If { condition, then, otherwise } => {
                self.mark(*condition);
                for (i, result) in inst.results.iter().enumerate() {
                    if self.is(result) {
                        self.mark(then.yields[i]);
                        self.mark(otherwise.yields[i]);
                    }
                }
                self.block(then);
                self.block(otherwise);
            }
            Op::For { start, end, step, init, body, .. } => {
                [start, end, step].into_iter().for_each(|v| self.mark(*v));
                self.carried(inst, init, &body.yields, &[&body.params[1..]], &[body]);
            }
            Op::While { init, test, body } => {
                self.mark(test.yields[0]);
                self.carried(inst, init, &body.yields, &[&test.params, &body.params], &[test, body]);
            }
            op => op.each_operand(|v| self.mark(v)),
        }
    }

    /// Marks a loop until no further carried value turns out to be used.
    fn carried(&mut self, inst: &Inst, init: &[Value], yields: &[Value], params: &[&[Value]], blocks: &[&Block]) {
        let mut known = 0;
        loop {
            let used: Vec<usize> = (0..init.len()).filter(|i| self.is_carried(inst, params, *i)).collect();
            for &i in &used {
                self.mark(init[i]);
                self.mark(yields[i]);
            }
            blocks.iter().for_each(|b| self.block(b));
            if known == used.len() && known == (0..init.len()).filter(|i| self.is_carried(inst, params, *i)).count() {
                break;
            }
            known = used.len();
        }
    }

    fn is_carried(&self, inst: &Inst, params: &[&[Value]], i: usize) -> bool {
        self.is(&inst.results[i]) || params.iter().any(|p| self.is(&p[i]))
    }

    fn sweep(&self, block: &mut Block) {
        block.insts.retain(|inst| self.keeps(inst));
        for inst in &mut block.insts {
            self.trim(inst);
            for nested in inst.op.blocks_mut() {
                self.sweep(nested);
            }
        }
    }

    /// Drops the results of control flow that nobody uses.
    fn trim(&self, inst: &mut Inst) {
        let kept: Vec<bool> = match &inst.op {
            Op::If { .. } => inst.results.iter().map(|r| self.is(r)).collect(),
            Op::For { body, .. } => {
                (0..inst.results.len()).map(|i| self.is_carried(inst, &[&body.params[1..]], i)).collect()
            }
            Op::While { test, body, .. } => {
                (0..inst.results.len()).map(|i| self.is_carried(inst, &[&test.params, &body.params], i)).collect()
            }
            _ => return,
        };
        if kept.iter().all(|k| *k) {
            return;
        }
        let mut flags = kept.iter();
        inst.results.retain(|_| *flags.next().expect("there is one for every result"));
        match &mut inst.op {
            Op::If { then, otherwise, .. } => {
                keep(&mut then.yields, &kept, 0);
                keep(&mut otherwise.yields, &kept, 0);
            }
            Op::For { init, body, .. } => {
                keep(init, &kept, 0);
                keep(&mut body.params, &kept, 1);
                keep(&mut body.yields, &kept, 0);
            }
            Op::While { init, test, body } => {
                for list in [init, &mut test.params, &mut body.params, &mut body.yields] {
                    keep(list, &kept, 0);
                }
            }
            _ => unreachable!("returned above"),
        }
    }
}

/// Keeps the first `before` values, and of the others those marked.
fn keep(values: &mut Vec<Value>, kept: &[bool], before: usize) {
    let mut i = 0;
    values.retain(|_| {
        i += 1;
        i <= before || kept[i - 1 - before]
    });
}
