//! f32 products with plain arithmetic.
//!
//! A workgroup makes 128 × 128 results, 8 × 8 or 8 × 16 per invocation. Of each step along K an invocation moves a 4 × 4 block of A,
//! transposed on the way, and four vectors of B, or, where a step is half as long, one of the two; the next step's global reads are in
//! flight while the current one is computed from shared memory.

use pumice_kernel::search::{Choice, Space};
use pumice_kernel::{Access, Buffer, Builder, Elem, Kernel, Result, SharedArray, Val};

use super::tile_of;

/// Rows and columns of C one workgroup makes.
pub const TILE: u32 = 128;

/// What is left open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Columns of C an invocation makes, of eight rows: 8, or 16, for which fewer vectors are read from shared memory.
    pub cols: u32,
    /// How far one step goes along K: the fewer, the less shared memory and the fewer registers.
    pub step: u32,
    /// How rows of A lie in shared memory.
    pub rows: Rows,
    /// Places along K that are written out one after the other.
    pub unroll: u32,
    /// Whether the driver is asked not to unroll the loop over steps.
    pub rolled: bool,
}

/// How rows of A lie in shared memory. Eight neighbours write eight columns of blocks, four rows apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rows {
    /// One after the other: the eight meet in one bank.
    Plain,
    /// A vector apart: they do not.
    Padded,
    /// One after the other, the vectors of a row exchanged by its number: they do not, and it takes no more memory.
    Exchanged,
}

impl Rows {
    const ALL: [Rows; 3] = [Rows::Plain, Rows::Padded, Rows::Exchanged];

    fn pitch(self) -> u32 {
        QUADS + (self == Rows::Padded) as u32
    }

    /// Where a vector of a row lies.
    fn place<'k>(self, row: Val<'k>, quad: Val<'k>) -> Val<'k> {
        let quad = if self == Rows::Exchanged { quad ^ row.div_u(4).rem_u(8) } else { quad };
        row * self.pitch() + quad
    }
}

impl Shape {
    fn of(choice: &Choice) -> Shape {
        let [cols, step, rows] = ["cols", "step", "rows"].map(|name| choice.get(name));
        let [unroll, rolled] = ["unroll", "rolled"].map(|name| choice.get(name));
        Shape { cols, step, rows: Rows::ALL[rows as usize], unroll, rolled: rolled == 1 }
    }

    /// Invocations of a workgroup.
    fn invocations(&self) -> u32 {
        TILE / 8 * (TILE / self.cols)
    }

    /// Bytes of shared memory the kernel takes.
    pub fn shared_bytes(&self) -> u32 {
        self.step * (self.rows.pitch() + QUADS) * 16
    }

    /// Invocations that move a factor.
    fn movers(&self) -> u32 {
        TILE * self.step / 16
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shape { cols, step, rows, unroll, rolled } = self;
        write!(f, "8x{cols}/{step}/{rows:?}/u{unroll}{}", if *rolled { "/r" } else { "" })
    }
}

/// The shape that is best on an H200 at 4096³ of those that were measured.
pub fn best() -> Shape {
    Shape { cols: 8, step: 32, rows: Rows::Plain, unroll: 32, rolled: false }
}

/// The search space.
pub fn space() -> Space {
    Space::new()
        .axis("cols", [8, 16])
        .axis("step", [32, 16, 8])
        .axis("rows", [0, 1, 2])
        .axis("unroll", [32, 16, 8])
        .axis("rolled", [0, 1])
        .require("no more is written out than a step", |choice| choice.get("unroll") <= choice.get("step"))
        .require("every invocation moves parts of both factors, or half of them parts of each", |choice| {
            let shape = Shape::of(choice);
            [1, 2].contains(&(shape.invocations() / shape.movers().max(1))) && shape.movers() <= shape.invocations()
        })
}

/// Every shape of the search space.
pub fn candidates() -> Vec<Shape> {
    space().candidates().iter().map(Shape::of).collect()
}

/// The kernel: buffers a (m × k), b (k × n), c (m × n), then m, n, k as I32; m and n multiples of `TILE`, k of the step.
pub fn matmul(shape: Shape) -> Result<Kernel> {
    Kernel::build("matmul_f32", [shape.invocations(), 1, 1], |k| {
        let mover = Mover::new(k, shape);
        let c = k.buffer("c", Elem::F32, Access::Write, 16);
        let (m, n, depth) = (k.arg_i32("m"), k.arg_i32("n"), k.arg_i32("k"));
        let (tile_row, tile_col) = tile_of(k, m / TILE as i32, n / TILE as i32, 8);
        let origin = (tile_row * TILE, tile_col * TILE);

        // Each run of 32 invocations covers 8 × 4 of the tile's: fewer distinct vectors to read than 16 × 2.
        let id = k.local_index();
        let (run, lane, across) = (id.div_u(32), id.rem_u(32), TILE / shape.cols / 8);
        let x = run.rem_u(across) * 8 + lane.rem_u(8);
        let y = run.div_u(across) * 4 + lane.div_u(8);
        let zeros = vec![k.f32(0.0); 8 * shape.cols as usize];
        let start = (mover.read(origin, (n, depth), k.i32(0)), zeros);
        let last = depth - shape.step as i32;
        let (_, sums) = match shape.rolled {
            true => k.for_rolled(0, depth, shape.step, start, |at, state| {
                mover.turn(origin, (n, depth), (y, x), (at + shape.step).min(last), state)
            }),
            false => k.for_(0, depth, shape.step, start, |at, state| {
                mover.turn(origin, (n, depth), (y, x), (at + shape.step).min(last), state)
            }),
        };
        for i in 0..8 {
            let row = origin.0 + y * 4 + (i / 4 * TILE / 2 + i % 4);
            for part in 0..shape.cols / 4 {
                let col = origin.1 + x * 4 + part * (4 * TILE / shape.cols);
                let at = (i * shape.cols + part * 4) as usize;
                c.store_wide(row * n + col, &sums[at..at + 4]);
            }
        }
    })
}

/// Moves tiles of A and B: global memory → registers → shared memory → products.
struct Mover<'k> {
    k: &'k Builder,
    shape: Shape,
    a: Buffer<'k>,
    b: Buffer<'k>,
    /// `[k][m / 4]`, vectors of four along m.
    a_tile: SharedArray<'k>,
    /// `[k][n / 4]`, vectors of four along n.
    b_tile: SharedArray<'k>,
    /// Which 4 × 4 block of A this invocation moves: place along m and k.
    block: (Val<'k>, Val<'k>),
    /// Which vectors of B it moves: first row and place along n.
    vector: (Val<'k>, Val<'k>),
}

/// Vectors of four along a tile's side.
const QUADS: u32 = TILE / 4;

impl<'k> Mover<'k> {
    fn new(k: &'k Builder, shape: Shape) -> Mover<'k> {
        let id = k.local_index().rem_u(shape.movers());
        Mover {
            k,
            shape,
            a: k.buffer("a", Elem::F32, Access::Read, 16),
            b: k.buffer("b", Elem::F32, Access::Read, 16),
            a_tile: k.shared_vectors("a_tile", Elem::F32, 4, shape.step * shape.rows.pitch()),
            b_tile: k.shared_vectors("b_tile", Elem::F32, 4, shape.step * QUADS),
            block: (id.div_u(shape.step / 4), id.rem_u(shape.step / 4)),
            vector: (id.div_u(QUADS), id.rem_u(QUADS)),
        }
    }

    /// Whether this invocation moves a part of A; none if every invocation moves parts of both.
    fn moves_a(&self) -> Option<Val<'k>> {
        let movers = self.shape.movers();
        (movers < self.shape.invocations()).then(|| self.k.local_index().lt_u(self.k.i32(movers as i32)))
    }

    /// The step's share of this invocation: four vectors of A, four of B, or four of one.
    fn read(&self, origin: (Val<'k>, Val<'k>), (n, depth): (Val<'k>, Val<'k>), at: Val<'k>) -> Vec<Val<'k>> {
        let vectors = |parts: Vec<Vec<Val<'k>>>| parts.iter().map(|parts| self.k.vector(parts)).collect();
        let from_a = || -> Vec<Val<'k>> {
            let row = |r| origin.0 + self.block.0 * 4 + r;
            vectors((0..4).map(|r| self.a.load_wide(row(r) * depth + at + self.block.1 * 4, 4)).collect())
        };
        let from_b = || -> Vec<Val<'k>> {
            let row = |r| at + self.vector.0 + r * self.rows();
            vectors((0..4).map(|r| self.b.load_wide(row(r) * n + origin.1 + self.vector.1 * 4, 4)).collect())
        };
        match self.moves_a() {
            Some(moves_a) => self.k.if_(moves_a, from_a, from_b),
            None => from_a().into_iter().chain(from_b()).collect(),
        }
    }

    /// One step: what was read goes to shared memory and is multiplied, while what is at `next` is read. The last step reads its own tile
    /// once more instead of branching.
    fn turn(
        &self,
        origin: (Val<'k>, Val<'k>),
        sizes: (Val<'k>, Val<'k>),
        place: (Val<'k>, Val<'k>),
        next: Val<'k>,
        (vectors, sums): (Vec<Val<'k>>, Vec<Val<'k>>),
    ) -> (Vec<Val<'k>>, Vec<Val<'k>>) {
        self.k.barrier();
        self.write(&vectors);
        self.k.barrier();
        let vectors = self.read(origin, sizes, next);
        (vectors, self.multiply(place, sums))
    }

    /// Rows of B that are moved at a time.
    fn rows(&self) -> u32 {
        self.shape.movers() / QUADS
    }

    /// Puts what was read into shared memory, A's block transposed.
    fn write(&self, vectors: &[Val<'k>]) {
        let (block, rows) = (&vectors[..4], &vectors[vectors.len() - 4..]);
        let to_a = || {
            for j in 0..4u8 {
                let column: Vec<Val> = block.iter().map(|row| row.lane(j)).collect();
                let place = self.shape.rows.place(self.block.1 * 4 + j as i32, self.block.0);
                self.a_tile.store(place, self.k.vector(&column));
            }
        };
        let to_b = || {
            for (r, &row) in rows.iter().enumerate() {
                self.b_tile.store((self.vector.0 + r as u32 * self.rows()) * QUADS + self.vector.1, row);
            }
        };
        match self.moves_a() {
            Some(moves_a) => self.k.if_(moves_a, to_a, to_b),
            None => {
                to_a();
                to_b();
            }
        }
    }

    /// Adds the product of the tiles to the sums at rows 4y.. and 64 + 4y.., columns 4x.. and so on at even distances.
    fn multiply(&self, (y, x): (Val<'k>, Val<'k>), sums: Vec<Val<'k>>) -> Vec<Val<'k>> {
        let (k, Shape { cols, step, unroll, .. }) = (self.k, self.shape);
        let written_out = |first: Val<'k>, sums: Vec<Val<'k>>| {
            k.for_unrolled(0, k.i32(unroll as i32), 1, sums, |place, sums| {
                let left = elements(self.a_tile, self.shape.rows, 8, y, first + place);
                let right = elements(self.b_tile, Rows::Plain, cols, x, first + place);
                let cols = cols as usize;
                sums.iter().enumerate().map(|(at, sum)| left[at / cols].fma(right[at % cols], *sum)).collect()
            })
        };
        if unroll == step {
            return written_out(k.i32(0), sums);
        }
        k.for_rolled(0, k.i32(step as i32), unroll, sums, written_out)
    }
}

/// The elements of a tile's row that an invocation multiplies: four from 4q on, and as many again at even distances.
fn elements<'k>(tile: SharedArray<'k>, rows: Rows, count: u32, quad: Val<'k>, row: Val<'k>) -> Vec<Val<'k>> {
    let parts = count / 4;
    let vectors = (0..parts).map(|part| tile.load(rows.place(row, quad + part * (QUADS / parts))));
    vectors.flat_map(|vector| (0..4).map(move |lane| vector.lane(lane))).collect()
}
