//! Products with few rows: `few` (at most 8) rows X times a matrix W, which is read once. They are bound by W's memory.
//!
//! Where W's elements lie together along K, a team (a subgroup, or the workgroup where there are few columns) makes a column's sums, its
//! lanes side by side along K. Where they lie together along the columns, an invocation makes the sums of a run of columns, and
//! slices of the workgroup share K among them. A product with few columns is one with few rows, transposed.

use pumice_kernel::{Access, Buffer, Builder, Elem, Kernel, Result, SharedArray, Val};

use crate::dtype::Dtype;
use crate::kernels::matmul::Order;
use crate::kernels::matmul::indices::{Indices, Strided, batch_sizes, mul_add};
use crate::op::Key;

/// The most rows.
pub(super) const FEW: i64 = 8;
/// Columns' runs and slices of K of a workgroup, where elements lie together along the columns.
const LANES: u32 = 32;
const SLICES: u32 = 8;
/// Rows of W an invocation reads at a time there: reads in flight.
const AHEAD: u32 = 4;

/// Who makes a column's sums, where elements lie together along K.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Team {
    Subgroup,
    Workgroup,
}

/// What distinguishes the kernels.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub dtype: Dtype,
    /// The result's type: F32 for parts that are combined later.
    pub out: Dtype,
    /// Rows of X, a power of two; those beyond the actual ones are not stored.
    pub few: u32,
    pub order: Order,
    /// Elements of W in an access.
    pub wide: u32,
    /// Whether X is read in such accesses too; along K only.
    pub wide_x: bool,
    pub team: Team,
    pub rank: usize,
    pub long: bool,
    /// Whether the device has a fused multiply-add.
    pub fused: bool,
}

impl Form {
    pub fn key(&self) -> Key {
        let mut key = Key::default();
        key.text("matmul_thin");
        key.ints(&[self.dtype as u32, self.out as u32, self.few, self.order as u32, self.wide, self.wide_x as u32]);
        key.ints(&[self.team as u32, self.rank as u32, self.long as u32, self.fused as u32]);
        key
    }

    /// Invocations of a workgroup.
    fn threads(&self) -> u32 {
        match (self.order, self.team) {
            (Order::AlongDepth, Team::Subgroup) => 64,
            _ => LANES * SLICES,
        }
    }

    /// Columns a team makes at a time.
    fn columns_each(&self) -> u32 {
        if self.few <= 4 && self.team == Team::Subgroup { 2 } else { 1 }
    }

    /// Columns a workgroup makes.
    pub fn columns(&self, subgroup: u32) -> u32 {
        match (self.order, self.team) {
            (Order::AlongDepth, Team::Subgroup) => (64 / subgroup).max(1) * self.columns_each(),
            (Order::AlongDepth, Team::Workgroup) => 1,
            (Order::AlongSide, _) => LANES * self.wide,
        }
    }
}

/// The kernel: buffers x, w, out; then the rows, the columns, k, the number of matrices, the length and number of parts of K and the
/// number of workgroups along the columns as I32, the axes in front, X's [`Strided`] (from row to row, along K), W's (from run to
/// run), and the result's distances: parts, matrices, rows, columns.
pub(super) fn kernel(form: &Form) -> Result<Kernel> {
    Kernel::build("matmul_thin", [form.threads(), 1, 1], |k| {
        let at = Indices { k, long: form.long };
        let bytes = |count: u32| count * form.dtype.size() as u32;
        let x = k.buffer("x", form.dtype.elem(), Access::Read, bytes(if form.wide_x { form.wide } else { 1 }));
        let w = k.buffer("w", form.dtype.elem(), Access::Read, bytes(form.wide));
        let out = k.output("out", form.out.elem());
        let names = ["few", "many", "k", "count", "span", "parts", "blocks"];
        let [few, many, depth, count, span, parts, blocks] = names.map(|name| k.arg_i32(name));
        let sizes = batch_sizes(k, form.rank);
        let [of_x, of_w] = ["x", "w"].map(|name| Strided::args(&at, name, form.rank));
        let steps = ["out_part", "out_batch", "out_row", "out_column"].map(|name| at.arg(name));
        let (block, rest) = (k.group_index().rem_u(blocks), k.group_index().div_u(blocks));
        let (part, batch) = (rest.rem_u(parts), rest.div_u(parts));
        k.when(batch.lt_u(count), || {
            let low = part * span;
            let first = at.of(part) * steps[0] + at.of(batch) * steps[1];
            let thin = Thin {
                form,
                at,
                x: (x, of_x.base(&at, batch, &sizes), of_x.strides),
                w: (w, of_w.base(&at, batch, &sizes), of_w.strides[0]),
                out: (out, first, [steps[2], steps[3]]),
                size: [few, many],
                range: [low, (low + span).min(depth)],
            };
            match form.order {
                Order::AlongDepth => thin.along_depth(block),
                Order::AlongSide => thin.along_columns(block),
            }
        });
    })
}

/// One workgroup's work. Memory stands with the index of its first element and its distances.
struct Thin<'a, 'k> {
    form: &'a Form,
    at: Indices<'k>,
    x: (Buffer<'k>, Val<'k>, [Val<'k>; 2]),
    w: (Buffer<'k>, Val<'k>, Val<'k>),
    out: (Buffer<'k>, Val<'k>, [Val<'k>; 2]),
    /// Rows and columns.
    size: [Val<'k>; 2],
    /// This part of K.
    range: [Val<'k>; 2],
}

impl<'k> Thin<'_, 'k> {
    fn k(&self) -> &'k Builder {
        self.at.k
    }

    /// The element of X in a row (the last for those beyond), at a place along K.
    fn x_index(&self, row: u32, inner: Val<'k>) -> Val<'k> {
        let row = if row == 0 { self.k().i32(0) } else { (self.size[0] - 1).min(row as i32) };
        let (_, base, strides) = self.x;
        base + self.at.of(row) * strides[0] + self.at.of(inner) * strides[1]
    }

    fn store(&self, row: u32, column: Val<'k>, sum: Val<'k>) {
        let row = self.k().i32(row as i32);
        let (out, first, [by_row, by_column]) = self.out;
        let inside = row.lt(self.size[0]) & column.lt(self.size[1]);
        self.k().when(inside, || out.store(first + self.at.of(row) * by_row + self.at.of(column) * by_column, sum));
    }

    /// A team per column, side by side along K.
    fn along_depth(&self, block: Val<'k>) {
        let (k, form) = (self.k(), self.form);
        let (team, teams, lane, lanes) = match form.team {
            Team::Subgroup => (k.subgroup_id(), k.subgroup_count(), k.lane(), k.subgroup_size()),
            Team::Workgroup => (k.i32(0), k.i32(1), k.local_index(), k.i32(form.threads() as i32)),
        };
        let first = (block * teams + team) * form.columns_each();
        let columns: Vec<Val> = (0..form.columns_each()).map(|i| first + i).collect();
        let (buffer, base, pitch) = self.w;
        let runs: Vec<Val> =
            columns.iter().map(|&column| base + self.at.of(column.min(self.size[1] - 1)) * pitch).collect();
        let wide = form.wide;
        let zeros = vec![k.f32(0.0); columns.len() * form.few as usize];
        let [low, high] = self.range;
        let sums = k.for_(low + lane * wide, high, lanes * wide, zeros, |i, sums| {
            let rows: Vec<Vec<Val>> = runs.iter().map(|&run| run_of(buffer, run + self.at.of(i), wide)).collect();
            let xs: Vec<Vec<Val>> = (0..form.few).map(|row| self.x_run(row, i)).collect();
            let few = form.few as usize;
            let dot = |(at, &sum): (usize, &Val<'k>)| {
                rows[at / few].iter().zip(&xs[at % few]).fold(sum, |sum, (&w, &x)| mul_add(form.fused, w, x, sum))
            };
            sums.iter().enumerate().map(dot).collect()
        });
        for (at, &sum) in sums.iter().enumerate() {
            let total = if form.team == Team::Subgroup { sum.subgroup_sum() } else { k.group_sum(sum) };
            let (column, row) = (columns[at / form.few as usize], at as u32 % form.few);
            k.when(lane.eq(0), || self.store(row, column, total));
        }
    }

    /// As many elements of X along K as an access of W has.
    fn x_run(&self, row: u32, inner: Val<'k>) -> Vec<Val<'k>> {
        match self.form.wide_x {
            true => run_of(self.x.0, self.x_index(row, inner), self.form.wide),
            false => (0..self.form.wide).map(|e| self.x.0.load(self.x_index(row, inner + e))).collect(),
        }
    }

    /// A run of columns per invocation, K shared among slices of the workgroup.
    fn along_columns(&self, block: Val<'k>) {
        let (k, form) = (self.k(), self.form);
        let (lane, slice) = (k.local_index().rem_u(LANES), k.local_index().div_u(LANES));
        let (wide, [low, high]) = (form.wide, self.range);
        let column = ((block * LANES + lane) * wide).min(self.size[1] - wide as i32);
        let (buffer, base, pitch) = self.w;
        let run = base + self.at.of(column);
        let zeros = vec![k.f32(0.0); (form.few * wide) as usize];
        let sums = k.for_(low + slice, high, SLICES * AHEAD, zeros, |i, mut sums| {
            let places: Vec<Val> = (0..AHEAD).map(|ahead| i + ahead * SLICES).collect();
            let reads: Vec<Vec<Val>> = places
                .iter()
                .map(|&inner| run_of(buffer, run + self.at.of(inner.min(high - 1)) * pitch, wide))
                .collect();
            for (inner, read) in places.into_iter().zip(reads) {
                let inside = inner.lt(high);
                let read: Vec<Val> = read.into_iter().map(|w| inside.select(w, 0.0)).collect();
                for row in 0..form.few {
                    let x = inside.select(self.x.0.load(self.x_index(row, inner.min(high - 1))), 0.0);
                    for (e, &w) in read.iter().enumerate() {
                        let sum = &mut sums[row as usize * wide as usize + e];
                        *sum = mul_add(form.fused, w, x, *sum);
                    }
                }
            }
            sums
        });
        let shared = k.shared("slices", Elem::F32, LANES * SLICES * wide);
        for row in 0..form.few {
            let of_row = &sums[(row * wide) as usize..((row + 1) * wide) as usize];
            self.add_slices(shared, of_row, row, block);
        }
    }

    /// Adds what the slices summed, and stores it.
    fn add_slices(&self, shared: SharedArray<'k>, sums: &[Val<'k>], row: u32, block: Val<'k>) {
        let (k, width) = (self.k(), LANES * self.form.wide);
        let mine = k.local_index() * self.form.wide;
        for (e, &sum) in sums.iter().enumerate() {
            shared.store(mine + e as i32, sum);
        }
        k.barrier();
        let column = k.local_index();
        k.when(column.lt(width as i32), || {
            let first = shared.load(column);
            let total = (1..SLICES).fold(first, |sum, slice| sum + shared.load(column + slice * width));
            self.store(row, block * width + column, total);
        });
        k.barrier();
    }
}

/// Elements that follow each other, in one access.
fn run_of<'k>(buffer: Buffer<'k>, index: Val<'k>, count: u32) -> Vec<Val<'k>> {
    if count == 1 { vec![buffer.load(index)] } else { buffer.load_wide(index, count as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_well_formed() {
        for (order, team) in [
            (Order::AlongDepth, Team::Subgroup),
            (Order::AlongDepth, Team::Workgroup),
            (Order::AlongSide, Team::Workgroup),
        ] {
            for (few, wide, long) in [(1, 8, true), (8, 1, false), (2, 8, false)] {
                let wide_x = order == Order::AlongDepth && wide > 1;
                let (dtype, out, rank) = (Dtype::BF16, Dtype::F32, 2);
                let form = Form { dtype, out, few, order, wide, wide_x, team, rank, long, fused: long };
                kernel(&form).unwrap_or_else(|error| panic!("{form:?}: {error}"));
            }
        }
    }
}
