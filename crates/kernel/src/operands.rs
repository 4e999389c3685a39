//! Walking over what an instruction uses: one list of operands, one list of nested blocks, for every pass.

use crate::ir::{Block, MatrixOp, Op, Tile, Value};

impl Op {
    /// Calls `f` on every operand, in order; not on what nested blocks use.
    pub fn each_operand(&self, mut f: impl FnMut(Value)) {
        visit(self, &mut f);
    }

    /// Replaces every operand; not those of nested blocks.
    pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
        visit_mut(self, &mut |v| *v = f(*v));
    }

    /// The operands, in order.
    pub fn operands(&self) -> Vec<Value> {
        let mut list = Vec::new();
        self.each_operand(|v| list.push(v));
        list
    }

    /// The nested blocks, in order.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Op::If { then, otherwise, .. } => vec![then, otherwise],
            Op::For { body, .. } => vec![body],
            Op::While { test, body, .. } => vec![test, body],
            _ => Vec::new(),
        }
    }

    /// The nested blocks, in order, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Op::If { then, otherwise, .. } => vec![then, otherwise],
            Op::For { body, .. } => vec![body],
            Op::While { test, body, .. } => vec![test, body],
            _ => Vec::new(),
        }
    }

    /// Whether it makes numbers of numbers, other than by looking at the same bits.
    pub(crate) fn is_operation(&self) -> bool {
        matches!(
            self,
            Op::Unary(..)
                | Op::Binary(..)
                | Op::Fma(..)
                | Op::Compare(..)
                | Op::Select(..)
                | Op::Convert { .. }
                | Op::Narrow(..)
                | Op::Encode(..)
                | Op::Decode(..)
        )
    }

    /// Whether the instruction does something besides defining its results: writes, atomics, barriers. A control
    /// instruction does if anything nested does.
    pub fn has_effect(&self) -> bool {
        match self {
            Op::Store { .. } | Op::Atomic { .. } | Op::Barrier(_) => true,
            Op::Matrix(MatrixOp::Store { .. } | MatrixOp::StoreTile { .. }) => true,
            // A loop may not end: dropping it would change that.
            Op::While { .. } => true,
            _ => self.blocks().iter().any(|b| b.insts.iter().any(|i| i.op.has_effect())),
        }
    }
}

fn visit(op: &Op, f: &mut dyn FnMut(Value)) {
    match op {
        Op::Const(_) | Op::Builtin(_) | Op::Barrier(_) => {}
        Op::Arg { index, .. } => index.iter().for_each(|v| f(*v)),
        Op::Unary(_, a)
        | Op::Bitcast(a)
        | Op::Narrow(_, a)
        | Op::Encode(_, a)
        | Op::Decode(_, a)
        | Op::Extract(a, _)
        | Op::Ballot(a)
        | Op::Vote(_, a) => f(*a),
        Op::Convert { value, .. } | Op::Subgroup { value, .. } => f(*value),
        Op::Binary(_, a, b) | Op::Compare(_, a, b) => [a, b].into_iter().for_each(|v| f(*v)),
        Op::Fma(a, b, c) | Op::Select(a, b, c) => [a, b, c].into_iter().for_each(|v| f(*v)),
        Op::Compose(parts) => parts.iter().for_each(|v| f(*v)),
        Op::Load { index, .. } => f(*index),
        Op::Store { index, values, .. } => {
            f(*index);
            values.iter().for_each(|v| f(*v));
        }
        Op::Atomic { index, value, expected, .. } => {
            f(*index);
            f(*value);
            expected.iter().for_each(|v| f(*v));
        }
        Op::Shuffle { value, lane, .. } => [value, lane].into_iter().for_each(|v| f(*v)),
        Op::Dot4 { a, b, accumulator, .. } => [a, b, accumulator].into_iter().for_each(|v| f(*v)),
        Op::Matrix(m) => visit_matrix(m, f),
        Op::If { condition, .. } => f(*condition),
        Op::For { start, end, step, init, .. } => {
            [start, end, step].into_iter().for_each(|v| f(*v));
            init.iter().for_each(|v| f(*v));
        }
        Op::While { init, .. } => init.iter().for_each(|v| f(*v)),
    }
}

fn visit_matrix(op: &MatrixOp, f: &mut dyn FnMut(Value)) {
    match op {
        MatrixOp::Fill(_, a) | MatrixOp::Convert(_, a) => f(*a),
        MatrixOp::Load { index, stride, .. } => [index, stride].into_iter().for_each(|v| f(*v)),
        MatrixOp::Store { matrix, index, stride, .. } => [matrix, index, stride].into_iter().for_each(|v| f(*v)),
        MatrixOp::LoadTile { tile, .. } => tile.values().into_iter().for_each(f),
        MatrixOp::StoreTile { matrix, tile, .. } => {
            f(*matrix);
            tile.values().into_iter().for_each(f);
        }
        MatrixOp::MulAdd(a, b, c) => [a, b, c].into_iter().for_each(|v| f(*v)),
        MatrixOp::Scale(a, b) | MatrixOp::Add(a, b) => [a, b].into_iter().for_each(|v| f(*v)),
    }
}

impl Tile {
    /// The values that make it up.
    pub fn values(&self) -> [Value; 5] {
        [self.rows, self.cols, self.stride, self.row, self.col]
    }

    fn values_mut(&mut self) -> [&mut Value; 5] {
        [&mut self.rows, &mut self.cols, &mut self.stride, &mut self.row, &mut self.col]
    }
}

fn visit_mut(op: &mut Op, f: &mut dyn FnMut(&mut Value)) {
    match op {
        Op::Const(_) | Op::Builtin(_) | Op::Barrier(_) => {}
        Op::Arg { index, .. } => index.iter_mut().for_each(f),
        Op::Unary(_, a)
        | Op::Bitcast(a)
        | Op::Narrow(_, a)
        | Op::Encode(_, a)
        | Op::Decode(_, a)
        | Op::Extract(a, _)
        | Op::Ballot(a)
        | Op::Vote(_, a) => f(a),
        Op::Convert { value, .. } | Op::Subgroup { value, .. } => f(value),
        Op::Binary(_, a, b) | Op::Compare(_, a, b) => [a, b].into_iter().for_each(f),
        Op::Fma(a, b, c) | Op::Select(a, b, c) => [a, b, c].into_iter().for_each(f),
        Op::Compose(parts) => parts.iter_mut().for_each(f),
        Op::Load { index, .. } => f(index),
        Op::Store { index, values, .. } => {
            f(index);
            values.iter_mut().for_each(f);
        }
        Op::Atomic { index, value, expected, .. } => {
            f(index);
            f(value);
            expected.iter_mut().for_each(f);
        }
        Op::Shuffle { value, lane, .. } => [value, lane].into_iter().for_each(f),
        Op::Dot4 { a, b, accumulator, .. } => [a, b, accumulator].into_iter().for_each(f),
        Op::Matrix(m) => visit_matrix_mut(m, f),
        Op::If { condition, .. } => f(condition),
        Op::For { start, end, step, init, .. } => {
            [start, end, step].into_iter().for_each(&mut *f);
            init.iter_mut().for_each(f);
        }
        Op::While { init, .. } => init.iter_mut().for_each(f),
    }
}

fn visit_matrix_mut(op: &mut MatrixOp, f: &mut dyn FnMut(&mut Value)) {
    match op {
        MatrixOp::Fill(_, a) | MatrixOp::Convert(_, a) => f(a),
        MatrixOp::Load { index, stride, .. } => [index, stride].into_iter().for_each(f),
        MatrixOp::Store { matrix, index, stride, .. } => [matrix, index, stride].into_iter().for_each(f),
        MatrixOp::LoadTile { tile, .. } => tile.values_mut().into_iter().for_each(f),
        MatrixOp::StoreTile { matrix, tile, .. } => {
            f(matrix);
            tile.values_mut().into_iter().for_each(f);
        }
        MatrixOp::MulAdd(a, b, c) => [a, b, c].into_iter().for_each(f),
        MatrixOp::Scale(a, b) | MatrixOp::Add(a, b) => [a, b].into_iter().for_each(f),
    }
}
