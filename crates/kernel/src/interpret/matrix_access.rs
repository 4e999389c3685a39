//! Matrices from and to memory: an address for every component, all checked before the first is touched.

use super::access::{gather, scatter};
use super::machine::Machine;
use super::mask::Mask;
use super::matrix::Holder;
use super::races::Touch;
use crate::error::Result;
use crate::ir::{Line, MatrixOp, Place, Tile, Value};
use crate::types::{Matrix, MatrixLayout};

/// Where a matrix lies: in bytes from the start of its place, saturating, so that what is too far is outside.
enum Lie {
    /// Every component has its address.
    Whole { base: u64, row_step: u64, col_step: u64 },
    /// Components outside the array have none.
    Clipped(Window),
}

/// Stands for the address of a component that has none.
const NOWHERE: usize = usize::MAX;

/// A rectangle of a row-major array.
struct Window {
    rows: i64,
    cols: i64,
    row: i64,
    col: i64,
    stride: u64,
    component: u64,
    transpose: bool,
}

impl Lie {
    /// The address of a component, if it has one.
    fn address(&self, r: u64, c: u64) -> Option<u64> {
        match self {
            Lie::Whole { base, row_step, col_step } => {
                Some(base.saturating_add(r.saturating_mul(*row_step)).saturating_add(c.saturating_mul(*col_step)))
            }
            Lie::Clipped(w) => {
                let (r, c) = if w.transpose { (c, r) } else { (r, c) };
                let (y, x) = (w.row + r as i64, w.col + c as i64);
                let inside = (0..w.rows).contains(&y) && (0..w.cols).contains(&x);
                inside.then(|| (y as u64 * w.stride + x as u64).saturating_mul(w.component))
            }
        }
    }
}

/// Addresses of a matrix's components, kept to be used again.
#[derive(Default)]
pub(super) struct Components {
    addresses: Vec<usize>,
    /// Which components have an address.
    present: Mask,
}

impl Machine<'_, '_> {
    /// `Load` and `LoadTile`: what has no address is zero.
    pub(super) fn load_matrix(&mut self, value: Value, op: &MatrixOp, holder: &Holder, line: Line) -> Result<()> {
        let ty = self.matrix_type(value);
        let place = self.locate_matrix(ty, op, holder, line)?;
        self.note_matrix(Touch::Read, ty, place, holder, line)?;
        let out = &mut self.columns[value.index()][holder.components(ty)];
        let Components { addresses, present } = &self.components;
        out.fill(0);
        gather(ty.elem, self.places.bytes(place), addresses, 0, out, present);
        Ok(())
    }

    /// `Store` and `StoreTile`: what has no address is not written.
    pub(super) fn store_matrix(&mut self, value: Value, op: &MatrixOp, holder: &Holder, line: Line) -> Result<()> {
        let ty = self.matrix_type(value);
        let place = self.locate_matrix(ty, op, holder, line)?;
        self.note_matrix(Touch::Write, ty, place, holder, line)?;
        let words = &self.columns[value.index()][holder.components(ty)];
        let Components { addresses, present } = &self.components;
        match self.places.bytes_mut(place) {
            Some(bytes) => scatter(ty.elem, bytes, addresses, 0, words, present),
            None => return Err(self.not_writable(place, line)),
        }
        Ok(())
    }

    /// Finds and checks the address of every component; leaves them in `components`.
    fn locate_matrix(&mut self, ty: Matrix, op: &MatrixOp, holder: &Holder, line: Line) -> Result<Place> {
        let (place, lie) = self.lie(ty, op, holder, line)?;
        let (unit, size) = (self.places.unit(place) as u64, ty.elem.bytes() as u64);
        let bound = self.places.len(place) as u64 / unit;
        let mut components = std::mem::take(&mut self.components);
        components.addresses.clear();
        for i in 0..ty.rows as u64 * ty.cols as u64 {
            let address = lie.address(i / ty.cols as u64, i % ty.cols as u64);
            if let Some(at) = address.filter(|at| at.saturating_add(size) > bound * unit) {
                return Err(self.out_of_bounds(line, self.places.name(place), at / unit, bound));
            }
            components.addresses.push(address.map_or(NOWHERE, |at| at as usize));
        }
        components.present.assign(components.addresses.iter().map(|at| *at != NOWHERE));
        self.components = components;
        Ok(place)
    }

    fn note_matrix(&mut self, touch: Touch, ty: Matrix, place: Place, holder: &Holder, line: Line) -> Result<()> {
        if self.races.is_none() {
            return Ok(());
        }
        let actor = self.invocations + holder.number;
        for i in 0..self.components.addresses.len() {
            if self.components.present.is(i) {
                self.note_one(touch, actor, place, self.components.addresses[i], ty.elem.bytes(), line)?;
            }
        }
        Ok(())
    }

    /// How a matrix lies in its place.
    fn lie(&self, ty: Matrix, op: &MatrixOp, holder: &Holder, line: Line) -> Result<(Place, Lie)> {
        match op {
            MatrixOp::Load { place, index, stride, layout, align, .. }
            | MatrixOp::Store { place, index, stride, layout, align, .. } => {
                let unit = self.places.unit(*place) as u64;
                let [base, step] = [*index, *stride].map(|v| self.uniform(v, holder, line));
                let (base, step) = (base?.saturating_mul(unit), step?.saturating_mul(unit));
                self.check_align(*place, &[base, step], *align, line)?;
                let component = ty.elem.bytes() as u64;
                let (row_step, col_step) = match layout {
                    MatrixLayout::RowMajor => (step, component),
                    MatrixLayout::ColumnMajor => (component, step),
                };
                Ok((*place, Lie::Whole { base, row_step, col_step }))
            }
            MatrixOp::LoadTile { buffer, tile, transpose, .. } => {
                self.window(ty, *buffer, tile, *transpose, holder, line)
            }
            MatrixOp::StoreTile { buffer, tile, .. } => self.window(ty, *buffer, tile, false, holder, line),
            op => unreachable!("{op:?} does not go to memory"),
        }
    }

    fn window(
        &self,
        ty: Matrix,
        buffer: u32,
        tile: &Tile,
        transpose: bool,
        holder: &Holder,
        line: Line,
    ) -> Result<(Place, Lie)> {
        let place = Place::Buffer(buffer);
        let component = ty.elem.bytes() as u64;
        let mut words = [0; 5];
        for (word, value) in words.iter_mut().zip(tile.values()) {
            *word = self.uniform(value, holder, line)?;
        }
        let [rows, cols, stride, row, col] = words;
        self.check_align(place, &[stride * component], tile.align, line)?;
        let [rows, cols, row, col] = [rows, cols, row, col].map(|word| word as i32 as i64);
        Ok((place, Lie::Clipped(Window { rows, cols, row, col, stride, component, transpose })))
    }

    /// That rows begin where the kernel promises the device they do.
    fn check_align(&self, place: Place, offsets: &[u64], align: u32, line: Line) -> Result<()> {
        let start = self.places.start(place) as u64;
        match offsets.iter().chain([&start]).find(|at| !at.is_multiple_of(align as u64)) {
            None => Ok(()),
            Some(at) => {
                let name = self.places.name(place);
                let message = format!("rows of a matrix in {name} must be aligned to {align} bytes but lie at {at}.");
                Err(self.execution(line, message))
            }
        }
    }
}
