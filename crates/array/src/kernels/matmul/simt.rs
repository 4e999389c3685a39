//! f32 products with plain arithmetic.
//!
//! A workgroup of 256 makes 128 × 128 results, 8 × 8 per invocation. Of each step along K (32 wide) an invocation moves a 4 × 4
//! block of A, transposed on the way, and four vectors of B; the next step's global reads are in flight while the current
//! one is computed from shared memory.

use pumice_kernel::{Access, Buffer, Builder, Elem, Kernel, Result, SharedArray, Val};

use super::tile_of;

/// Rows and columns of C one workgroup makes.
pub const TILE: u32 = 128;
/// How far one step goes along K.
pub const STEP: u32 = 32;
const WORKGROUP: u32 = 256;

/// The kernel: buffers a (m × k), b (k × n), c (m × n), then m, n, k as I32; m and n multiples of `TILE`, k of `STEP`.
pub fn matmul() -> Result<Kernel> {
    Kernel::build("matmul_f32", [WORKGROUP, 1, 1], |k| {
        let mover = Mover::new(k);
        let c = k.buffer("c", Elem::F32, Access::Write, 16);
        let (m, n, depth) = (k.arg_i32("m"), k.arg_i32("n"), k.arg_i32("k"));
        let (tile_row, tile_col) = tile_of(k, m / TILE as i32, n / TILE as i32, 8);
        let origin = (tile_row * TILE, tile_col * TILE);

        // Each run of 32 invocations covers 8 × 4 of the 16 × 16: fewer distinct vectors to read than 16 × 2.
        let id = k.local_index();
        let (run, lane) = (id.div_u(32), id.rem_u(32));
        let x = run.rem_u(2) * 8 + lane.rem_u(8);
        let y = run.div_u(2) * 4 + lane.div_u(8);
        let start = (mover.read(origin, (n, depth), k.i32(0)), vec![k.f32(0.0); 64]);
        let last = depth - STEP as i32;
        let (_, sums) = k.for_(0, depth, STEP, start, |at, (vectors, sums)| {
            k.barrier();
            mover.write(&vectors);
            k.barrier();
            // The last step reads its own tile once more instead of branching.
            let vectors = mover.read(origin, (n, depth), (at + STEP).min(last));
            (vectors, mover.multiply((y, x), sums))
        });
        for i in 0..8 {
            let row = origin.0 + y * 4 + (i / 4 * TILE / 2 + i % 4);
            for half in 0..2 {
                let col = origin.1 + x * 4 + half * (TILE / 2);
                let at = (i * 8 + half * 4) as usize;
                c.store_wide(row * n + col, &sums[at..at + 4]);
            }
        }
    })
}

/// Moves tiles of A and B: global memory → registers → shared memory → products.
struct Mover<'k> {
    k: &'k Builder,
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
/// Rows of B the workgroup moves at a time.
const ROWS: u32 = WORKGROUP / QUADS;

impl<'k> Mover<'k> {
    fn new(k: &'k Builder) -> Mover<'k> {
        let id = k.local_index();
        Mover {
            k,
            a: k.buffer("a", Elem::F32, Access::Read, 16),
            b: k.buffer("b", Elem::F32, Access::Read, 16),
            a_tile: k.shared_vectors("a_tile", Elem::F32, 4, STEP * QUADS),
            b_tile: k.shared_vectors("b_tile", Elem::F32, 4, STEP * QUADS),
            block: (id.div_u(STEP / 4), id.rem_u(STEP / 4)),
            vector: (id.div_u(QUADS), id.rem_u(QUADS)),
        }
    }

    /// The step's share of this invocation: four vectors of A, four of B.
    fn read(&self, origin: (Val<'k>, Val<'k>), (n, depth): (Val<'k>, Val<'k>), at: Val<'k>) -> Vec<Val<'k>> {
        let from_a = (0..4).map(|r| {
            let row = origin.0 + self.block.0 * 4 + r;
            self.a.load_wide(row * depth + at + self.block.1 * 4, 4)
        });
        let from_b = (0..STEP / ROWS).map(|r| {
            let row = at + self.vector.0 + r * ROWS;
            self.b.load_wide(row * n + origin.1 + self.vector.1 * 4, 4)
        });
        from_a.chain(from_b).map(|parts| self.k.vector(&parts)).collect()
    }

    /// Puts what was read into shared memory, A's block transposed.
    fn write(&self, vectors: &[Val<'k>]) {
        let (block, rows) = vectors.split_at(4);
        for j in 0..4u8 {
            let column: Vec<Val> = block.iter().map(|row| row.lane(j)).collect();
            self.a_tile.store((self.block.1 * 4 + j as i32) * QUADS + self.block.0, self.k.vector(&column));
        }
        for (r, &row) in rows.iter().enumerate() {
            self.b_tile.store((self.vector.0 + r as u32 * ROWS) * QUADS + self.vector.1, row);
        }
    }

    /// Adds the product of the tiles to the 8 × 8 sums at rows 4y.. and 64 + 4y.., columns 4x.. and 64 + 4x...
    fn multiply(&self, (y, x): (Val<'k>, Val<'k>), sums: Vec<Val<'k>>) -> Vec<Val<'k>> {
        self.k.for_unrolled(0, self.k.i32(STEP as i32), 1, sums, |step, sums| {
            let left = eight(self.a_tile, y, step);
            let right = eight(self.b_tile, x, step);
            sums.iter().enumerate().map(|(at, sum)| left[at / 8].fma(right[at % 8], *sum)).collect()
        })
    }
}

/// The eight elements of a tile's row at 4q.. and 64 + 4q...
fn eight<'k>(tile: SharedArray<'k>, quad: Val<'k>, row: Val<'k>) -> [Val<'k>; 8] {
    let halves = [quad, quad + QUADS / 2].map(|quad| tile.load(quad + row * QUADS));
    std::array::from_fn(|i| halves[i / 4].lane(i as u8 % 4))
}
