//! Products of any matrices, by plain arithmetic on tiles in shared memory.
//!
//! A workgroup makes a square tile of the result, each invocation `each × each` of it. Of each step along K an invocation moves four
//! quads (four elements that lie together) of each factor. Tiles lie in shared memory as rows along M or N: a factor whose elements
//! lie together along K is transposed on the way, in blocks of 4 × 4. The next step's global reads are in flight while the current
//! one is computed. Rows, columns and steps beyond the matrices are read clamped; what is beyond K counts as zero.

use pumice_kernel::{Access, Buffer, Builder, Kernel, Result, SharedArray, Val};

use super::indices::{Indices, Strided, batch_sizes, mul_add};
use super::sides::Order;
use crate::dtype::Dtype;
use crate::op::Key;

/// How the work is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Cut {
    /// Rows and columns of the result a workgroup makes.
    pub tile: u32,
    /// How far one step goes along K.
    pub step: u32,
    /// Rows and columns an invocation makes: 4 or 8.
    pub each: u32,
}

/// The cuts, largest first. In all of them an invocation moves one block of 4 × 4 of each factor a step.
pub(in super::super) const CUTS: [Cut; 3] =
    [Cut { tile: 128, step: 32, each: 8 }, Cut { tile: 64, step: 16, each: 8 }, Cut { tile: 32, step: 32, each: 4 }];

impl Cut {
    /// Invocations of a workgroup.
    pub fn threads(&self) -> u32 {
        (self.tile / self.each).pow(2)
    }

    /// Bytes of shared memory.
    pub fn shared_bytes(&self, dtype: Dtype) -> u32 {
        2 * self.tile * self.step * 4 * planes(dtype)
    }

    /// Quads along a tile's side.
    fn quads(&self) -> u32 {
        self.tile / 4
    }
}

/// Where reads may leave the matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Guard {
    /// Nowhere: whole tiles and whole steps, quads in one access.
    Exact,
    /// In whole quads, read in one access.
    Quads,
    /// Anywhere.
    Elements,
}

/// What distinguishes the kernels.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub dtype: Dtype,
    /// The result's type: F32 for parts that are combined later.
    pub out: Dtype,
    pub cut: Cut,
    pub orders: [Order; 2],
    pub guard: Guard,
    /// Whether the result's rows are whole quads.
    pub wide_out: bool,
    /// Axes in front of the matrices.
    pub rank: usize,
    pub long: bool,
    /// Whether the device has a fused multiply-add.
    pub fused: bool,
}

impl Form {
    pub fn key(&self) -> Key {
        let mut key = Key::default();
        key.text("matmul_tiled");
        let Cut { tile, step, each } = self.cut;
        key.ints(&[tile, step, each, self.dtype as u32, self.out as u32, self.guard as u32]);
        key.ints(&[self.orders[0] as u32, self.orders[1] as u32, self.rank as u32]);
        key.ints(&[self.wide_out as u32, self.long as u32, self.fused as u32]);
        key
    }

    /// Bytes that the addresses of the factors are a multiple of.
    pub fn align(&self) -> u32 {
        let quad = if self.guard == Guard::Elements { 1 } else { 4 };
        quad * self.dtype.size() as u32
    }
}

/// F32 values an element is made of.
fn planes(dtype: Dtype) -> u32 {
    if dtype == Dtype::C64 { 2 } else { 1 }
}

/// The kernel: buffers a, b, out; then m, n, k, the number of matrices, the length and number of parts of K as I32, the axes in
/// front, and both factors' [`Strided`], whose one stride leads from one run of elements to the next.
pub(super) fn kernel(form: &Form) -> Result<Kernel> {
    Kernel::build("matmul_tiled", [form.cut.threads(), 1, 1], |k| {
        let at = Indices { k, long: form.long };
        let buffers = ["a", "b"].map(|name| k.buffer(name, form.dtype.elem(), Access::Read, form.align()));
        let quad = if form.wide_out { 4 } else { 1 };
        let out = k.buffer("out", form.out.elem(), Access::Write, quad * form.out.size() as u32);
        let [m, n, depth, count, span, parts] = ["m", "n", "k", "count", "span", "parts"].map(|name| k.arg_i32(name));
        let sizes = batch_sizes(k, form.rank);
        let factors = ["a", "b"].map(|name| Strided::args(&at, name, form.rank));
        let spot = Spot::new(k, form.cut.tile, [m, n], parts);
        k.when(spot.batch.lt_u(count), || {
            let low = spot.part * span;
            let high = (low + span).min(depth);
            let sides = [0, 1].map(|i| {
                let base = factors[i].base(&at, spot.batch, &sizes);
                Side::new(form, at, buffers[i], i, (spot.origin[i], [m, n][i]), high, (base, factors[i].strides[0]))
            });
            let sums = accumulate(k, form, &sides, low, high);
            let first = at.of(spot.part * count + spot.batch) * at.of(m) * at.of(n);
            let result = Destination { form, at, out, first, size: [m, n], origin: spot.origin };
            result.store(&sums);
        });
    })
}

/// What this workgroup makes.
struct Spot<'k> {
    batch: Val<'k>,
    /// Which part of K.
    part: Val<'k>,
    /// First row and column.
    origin: [Val<'k>; 2],
}

impl<'k> Spot<'k> {
    /// Tiles are numbered so that eight rows of them are walked column by column: workgroups that run together then share tiles of
    /// the factors in the cache.
    fn new(k: &'k Builder, tile: u32, size: [Val<'k>; 2], parts: Val<'k>) -> Spot<'k> {
        const BAND: i32 = 8;
        let [rows, cols] = size.map(|n| (n + (tile as i32 - 1)).div_u(tile));
        let tiles = rows * cols;
        let (index, rest) = (k.group_index().rem_u(tiles), k.group_index().div_u(tiles));
        let per_band = cols * BAND;
        let first = index.div_u(per_band) * BAND;
        let height = (rows - first).min(BAND);
        let inside = index.rem_u(per_band);
        let origin = [(first + inside.rem_u(height)) * tile, inside.div_u(height) * tile];
        Spot { batch: rest.div_u(parts), part: rest.rem_u(parts), origin }
    }
}

/// The sums of this invocation: row by row, for complex numbers all real parts first.
fn accumulate<'k>(k: &'k Builder, form: &Form, sides: &[Side<'k>; 2], low: Val<'k>, high: Val<'k>) -> Vec<Val<'k>> {
    let Cut { step, each, .. } = form.cut;
    let read = |at: Val<'k>| -> Vec<Val<'k>> { sides.iter().flat_map(|side| side.read(at)).collect() };
    let zeros = vec![k.f32(0.0); (planes(form.dtype) * each * each) as usize];
    let last = high - step as i32;
    let place = place_in_tile(k, &form.cut);
    let (_, sums) = k.for_(low, high, step, (read(low), zeros), |at, (vectors, sums)| {
        k.barrier();
        let (left, right) = vectors.split_at(vectors.len() / 2);
        sides[0].write(left);
        sides[1].write(right);
        k.barrier();
        // The last step of whole ones reads its own tile once more instead of branching.
        let next = at + step;
        let vectors = read(if form.guard == Guard::Exact { next.min(last) } else { next });
        let inner = |step: Val<'k>, sums: Vec<Val<'k>>| {
            let (left, right) = (sides[0].row(place.0, step), sides[1].row(place.1, step));
            let by = if form.dtype == Dtype::C64 { complex_step } else { real_step };
            by(form.fused, &left, &right, &sums)
        };
        // Drivers without fma are software: unrolling only costs their compilers time.
        let whole = k.i32(step as i32);
        let sums = if form.fused { k.for_unrolled(0, whole, 1, sums, inner) } else { k.for_(0, whole, 1, sums, inner) };
        (vectors, sums)
    });
    sums
}

/// Which quad of rows and of columns is this invocation's. Each run of 32 invocations covers 8 × 4: fewer distinct vectors to read
/// than 16 × 2.
fn place_in_tile<'k>(k: &'k Builder, cut: &Cut) -> (Val<'k>, Val<'k>) {
    let across = cut.tile / cut.each / 8;
    let (run, lane) = (k.local_index().div_u(32), k.local_index().rem_u(32));
    (run.div_u(across) * 4 + lane.div_u(8), run.rem_u(across) * 8 + lane.rem_u(8))
}

fn real_step<'k>(fused: bool, left: &[Val<'k>], right: &[Val<'k>], sums: &[Val<'k>]) -> Vec<Val<'k>> {
    let n = right.len();
    sums.iter().enumerate().map(|(at, sum)| mul_add(fused, left[at / n], right[at % n], *sum)).collect()
}

fn complex_step<'k>(fused: bool, left: &[Val<'k>], right: &[Val<'k>], sums: &[Val<'k>]) -> Vec<Val<'k>> {
    let n = right.len() / 2;
    let (reals, imaginaries) = sums.split_at(n * n);
    let at = |i: usize| ((left[i / n], left[n + i / n]), (right[i % n], right[n + i % n]));
    let re = reals.iter().enumerate().map(|(i, sum)| {
        let ((ar, ai), (br, bi)) = at(i);
        mul_add(fused, ar, br, mul_add(fused, -ai, bi, *sum))
    });
    let im = imaginaries.iter().enumerate().map(|(i, sum)| {
        let ((ar, ai), (br, bi)) = at(i);
        mul_add(fused, ar, bi, mul_add(fused, ai, br, *sum))
    });
    re.chain(im).collect()
}

/// A factor: moves its tiles from global memory to registers, to shared memory, to the sums.
struct Side<'k> {
    at: Indices<'k>,
    guard: Guard,
    order: Order,
    cut: Cut,
    buffer: Buffer<'k>,
    /// `[k][quad along m or n]`: one array, or one of real and one of imaginary parts.
    tiles: Vec<SharedArray<'k>>,
    /// The tile's first row (of A) or column (of B), and how many the matrix has.
    origin: Val<'k>,
    extent: Val<'k>,
    /// Where this part of K ends.
    high: Val<'k>,
    /// Index of the matrix's first element, and the distance from one run to the next.
    base: Val<'k>,
    pitch: Val<'k>,
    /// Along K: which 4 × 4 block, along the side and along K. Else the first row along K and the quad along the side.
    place: (Val<'k>, Val<'k>),
}

impl<'k> Side<'k> {
    fn new(
        form: &Form,
        at: Indices<'k>,
        buffer: Buffer<'k>,
        which: usize,
        (origin, extent): (Val<'k>, Val<'k>),
        high: Val<'k>,
        (base, pitch): (Val<'k>, Val<'k>),
    ) -> Side<'k> {
        let (cut, order, id) = (form.cut, form.orders[which], at.k.local_index());
        let names = [["a_tile", "a_tile_im"], ["b_tile", "b_tile_im"]][which];
        let tile = |name: &&str| at.k.shared_vectors(name, pumice_kernel::Elem::F32, 4, cut.step * cut.quads());
        let tiles = names[..planes(form.dtype) as usize].iter().map(tile).collect();
        let across = if order == Order::AlongDepth { cut.step / 4 } else { cut.quads() };
        let place = (id.div_u(across), id.rem_u(across));
        Side { at, guard: form.guard, order, cut, buffer, tiles, origin, extent, high, base, pitch, place }
    }

    /// Rows along K that the workgroup moves at a time, where runs lie along the side.
    fn rows(&self) -> u32 {
        self.cut.threads() / self.cut.quads()
    }

    /// The step's share of this invocation: four quads, for complex numbers real and imaginary parts in turn.
    fn read(&self, at: Val<'k>) -> Vec<Val<'k>> {
        (0..4).flat_map(|r| self.planes_of(&self.quad(at, r))).collect()
    }

    /// A quad as a vector, or as one of real and one of imaginary parts.
    fn planes_of(&self, elements: &[Val<'k>]) -> Vec<Val<'k>> {
        let k = self.at.k;
        match self.tiles.len() {
            1 => vec![k.vector(elements)],
            _ => [0, 1].map(|part| k.vector(&elements.iter().map(|e| e.lane(part)).collect::<Vec<_>>())).to_vec(),
        }
    }

    fn quad(&self, at: Val<'k>, r: u32) -> Vec<Val<'k>> {
        let along_depth = self.order == Order::AlongDepth;
        let (outer, inner) = match self.order {
            Order::AlongDepth => (self.origin + self.place.0 * 4 + r, at + self.place.1 * 4),
            Order::AlongSide => (self.origin + self.place.1 * 4, at + self.place.0 + r * self.rows()),
        };
        match self.guard {
            Guard::Exact => self.buffer.load_wide(self.address(outer, inner), 4),
            Guard::Quads => {
                let (wide_outer, wide_inner) = if along_depth { (1, 4) } else { (4, 1) };
                let place = self.address(outer.min(self.extent - wide_outer), inner.min(self.high - wide_inner));
                let elements = self.buffer.load_wide(place, 4);
                elements.into_iter().map(|e| self.inside(inner, e)).collect()
            }
            Guard::Elements => (0..4)
                .map(|e| {
                    let (outer, inner) = if along_depth { (outer, inner + e) } else { (outer + e, inner) };
                    let place = self.address(outer.min(self.extent - 1), inner.min(self.high - 1));
                    self.inside(inner, self.buffer.load(place))
                })
                .collect(),
        }
    }

    /// The element, or zero beyond the end of K.
    fn inside(&self, inner: Val<'k>, element: Val<'k>) -> Val<'k> {
        inner.lt(self.high).select(element, self.at.k.constant(element.ty(), 0))
    }

    fn address(&self, outer: Val<'k>, inner: Val<'k>) -> Val<'k> {
        let (run, along) = if self.order == Order::AlongDepth { (outer, inner) } else { (inner, outer) };
        self.base + self.at.of(run) * self.pitch + self.at.of(along)
    }

    /// Puts what was read into shared memory.
    fn write(&self, vectors: &[Val<'k>]) {
        let (k, quads) = (self.at.k, self.cut.quads());
        for (plane, tile) in self.tiles.iter().enumerate() {
            let mine: Vec<Val> = vectors.iter().skip(plane).step_by(self.tiles.len()).copied().collect();
            for i in 0..4u8 {
                match self.order {
                    Order::AlongDepth => {
                        let column: Vec<Val> = mine.iter().map(|row| row.lane(i)).collect();
                        tile.store((self.place.1 * 4 + i as i32) * quads + self.place.0, k.vector(&column));
                    }
                    Order::AlongSide => {
                        let row = self.place.0 + i as u32 * self.rows();
                        tile.store(row * quads + self.place.1, mine[i as usize]);
                    }
                }
            }
        }
    }

    /// The elements of a row along K that an invocation multiplies: at 4q.., and for eight of them also half a tile further.
    fn row(&self, quad: Val<'k>, row: Val<'k>) -> Vec<Val<'k>> {
        let quads = self.cut.quads();
        let halves = (0..self.cut.each / 4).map(|half| quad + row * quads + half * (quads / 2));
        let places: Vec<Val> = halves.collect();
        let vectors = self.tiles.iter().flat_map(|tile| places.iter().map(|&place| tile.load(place)));
        vectors.flat_map(|vector| (0..4).map(move |lane| vector.lane(lane))).collect()
    }
}

/// Where the sums go.
struct Destination<'a, 'k> {
    form: &'a Form,
    at: Indices<'k>,
    out: Buffer<'k>,
    /// Index of the matrix's first element.
    first: Val<'k>,
    size: [Val<'k>; 2],
    origin: [Val<'k>; 2],
}

impl<'k> Destination<'_, 'k> {
    fn store(&self, sums: &[Val<'k>]) {
        let (k, cut) = (self.at.k, &self.form.cut);
        let (y, x) = place_in_tile(k, cut);
        for i in 0..cut.each {
            let row = self.origin[0] + y * 4 + (i / 4 * cut.tile / 2 + i % 4);
            for half in 0..cut.each / 4 {
                let col = self.origin[1] + x * 4 + half * (cut.tile / 2);
                self.store_quad(row, col, &self.elements(sums, (i * cut.each + half * 4) as usize));
            }
        }
    }

    /// Four sums that follow each other, as elements.
    fn elements(&self, sums: &[Val<'k>], first: usize) -> Vec<Val<'k>> {
        match self.form.dtype {
            Dtype::C64 => {
                let (re, im) = sums.split_at(sums.len() / 2);
                (first..first + 4).map(|i| self.at.k.vector(&[re[i], im[i]])).collect()
            }
            _ => sums[first..first + 4].to_vec(),
        }
    }

    fn store_quad(&self, row: Val<'k>, col: Val<'k>, elements: &[Val<'k>]) {
        let k = self.at.k;
        let place = self.first + self.at.of(row) * self.at.of(self.size[1]) + self.at.of(col);
        let inside = |col: Val<'k>| row.lt(self.size[0]) & col.lt(self.size[1]);
        match (self.form.guard, self.form.wide_out) {
            (Guard::Exact, _) => self.out.store_wide(place, elements),
            (_, true) => k.when(inside(col), || self.out.store_wide(place, elements)),
            (_, false) => {
                for (e, &element) in elements.iter().enumerate() {
                    let e = e as i32;
                    k.when(inside(col + e), || self.out.store(place + self.at.of(k.i32(e)), element));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_well_formed() {
        let orders = [Order::AlongDepth, Order::AlongSide];
        for cut in CUTS {
            for guard in [Guard::Exact, Guard::Quads, Guard::Elements] {
                for (dtype, long) in [(Dtype::F32, false), (Dtype::BF16, true), (Dtype::F16, false), (Dtype::C64, true)]
                {
                    if dtype == Dtype::C64 && guard != Guard::Elements {
                        continue;
                    }
                    let wide_out = guard != Guard::Elements;
                    let form = Form { dtype, out: dtype, cut, orders, guard, wide_out, rank: 2, long, fused: long };
                    kernel(&form).unwrap_or_else(|error| panic!("{form:?}: {error}"));
                }
            }
        }
    }
}
