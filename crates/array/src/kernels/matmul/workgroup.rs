//! f16 and bf16 products with workgroup-scope cooperative matrices: the driver moves the tiles.

use pumice_kernel::{Access, Elem, Kernel, Matrix, MatrixRole, MatrixScope, Result, TileRef};

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
    /// Invocations in a workgroup.
    pub invocations: u32,
    /// Rows of tiles walked together (see `tile_of`).
    pub band: u32,
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shape { tile_m, tile_n, step, invocations, band } = self;
        write!(f, "{tile_m}x{tile_n}x{step}/{invocations}/b{band}")
    }
}

/// The shape that is best on an H200 at 4096³; see `pumice bench --sweep`.
pub fn best() -> Shape {
    Shape { tile_m: 128, tile_n: 128, step: 64, invocations: 256, band: 8 }
}

/// The search space.
pub fn candidates() -> Vec<Shape> {
    let mut list = Vec::new();
    for (tile_m, tile_n) in [(128, 128), (256, 128), (128, 256), (256, 256)] {
        for step in [32, 64] {
            for invocations in [128, 256] {
                list.push(Shape { tile_m, tile_n, step, invocations, band: 8 });
            }
        }
    }
    list
}

/// The kernel: buffers a (m × k), b (k × n) of `elem`, c (m × n) of f32, then m, n, k as I32; any size, rows aligned to 16 bytes.
pub fn matmul(elem: Elem, s: Shape) -> Result<Kernel> {
    let matrix = |elem, rows, cols, role| Matrix { scope: MatrixScope::Workgroup, elem, rows, cols, role };
    Kernel::build("matmul_workgroup", [s.invocations, 1, 1], |k| {
        let a = k.buffer("a", elem, Access::Read, 16);
        let b = k.buffer("b", elem, Access::Read, 16);
        let c = k.buffer("c", Elem::F32, Access::Write, 16);
        let (m, n, depth) = (k.arg_i32("m"), k.arg_i32("n"), k.arg_i32("k"));
        let tiles = |size, tile: u32| (size + (tile as i32 - 1)) / tile as i32;
        let (tile_row, tile_col) = tile_of(k, tiles(m, s.tile_m), tiles(n, s.tile_n), s.band);
        let (row, col) = (tile_row * s.tile_m, tile_col * s.tile_n);
        let zero = k.matrix_fill(matrix(Elem::F32, s.tile_m, s.tile_n, MatrixRole::Accumulator), 0.0);
        let sums = k.for_(0, depth, s.step, zero, |at, sums| {
            let from_a = TileRef { rows: m, cols: depth, stride: depth, row, col: at, align: 16 };
            let from_b = TileRef { rows: depth, cols: n, stride: n, row: at, col, align: 16 };
            let left = a.load_tile(matrix(elem, s.tile_m, s.step, MatrixRole::A), from_a, false);
            let right = b.load_tile(matrix(elem, s.step, s.tile_n, MatrixRole::B), from_b, false);
            left.matrix_mul_add(right, sums)
        });
        c.store_tile(sums, TileRef { rows: m, cols: n, stride: n, row, col, align: 16 });
    })
}
