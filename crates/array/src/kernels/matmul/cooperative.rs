//! f16 and bf16 products with subgroup-scope cooperative matrices.
//!
//! A workgroup makes `tile_m × tile_n` results, each of its subgroups `sub_m × sub_n`. Global memory is read 16 bytes at a time
//! into registers one step ahead, goes to shared memory (rows padded by 16 bytes, so that eight rows lie in different banks),
//! and is multiplied from there. Results are rounded by our own code on the way out: a driver's f32 → bf16 is not
//! round-to-nearest-even.

use pumice_kernel::{
    Access, Buffer, Builder, Elem, Kernel, Matrix, MatrixLayout, MatrixRole, MatrixScope, Result, SharedArray, Val,
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
    /// Shared buffers in turn: with 2, one barrier a step is enough. The loop is unrolled so often.
    pub stages: u32,
    /// How many steps ahead global memory is read into registers.
    pub ahead: u32,
    /// Rows of tiles walked together (see `tile_of`).
    pub band: u32,
    /// Invocations in a subgroup.
    pub subgroup: u32,
    /// Whether B is given as n × k, rows along K.
    pub transposed: bool,
}

impl Shape {
    /// The shape a choice of the search space stands for.
    fn of(choice: &Choice, subgroup: u32, transposed: bool) -> Shape {
        let [tile_m, tile_n, step] = ["tile_m", "tile_n", "step"].map(|name| choice.get(name));
        let [sub_m, sub_n, stages] = ["sub_m", "sub_n", "stages"].map(|name| choice.get(name));
        let [ahead, band] = ["ahead", "band"].map(|name| choice.get(name));
        Shape { tile_m, tile_n, step, sub_m, sub_n, stages, ahead, band, subgroup, transposed }
    }

    /// Vectors of eight an invocation moves in a step.
    fn vectors(&self) -> u32 {
        (self.tile_m + self.tile_n) * self.step / 8 / self.invocations()
    }

    /// Invocations in a workgroup.
    pub fn invocations(&self) -> u32 {
        self.tile_m / self.sub_m * (self.tile_n / self.sub_n) * self.subgroup
    }

    /// What K must be a multiple of.
    pub fn depth_unit(&self) -> u32 {
        self.step * self.stages
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
            && self.shared_bytes() <= 48 << 10
    }

    /// Bytes of shared memory the kernel takes.
    pub fn shared_bytes(&self) -> u32 {
        let factors = self.tile_m * a_pitch(self) + b_rows(self) * b_pitch(self);
        let staging = self.invocations() / self.subgroup * SIDE * SIDE * 4;
        self.stages * factors * 16 + staging
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shape { tile_m, tile_n, step, sub_m, sub_n, stages, ahead, band, .. } = self;
        let transposed = if self.transposed { "/t" } else { "" };
        write!(f, "{tile_m}x{tile_n}x{step}/{sub_m}x{sub_n}/s{stages}/a{ahead}/b{band}{transposed}")
    }
}

/// The shape that is best on an H200 at 4096³; see `pumice bench --sweep`.
pub fn best(subgroup: u32) -> Shape {
    Shape {
        tile_m: 256,
        tile_n: 128,
        step: 32,
        sub_m: 64,
        sub_n: 64,
        stages: 1,
        ahead: 1,
        band: 8,
        subgroup,
        transposed: false,
    }
}

/// The search space.
pub fn space(subgroup: u32, transposed: bool) -> Space {
    Space::new()
        .axis("tile_m", [128, 256])
        .axis("tile_n", [128, 256])
        .axis("step", [16, 32, 64])
        .axis("sub_m", [32, 64])
        .axis("sub_n", [64])
        .axis("stages", [1, 2])
        .axis("ahead", [0, 1, 2])
        .axis("band", [8])
        .require("the tiles divide evenly among the invocations and fit shared memory", move |choice| {
            Shape::of(choice, subgroup, transposed).is_valid()
        })
        // Beyond that the registers of an invocation do not hold what is read ahead and its sums, and spill.
        .require("at most 16 vectors of 16 bytes read ahead, 12 beside sums of 64 x 64", move |choice| {
            let shape = Shape::of(choice, subgroup, transposed);
            let vectors = shape.ahead * shape.vectors();
            vectors <= if shape.sub_m == 64 { 12 } else { 16 }
        })
}

/// Every shape of the search space.
pub fn candidates(subgroup: u32, transposed: bool) -> Vec<Shape> {
    space(subgroup, transposed).candidates().iter().map(|choice| Shape::of(choice, subgroup, transposed)).collect()
}

/// Rows and columns of one cooperative matrix.
const SIDE: u32 = 16;

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

fn matrix(elem: Elem, role: MatrixRole) -> Matrix {
    Matrix { scope: MatrixScope::Subgroup, elem, rows: SIDE, cols: SIDE, role }
}

/// The kernel: buffers a (m × k), b (k × n, or n × k if transposed), c (m × n) of `elem`, then m, n, k as I32; m, n and k multiples of the shape's
/// tile and `depth_unit`.
pub fn matmul(elem: Elem, shape: Shape) -> Result<Kernel> {
    let s = shape;
    Kernel::build("matmul_cooperative", [s.invocations(), 1, 1], |k| {
        let tiles = Tiles::new(k, elem, &s);
        let c = k.buffer("c", elem, Access::Write, 16);
        let (m, n, depth) = (k.arg_i32("m"), k.arg_i32("n"), k.arg_i32("k"));
        let (tile_row, tile_col) = tile_of(k, m / s.tile_m as i32, n / s.tile_n as i32, s.band);
        let (row0, col0) = (tile_row * s.tile_m, tile_col * s.tile_n);
        let (sub_row, sub_col) = subgroup_place(k, &s);
        let zero = k.matrix_fill(matrix(Elem::F32, MatrixRole::Accumulator), 0.0);
        let sums = vec![zero; (s.sub_m / SIDE * (s.sub_n / SIDE)) as usize];
        let last = depth - s.step as i32;
        let start = (tiles.read_ahead((row0, col0), (n, depth), last), sums);
        let (_, sums) = k.for_(0, depth, s.depth_unit(), start, |at, (mut ready, mut sums)| {
            for stage in 0..s.stages {
                let at = at + stage * s.step;
                if s.ahead == 0 {
                    ready = tiles.read((row0, col0), (n, depth), at);
                }
                if s.stages == 1 {
                    k.barrier();
                }
                let rest = ready.split_off(s.vectors() as usize);
                tiles.write(&ready, stage);
                k.barrier();
                ready = rest;
                if s.ahead > 0 {
                    // Reads beyond the last step read it once more instead of branching.
                    let beyond = (at + s.ahead * s.step).min(last);
                    ready.extend(tiles.read((row0, col0), (n, depth), beyond));
                }
                sums = tiles.multiply((sub_row, sub_col), stage, sums);
            }
            (ready, sums)
        });
        write_results(k, &s, elem, &sums, |row, col, values| {
            c.store_wide((row0 + sub_row + row) * n + col0 + sub_col + col, values);
        });
    })
}

/// First row and column, inside the tile, of this subgroup's results.
fn subgroup_place<'k>(k: &'k Builder, s: &Shape) -> (Val<'k>, Val<'k>) {
    let subgroup = k.subgroup_id();
    let across = s.tile_n / s.sub_n;
    (subgroup.div_u(across) * s.sub_m, subgroup.rem_u(across) * s.sub_n)
}

/// The tiles of A and B in shared memory.
struct Tiles<'k> {
    k: &'k Builder,
    elem: Elem,
    s: Shape,
    from_a: Buffer<'k>,
    from_b: Buffer<'k>,
    a: SharedArray<'k>,
    b: SharedArray<'k>,
}

impl<'k> Tiles<'k> {
    fn new(k: &'k Builder, elem: Elem, s: &Shape) -> Tiles<'k> {
        let from_a = k.buffer("a", elem, Access::Read, 16).view(Elem::U32);
        let from_b = k.buffer("b", elem, Access::Read, 16).view(Elem::U32);
        let a = k.shared_vectors("a_tile", Elem::U32, 4, s.stages * s.tile_m * a_pitch(s));
        let b = k.shared_vectors("b_tile", Elem::U32, 4, s.stages * b_rows(s) * b_pitch(s));
        Tiles { k, elem, s: *s, from_a, from_b, a, b }
    }

    /// The step's share of this invocation, in vectors of eight elements: first of A, then of B.
    fn read(&self, origin: (Val<'k>, Val<'k>), (n, depth): (Val<'k>, Val<'k>), at: Val<'k>) -> Vec<Val<'k>> {
        let s = &self.s;
        let of_a = self.spread(s.tile_m, s.step / 8).into_iter().map(|(row, vector)| {
            let word = ((origin.0 + row) * depth + at).shr_u(1) + vector * 4;
            self.from_a.load_wide(word, 4)
        });
        let of_b = self.spread(b_rows(s), b_pitch(s) - 1).into_iter().map(|(row, vector)| {
            let first = if s.transposed { (origin.1 + row) * depth + at } else { (at + row) * n + origin.1 };
            self.from_b.load_wide(first.shr_u(1) + vector * 4, 4)
        });
        of_a.chain(of_b).map(|words| self.k.vector(&words)).collect()
    }

    /// Which rows and vectors of a `rows × vectors` tile this invocation moves.
    fn spread(&self, rows: u32, vectors: u32) -> Vec<(Val<'k>, Val<'k>)> {
        let (id, invocations) = (self.k.local_index(), self.s.invocations());
        let places = (0..rows * vectors / invocations).map(|j| id + j * invocations);
        places.map(|at| (at.div_u(vectors), at.rem_u(vectors))).collect()
    }

    /// Where a stage begins in the two arrays.
    fn bases(&self, stage: u32) -> (u32, u32) {
        let s = &self.s;
        (stage * s.tile_m * a_pitch(s), stage * b_rows(s) * b_pitch(s))
    }

    /// What is read before the loop: the first `ahead` steps.
    fn read_ahead(&self, origin: (Val<'k>, Val<'k>), size: (Val<'k>, Val<'k>), last: Val<'k>) -> Vec<Val<'k>> {
        let steps = (0..self.s.ahead).map(|i| self.k.i32((i * self.s.step) as i32).min(last));
        steps.flat_map(|at| self.read(origin, size, at)).collect()
    }

    /// Puts what `read` read into shared memory.
    fn write(&self, vectors: &[Val<'k>], stage: u32) {
        let s = &self.s;
        let (a_base, b_base) = self.bases(stage);
        let to_a = self
            .spread(s.tile_m, s.step / 8)
            .into_iter()
            .map(|(row, vector)| (self.a, row * a_pitch(s) + vector + a_base));
        let to_b = self
            .spread(b_rows(s), b_pitch(s) - 1)
            .into_iter()
            .map(|(row, vector)| (self.b, row * b_pitch(s) + vector + b_base));
        for ((array, place), &vector) in to_a.chain(to_b).zip(vectors) {
            array.store(place, vector);
        }
    }

    /// Adds the product of the tiles to this subgroup's sums.
    fn multiply(&self, place: (Val<'k>, Val<'k>), stage: u32, mut sums: Vec<Val<'k>>) -> Vec<Val<'k>> {
        let s = &self.s;
        let (a_base, b_base) = self.bases(stage);
        let (down, across) = (s.sub_m / SIDE, s.sub_n / SIDE);
        let load = |array: SharedArray<'k>, role, at: Val<'k>, pitch: u32, layout| {
            array.load_matrix(matrix(self.elem, role), at, pitch, layout, 16)
        };
        let (pitch_a, pitch_b) = (a_pitch(s), b_pitch(s));
        let a_first = place.0 * pitch_a + a_base;
        let b_first = if s.transposed { place.1 * pitch_b } else { place.1.shr_u(3) } + b_base;
        // Vectors from one matrix to the next, along N and along K.
        let (b_across, b_down) = if s.transposed { (SIDE * pitch_b, 2) } else { (2, SIDE * pitch_b) };
        let b_layout = if s.transposed { MatrixLayout::ColumnMajor } else { MatrixLayout::RowMajor };
        for inner in 0..s.step / SIDE {
            let left: Vec<Val> = (0..down)
                .map(|i| a_first + (i * SIDE * pitch_a + inner * 2))
                .map(|at| load(self.a, MatrixRole::A, at, pitch_a, MatrixLayout::RowMajor))
                .collect();
            for j in 0..across {
                let at = b_first + (inner * b_down + j * b_across);
                let right = load(self.b, MatrixRole::B, at, pitch_b, b_layout);
                for (i, &left) in left.iter().enumerate() {
                    let sum = &mut sums[i * across as usize + j as usize];
                    *sum = left.matrix_mul_add(right, *sum);
                }
            }
        }
        sums
    }
}

/// Takes each result matrix through shared memory, a patch per subgroup, and hands its rows on, eight elements at a time.
fn write_results<'k>(
    k: &'k Builder,
    s: &Shape,
    elem: Elem,
    sums: &[Val<'k>],
    store: impl Fn(Val<'k>, Val<'k>, &[Val<'k>]),
) {
    let subgroups = s.invocations() / s.subgroup;
    let patch = k.shared("results", Elem::F32, subgroups * SIDE * SIDE);
    let base = k.subgroup_id() * (SIDE * SIDE);
    let lane = k.lane();
    let across = s.sub_n / SIDE;
    let wide = 16 / elem.bytes() as u32;
    let runs = SIDE * SIDE / wide;
    for (at, &sum) in sums.iter().enumerate() {
        let (i, j) = (at as u32 / across, at as u32 % across);
        patch.store_matrix(sum, base, SIDE, MatrixLayout::RowMajor, 16);
        k.barrier();
        for first in (0..runs).step_by(s.subgroup as usize) {
            let run = lane + first;
            let (row, col) = (run.div_u(SIDE / wide), run.rem_u(SIDE / wide) * wide);
            let values: Vec<Val> = (0..wide).map(|e| patch.load(base + row * SIDE + col + e)).collect();
            store(row + i * SIDE, col + j * SIDE, &values);
        }
        k.barrier();
    }
}
