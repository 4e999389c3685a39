//! The checked build: every access is guarded, and the first one out of bounds is reported instead of done.
//!
//! A guarded access out of range reads zero, or writes nothing. The first to fail, of all invocations, claims the report, a
//! buffer of [`REPORT_WORDS`] u32 that must be zero before the launch:
//!
//! | word | |
//! |---|---|
//! | 0 | 1 once claimed |
//! | 1 | site number; its highest bit set if the index was misaligned rather than out of range |
//! | 2, 3 | the index, low word first |
//! | 4, 5 | the number of elements there are (for a misaligned index: what it must be a multiple of) |
//!
//! The lengths of the original buffers, in bytes, are an array argument of I64. The guards of cooperative matrices look at the
//! last element of the whole matrix, so that the invocations that hold it together agree.

use super::guard::Writer;
use crate::error::Error;
use crate::ir::{
    Access, BinaryOp, Block, BufferParam, Checked, Inst, Kernel, MatrixOp, Op, Place, ScalarParam, Site, Tile, Value,
    Vote,
};
use crate::types::{Elem, Matrix, MatrixLayout, MatrixScope, Scalar, Type};

/// Size of the report.
pub const REPORT_WORDS: usize = 6;

/// Set in the site number of a misaligned access.
const MISALIGNED: u32 = 1 << 31;

/// Guards every access of a kernel. A kernel that is checked already stays as it is.
pub fn checked(kernel: &mut Kernel) {
    if kernel.checked.is_some() {
        return;
    }
    let (report, bounds) = (kernel.buffers.len() as u32, kernel.scalars.len() as u32);
    let mut pass = Pass { bounds, report, sites: Vec::new() };
    let mut body = std::mem::take(&mut kernel.body);
    pass.block(kernel, &mut body);
    kernel.body = body;
    kernel.scalars.push(ScalarParam { name: "bounds".into(), scalar: Scalar::I64, len: report.max(1) });
    let report_param = BufferParam { name: "report".into(), elem: Elem::U32, access: Access::ReadWrite, align: 4 };
    kernel.buffers.push(report_param);
    kernel.checked = Some(Checked { report, bounds, sites: pass.sites });
}

/// What a checked kernel's report says after a launch; none if every access was in bounds.
pub fn read_report(kernel: &Kernel, words: &[u32]) -> Option<Error> {
    let checked = kernel.checked.as_ref()?;
    let &[claimed, number, index_low, index_high, bound_low, bound_high] = words else { return None };
    if claimed == 0 {
        return None;
    }
    let Site { line, place } = checked.sites.get((number & !MISALIGNED) as usize)?.clone();
    let [index, bound] = [(index_low, index_high), (bound_low, bound_high)].map(|(l, h)| l as u64 | (h as u64) << 32);
    let kernel = kernel.name.clone();
    if number & MISALIGNED != 0 {
        let message = format!("the index of a wide access to {place} must be a multiple of {bound} but is {index}.");
        return Some(Error::Execution { kernel, line, message });
    }
    Some(Error::OutOfBounds { kernel, line, place, index, bound })
}

struct Pass {
    bounds: u32,
    report: u32,
    sites: Vec<Site>,
}

/// A guard's condition, with what to report if it fails.
struct Guard {
    holds: Value,
    index: Value,
    bound: Value,
    /// The site number to report, possibly marked as misaligned; I32.
    site: Value,
}

impl Pass {
    fn block(&mut self, kernel: &mut Kernel, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        let mut out = Vec::with_capacity(insts.len());
        for mut inst in insts {
            for nested in inst.op.blocks_mut() {
                self.block(kernel, nested);
            }
            self.inst(kernel, inst, &mut out);
        }
        block.insts = out;
    }

    fn inst(&mut self, kernel: &mut Kernel, inst: Inst, out: &mut Vec<Inst>) {
        let name = match place_name(kernel, &inst.op) {
            Some(name) => name.to_owned(),
            None => return out.push(inst),
        };
        let site = self.sites.len() as u32;
        self.sites.push(Site { line: inst.line, place: name });
        let mut writer = Writer::new(kernel, inst.line);
        let guard = self.guard(&mut writer, &inst, site);
        self.guarded(&mut writer, guard, inst);
        out.append(&mut writer.out);
    }

    fn guard(&self, w: &mut Writer<'_>, inst: &Inst, site: u32) -> Guard {
        match &inst.op {
            Op::Arg { param, index: Some(index) } => {
                let len = w.kernel.scalars[*param as usize].len;
                let bound = w.i64(len as u64);
                element_guard(w, *index, 1, bound, site)
            }
            Op::Load { place, elem, index } => self.access(w, *place, *elem, *index, inst.results.len(), site),
            Op::Store { place, elem, index, values } => self.access(w, *place, *elem, *index, values.len(), site),
            Op::Atomic { place, elem, index, .. } => self.access(w, *place, *elem, *index, 1, site),
            Op::Matrix(op) => self.matrix(w, op, site),
            _ => unreachable!("only accesses have a place"),
        }
    }

    fn access(&self, w: &mut Writer<'_>, place: Place, elem: Elem, index: Value, count: usize, site: u32) -> Guard {
        let bound = self.elements(w, place, elem.bytes());
        element_guard(w, index, count, bound, site)
    }

    /// How many elements a place has; I64.
    fn elements(&self, w: &mut Writer<'_>, place: Place, bytes: usize) -> Value {
        match place {
            Place::Buffer(buffer) => {
                let number = w.i32(buffer);
                let length = w.emit(Type::I64, Op::Arg { param: self.bounds, index: Some(number) });
                w.shift_right(length, bytes.trailing_zeros())
            }
            Place::Shared(i) => w.i64(w.kernel.shared[i as usize].len as u64),
            Place::Private(i) => w.i64(w.kernel.private[i as usize].len as u64),
        }
    }

    fn matrix(&self, w: &mut Writer<'_>, op: &MatrixOp, site: u32) -> Guard {
        match op {
            MatrixOp::Load { ty, place, index, stride, layout, .. } => {
                self.matrix_access(w, *ty, *place, [*index, *stride], *layout, site)
            }
            MatrixOp::Store { matrix, place, index, stride, layout, .. } => {
                let ty = matrix_type(w.kernel, *matrix);
                self.matrix_access(w, ty, *place, [*index, *stride], *layout, site)
            }
            MatrixOp::LoadTile { ty, buffer, tile, transpose } => {
                let (rows, cols) = if *transpose { (ty.cols, ty.rows) } else { (ty.rows, ty.cols) };
                self.tile(w, *ty, *buffer, tile, [rows, cols], site)
            }
            MatrixOp::StoreTile { matrix, buffer, tile } => {
                let ty = matrix_type(w.kernel, *matrix);
                self.tile(w, ty, *buffer, tile, [ty.rows, ty.cols], site)
            }
            _ => unreachable!("only accesses have a place"),
        }
    }

    fn matrix_access(
        &self,
        w: &mut Writer<'_>,
        ty: Matrix,
        place: Place,
        [index, stride]: [Value; 2],
        layout: MatrixLayout,
        site: u32,
    ) -> Guard {
        let (lines, across) = match layout {
            MatrixLayout::RowMajor => (ty.rows, ty.cols),
            MatrixLayout::ColumnMajor => (ty.cols, ty.rows),
        };
        let size = match place {
            Place::Buffer(i) => w.kernel.buffers[i as usize].elem.bytes(),
            Place::Shared(i) => w.kernel.shared[i as usize].elem.bytes() * w.kernel.shared[i as usize].lanes as usize,
            Place::Private(i) => w.kernel.private[i as usize].elem.bytes(),
        };
        let per_line = (across as usize * ty.elem.bytes()).div_ceil(size) as u64;
        let bound = self.elements(w, place, size);
        let (index, stride) = (w.widened(index, false), w.widened(stride, false));
        let turns = w.i64(lines as u64 - 1);
        let far = w.mul(stride, turns);
        let first_of_last = w.add(index, far);
        let rest = w.i64(per_line - 1);
        let last = w.add(first_of_last, rest);
        let (inside, ordered) = (w.below(last, bound), w.at_most(index, last));
        let holds = w.and(inside, ordered);
        let holds = agreed(w, ty.scope, holds);
        Guard { holds, index: last, bound, site: w.i32(site) }
    }

    /// The part of a tile inside its array must lie inside the buffer.
    fn tile(&self, w: &mut Writer<'_>, ty: Matrix, buffer: u32, tile: &Tile, size: [u32; 2], site: u32) -> Guard {
        let bound = self.elements(w, Place::Buffer(buffer), ty.elem.bytes());
        let [rows, cols, stride, row, col] = tile.values().map(|v| w.widened(v, true));
        let [(row_end, no_rows), (col_end, no_cols)] =
            [(rows, row, size[0]), (cols, col, size[1])].map(|(all, first, count)| {
                let count = w.i64(count as u64);
                let end = w.add(first, count);
                let end = w.least(end, all);
                let zero = w.i64(0);
                let (outside, before) = (w.signed_at_most(all, first), w.signed_at_most(end, zero));
                (end, w.or(outside, before))
            });
        let one = w.i64(1);
        let (last_row, last_col) = (w.sub(row_end, one), w.sub(col_end, one));
        let before = w.mul(last_row, stride);
        let last = w.add(before, last_col);
        let inside = w.below(last, bound);
        let empty = w.or(no_rows, no_cols);
        let holds = w.or(inside, empty);
        let holds = agreed(w, ty.scope, holds);
        Guard { holds, index: last, bound, site: w.i32(site) }
    }

    /// The access under its guard: its results, or zeros and a report.
    fn guarded(&self, w: &mut Writer<'_>, guard: Guard, inst: Inst) {
        let results = inst.results.clone();
        let types: Vec<Type> = results.iter().map(|v| w.kernel.type_of(*v)).collect();
        let inner: Vec<Value> = types.iter().map(|ty| w.kernel.fresh(*ty)).collect();
        let line = inst.line;
        let then = Block { insts: vec![Inst { results: inner.clone().into(), ..inst }], yields: inner, params: vec![] };
        let mut nested = Writer::new(w.kernel, line);
        self.claim(&mut nested, &guard);
        let yields = types.iter().map(|ty| nested.zero(*ty)).collect();
        let otherwise = Block { insts: nested.out, yields, params: vec![] };
        w.push(results, Op::If { condition: guard.holds, then: then.into(), otherwise: otherwise.into() });
    }

    /// Fills the report if nobody has.
    fn claim(&self, w: &mut Writer<'_>, guard: &Guard) {
        let (zero, one) = (w.i32(0), w.i32(1));
        let before = w.claim(self.report, zero, one);
        let first = w.equal(before, zero);
        let mut nested = Writer::new(w.kernel, w.line);
        let (index_low, index_high) = nested.halves(guard.index);
        let (bound_low, bound_high) = nested.halves(guard.bound);
        for (at, word) in [guard.site, index_low, index_high, bound_low, bound_high].into_iter().enumerate() {
            nested.store(self.report, at as u32 + 1, word);
        }
        let then = Block { insts: nested.out, ..Block::default() };
        w.push(vec![], Op::If { condition: first, then: then.into(), otherwise: Box::default() });
    }
}

/// That `count` elements from an index are below a bound and the index a multiple of `count`.
fn element_guard(w: &mut Writer<'_>, index: Value, count: usize, bound: Value, site: u32) -> Guard {
    let index = w.widened(index, false);
    let inside = w.below(index, bound);
    if count == 1 {
        return Guard { holds: inside, index, bound, site: w.i32(site) };
    }
    let rest = w.i64(count as u64 - 1);
    let last = w.add(index, rest);
    let last_inside = w.below(last, bound);
    let in_range = w.and(inside, last_inside);
    let over = w.emit(Type::I64, Op::Binary(BinaryOp::And, index, rest));
    let zero = w.i64(0);
    let aligned = w.equal(over, zero);
    let holds = w.and(in_range, aligned);
    let past = w.select(Type::I64, inside, last, index);
    let width = w.i64(count as u64);
    let (site, misaligned) = (w.i32(site), w.i32(site | MISALIGNED));
    Guard {
        holds,
        index: w.select(Type::I64, aligned, past, index),
        bound: w.select(Type::I64, aligned, bound, width),
        site: w.select(Type::I32, aligned, site, misaligned),
    }
}

/// A condition the invocations that hold a matrix together agree on.
fn agreed(w: &mut Writer<'_>, scope: MatrixScope, holds: Value) -> Value {
    match scope {
        MatrixScope::Subgroup => w.emit(Type::BOOL, Op::Vote(Vote::All, holds)),
        // A workgroup's matrix lies at an index all its invocations have in common.
        MatrixScope::Workgroup => holds,
    }
}

fn matrix_type(kernel: &Kernel, value: Value) -> Matrix {
    match kernel.type_of(value) {
        Type::Matrix(m) => m,
        other => unreachable!("verified as a matrix, not {other}"),
    }
}

/// What an instruction accesses at an index, by name.
fn place_name<'a>(kernel: &'a Kernel, op: &Op) -> Option<&'a str> {
    let place = match op {
        Op::Arg { param, index: Some(_) } => return Some(&kernel.scalars[*param as usize].name),
        Op::Load { place, .. } | Op::Store { place, .. } | Op::Atomic { place, .. } => *place,
        Op::Matrix(MatrixOp::Load { place, .. } | MatrixOp::Store { place, .. }) => *place,
        Op::Matrix(MatrixOp::LoadTile { buffer, .. } | MatrixOp::StoreTile { buffer, .. }) => Place::Buffer(*buffer),
        _ => return None,
    };
    Some(match place {
        Place::Buffer(i) => &kernel.buffers[i as usize].name,
        Place::Shared(i) => &kernel.shared[i as usize].name,
        Place::Private(i) => &kernel.private[i as usize].name,
    })
}
