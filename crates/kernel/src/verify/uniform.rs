//! Barriers, subgroup operations and cooperative matrices need every invocation of their scope: this refuses those that
//! stand under a condition which certainly differs between invocations.
//!
//! A value's spread says how much it may differ: the same everywhere, unknown, or different, once for the workgroup and once
//! for a subgroup. Places in the workgroup differ, and so does what is computed from them or loaded at such an index; a
//! load at one common index, a vote and a reduction come out the same or unknown. Unknown is accepted: the interpreter
//! tells when it runs.

use super::malformed;
use crate::error::Result;
use crate::ir::{
    BinaryOp, Block, Builtin, CompareOp, GroupKind, Inst, Kernel, Line, MatrixOp, Op, Place, ShuffleKind, Value,
};
use crate::types::{MatrixScope, Type};

pub(super) fn check(kernel: &Kernel) -> Result<()> {
    if !needs_uniform_flow(&kernel.body) {
        return Ok(());
    }
    let mut analysis = Analysis { kernel, spreads: vec![Spreads::SAME; kernel.types.len()], grew: false };
    analysis.block(&kernel.body);
    Flow { analysis: &analysis, spreads: Spreads::SAME, cause: None }.block(&kernel.body)
}

fn needs_uniform_flow(block: &Block) -> bool {
    block.insts.iter().any(|i| scope(&i.op, |_| None).is_some() || i.op.blocks().into_iter().any(needs_uniform_flow))
}

/// How much a value may differ within a scope; each level includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Spread {
    Same,
    Unknown,
    /// By the place in the workgroup: different in a subgroup, but rounding down or comparing may make it the same.
    Consecutive,
    Different,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Spreads {
    group: Spread,
    subgroup: Spread,
}

impl Spreads {
    const SAME: Spreads = Spreads { group: Spread::Same, subgroup: Spread::Same };
    const UNKNOWN: Spreads = Spreads { group: Spread::Unknown, subgroup: Spread::Unknown };
    const DIFFERENT: Spreads = Spreads { group: Spread::Different, subgroup: Spread::Different };

    fn join(self, other: Spreads) -> Spreads {
        Spreads { group: self.group.max(other.group), subgroup: self.subgroup.max(other.subgroup) }
    }

    fn map(self, f: impl Fn(Spread) -> Spread) -> Spreads {
        Spreads { group: f(self.group), subgroup: f(self.subgroup) }
    }
}

struct Analysis<'a> {
    kernel: &'a Kernel,
    spreads: Vec<Spreads>,
    grew: bool,
}

impl Analysis<'_> {
    fn of(&self, value: Value) -> Spreads {
        self.spreads[value.index()]
    }

    fn raise(&mut self, value: Value, spreads: Spreads) {
        let old = self.spreads[value.index()];
        let new = old.join(spreads);
        self.grew |= new != old;
        self.spreads[value.index()] = new;
    }

    fn block(&mut self, block: &Block) {
        for inst in &block.insts {
            match &inst.op {
                Op::If { .. } | Op::For { .. } | Op::While { .. } => self.control(inst),
                _ => {
                    let spreads = self.transfer(inst);
                    inst.results.iter().for_each(|r| self.raise(*r, spreads));
                }
            }
        }
    }

    fn control(&mut self, inst: &Inst) {
        match &inst.op {
            Op::If { condition, then, otherwise } => {
                self.block(then);
                self.block(otherwise);
                for ((&result, &a), &b) in inst.results.iter().zip(&then.yields).zip(&otherwise.yields) {
                    let by = if a == b { Spreads::SAME } else { self.of(*condition) };
                    self.raise(result, self.of(a).join(self.of(b)).join(by));
                }
            }
            Op::For { start, end, step, init, body, .. } => {
                let trips = [start, end, step].into_iter().fold(Spreads::SAME, |all, v| all.join(self.of(*v)));
                self.raise(body.params[0], self.of(*start).join(self.of(*step)));
                self.repeat(|this| {
                    this.carry(init, &body.yields, &body.params[1..]);
                    this.block(body);
                });
                for (&result, &carried) in inst.results.iter().zip(&body.params[1..]) {
                    self.raise(result, self.of(carried).join(trips));
                }
            }
            Op::While { init, test, body } => {
                self.repeat(|this| {
                    this.carry(init, &body.yields, &test.params);
                    this.carry(init, &body.yields, &body.params);
                    this.block(test);
                    this.block(body);
                });
                for (&result, &carried) in inst.results.iter().zip(&test.params) {
                    self.raise(result, self.of(carried).join(self.of(test.yields[0])));
                }
            }
            _ => unreachable!("called on control flow"),
        }
    }

    /// Runs until nothing inside grows: spreads only grow, so this ends.
    fn repeat(&mut self, mut pass: impl FnMut(&mut Self)) {
        let outer = self.grew;
        loop {
            self.grew = false;
            pass(self);
            if !self.grew {
                break;
            }
        }
        // What grew in here reaches the surrounding loop through the results alone, which are raised next.
        self.grew = outer;
    }

    fn carry(&mut self, init: &[Value], yields: &[Value], params: &[Value]) {
        for ((&a, &b), &param) in init.iter().zip(yields).zip(params) {
            self.raise(param, self.of(a).join(self.of(b)));
        }
    }

    fn transfer(&self, inst: &Inst) -> Spreads {
        match &inst.op {
            Op::Const(_) => Spreads::SAME,
            Op::Builtin(b) => self.builtin(*b),
            Op::Load { place: Place::Private(_), .. } => Spreads::UNKNOWN,
            Op::Load { index, .. } => self.of(*index).map(|s| match s {
                Spread::Same | Spread::Unknown => Spread::Unknown,
                Spread::Consecutive | Spread::Different => Spread::Different,
            }),
            Op::Atomic { .. } => Spreads::DIFFERENT,
            Op::Vote(_, value) if self.of(*value).group == Spread::Same => Spreads::SAME,
            Op::Vote(..) | Op::Ballot(_) | Op::Subgroup { kind: GroupKind::Reduce, .. } => {
                Spreads { group: Spread::Unknown, subgroup: Spread::Same }
            }
            Op::Subgroup { value, .. } => self.of(*value).join(Spreads::UNKNOWN),
            Op::Shuffle { kind: ShuffleKind::At, value, lane } if self.of(*lane).subgroup == Spread::Same => {
                let group = self.of(*value).group.min(Spread::Unknown);
                Spreads { group, subgroup: Spread::Same }
            }
            Op::Shuffle { value, .. } => self.of(*value),
            op => {
                let mut all = Spreads::SAME;
                op.each_operand(|v| all = all.join(self.of(v)));
                if coarsens(op) && all.subgroup == Spread::Consecutive {
                    all.subgroup = Spread::Unknown;
                }
                all
            }
        }
    }

    fn builtin(&self, builtin: Builtin) -> Spreads {
        let [x, y, z] = self.kernel.workgroup;
        match builtin {
            Builtin::LocalIndex if x * y * z == 1 => Spreads::SAME,
            Builtin::LocalId(axis) if self.kernel.workgroup[axis as usize] == 1 => Spreads::SAME,
            Builtin::LocalIndex | Builtin::LocalId(0) => {
                Spreads { group: Spread::Different, subgroup: Spread::Consecutive }
            }
            // A row may be as long as a subgroup.
            Builtin::LocalId(_) => Spreads { group: Spread::Different, subgroup: Spread::Unknown },
            Builtin::SubgroupId => Spreads { group: Spread::Different, subgroup: Spread::Same },
            Builtin::Lane => Spreads::DIFFERENT,
            Builtin::GroupId(_) | Builtin::GroupCount(_) | Builtin::SubgroupCount | Builtin::SubgroupSize => {
                Spreads::SAME
            }
        }
    }
}

/// Whether an operation may take the consecutive numbers of a subgroup to one.
fn coarsens(op: &Op) -> bool {
    match op {
        Op::Compare(op, ..) => !matches!(op, CompareOp::Eq | CompareOp::Ne),
        Op::Binary(op, ..) => matches!(
            op,
            BinaryOp::DivS
                | BinaryOp::DivU
                | BinaryOp::ShrS
                | BinaryOp::ShrU
                | BinaryOp::And
                | BinaryOp::MinS
                | BinaryOp::MaxS
                | BinaryOp::MinU
                | BinaryOp::MaxU
        ),
        _ => false,
    }
}

/// Which invocations an instruction needs together.
fn scope(op: &Op, matrix: impl Fn(Value) -> Option<MatrixScope>) -> Option<MatrixScope> {
    match op {
        Op::Barrier(_) => Some(MatrixScope::Workgroup),
        Op::Subgroup { .. } | Op::Shuffle { .. } | Op::Ballot(_) | Op::Vote(..) => Some(MatrixScope::Subgroup),
        Op::Matrix(op) => Some(match op {
            MatrixOp::Fill(ty, _)
            | MatrixOp::Load { ty, .. }
            | MatrixOp::LoadTile { ty, .. }
            | MatrixOp::Convert(ty, _) => ty.scope,
            MatrixOp::Store { matrix: m, .. }
            | MatrixOp::StoreTile { matrix: m, .. }
            | MatrixOp::MulAdd(_, _, m)
            | MatrixOp::Scale(m, _)
            | MatrixOp::Add(m, _) => matrix(*m).unwrap_or(MatrixScope::Subgroup),
        }),
        _ => None,
    }
}

/// A walk that remembers under which conditions it stands.
struct Flow<'a> {
    analysis: &'a Analysis<'a>,
    spreads: Spreads,
    cause: Option<(&'static str, Line)>,
}

impl Flow<'_> {
    fn block(&self, block: &Block) -> Result<()> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&self, inst: &Inst) -> Result<()> {
        let kernel = self.analysis.kernel;
        let of_matrix = |v| match kernel.type_of(v) {
            Type::Matrix(m) => Some(m.scope),
            _ => None,
        };
        if let Some(scope) = scope(&inst.op, of_matrix) {
            self.all_arrive(inst, scope)?;
        }
        let a = self.analysis;
        match &inst.op {
            Op::If { condition, then, otherwise } => {
                let under = self.under(a.of(*condition), inst);
                under.block(then)?;
                under.block(otherwise)
            }
            Op::For { start, end, step, body, .. } => {
                self.under(a.of(*start).join(a.of(*end)).join(a.of(*step)), inst).block(body)
            }
            Op::While { test, body, .. } => {
                let under = self.under(a.of(test.yields[0]), inst);
                under.block(test)?;
                under.block(body)
            }
            _ => Ok(()),
        }
    }

    fn under(&self, spreads: Spreads, inst: &Inst) -> Flow<'_> {
        let joined = self.spreads.join(spreads);
        let cause = if joined != self.spreads { Some((inst.op.name(), inst.line)) } else { self.cause };
        Flow { analysis: self.analysis, spreads: joined, cause }
    }

    fn all_arrive(&self, inst: &Inst, scope: MatrixScope) -> Result<()> {
        let spread = match scope {
            MatrixScope::Workgroup => self.spreads.group,
            MatrixScope::Subgroup => self.spreads.subgroup,
        };
        if spread <= Spread::Unknown {
            return Ok(());
        }
        let (control, line) = self.cause.expect("a spread came from a condition");
        let (name, scope) = (inst.op.name(), scope.name());
        let message = format!(
            "{name} must be reached by the whole {scope} but stands under the {control} at {line}, whose condition \
             differs between invocations."
        );
        Err(malformed(self.analysis.kernel, inst.line, message))
    }
}
