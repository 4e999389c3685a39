//! Neighbouring loads of a buffer become one wide load, neighbouring stores one wide store.
//!
//! A group is 2, 4, 8 or 16 accesses in one block to consecutive elements, the first of which is provably a multiple of the
//! group (see `affine`), of at most 16 bytes and at most what the buffer is aligned to. Loads move up to the first of their
//! group, stores down to the last. On the way they may pass:
//! - accesses to the same buffer, in the same type, whose index has the same terms and so is known to be another element;
//! - accesses to *other* buffers. `Access` allows two buffers to be the same memory only if an element is read before it
//!   is written, by the one invocation that writes it. So what was written through one buffer is not touched again
//!   through another: a load never moves up past the store it would have seen, nor a store down past a load that should
//!   have seen it.
//!
//! Atomics, barriers, cooperative stores and nested blocks that write are passed by nothing; nested blocks are passed by no
//! store.

use std::collections::HashMap;

use super::affine::{Affine, Indices};
use crate::ir::{BinaryOp, Block, Inst, Kernel, Line, MatrixOp, Op, Place, Results, Value};
use crate::types::Elem;

/// Widens neighbouring loads and stores.
pub fn vectorize(kernel: &mut Kernel) {
    let indices = Indices::of(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    block(kernel, &indices, &mut body);
    kernel.body = body;
}

fn block(kernel: &mut Kernel, indices: &Indices, block: &mut Block) {
    for inst in &mut block.insts {
        for nested in inst.op.blocks_mut() {
            self::block(kernel, indices, nested);
        }
    }
    let groups = Scan::new(kernel, indices).groups(&block.insts);
    if !groups.is_empty() {
        rewrite(kernel, &mut block.insts, groups);
    }
}

/// Accesses that become one: their places in the block, by element.
struct Group {
    members: Vec<usize>,
    /// Where the one access goes.
    at: usize,
}

/// Accesses to one buffer in one type whose indices have the same terms.
struct Window {
    buffer: u32,
    elem: Elem,
    form: Affine,
    kind: Kind,
    /// Places of the accesses that may still be grouped, by offset.
    members: HashMap<i64, usize>,
    /// Offsets that were touched otherwise meanwhile: stored for a window of loads.
    barred: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Loads,
    Stores,
}

struct Scan<'a> {
    kernel: &'a Kernel,
    indices: &'a Indices,
    windows: Vec<Window>,
    groups: Vec<Group>,
}

impl<'a> Scan<'a> {
    fn new(kernel: &'a Kernel, indices: &'a Indices) -> Scan<'a> {
        Scan { kernel, indices, windows: Vec::new(), groups: Vec::new() }
    }

    fn groups(mut self, insts: &[Inst]) -> Vec<Group> {
        for (at, inst) in insts.iter().enumerate() {
            self.inst(at, inst);
        }
        self.close(|_| true);
        self.groups
    }

    fn inst(&mut self, at: usize, inst: &Inst) {
        match &inst.op {
            Op::Load { place: Place::Buffer(buffer), elem, index } => {
                self.access(Kind::Loads, at, *buffer, *elem, *index, inst.results.len());
            }
            Op::Store { place: Place::Buffer(buffer), elem, index, values } => {
                self.access(Kind::Stores, at, *buffer, *elem, *index, values.len());
            }
            Op::Matrix(MatrixOp::Load { place: Place::Buffer(b), .. } | MatrixOp::LoadTile { buffer: b, .. }) => {
                self.close(|w| w.kind == Kind::Stores && w.buffer == *b);
            }
            Op::If { .. } | Op::For { .. } | Op::While { .. } => {
                let writes = writes_buffers(&inst.op);
                self.close(|w| writes || w.kind == Kind::Stores);
            }
            op if writes_buffers(op) => self.close(|_| true),
            _ => {}
        }
    }

    fn access(&mut self, kind: Kind, at: usize, buffer: u32, elem: Elem, index: Value, count: usize) {
        let form = self.indices.affine(index);
        let touched = form.offset..form.offset.saturating_add(count as i64);
        // Loads pass loads; everything else that may be the same element ends the window.
        self.close(|w| {
            let ordered = kind == Kind::Stores || w.kind == Kind::Stores;
            let known = w.elem == elem && w.form.same_terms(&form);
            let member = w.kind == Kind::Stores && touched.clone().any(|o| w.members.contains_key(&o));
            w.buffer == buffer && ordered && (!known || member)
        });
        let known = |w: &&mut Window| w.buffer == buffer && w.elem == elem && w.form.same_terms(&form);
        if kind == Kind::Stores {
            let loads = self.windows.iter_mut().filter(known).filter(|w| w.kind == Kind::Loads);
            loads.for_each(|w| w.barred.extend(touched.clone()));
        }
        if count == 1 {
            self.enter(kind, at, buffer, elem, form);
        }
    }

    /// Makes an access of one element a member of its window.
    fn enter(&mut self, kind: Kind, at: usize, buffer: u32, elem: Elem, form: Affine) {
        let mine = |w: &Window| w.kind == kind && w.buffer == buffer && w.elem == elem && w.form.same_terms(&form);
        self.close(|w| mine(w) && w.barred.contains(&form.offset));
        let offset = form.offset;
        match self.windows.iter_mut().find(|w| mine(w)) {
            Some(window) => {
                window.members.entry(offset).or_insert(at);
            }
            None => {
                let members = HashMap::from([(offset, at)]);
                self.windows.push(Window { buffer, elem, form, kind, members, barred: Vec::new() });
            }
        }
    }

    /// Ends windows: what can be grouped of them is.
    fn close(&mut self, ends: impl Fn(&Window) -> bool) {
        let mut i = 0;
        while i < self.windows.len() {
            if ends(&self.windows[i]) {
                let window = self.windows.swap_remove(i);
                self.group(window);
            } else {
                i += 1;
            }
        }
    }

    /// The widest groups first.
    fn group(&mut self, mut window: Window) {
        let align = self.kernel.buffers[window.buffer as usize].align as usize;
        for width in [16usize, 8, 4, 2] {
            let fits = width * window.elem.bytes() <= align.min(16);
            if !fits || window.members.len() < width || !self.indices.is_multiple(&window.form, width as u64) {
                continue;
            }
            let mut starts: Vec<i64> =
                window.members.keys().copied().filter(|o| o.rem_euclid(width as i64) == 0).collect();
            starts.sort_unstable();
            for start in starts {
                let offsets = start..start + width as i64;
                if !offsets.clone().all(|o| window.members.contains_key(&o)) {
                    continue;
                }
                let members: Vec<usize> =
                    offsets.map(|o| window.members.remove(&o).expect("checked just now")).collect();
                let at = match window.kind {
                    Kind::Loads => *members.iter().min().expect("not empty"),
                    Kind::Stores => *members.iter().max().expect("not empty"),
                };
                self.groups.push(Group { members, at });
            }
        }
    }
}

/// Whether an instruction, or one nested in it, writes buffers or orders accesses to them.
fn writes_buffers(op: &Op) -> bool {
    match op {
        Op::Store { place, .. } => matches!(place, Place::Buffer(_)),
        Op::Atomic { .. } | Op::Barrier(_) => true,
        Op::Matrix(MatrixOp::Store { .. } | MatrixOp::StoreTile { .. }) => true,
        _ => op.blocks().iter().any(|b| b.insts.iter().any(|i| writes_buffers(&i.op))),
    }
}

fn rewrite(kernel: &mut Kernel, insts: &mut Vec<Inst>, groups: Vec<Group>) {
    let mut wide: HashMap<usize, Vec<Inst>> = HashMap::new();
    let mut gone = vec![false; insts.len()];
    for group in groups {
        group.members.iter().for_each(|m| gone[*m] = true);
        wide.insert(group.at, merged(kernel, insts, &group));
    }
    let mut result = Vec::with_capacity(insts.len());
    for (at, inst) in std::mem::take(insts).into_iter().enumerate() {
        result.extend(wide.remove(&at).into_iter().flatten());
        if !gone[at] {
            result.push(inst);
        }
    }
    *insts = result;
}

/// The one access of a group, after what its index needs.
fn merged(kernel: &mut Kernel, insts: &[Inst], group: &Group) -> Vec<Inst> {
    let line = insts[group.at].line;
    match &insts[group.members[0]].op {
        Op::Load { place, elem, .. } => {
            let results = group.members.iter().map(|m| insts[*m].results[0]).collect();
            let (mut before, index) = first_index(kernel, insts, group, line);
            before.push(Inst { results, op: Op::Load { place: *place, elem: *elem, index }, line });
            before
        }
        Op::Store { place, elem, index, .. } => {
            let value = |m: &usize| match &insts[*m].op {
                Op::Store { values, .. } => values[0],
                _ => unreachable!("groups of stores hold stores"),
            };
            let values = group.members.iter().map(value).collect();
            vec![Inst {
                results: Results::new(),
                op: Op::Store { place: *place, elem: *elem, index: *index, values },
                line,
            }]
        }
        _ => unreachable!("groups hold loads or stores"),
    }
}

/// The index of a group's first element where its earliest load stands, whose own index may be that of a later element.
fn first_index(kernel: &mut Kernel, insts: &[Inst], group: &Group, line: Line) -> (Vec<Inst>, Value) {
    let Op::Load { index, .. } = insts[group.at].op else { unreachable!("groups of loads hold loads") };
    let ahead = group.members.iter().position(|m| *m == group.at).expect("the place is a member's");
    if ahead == 0 {
        return (Vec::new(), index);
    }
    let ty = kernel.type_of(index);
    let (distance, first) = (kernel.fresh(ty), kernel.fresh(ty));
    let before = vec![
        Inst { results: Results::from_iter([distance]), op: Op::Const(ahead as u64), line },
        Inst { results: Results::from_iter([first]), op: Op::Binary(BinaryOp::Sub, index, distance), line },
    ];
    (before, first)
}
