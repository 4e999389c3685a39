//! The words of the language: one name for every operation, shared by printed kernels and by errors.

use crate::ir::{
    Access, AtomicOp, BinaryOp, Builtin, CompareOp, Fence, GroupKind, MatrixOp, Op, ShuffleKind, UnaryOp, Vote,
};
use crate::types::MatrixLayout;

impl Access {
    /// The name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::ReadWrite => "read_write",
        }
    }
}

impl UnaryOp {
    /// The name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "neg",
            UnaryOp::Abs => "abs",
            UnaryOp::Not => "not",
            UnaryOp::Floor => "floor",
            UnaryOp::Ceil => "ceil",
            UnaryOp::Trunc => "trunc",
            UnaryOp::RoundEven => "round_even",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::CountOnes => "count_ones",
            UnaryOp::LeadingZeros => "leading_zeros",
            UnaryOp::TrailingZeros => "trailing_zeros",
            UnaryOp::ReverseBits => "reverse_bits",
        }
    }
}

impl BinaryOp {
    /// The name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::DivS => "div_s",
            BinaryOp::DivU => "div_u",
            BinaryOp::RemS => "rem_s",
            BinaryOp::RemU => "rem_u",
            BinaryOp::MulHighS => "mul_high_s",
            BinaryOp::MulHighU => "mul_high_u",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::MinS => "min_s",
            BinaryOp::MaxS => "max_s",
            BinaryOp::MinU => "min_u",
            BinaryOp::MaxU => "max_u",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
            BinaryOp::Shl => "shl",
            BinaryOp::ShrS => "shr_s",
            BinaryOp::ShrU => "shr_u",
        }
    }
}

impl CompareOp {
    /// The name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::LtU => "lt_u",
            CompareOp::LeU => "le_u",
        }
    }
}

impl AtomicOp {
    /// The name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            AtomicOp::Add => "atomic_add",
            AtomicOp::Min => "atomic_min",
            AtomicOp::Max => "atomic_max",
            AtomicOp::And => "atomic_and",
            AtomicOp::Or => "atomic_or",
            AtomicOp::Xor => "atomic_xor",
            AtomicOp::Exchange => "atomic_exchange",
            AtomicOp::CompareExchange => "atomic_compare_exchange",
        }
    }
}

impl GroupKind {
    /// The name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            GroupKind::Reduce => "reduce",
            GroupKind::Inclusive => "inclusive",
            GroupKind::Exclusive => "exclusive",
        }
    }
}

impl ShuffleKind {
    /// The name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            ShuffleKind::At => "shuffle",
            ShuffleKind::Xor => "shuffle_xor",
            ShuffleKind::Up => "shuffle_up",
            ShuffleKind::Down => "shuffle_down",
        }
    }
}

impl Vote {
    /// The name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            Vote::All => "all",
            Vote::Any => "any",
        }
    }
}

impl Fence {
    /// The name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            Fence::Shared => "shared",
            Fence::All => "all",
        }
    }
}

impl MatrixLayout {
    /// The name in printed kernels.
    pub fn name(self) -> &'static str {
        match self {
            MatrixLayout::RowMajor => "row_major",
            MatrixLayout::ColumnMajor => "column_major",
        }
    }
}

impl Builtin {
    /// The name in printed kernels, without the axis.
    pub fn name(self) -> &'static str {
        match self {
            Builtin::LocalId(_) => "local_id",
            Builtin::GroupId(_) => "group_id",
            Builtin::GroupCount(_) => "group_count",
            Builtin::LocalIndex => "local_index",
            Builtin::SubgroupId => "subgroup_id",
            Builtin::SubgroupCount => "subgroup_count",
            Builtin::Lane => "lane",
            Builtin::SubgroupSize => "subgroup_size",
        }
    }

    /// The axis of the builtins that have one.
    pub fn axis(self) -> Option<u8> {
        match self {
            Builtin::LocalId(a) | Builtin::GroupId(a) | Builtin::GroupCount(a) => Some(a),
            _ => None,
        }
    }
}

impl MatrixOp {
    /// The name in printed kernels.
    pub fn name(&self) -> &'static str {
        match self {
            MatrixOp::Fill(..) => "matrix_fill",
            MatrixOp::Load { .. } => "matrix_load",
            MatrixOp::Store { .. } => "matrix_store",
            MatrixOp::LoadTile { .. } => "matrix_load_tile",
            MatrixOp::StoreTile { .. } => "matrix_store_tile",
            MatrixOp::MulAdd(..) => "matrix_mul_add",
            MatrixOp::Scale(..) => "matrix_scale",
            MatrixOp::Add(..) => "matrix_add",
            MatrixOp::Convert(..) => "matrix_convert",
        }
    }
}

impl Op {
    /// The name in printed kernels and errors.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Const(_) => "const",
            Op::Builtin(b) => b.name(),
            Op::Arg { .. } => "arg",
            Op::Unary(op, _) => op.name(),
            Op::Binary(op, ..) => op.name(),
            Op::Fma(..) => "fma",
            Op::Compare(op, ..) => op.name(),
            Op::Select(..) => "select",
            Op::Convert { signed: true, .. } => "convert_s",
            Op::Convert { signed: false, .. } => "convert_u",
            Op::Bitcast(_) => "bitcast",
            Op::Narrow(..) => "narrow",
            Op::Encode(..) => "encode",
            Op::Decode(..) => "decode",
            Op::Compose(_) => "compose",
            Op::Extract(..) => "extract",
            Op::Load { .. } => "load",
            Op::Store { .. } => "store",
            Op::Atomic { op, .. } => op.name(),
            Op::Barrier(_) => "barrier",
            Op::Subgroup { .. } => "subgroup",
            Op::Shuffle { kind, .. } => kind.name(),
            Op::Ballot(_) => "ballot",
            Op::Vote(vote, _) => vote.name(),
            Op::Dot4 { .. } => "dot4",
            Op::Matrix(op) => op.name(),
            Op::If { .. } => "if",
            Op::For { .. } => "for",
            Op::While { .. } => "while",
        }
    }
}
