//! Products of any matrices, by plain arithmetic on tiles in shared memory.
//!
//! A workgroup makes a square tile of the result, each invocation `rows × cols` of it. Of each step along K an invocation moves four
//! quads (four elements that lie together) of each factor. Tiles lie in shared memory as rows along M or N: a factor whose elements
//! lie together along K is transposed on the way, in blocks of 4 × 4. The next step's global reads are in flight while the current
//! one is computed. Rows, columns and steps beyond the matrices are read clamped; what is beyond K counts as zero.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Access, Buffer, Builder, Kernel, Result, SharedArray, Val};

use super::Order;
use super::destination::Destination;
use super::indices::{Indices, Strided, batch_sizes, mul_add};
use crate::dtype::Dtype;
use crate::op::Key;

/// How the work is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Rows and columns of the result a workgroup makes.
    pub tile: u32,
    /// How far one step goes along K.
    pub step: u32,
    /// Rows an invocation makes: a multiple of 4.
    pub rows: u32,
    /// Columns it makes: an eighth of the tile's.
    pub cols: u32,
    /// Workgroups that run on a multiprocessor at a time where it has 64 Ki registers, as far as was measured (on an H200); else 0, and
    /// the [last wave](super::last_wave) is never cut.
    pub resident: u32,
}

/// The cuts, largest first. In all of them an invocation moves one block of 4 × 4 of each factor a step, and eight invocations lie
/// side by side, so that a run of 32 covers 8 × 4: fewer distinct vectors to read than 16 × 2.
pub const CUTS: [Cut; 3] = [
    Cut { tile: 128, step: 16, rows: 8, cols: 16, resident: 2 },
    Cut { tile: 64, step: 16, rows: 8, cols: 8, resident: 0 },
    Cut { tile: 32, step: 32, rows: 4, cols: 4, resident: 0 },
];

/// Invocations side by side.
const ACROSS: u32 = 8;

impl Cut {
    /// Invocations of a workgroup.
    pub fn threads(&self) -> u32 {
        self.tile / self.rows * ACROSS
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
pub enum Guard {
    /// Nowhere: whole tiles and whole steps, quads in one access.
    Exact,
    /// In whole quads, read in one access.
    Quads,
    /// Anywhere.
    Elements,
}

/// What distinguishes the kernels.
#[derive(Clone, Debug)]
pub struct Form {
    /// The factors' type.
    pub dtype: Dtype,
    /// The result's type: F32 for parts that are combined later.
    pub out: Dtype,
    /// How the work is cut.
    pub cut: Cut,
    /// How the factors lie.
    pub orders: [Order; 2],
    /// Where reads may leave them.
    pub guard: Guard,
    /// Whether the result's rows are whole quads.
    pub wide_out: bool,
    /// Axes in front of the matrices.
    pub rank: usize,
    /// Whether indices are I64.
    pub long: bool,
    /// Whether the device has a fused multiply-add.
    pub fused: bool,
}

impl Form {
    /// The product of two row-major F32 matrices without gaps, of whole tiles and steps.
    pub fn plain(cut: Cut) -> Form {
        Form {
            dtype: Dtype::F32,
            out: Dtype::F32,
            cut,
            orders: [Order::AlongDepth, Order::AlongSide],
            guard: Guard::Exact,
            wide_out: true,
            rank: 0,
            long: false,
            fused: true,
        }
    }

    /// The scalars of a launch of a plain product; it takes [`Form::plain_groups`] workgroups.
    pub fn plain_scalars([m, n, k]: [i32; 3]) -> [Argument; 12] {
        [m, n, k, 1, k, 1, 0, k, 0, 0, n, 0].map(Argument::I32)
    }

    /// Workgroups of a plain product.
    pub fn plain_groups(&self, [m, n, _]: [i32; 3]) -> u64 {
        (m as u64 / self.cut.tile as u64) * (n as u64 / self.cut.tile as u64)
    }

    pub(crate) fn key(&self) -> Key {
        self.key_of("matmul_tiled")
    }

    /// The key of a kernel of this form.
    pub(super) fn key_of(&self, kernel: &str) -> Key {
        let mut key = Key::default();
        key.text(kernel);
        let Cut { tile, step, rows, cols, .. } = self.cut;
        key.ints(&[tile, step, rows, cols, self.dtype as u32, self.out as u32, self.guard as u32]);
        key.ints(&[self.orders[0] as u32, self.orders[1] as u32, self.rank as u32]);
        key.ints(&[self.wide_out as u32, self.long as u32, self.fused as u32]);
        key
    }

    /// Bytes that the addresses of the factors are a multiple of.
    fn align(&self) -> u32 {
        let quad = if self.guard == Guard::Elements { 1 } else { 4 };
        quad * self.dtype.size() as u32
    }
}

/// F32 values an element is made of.
fn planes(dtype: Dtype) -> u32 {
    if dtype == Dtype::C64 { 2 } else { 1 }
}

/// The kernel: buffers a, b, out; then m, n, k, the number of matrices, the length and number of parts of K as I32, the axes in
/// front, and of both factors where the first element is, two strides, of which the first leads from one run of elements to the
/// next, and one for each axis in front.
pub fn kernel(form: &Form) -> Result<Kernel> {
    Kernel::build("matmul_tiled", [form.cut.threads(), 1, 1], |k| {
        let at = Indices { k, long: form.long };
        let buffers = Factors::buffers(k, form);
        let quad = if form.wide_out { 4 } else { 1 };
        let out = k.buffer("out", form.out.elem(), Access::Write, quad * form.out.size() as u32);
        let [m, n, depth, count, span, parts] = ["m", "n", "k", "count", "span", "parts"].map(|name| k.arg_i32(name));
        let factors = Factors::args(at, form, buffers, [m, n]);
        let spot = Spot::new(form.cut.tile, [m, n], || k.group_index());
        let (batch, part) = (spot.batch.div_u(parts), spot.batch.rem_u(parts));
        k.when(batch.lt_u(count), || {
            let low = part * span;
            let high = (low + span).min(depth);
            let sums = factors.sums(form, &Spot { batch, ..spot }, [low, high]);
            let first = at.of(part * count + batch) * at.of(m) * at.of(n);
            let guarded = form.guard != Guard::Exact;
            let result = Destination { at, out, first, size: [m, n], guarded, wide: form.wide_out };
            store(form, &result, spot.origin, &sums);
        });
    })
}

/// Both factors as a kernel is given them.
pub(super) struct Factors<'k> {
    at: Indices<'k>,
    buffers: [Buffer<'k>; 2],
    /// Rows of A, columns of B.
    size: [Val<'k>; 2],
    /// The axes in front.
    batch: Vec<Val<'k>>,
    lie: [Strided<'k>; 2],
}

impl<'k> Factors<'k> {
    /// Declares their buffers.
    pub fn buffers(k: &'k Builder, form: &Form) -> [Buffer<'k>; 2] {
        ["a", "b"].map(|name| k.buffer(name, form.dtype.elem(), Access::Read, form.align()))
    }

    /// Declares the axes in front and where the factors lie.
    pub fn args(at: Indices<'k>, form: &Form, buffers: [Buffer<'k>; 2], size: [Val<'k>; 2]) -> Factors<'k> {
        let batch = batch_sizes(at.k, form.rank);
        let lie = ["a", "b"].map(|name| Strided::args(&at, name, form.rank));
        Factors { at, buffers, size, batch, lie }
    }

    /// The sums of this invocation over a part of K.
    pub fn sums(&self, form: &Form, spot: &Spot<'k>, [low, high]: [Val<'k>; 2]) -> Vec<Val<'k>> {
        let sides = [0, 1].map(|i| {
            let base = self.lie[i].base(&self.at, spot.batch, &self.batch);
            let (side, lies) = ((spot.origin[i], self.size[i]), (base, self.lie[i].strides[0]));
            Side::new(form, self.at, self.buffers[i], i, side, high, lies)
        });
        accumulate(self.at.k, form, &sides, low, high)
    }
}

/// Where a tile is.
pub(super) struct Spot<'k> {
    /// Number of the matrix.
    pub batch: Val<'k>,
    /// First row and column.
    pub origin: [Val<'k>; 2],
}

impl<'k> Spot<'k> {
    /// Tiles are numbered so that eight rows of them are walked column by column: workgroups that run together then share tiles of
    /// the factors in the cache.
    pub fn new(tile: u32, size: [Val<'k>; 2], number: impl Fn() -> Val<'k>) -> Spot<'k> {
        const BAND: i32 = 8;
        let [rows, cols] = size.map(|n| (n + (tile as i32 - 1)).div_u(tile));
        let tiles = rows * cols;
        let (index, batch) = (number().rem_u(tiles), number().div_u(tiles));
        let per_band = cols * BAND;
        let first = index.div_u(per_band) * BAND;
        let height = (rows - first).min(BAND);
        let inside = index.rem_u(per_band);
        let origin = [(first + inside.rem_u(height)) * tile, inside.div_u(height) * tile];
        Spot { batch, origin }
    }
}

/// The sums of this invocation: row by row, for complex numbers all real parts first.
fn accumulate<'k>(k: &'k Builder, form: &Form, sides: &[Side<'k>; 2], low: Val<'k>, high: Val<'k>) -> Vec<Val<'k>> {
    let Cut { step, rows, cols, .. } = form.cut;
    let zeros = vec![k.f32(0.0); (planes(form.dtype) * rows * cols) as usize];
    let last = high - step as i32;
    let place = place_in_tile(k);
    let spots = sides.each_ref().map(|side| side.spot(low));
    let read = |spots: &[Vec<Val<'k>>; 2]| [0, 1].map(|i| sides[i].read(&spots[i]));
    let start = (read(&spots), (spots, zeros));
    let (_, (_, sums)) = k.for_(low, high, step, start, |at, (vectors, (spots, sums))| {
        k.barrier();
        // B first: transposing A takes registers, which are free then.
        for (side, vectors) in sides.iter().zip(&vectors).rev() {
            side.write(vectors);
        }
        k.barrier();
        // The last step of whole ones reads its own tile once more instead of branching.
        let next = at + step;
        let next = if form.guard == Guard::Exact { next.min(last) } else { next };
        let spots = [0, 1].map(|i| sides[i].next_spot(&spots[i], at, next));
        let vectors = read(&spots);
        let inner = |step: Val<'k>, sums: Vec<Val<'k>>| {
            let (left, right) = (sides[0].row(place.0, rows, step), sides[1].row(place.1, cols, step));
            let by = if form.dtype == Dtype::C64 { complex_step } else { real_step };
            by(form.fused, &left, &right, sums)
        };
        // Drivers without fma are software: unrolling only costs their compilers time.
        let whole = k.i32(step as i32);
        let sums = if form.fused { k.for_unrolled(0, whole, 1, sums, inner) } else { k.for_(0, whole, 1, sums, inner) };
        (vectors, (spots, sums))
    });
    sums
}

/// Which quad of rows and of columns is this invocation's.
fn place_in_tile(k: &Builder) -> (Val<'_>, Val<'_>) {
    (k.local_index().div_u(ACROSS), k.local_index().rem_u(ACROSS))
}

/// Adds the products of a row's elements, to and fro: every product shares a factor with the one before it. Compilers keep much of that
/// order, and a multiprocessor then reads one register less for each: 49 TFLOP/s instead of 45 on an H200.
fn real_step<'k>(fused: bool, left: &[Val<'k>], right: &[Val<'k>], mut sums: Vec<Val<'k>>) -> Vec<Val<'k>> {
    let cols = right.len();
    for (i, &a) in left.iter().enumerate() {
        for j in 0..cols {
            let j = if i % 2 == 0 { j } else { cols - 1 - j };
            let sum = &mut sums[i * cols + j];
            *sum = mul_add(fused, a, right[j], *sum);
        }
    }
    sums
}

fn complex_step<'k>(fused: bool, left: &[Val<'k>], right: &[Val<'k>], sums: Vec<Val<'k>>) -> Vec<Val<'k>> {
    let (m, n) = (left.len() / 2, right.len() / 2);
    let (reals, imaginaries) = sums.split_at(m * n);
    let at = |i: usize| ((left[i / n], left[m + i / n]), (right[i % n], right[n + i % n]));
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

    /// Where the step's share of this invocation is read: its place along K, or, where every read is inside, the index of each quad.
    fn spot(&self, at: Val<'k>) -> Vec<Val<'k>> {
        match self.guard {
            Guard::Exact => {
                (0..4).map(|r| self.quad_at(at, r)).map(|(outer, inner)| self.address(outer, inner)).collect()
            }
            _ => vec![at],
        }
    }

    /// The spot of the step that begins at `next`, from that of the step at `at`: indices advance, which takes fewer instructions and
    /// registers than finding them anew.
    fn next_spot(&self, spot: &[Val<'k>], at: Val<'k>, next: Val<'k>) -> Vec<Val<'k>> {
        if self.guard != Guard::Exact {
            return vec![next];
        }
        let runs = self.at.of(next - at);
        let distance = if self.order == Order::AlongDepth { runs } else { runs * self.pitch };
        spot.iter().map(|&index| index + distance).collect()
    }

    /// The step's share of this invocation: four quads, for complex numbers real and imaginary parts in turn.
    fn read(&self, spot: &[Val<'k>]) -> Vec<Val<'k>> {
        let quad = |r: u32| match self.guard {
            Guard::Exact => self.buffer.load_wide(spot[r as usize], 4),
            _ => self.quad(spot[0], r),
        };
        (0..4).flat_map(|r| self.planes_of(&quad(r))).collect()
    }

    /// A quad as a vector, or as one of real and one of imaginary parts.
    fn planes_of(&self, elements: &[Val<'k>]) -> Vec<Val<'k>> {
        let k = self.at.k;
        match self.tiles.len() {
            1 => vec![k.vector(elements)],
            _ => [0, 1].map(|part| k.vector(&elements.iter().map(|e| e.lane(part)).collect::<Vec<_>>())).to_vec(),
        }
    }

    /// Row of A or column of B, and place along K, of the first element of a quad.
    fn quad_at(&self, at: Val<'k>, r: u32) -> (Val<'k>, Val<'k>) {
        match self.order {
            Order::AlongDepth => (self.origin + self.place.0 * 4 + r, at + self.place.1 * 4),
            Order::AlongSide => (self.origin + self.place.1 * 4, at + self.place.0 + r * self.rows()),
        }
    }

    /// A quad that may lie beyond the matrix.
    fn quad(&self, at: Val<'k>, r: u32) -> Vec<Val<'k>> {
        let along_depth = self.order == Order::AlongDepth;
        let (outer, inner) = self.quad_at(at, r);
        if self.guard == Guard::Quads {
            let (wide_outer, wide_inner) = if along_depth { (1, 4) } else { (4, 1) };
            let place = self.address(outer.min(self.extent - wide_outer), inner.min(self.high - wide_inner));
            let elements = self.buffer.load_wide(place, 4);
            return elements.into_iter().map(|e| self.inside(inner, e)).collect();
        }
        let element = |e: i32| {
            let (outer, inner) = if along_depth { (outer, inner + e) } else { (outer + e, inner) };
            let place = self.address(outer.min(self.extent - 1), inner.min(self.high - 1));
            self.inside(inner, self.buffer.load(place))
        };
        (0..4).map(element).collect()
    }

    /// The element, or zero beyond the end of K.
    fn inside(&self, inner: Val<'k>, element: Val<'k>) -> Val<'k> {
        inner.lt(self.high).select(element, self.at.k.constant(element.ty(), 0))
    }

    fn address(&self, outer: Val<'k>, inner: Val<'k>) -> Val<'k> {
        let (run, along) = if self.order == Order::AlongDepth { (outer, inner) } else { (inner, outer) };
        self.base + self.at.of(run) * self.pitch + self.at.of(along)
    }

    /// Which quad of a row in shared memory holds a quad. Four rows along K are a block; where rows are transposed, quads are exchanged
    /// by its number: of what neighbours write, a block apart, no two are then in one bank.
    fn exchanged(&self, quad: Val<'k>, block: Val<'k>) -> Val<'k> {
        match self.order {
            Order::AlongDepth => quad ^ (block * (32 / self.cut.step)),
            Order::AlongSide => quad,
        }
    }

    /// Puts what was read into shared memory.
    fn write(&self, vectors: &[Val<'k>]) {
        let k = self.at.k;
        for (plane, tile) in self.tiles.iter().enumerate() {
            let mine: Vec<Val> = vectors.iter().skip(plane).step_by(self.tiles.len()).copied().collect();
            for i in 0..4u8 {
                match self.order {
                    Order::AlongDepth => {
                        let column: Vec<Val> = mine.iter().map(|row| row.lane(i)).collect();
                        let (row, quad) = (self.place.1 * 4 + i as i32, self.exchanged(self.place.0, self.place.1));
                        tile.store(row * self.cut.quads() + quad, k.vector(&column));
                    }
                    Order::AlongSide => {
                        // Invocations write one after the other.
                        tile.store(k.local_index() + i as u32 * self.cut.threads(), mine[i as usize]);
                    }
                }
            }
        }
    }

    /// The elements of a row along K that an invocation multiplies: at 4q.., and as many again at even distances.
    fn row(&self, quad: Val<'k>, count: u32, row: Val<'k>) -> Vec<Val<'k>> {
        let parts = count / 4;
        let quads = self.cut.quads();
        let place = |part: u32| row * quads + self.exchanged(quad + part * (quads / parts), row.div_u(4));
        let places: Vec<Val> = (0..parts).map(place).collect();
        let vectors = self.tiles.iter().flat_map(|tile| places.iter().map(|&place| tile.load(place)));
        vectors.flat_map(|vector| (0..4).map(move |lane| vector.lane(lane))).collect()
    }
}

/// Stores the sums of this invocation; the tile begins at the origin.
pub(super) fn store<'k>(form: &Form, result: &Destination<'k>, origin: [Val<'k>; 2], sums: &[Val<'k>]) {
    let k = result.at.k;
    let Cut { tile, rows, cols, .. } = form.cut;
    let (y, x) = place_in_tile(k);
    // Quads of rows and of columns lie at even distances.
    for i in 0..rows {
        let row = origin[0] + y * 4 + (i / 4 * (tile * 4 / rows) + i % 4);
        for part in 0..cols / 4 {
            let col = origin[1] + x * 4 + part * (tile * 4 / cols);
            result.store_quad(row, col, &elements(k, form.dtype, sums, (i * cols + part * 4) as usize));
        }
    }
}

/// Four sums that follow each other, as elements.
fn elements<'k>(k: &'k Builder, dtype: Dtype, sums: &[Val<'k>], first: usize) -> Vec<Val<'k>> {
    match dtype {
        Dtype::C64 => {
            let (re, im) = sums.split_at(sums.len() / 2);
            (first..first + 4).map(|i| k.vector(&[re[i], im[i]])).collect()
        }
        _ => sums[first..first + 4].to_vec(),
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
