//! Pieces of tiles, which the [last wave](super::last_wave) of a product is cut into, and their sum.
//!
//! The loop is the tiled kernel's own. A piece's sums lie in scratch memory as a tile of their own, row by row, rows and columns beyond
//! the matrices included.

use pumice_kernel::arguments::Argument;
use pumice_kernel::{Access, Builder, Elem, Kernel, Result, Scalar, Val};

use super::destination::Destination;
use super::indices::Indices;
use super::last_wave::{LastWave, MOST};
use super::tiled::{Factors, Form, Spot, store};
use crate::op::Key;

/// The kernel that makes the pieces: buffers a, b, pieces; then m, n, the [last wave](super::last_wave::LastWave::scalars), and the
/// factors as in the tiled kernel. It takes a workgroup for each piece of each bundle.
pub fn kernel(form: &Form) -> Result<Kernel> {
    Kernel::build("matmul_pieces", [form.cut.threads(), 1, 1], |k| {
        let at = Indices { k, long: form.long };
        let buffers = Factors::buffers(k, form);
        let out = k.buffer("pieces", Elem::F32, Access::Write, 16);
        let [m, n] = ["m", "n"].map(|name| k.arg_i32(name));
        let piece = Piece::of_workgroup(k);
        let factors = Factors::args(at, form, buffers, [m, n]);
        k.when(piece.exists, || {
            let spot = Spot::new(form.cut.tile, [m, n], || piece.tile);
            let sums = factors.sums(form, &spot, piece.range);
            let (at, size) = (Indices { k, long: false }, [k.i32(form.cut.tile as i32); 2]);
            let first = piece.slot * tile_elements(form.cut.tile);
            let result = Destination { at, out, first, size, guarded: false, wide: true };
            store(form, &result, [k.i32(0); 2], &sums);
        });
    })
}

/// What distinguishes the kernel of a form.
pub(crate) fn key(form: &Form) -> Key {
    form.key_of("matmul_pieces")
}

/// The scalars for a [plain](Form::plain) product, of this form.
pub fn plain_scalars(form: &Form, [m, n, k]: [i32; 3], wave: &LastWave) -> Vec<Argument> {
    let sizes = [m, n].map(Argument::I32);
    let factors = [0, k, 0, 0, n, 0].map(Argument::I32);
    sizes.into_iter().chain(wave.scalars(form.cut.step, k as i64)).chain(factors).collect()
}

/// The scalars for adding them.
pub fn plain_adding_scalars([m, n, _]: [i32; 3], wave: &LastWave) -> Vec<Argument> {
    [m, n].map(Argument::I32).into_iter().chain(wave.adding_scalars()).collect()
}

/// Elements of a tile.
fn tile_elements(tile: u32) -> i32 {
    (tile * tile) as i32
}

/// What a workgroup makes.
struct Piece<'k> {
    exists: Val<'k>,
    /// The tile's number.
    tile: Val<'k>,
    /// Where along K it begins and ends.
    range: [Val<'k>; 2],
    /// Where its sums lie.
    slot: Val<'k>,
}

impl<'k> Piece<'k> {
    /// Workgroups take the longest pieces of all bundles first, and so on.
    fn of_workgroup(k: &'k Builder) -> Piece<'k> {
        let [tiles, before, bundle, bundles, pieces] =
            ["tiles", "before", "bundle", "bundles", "pieces"].map(|name| k.arg_i32(name));
        let table = k.arg_array("table", Scalar::I32, 4 * MOST as u32);
        let (kind, place) = (k.group_index().div_u(bundles), k.group_index().rem_u(bundles));
        let row = kind.min_u(pieces - 1) * 4;
        let tile = before + place * bundle + table.at(row);
        let range = [table.at(row + 1), table.at(row + 2)];
        let slot = place * pieces + table.at(row + 3);
        Piece { exists: kind.lt_u(pieces) & tile.lt_u(tiles), tile, range, slot }
    }
}

/// Invocations of a workgroup that adds, each of them four elements.
const WORKGROUP: u32 = 256;

/// What distinguishes the kernels that add.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    /// Rows and columns of a tile.
    pub tile: u32,
    /// Whether the result's rows are whole quads.
    pub wide: bool,
    /// Whether indices of the result are I64.
    pub long: bool,
}

impl Sum {
    pub(crate) fn key(&self) -> Key {
        let mut key = Key::default();
        key.text("matmul_add_pieces");
        key.ints(&[self.tile, self.wide as u32, self.long as u32]);
        key
    }

    /// Workgroups for so many tiles.
    pub fn groups(&self, tiles: i64) -> u64 {
        tiles as u64 * self.groups_each() as u64
    }

    fn groups_each(&self) -> u32 {
        self.tile * self.tile / (4 * WORKGROUP)
    }
}

/// The kernel that adds the pieces of each tile in their order along K: buffers pieces, out; then m, n and the
/// [last wave](super::last_wave::LastWave::adding_scalars).
pub fn add(form: &Sum) -> Result<Kernel> {
    Kernel::build("matmul_add_pieces", [WORKGROUP, 1, 1], |k| {
        let pieces = k.buffer("pieces", Elem::F32, Access::Read, 16);
        let out = k.buffer("out", Elem::F32, Access::Write, if form.wide { 16 } else { 4 });
        let [m, n, tiles, before] = ["m", "n", "tiles", "before"].map(|name| k.arg_i32(name));
        let [bundle, shares] = ["bundle", "shares"].map(|name| k.arg_i32(name));
        let (number, chunk) = (k.group_index().div_u(form.groups_each()), k.group_index().rem_u(form.groups_each()));
        let tile = before + number;
        k.when(tile.lt_u(tiles), || {
            let quad = chunk * (WORKGROUP as i32) + k.local_index();
            let quad_of = |slot| slot * tile_elements(form.tile) + quad * 4;
            let [first, end] = slots(number, bundle, shares);
            let start = pieces.load_wide(quad_of(first), 4);
            let sums = k.for_(first + 1, end, 1, start, |slot, sums| {
                sums.into_iter().zip(pieces.load_wide(quad_of(slot), 4)).map(|(sum, piece)| sum + piece).collect()
            });
            let at = Indices { k, long: form.long };
            let spot = Spot::new(form.tile, [m, n], || tile);
            let first = at.of(spot.batch) * at.of(m) * at.of(n);
            let (row, col) = (quad.div_u(form.tile / 4), quad.rem_u(form.tile / 4) * 4);
            let result = Destination { at, out, first, size: [m, n], guarded: true, wide: form.wide };
            result.store_quad(spot.origin[0] + row, spot.origin[1] + col, &sums);
        });
    })
}

/// Where a tile's first piece lies, and where the next tile's does or would. Each share before a tile ended a piece, and so did each tile.
fn slots<'k>(number: Val<'k>, bundle: Val<'k>, shares: Val<'k>) -> [Val<'k>; 2] {
    let (place, tile) = (number.div_u(bundle), number.rem_u(bundle));
    let before = place * (bundle + shares - 1) + tile;
    [before + (tile * shares).div_u(bundle), before + ((tile + 1) * shares - 1).div_u(bundle) + 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::matmul::tiled::{CUTS, Guard};

    #[test]
    fn every_form_is_well_formed() {
        for cut in CUTS {
            for guard in [Guard::Exact, Guard::Quads, Guard::Elements] {
                let form = Form { guard, rank: 2, long: guard == Guard::Quads, ..Form::plain(cut) };
                kernel(&form).unwrap_or_else(|error| panic!("{form:?}: {error}"));
                let sum = Sum { tile: cut.tile, wide: guard != Guard::Elements, long: form.long };
                add(&sum).unwrap_or_else(|error| panic!("{sum:?}: {error}"));
            }
        }
    }
}
