//! Matrix products `C = A · B`, of row-major matrices where nothing else is said.
//!
//! | kernel | for | how |
//! |---|---|---|
//! | `tiled` | every type, anything that lies in rows or columns | tiles in shared memory, up to 8 × 16 results per invocation, fma |
//! | `pieces` | the last tiles of a large f32 product | the same on parts of K, which a second kernel adds (`last_wave`) |
//! | `cooperative` | f16, bf16 | subgroup-scope matrices fed from shared memory |
//! | `workgroup` | f16, bf16 | workgroup-scope matrices fed by the tile loader |

pub mod cooperative;
mod destination;
pub(crate) mod indices;
pub mod last_wave;
pub mod pieces;
pub mod tiled;
pub mod workgroup;

use pumice_kernel::{Builder, Val};

/// Along which axis a factor's elements lie together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Along K, the axis that is summed over.
    AlongDepth,
    /// Along the other: rows of A, columns of B.
    AlongSide,
}

/// Which tile of C this workgroup makes. Tiles are numbered so that `band` rows of tiles are walked column by column: workgroups
/// that run together then share tiles of A and B in the L2 cache.
pub(crate) fn tile_of<'k>(k: &'k Builder, tile_rows: Val<'k>, tile_cols: Val<'k>, band: u32) -> (Val<'k>, Val<'k>) {
    let index = k.group_index();
    let band = k.i32(band as i32);
    let per_band = band * tile_cols;
    let first = index.div_u(per_band) * band;
    let height = (tile_rows - first).min(band);
    let inside = index.rem_u(per_band);
    (first + inside.rem_u(height), inside.div_u(height))
}
