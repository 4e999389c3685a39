//! The reduction of rows: a team of invocations each, 16 bytes an access where the row lies side by side.
//!
//! Serves every layout: a row's first element is found by splitting its number by the kept axes, an element's place by
//! splitting its number by the reduced axes. A long row may be cut into segments, a team each.

use pumice_kernel::{Builder, Val};

use super::combiner::{Combiner, Load, Parts, Store, typed, values};
use super::indices::{Indices, Split};
use super::team::{self, Exchange, WORKGROUP};

/// What distinguishes kernels of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowForm {
    /// Invocations per row: 8, 64 or 256.
    pub team: u32,
    /// Whether rows are cut into segments.
    pub segmented: bool,
    /// Pairs of accesses in a step along a row.
    pub pairs: i32,
    /// Elements an access covers; more than one only where the innermost reduced axis lies side by side.
    pub wide: usize,
    /// Axes that a row's number is split by.
    pub kept: usize,
    /// Axes that an element's number is split by.
    pub reduced: usize,
    pub indices: Indices,
    pub exchange: Exchange,
}

/// Writes the kernel's body. It declares the arguments `total` (rows times segments), `n`, `segments`, `segment` (elements in each),
/// `start`, and sizes and strides of kept and reduced axes; results are numbered `row · segments + segment`.
pub(crate) fn write<'k>(
    k: &'k Builder,
    form: &RowForm,
    combiner: &dyn Combiner,
    load: Load<'_, 'k>,
    store: Store<'_, 'k>,
) {
    let ix = form.indices;
    let [total, n, segments, segment, start] =
        ["total", "n", "segments", "segment", "start"].map(|name| ix.argument(k, name));
    let kept = Split::declare(k, ix, "kept", form.kept);
    let reduced = Split::declare(k, ix, "reduced", form.reduced);
    let position = form.exchange.position(k);
    let lane = ix.of(position & (form.team as i32 - 1));
    let teams = (WORKGROUP / form.team) as i32;
    let slot = ix.of(k.group_index()) * teams + ix.of(position.shr_u(form.team.trailing_zeros() as i32));
    // Rows in one piece need no division: short ones take as long to find as to reduce.
    let (row, begin) = match form.segmented {
        true => (slot.div_u(segments), slot.rem_u(segments) * segment),
        false => (slot, ix.of(k.i32(0))),
    };
    let end = slot.lt_u(total).select((begin + segment).min(n), begin);
    let base = kept.place(start, row);
    let elements = Elements { k, form, combiner, load, base, reduced };
    let own = elements.fold(begin, end, lane);
    let whole = team::reduce(k, combiner, form.exchange, form.team, own);
    k.when(lane.eq(0) & slot.lt_u(total), || store(slot, whole));
}

/// Two partial results, as loops carry them.
type Sums<'k> = (Vec<Val<'k>>, Vec<Val<'k>>);

/// The elements of a row.
struct Elements<'a, 'k> {
    k: &'k Builder,
    form: &'a RowForm,
    combiner: &'a dyn Combiner,
    load: Load<'a, 'k>,
    base: Val<'k>,
    reduced: Split<'k>,
}

impl<'k> Elements<'_, 'k> {
    /// What one invocation makes of its share of `begin..end`.
    fn fold(&self, begin: Val<'k>, end: Val<'k>, lane: Val<'k>) -> Parts<'k> {
        let (k, wide, team) = (self.k, self.form.wide as i32, self.form.team as i32);
        let span = team * wide;
        let whole = begin + (end - begin) / wide * wide;
        let first = begin + lane * wide;
        // Two accumulators: consecutive accesses do not wait for each other's results.
        let none = values(&self.combiner.identity(k));
        let in_steps_of = |pairs: i32, from: Val<'k>, sums: Sums<'k>| {
            let step = 2 * span * pairs;
            let to = from + ((whole - from) / step).max(0) * step;
            (to, k.for_(from, to, step, sums, |i, sums| self.add_pairs(pairs, i, span, sums)))
        };
        let (mut paired, mut sums) = in_steps_of(self.form.pairs, first, (none.clone(), none));
        if self.form.pairs > 1 {
            (paired, sums) = in_steps_of(1, paired, sums);
        }
        let (a, b) = sums;
        let both = values(&self.combiner.combine(&typed(self.combiner, &a), &typed(self.combiner, &b)));
        let mut sum = k.for_(paired, whole, span, both, |i, sum| self.add(sum, self.at(i, self.form.wide)));
        if wide > 1 {
            sum = k.for_(whole + lane, end, team, sum, |i, sum| self.add(sum, self.at(i, 1)));
        }
        typed(self.combiner, &sum)
    }

    /// Adds pairs of accesses, all of which are begun before the first is added.
    fn add_pairs(&self, pairs: i32, i: Val<'k>, span: i32, sums: Sums<'k>) -> Sums<'k> {
        let loaded: Vec<_> = (0..2 * pairs).map(|j| self.at(i + span * j, self.form.wide)).collect();
        let mut loaded = loaded.into_iter();
        let mut add = |sum| self.add(sum, loaded.next().expect("two for each pair were loaded"));
        (0..pairs).fold(sums, |(a, b), _| (add(a), add(b)))
    }

    fn at(&self, i: Val<'k>, count: usize) -> Vec<Parts<'k>> {
        let side_by_side = self.form.wide > 1 && self.form.reduced == 1;
        let place = if side_by_side { self.base + i } else { self.reduced.place(self.base, i) };
        (self.load)(place, i, count)
    }

    fn add(&self, sum: Vec<Val<'k>>, elements: Vec<Parts<'k>>) -> Vec<Val<'k>> {
        let sum = typed(self.combiner, &sum);
        values(&elements.into_iter().fold(sum, |sum, x| self.combiner.combine(&sum, &x)))
    }
}
