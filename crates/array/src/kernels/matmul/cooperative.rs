//! f16 and bf16 products with subgroup-scope cooperative matrices.
//!
//! A workgroup makes `tile_m × tile_n` results, each of its subgroups `sub_m × sub_n`. Global memory is read 16 bytes at a time
//! into registers a step or two ahead, goes to shared memory (rows padded by 16 bytes, so that eight rows lie in different
//! banks), and is multiplied from there. Results leave through the same memory and are rounded by our own code: a driver's
//! f32 → bf16 is not round-to-nearest-even.

use pumice_kernel::{
    Access, Buffer, Builder, Elem, Kernel, Matrix, MatrixLayout, MatrixRole, MatrixScope, Result, Scalar, SharedArray,
    Val,
};

use pumice_kernel::search::{Choice, Space};

use super::tile_of;

/// How the work is cut.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Rows of C a workgroup makes.
    pub tile_m: u32,
    /// Columns of C a workgroup makes.
    pub tile_n: u32,
    /// How far one step goes along K.
    pub step: u32,
    /// Rows of C a subgroup makes.
    pub sub_m: u32,
    /// Columns of C a subgroup makes.
    pub sub_n: u32,
    /// How many steps ahead global memory is read into registers.
    pub ahead: u32,
    /// Invocations in a subgroup.
    pub subgroup: u32,
    /// Whether B is given as n × k, rows along K.
    pub transposed: bool,
}

impl Shape {
    /// The shape a choice of the search space stands for.
    fn of(choice: &Choice, subgroup: u32, transposed: bool) -> Shape {
        let [tile_m, tile_n, step] = ["tile_m", "tile_n", "step"].map(|name| choice.get(name));
        let [sub_m, sub_n, ahead] = ["sub_m", "sub_n", "ahead"].map(|name| choice.get(name));
        Shape { tile_m, tile_n, step, sub_m, sub_n, ahead, subgroup, transposed }
    }

    /// Vectors of eight an invocation moves in a step.
    fn vectors(&self) -> u32 {
        (self.tile_m + self.tile_n) * self.step / 8 / self.invocations()
    }

    /// Invocations in a workgroup.
    pub fn invocations(&self) -> u32 {
        self.subgroups() * self.subgroup
    }

    /// Tiles of a product of so many rows and columns, a workgroup each.
    pub fn tiles(&self, m: i64, n: i64) -> i64 {
        m / self.tile_m as i64 * (n / self.tile_n as i64)
    }

    fn subgroups(&self) -> u32 {
        self.tile_m / self.sub_m * (self.tile_n / self.sub_n)
    }

    /// What K must be a multiple of.
    pub fn depth_unit(&self) -> u32 {
        self.step
    }

    /// Whether every invocation moves the same number of vectors, and there are neither too few nor too many of them.
    pub fn is_valid(&self) -> bool {
        let n = self.invocations();
        let even = |vectors: u32| vectors >= n && vectors.is_multiple_of(n);
        let nested = self.tile_m.is_multiple_of(self.sub_m) && self.tile_n.is_multiple_of(self.sub_n);
        nested
            && (64..=512).contains(&n)
            && even(self.tile_m * self.step / 8)
            && even(self.tile_n * self.step / 8)
            && (self.beside() * SIDE * SIDE / 8).is_multiple_of(self.subgroup)
            && self.shared_bytes() <= 48 << 10
    }

    /// Bytes of shared memory the kernel takes.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_vectors() * 16
    }

    fn shared_vectors(&self) -> u32 {
        self.tile_vectors().max(self.subgroups() * patch_vectors(self.beside()))
    }

    fn tile_vectors(&self) -> u32 {
        self.tile_m * a_pitch(self) + b_rows(self) * b_pitch(self)
    }

    /// How many result matrices side by side a subgroup takes through shared memory at once, where the tiles were.
    fn beside(&self) -> u32 {
        let room = self.tile_vectors() / self.subgroups();
        let fits = |count: &u32| (self.sub_n / SIDE).is_multiple_of(*count) && patch_vectors(*count) <= room;
        [4, 2].into_iter().find(fits).unwrap_or(1)
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shape { tile_m, tile_n, step, sub_m, sub_n, ahead, .. } = self;
        let transposed = if self.transposed { "/t" } else { "" };
        write!(f, "{tile_m}x{tile_n}x{step}/{sub_m}x{sub_n}/a{ahead}{transposed}")
    }
}

/// The shape that is best on an H200 at 4096³; see `pumice bench --sweep`.
pub fn best(subgroup: u32) -> Shape {
    Shape { tile_m: 128, tile_n: 128, step: 32, sub_m: 64, sub_n: 64, ahead: 1, subgroup, transposed: false }
}

/// The shape for so many products of so many rows, columns and terms, on a device of so many multiprocessors (0 if it does not
/// tell): the largest tiles of which there are enough. None where no tiles cover a product exactly.
///
/// On an H200, µs: 512³ 7.1 instead of 12.3 with the largest, 1024³ 13.6 instead of 20.0; at 2048³ the largest are best (56).
pub fn for_products(
    [count, m, n, depth]: [i64; 4],
    multiprocessors: u32,
    subgroup: u32,
    transposed: bool,
) -> Option<Shape> {
    let shape = |tile_m, tile_n, step, sub_m, sub_n| Shape {
        tile_m,
        tile_n,
        step,
        sub_m,
        sub_n,
        ahead: 1,
        subgroup,
        transposed,
    };
    let all = if multiprocessors == 0 { UNTOLD } else { multiprocessors as i64 };
    let large = Shape { transposed, ..best(subgroup) };
    let choices = [
        (large, all),
        (shape(64, 128, 64, 64, 32), all * 3 / 4),
        (shape(128, 64, 64, 64, 32), all * 3 / 4),
        (shape(64, 64, 64, 32, 32), 0),
        (shape(64, 64, 32, 32, 32), 0),
    ];
    let covers = |s: &Shape| {
        [(m, s.tile_m), (n, s.tile_n), (depth, s.depth_unit())].iter().all(|(size, unit)| size % *unit as i64 == 0)
    };
    choices
        .into_iter()
        .find(|(s, enough)| s.is_valid() && covers(s) && count * s.tiles(m, n) >= *enough)
        .map(|(s, _)| s)
}

/// Multiprocessors of a device that does not tell how many it has.
const UNTOLD: i64 = 128;

/// The search space.
pub fn space(subgroup: u32, transposed: bool) -> Space {
    Space::new()
        .axis("tile_m", [64, 128, 256])
        .axis("tile_n", [64, 128, 256])
        .axis("step", [32, 64])
        .axis("sub_m", [32, 64])
        .axis("sub_n", [32, 64])
        .axis("ahead", [1, 2])
        .require("tiles at most twice as long as wide", |choice| {
            let [m, n] = ["tile_m", "tile_n"].map(|name| choice.get(name));
            m.max(n) <= 2 * m.min(n)
        })
        .require("the tiles divide evenly among the invocations and fit shared memory", move |choice| {
            Shape::of(choice, subgroup, transposed).is_valid()
        })
        .require("tiles of 64 for subgroups of 32 x 32", |choice| {
            let side = |name| choice.get(name);
            side("sub_m") * side("sub_n") > 32 * 32 || side("tile_m").min(side("tile_n")) == 64
        })
        // Beyond that the registers of an invocation do not hold its sums and what is read ahead, and spill.
        .require("at most 16 vectors of 16 bytes read ahead, 12 beside sums of 64 x 64", move |choice| {
            let shape = Shape::of(choice, subgroup, transposed);
            let vectors = shape.ahead * shape.vectors();
            vectors <= if shape.sub_m == 64 { 12 } else { 16 }
        })
        .require("at most 256 invocations beside sums of 64 x 64", move |choice| {
            let shape = Shape::of(choice, subgroup, transposed);
            shape.sub_m < 64 || shape.invocations() <= 256
        })
}

/// Every shape of the search space.
pub fn candidates(subgroup: u32, transposed: bool) -> Vec<Shape> {
    space(subgroup, transposed).candidates().iter().map(|choice| Shape::of(choice, subgroup, transposed)).collect()
}

/// Rows and columns of one cooperative matrix.
const SIDE: u32 = 16;
/// Rows of tiles walked together (see `tile_of`). Others make little difference at 4096³ on an H200: 307 to 314 TFLOP/s from
/// 1 to 32.
const BAND: u32 = 8;

/// Vectors of eight from one row of the A tile in shared memory to the next.
fn a_pitch(s: &Shape) -> u32 {
    s.step / 8 + 1
}

/// Vectors of eight from one row of the B tile in shared memory to the next.
fn b_pitch(s: &Shape) -> u32 {
    if s.transposed { a_pitch(s) } else { s.tile_n / 8 + 1 }
}

/// Rows of the B tile in shared memory.
fn b_rows(s: &Shape) -> u32 {
    if s.transposed { s.tile_n } else { s.step }
}

/// Vectors of four f32 that a subgroup's result matrices take side by side. Rows are 8 banks apart from multiples of 32, so
/// that the four rows a driver writes together lie in different ones.
fn patch_vectors(beside: u32) -> u32 {
    SIDE * patch_pitch(beside)
}

fn patch_pitch(beside: u32) -> u32 {
    beside * SIDE / 4 + 2
}

fn matrix(elem: Elem, role: MatrixRole) -> Matrix {
    Matrix { scope: MatrixScope::Subgroup, elem, rows: SIDE, cols: SIDE, role }
}

/// The kernel: buffers a (m × k), b (k × n, or n × k if transposed), c (m × n) of `elem`, then m, n, k as I32; m, n and k
/// multiples of the shape's tile and `depth_unit`.
pub fn matmul(elem: Elem, shape: Shape) -> Result<Kernel> {
    let s = shape;
    Kernel::build("matmul_cooperative", [s.invocations(), 1, 1], |k| {
        let (a, b) = (k.buffer("a", elem, Access::Read, 16), k.buffer("b", elem, Access::Read, 16));
        let c = k.buffer("c", elem, Access::Write, 16);
        let (m, n, depth) = (k.arg_i32("m"), k.arg_i32("n"), k.arg_i32("k"));
        let (tile_row, tile_col) = tile_of(k, m / s.tile_m as i32, n / s.tile_n as i32, BAND);
        let origin = (tile_row * s.tile_m, tile_col * s.tile_n);
        let sub = subgroup_place(k, &s);
        let reader = Reader::new(k, &s, (a, b), origin, (n, depth));
        let tiles = Tiles::new(k, elem, &s, sub);
        let zero = k.matrix_fill(matrix(Elem::F32, MatrixRole::Accumulator), 0.0);
        let sums = vec![zero; (s.sub_m / SIDE * (s.sub_n / SIDE)) as usize];
        let ready: Vec<Val> = (0..s.ahead).flat_map(|i| reader.read(k.i32((i * s.step) as i32))).collect();
        // Unrolled by the driver it spills: 276 instead of 301 TFLOP/s on an H200.
        let (_, sums) = k.for_rolled(0, depth, s.step, (ready, sums), |at, (mut ready, sums)| {
            k.barrier();
            let mut later = ready.split_off(s.vectors() as usize);
            tiles.write(&ready);
            k.barrier();
            later.extend(reader.read(at + s.ahead * s.step));
            (later, tiles.multiply(sums))
        });
        let first = (origin.0 + sub.0) * n + origin.1 + sub.1;
        k.barrier();
        write_results(k, &s, tiles.memory, &sums, n, |at, values| c.store_wide(first + at, values));
    })
}

/// First row and column, inside the tile, of this subgroup's results.
fn subgroup_place<'k>(k: &'k Builder, s: &Shape) -> (Val<'k>, Val<'k>) {
    let subgroup = k.subgroup_id();
    let across = s.tile_n / s.sub_n;
    (subgroup.div_u(across) * s.sub_m, subgroup.rem_u(across) * s.sub_n)
}

/// Which rows and vectors of a `rows × vectors` tile this invocation moves.
///
/// Shared memory takes what eight neighbours write at once. With an odd pitch they meet in no bank if the rows they write
/// are as far apart as a row has vectors: 314 instead of 301 TFLOP/s on an H200.
fn spread<'k>(k: &'k Builder, s: &Shape, rows: u32, vectors: u32) -> Vec<(Val<'k>, Val<'k>)> {
    let (id, invocations) = (k.local_index(), s.invocations());
    // Not one place and constant distances from it: a driver then keeps more in registers (310 to 284 with 128 x 256).
    let places = (0..rows * vectors / invocations).map(|j| id + j * invocations);
    let apart = |row: Val<'k>| {
        let (inside, together) = (row.rem_u(8), 8 / vectors);
        row - inside + inside.rem_u(together) * vectors + inside.div_u(together)
    };
    places
        .map(|at| (at.div_u(vectors), at.rem_u(vectors)))
        .map(|(row, vector)| (if vectors < 8 { apart(row) } else { row }, vector))
        .collect()
}

/// Reads this invocation's share of a step from global memory.
struct Reader<'k> {
    k: &'k Builder,
    /// The last step; reads beyond it read it once more instead of branching.
    last: Val<'k>,
    /// Words of B from one row to the next; 1 element along K if it is transposed.
    b_row: Option<Val<'k>>,
    /// A and B as 32-bit words, and where each vector of the first step begins.
    a: (Buffer<'k>, Vec<Val<'k>>),
    b: (Buffer<'k>, Vec<Val<'k>>),
}

impl<'k> Reader<'k> {
    fn new(
        k: &'k Builder,
        s: &Shape,
        (a, b): (Buffer<'k>, Buffer<'k>),
        origin: (Val<'k>, Val<'k>),
        (n, depth): (Val<'k>, Val<'k>),
    ) -> Reader<'k> {
        let words = |first: Val<'k>, (row, vector): (Val<'k>, Val<'k>), pitch: Val<'k>| {
            (first + row * pitch).shr_u(1) + vector * 4
        };
        let (b_first, b_pitch_words) = if s.transposed { (origin.1 * depth, depth) } else { (origin.1, n) };
        let of_a = spread(k, s, s.tile_m, s.step / 8).into_iter().map(|place| words(origin.0 * depth, place, depth));
        let of_b =
            spread(k, s, b_rows(s), b_pitch(s) - 1).into_iter().map(|place| words(b_first, place, b_pitch_words));
        Reader {
            k,
            last: depth - s.step as i32,
            b_row: (!s.transposed).then_some(n),
            a: (a.view(Elem::U32), of_a.collect()),
            b: (b.view(Elem::U32), of_b.collect()),
        }
    }

    /// The step that begins at `at` along K, in vectors of eight elements: first of A, then of B.
    fn read(&self, at: Val<'k>) -> Vec<Val<'k>> {
        let at = at.min(self.last);
        let (along_a, along_b) = (at.shr_u(1), self.b_row.map_or(at, |row| at * row).shr_u(1));
        let of_a = self.a.1.iter().map(|&word| self.a.0.load_wide(word + along_a, 4));
        let of_b = self.b.1.iter().map(|&word| self.b.0.load_wide(word + along_b, 4));
        of_a.chain(of_b).map(|words| self.k.vector(&words)).collect()
    }
}

/// The tiles of A and B in shared memory: first A's, then B's.
struct Tiles<'k> {
    elem: Elem,
    s: Shape,
    memory: SharedArray<'k>,
    /// Where this invocation puts what it read.
    places: Vec<Val<'k>>,
    /// Where this subgroup's first matrices begin.
    a_first: Val<'k>,
    b_first: Val<'k>,
}

impl<'k> Tiles<'k> {
    fn new(k: &'k Builder, elem: Elem, s: &Shape, sub: (Val<'k>, Val<'k>)) -> Tiles<'k> {
        let (pitch_a, pitch_b, of_b) = (a_pitch(s), b_pitch(s), s.tile_m * a_pitch(s));
        let a_places = spread(k, s, s.tile_m, s.step / 8).into_iter().map(|(row, vector)| row * pitch_a + vector);
        let b_places = spread(k, s, b_rows(s), pitch_b - 1).into_iter().map(|(row, vector)| row * pitch_b + vector);
        Tiles {
            elem,
            s: *s,
            memory: k.shared_vectors("tiles", Elem::U32, 4, s.shared_vectors()),
            places: a_places.chain(b_places.map(|place| place + of_b)).collect(),
            a_first: sub.0 * pitch_a,
            b_first: if s.transposed { sub.1 * pitch_b } else { sub.1.shr_u(3) } + of_b,
        }
    }

    /// Puts what was read into shared memory.
    fn write(&self, vectors: &[Val<'k>]) {
        for (&place, &vector) in self.places.iter().zip(vectors) {
            self.memory.store(place, vector);
        }
    }

    /// Adds the product of the tiles to this subgroup's sums.
    fn multiply(&self, mut sums: Vec<Val<'k>>) -> Vec<Val<'k>> {
        let across = self.s.sub_n / SIDE;
        for inner in 0..self.s.step / SIDE {
            let left = self.left(inner);
            for j in 0..across {
                let right = self.right(inner, j);
                for (i, &left) in left.iter().enumerate() {
                    let sum = &mut sums[i * across as usize + j as usize];
                    *sum = left.matrix_mul_add(right, *sum);
                }
            }
        }
        sums
    }

    /// The subgroup's matrices of A at one place along K.
    fn left(&self, inner: u32) -> Vec<Val<'k>> {
        let pitch = a_pitch(&self.s);
        let places = (0..self.s.sub_m / SIDE).map(|i| self.a_first + (i * SIDE * pitch + inner * 2));
        let ty = matrix(self.elem, MatrixRole::A);
        places.map(|at| self.memory.load_matrix(ty, at, pitch, MatrixLayout::RowMajor, 16)).collect()
    }

    /// One of the subgroup's matrices of B at one place along K.
    fn right(&self, inner: u32, j: u32) -> Val<'k> {
        let pitch = b_pitch(&self.s);
        // Vectors from one matrix to the next, along N and along K.
        let (across, down, layout) = match self.s.transposed {
            true => (SIDE * pitch, 2, MatrixLayout::ColumnMajor),
            false => (2, SIDE * pitch, MatrixLayout::RowMajor),
        };
        let at = self.b_first + (inner * down + j * across);
        self.memory.load_matrix(matrix(self.elem, MatrixRole::B), at, pitch, layout, 16)
    }
}

/// Takes result matrices through shared memory, a patch of them per subgroup, and hands on runs of eight values with their
/// place in C (rows of `n`) relative to the subgroup's first result.
fn write_results<'k>(
    k: &'k Builder,
    s: &Shape,
    memory: SharedArray<'k>,
    sums: &[Val<'k>],
    n: Val<'k>,
    store: impl Fn(Val<'k>, &[Val<'k>]),
) {
    let (beside, pitch) = (s.beside(), patch_pitch(s.beside()));
    let base = k.subgroup_id() * patch_vectors(beside);
    // The runs this invocation hands on: where they lie in the patch, and in C.
    let per_row = beside * SIDE / 8;
    let runs: Vec<(Val, Val)> = (0..SIDE * per_row)
        .step_by(s.subgroup as usize)
        .map(|first| {
            let run = k.lane() + first;
            let (row, col) = (run.div_u(per_row), run.rem_u(per_row));
            (base + row * pitch + col * 2, row * n + col * 8)
        })
        .collect();
    let across = s.sub_n / SIDE;
    for (i, patch) in sums.chunks(beside as usize).enumerate() {
        let (row, col) = (i as u32 * beside / across * SIDE, i as u32 * beside % across * SIDE);
        for (j, &sum) in patch.iter().enumerate() {
            memory.store_matrix(sum, base + j as u32 * (SIDE / 4), pitch, MatrixLayout::RowMajor, 16);
        }
        k.barrier();
        for &(cell, place) in &runs {
            let halves = [0, 1].map(|half| memory.load(cell + half).bitcast(Scalar::F32));
            let values: Vec<Val> = halves.iter().flat_map(|half| (0..4).map(|lane| half.lane(lane))).collect();
            store(place + n * row + col, &values);
        }
        k.barrier();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles([m, n, depth]: [i64; 3]) -> Option<[u32; 3]> {
        for_products([1, m, n, depth], 132, 32, false).map(|s| [s.tile_m, s.tile_n, s.step])
    }

    #[test]
    fn tiles_are_as_large_as_leaves_enough_of_them() {
        assert_eq!(tiles([4096, 4096, 4096]), Some([128, 128, 32]));
        assert_eq!(tiles([2048, 2048, 2048]), Some([128, 128, 32]));
        assert_eq!(tiles([1024, 1024, 1024]), Some([64, 128, 64]));
        assert_eq!(tiles([512, 512, 512]), Some([64, 64, 64]));
    }

    #[test]
    fn products_side_by_side_make_tiles_together() {
        let shape = for_products([16, 512, 512, 512], 132, 32, true).expect("whole tiles");
        assert_eq!((shape.tile_m, shape.tile_n, shape.transposed), (128, 128, true));
    }

    #[test]
    fn tiles_cover_the_product_or_there_are_none() {
        assert_eq!(tiles([4160, 4096, 64]), Some([64, 128, 64]));
        assert_eq!(tiles([4096, 4160, 64]), Some([128, 64, 64]));
        assert_eq!(tiles([1024, 1024, 96]), Some([64, 64, 32]));
        assert_eq!(tiles([1024, 1000, 1024]), None);
        assert_eq!(tiles([1024, 1024, 48]), None);
        assert_eq!(tiles([0, 64, 64]), Some([64, 64, 64]));
    }
}
