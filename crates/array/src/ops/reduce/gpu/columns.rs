//! The reduction of columns: results lie side by side, and so do the elements that neighbouring invocations read.
//!
//! A workgroup takes `lanes` accesses of neighbouring columns by `256 / lanes` elements of each at a time, and folds those in
//! shared memory at the end. Long columns may be cut into segments, a workgroup each.

use pumice_kernel::{Builder, Val};

use super::combiner::{Combiner, Load, Parts, Store, typed, values};
use super::indices::{Indices, Split};
use super::team::{Scratch, WORKGROUP};

/// What distinguishes kernels of columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ColumnForm {
    /// Accesses side by side: a power of two.
    pub lanes: u32,
    /// Columns an access covers.
    pub wide: usize,
    /// Kept axes outside the columns.
    pub outer: usize,
    /// Axes that an element's number is split by.
    pub reduced: usize,
    pub indices: Indices,
}

/// Writes the kernel's body. It declares the arguments `columns`, `blocks` (workgroups that cover the columns), `outers` (how many
/// times there are columns), `segments`, `n`, `segment`, `start`, and sizes and strides of outer and reduced axes; results are
/// numbered `(segment · outers + outer) · columns + column`.
pub(crate) fn write<'k>(
    k: &'k Builder,
    form: &ColumnForm,
    combiner: &dyn Combiner,
    load: Load<'_, 'k>,
    store: Store<'_, 'k>,
) {
    let ix = form.indices;
    let [columns, blocks, outers, segments, n, segment, start] =
        ["columns", "blocks", "outers", "segments", "n", "segment", "start"].map(|name| ix.argument(k, name));
    let outer_axes = Split::declare(k, ix, "outer", form.outer);
    let reduced = Split::declare(k, ix, "reduced", form.reduced);
    let lanes = form.lanes as i32;
    let (x, y) = (k.local_index() & (lanes - 1), k.local_index().shr_u(lanes.trailing_zeros() as i32));
    let group = ix.of(k.group_index());
    let (block, rest) = (group.rem_u(blocks), group.div_u(blocks));
    let (outer, part) = (rest.rem_u(outers), rest.div_u(outers));
    let column = (block * lanes + ix.of(x)) * (form.wide as i32);
    let inside = column.lt(columns) & part.lt(segments);
    let begin = part * segment;
    let end = inside.select((begin + segment).min(n), begin);
    let base = outer_axes.place(start, outer) + column;
    let at = |i: Val<'k>| load(reduced.place(base, i), i, form.wide);
    let own = fold(k, form, combiner, begin + ix.of(y), end, &at);
    let whole = fold_workgroup(k, form, combiner, y, own);
    k.when(y.eq(0) & inside, || {
        let first = (part * outers + outer) * columns + column;
        whole.into_iter().enumerate().for_each(|(j, parts)| store(first + j as i32, parts));
    });
}

/// What one invocation makes of its share of each of its columns.
fn fold<'k>(
    k: &'k Builder,
    form: &ColumnForm,
    combiner: &dyn Combiner,
    first: Val<'k>,
    end: Val<'k>,
    at: &dyn Fn(Val<'k>) -> Vec<Parts<'k>>,
) -> Vec<Parts<'k>> {
    let step = (WORKGROUP / form.lanes) as i32;
    let none: Vec<Val> = (0..form.wide).flat_map(|_| values(&combiner.identity(k))).collect();
    let add = |sums: Vec<Val<'k>>, elements: Vec<Parts<'k>>| -> Vec<Val<'k>> {
        let columns = sums.chunks(combiner.types().len()).zip(elements);
        columns.flat_map(|(sum, x)| values(&combiner.combine(&typed(combiner, sum), &x))).collect()
    };
    // Two accumulators, as in the reduction of rows.
    let paired = first + ((end - first) / (2 * step)).max(0) * (2 * step);
    let (a, b) = k.for_(first, paired, 2 * step, (none.clone(), none), |i, (a, b)| {
        let (left, right) = (at(i), at(i + step));
        (add(a, left), add(b, right))
    });
    let parts = |sums: &[Val<'k>]| -> Vec<Parts<'k>> {
        sums.chunks(combiner.types().len()).map(|sum| typed(combiner, sum)).collect()
    };
    let both = add(a, parts(&b));
    let sums = k.for_(paired, end, step, both, |i, sums| add(sums, at(i)));
    parts(&sums)
}

/// Folds the invocations that share columns; the first of them gets the results.
fn fold_workgroup<'k>(
    k: &'k Builder,
    form: &ColumnForm,
    combiner: &dyn Combiner,
    y: Val<'k>,
    mut own: Vec<Parts<'k>>,
) -> Vec<Parts<'k>> {
    let scratches: Vec<Scratch> =
        (0..form.wide).map(|j| Scratch::new(k, combiner, &format!("column{j}_"), WORKGROUP)).collect();
    let place = k.local_index();
    let mut rows = WORKGROUP / form.lanes;
    while rows > 1 {
        rows /= 2;
        let upper = y.ge(rows as i32) & y.lt(2 * rows as i32);
        k.when(upper, || scratches.iter().zip(&own).for_each(|(scratch, parts)| scratch.store(place, parts)));
        k.barrier();
        let flat: Vec<Val> = own.iter().flat_map(|parts| values(parts)).collect();
        let combined = k.if_(
            y.lt(rows as i32),
            || {
                let other = place + (rows * form.lanes) as i32;
                let pairs = scratches.iter().zip(&own);
                let pairs = pairs.map(|(scratch, parts)| combiner.combine(parts, &scratch.load(combiner, other)));
                pairs.flat_map(|parts| values(&parts)).collect::<Vec<Val>>()
            },
            || flat.clone(),
        );
        k.barrier();
        own = combined.chunks(combiner.types().len()).map(|sum| typed(combiner, sum)).collect();
    }
    own
}
