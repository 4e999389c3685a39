//! Elements from one strided place to another, on the CPU: what puts arrays into parts of others.

use bytemuck::Pod;
use rayon::prelude::*;

/// Elements that one thread copies at least.
const BAND: usize = 1 << 16;
/// Elements below which a row is copied without a call.
const SHORT: usize = 16;
/// Bytes of a cache line.
const LINE: usize = 64;

/// What is copied: elements of `size` bytes (1, 2, 4 or 8) over a space whose axes are joined where they can be.
pub(crate) struct Copy<'a> {
    pub size: usize,
    pub shape: &'a [usize],
    pub from_strides: &'a [i64],
    /// Positive, and an axis' stride is no less than what the axes after it span: elements do not overlap.
    pub to_strides: &'a [i64],
}

impl Copy<'_> {
    /// Copies from element `from_start` on to element `to_start` on.
    pub fn run(&self, from: &[u8], from_start: i64, to: &mut [u8], to_start: usize) {
        let to = &mut to[to_start * self.size..];
        match self.size {
            1 => self.elements::<u8>(from, from_start, to),
            2 => self.elements::<u16>(from, from_start, to),
            4 => self.elements::<u32>(from, from_start, to),
            8 => self.elements::<u64>(from, from_start, to),
            size => unreachable!("no element has {size} bytes"),
        }
    }

    fn elements<T: Pod + Send + Sync>(&self, from: &[u8], start: i64, to: &mut [u8]) {
        // Memory may end within an element: that of bytes looked at as another type.
        let whole = |bytes: usize| bytes / size_of::<T>() * size_of::<T>();
        let from = bytemuck::cast_slice::<u8, T>(&from[..whole(from.len())]);
        let end = whole(to.len());
        let to = bytemuck::cast_slice_mut::<u8, T>(&mut to[..end]);
        let Copy { shape, from_strides, to_strides, .. } = *self;
        Space { shape, from_strides, to_strides, from }.copy(start, to);
    }
}

/// The axes of a copy that are left, and the source's memory.
struct Space<'a, T> {
    shape: &'a [usize],
    from_strides: &'a [i64],
    to_strides: &'a [i64],
    from: &'a [T],
}

impl<T: Pod + Send + Sync> Space<'_, T> {
    /// Copies from element `start` on; large spaces by several threads.
    fn copy(&self, start: i64, to: &mut [T]) {
        match self.shape {
            [] => to[0] = self.from[start as usize],
            [n] => {
                let (stride, step) = (self.from_strides[0], self.to_strides[0] as usize);
                in_bands(*n, 1, step, to, |i, n, to| line(n, stride, step, self.from, start + i as i64 * stride, to));
            }
            [n, m] => {
                let (stride, step) = (self.from_strides[0], self.to_strides[0] as usize);
                in_bands(*n, *m, step, to, |i, n, to| self.plane(n, *m, start + i as i64 * stride, to));
            }
            [n, rest @ ..] => {
                let inner = Space {
                    shape: rest,
                    from_strides: &self.from_strides[1..],
                    to_strides: &self.to_strides[1..],
                    ..*self
                };
                let (stride, step) = (self.from_strides[0], self.to_strides[0] as usize);
                in_bands(*n, rest.iter().product(), step, to, |i, n, to| {
                    let parts = to.chunks_mut(step).take(n).enumerate();
                    parts.for_each(|(k, to)| inner.copy(start + (i + k) as i64 * stride, to));
                });
            }
        }
    }

    /// Copies the last two axes, `n` of the rows.
    fn plane(&self, n: usize, m: usize, start: i64, to: &mut [T]) {
        let (&[a, b], &[c, d]) = (self.from_strides, self.to_strides) else { unreachable!("two axes are left") };
        let c = c as usize;
        if (a, d) == (1, 1) {
            return turned(n, m, b, c, self.from, start, to);
        }
        let rows = to.chunks_mut(c).take(n).enumerate().map(|(i, to)| (start + i as i64 * a, to));
        match (b, d) {
            // A call for each would cost more than the few elements.
            (1, 1) if m < SHORT => rows.for_each(|(at, to)| {
                to[..m].iter_mut().zip(&self.from[at as usize..][..m]).for_each(|(to, from)| *to = *from);
            }),
            _ => rows.for_each(|(at, to)| line(m, b, d as usize, self.from, at, to)),
        }
    }
}

/// Splits rows of `size` elements, `step` apart where they are written, between threads: gives the number of each
/// band's first row, how many it has, and the memory from there on.
fn in_bands<T: Send>(
    rows: usize,
    size: usize,
    step: usize,
    to: &mut [T],
    copy: impl Fn(usize, usize, &mut [T]) + Sync,
) {
    // Several rows at once, for tiles, unless one is enough for a thread.
    let band = if size >= BAND { 1 } else { (BAND / size.max(1)).next_multiple_of(16) };
    if rows <= band {
        return copy(0, rows, to);
    }
    let bands = to.par_chunks_mut(band * step).take(rows.div_ceil(band)).enumerate();
    bands.for_each(|(k, to)| copy(k * band, band.min(rows - k * band), to));
}

/// Rows of the result that are columns of the source, by tiles: every cache line on either side is used whole while it
/// is there. `stride` is from column to column in the source, `step` from row to row in the result.
fn turned<T: Pod>(n: usize, m: usize, stride: i64, step: usize, from: &[T], start: i64, to: &mut [T]) {
    let side = LINE / size_of::<T>();
    let mut tile = vec![T::zeroed(); side * side];
    for i in (0..n).step_by(side) {
        for j in (0..m).step_by(side) {
            let (rows, columns) = (side.min(n - i), side.min(m - j));
            for column in 0..columns {
                let at = (start + i as i64 + (j + column) as i64 * stride) as usize;
                let places = tile[column..].iter_mut().step_by(columns);
                from[at..at + rows].iter().zip(places).for_each(|(from, place)| *place = *from);
            }
            let tile = &tile[..rows * columns];
            if step == columns {
                to[i * step..][..tile.len()].copy_from_slice(tile);
                continue;
            }
            for (row, part) in tile.chunks(columns).enumerate() {
                to[(i + row) * step + j..][..columns].copy_from_slice(part);
            }
        }
    }
}

fn line<T: Pod>(n: usize, from_stride: i64, to_stride: usize, from: &[T], start: i64, to: &mut [T]) {
    let first = start as usize;
    match (from_stride, to_stride) {
        (1, 1) => to[..n].copy_from_slice(&from[first..first + n]),
        (0, 1) => to[..n].fill(from[first]),
        (stride, 1) if stride > 0 => {
            let from = from[first..].iter().step_by(stride as usize);
            to[..n].iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        (1, stride) => {
            let to = to.iter_mut().step_by(stride);
            from[first..first + n].iter().zip(to).for_each(|(from, to)| *to = *from);
        }
        (from_stride, to_stride) => {
            (0..n).for_each(|i| to[i * to_stride] = from[(start + i as i64 * from_stride) as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(copy: &Copy<'_>, from: &[u16], start: i64, room: usize, at: usize) -> Vec<u16> {
        let mut to = vec![0u16; room];
        copy.run(bytemuck::cast_slice(from), start, bytemuck::cast_slice_mut(&mut to), at);
        to
    }

    #[test]
    fn rows_go_into_wider_rows() {
        let copy = Copy { size: 2, shape: &[2, 3], from_strides: &[3, 1], to_strides: &[5, 1] };
        assert_eq!(copied(&copy, &[1, 2, 3, 4, 5, 6], 0, 10, 1), [0, 1, 2, 3, 0, 0, 4, 5, 6, 0]);
    }

    #[test]
    fn columns_are_read_backwards_and_written_with_gaps() {
        let copy = Copy { size: 2, shape: &[3, 2], from_strides: &[1, -3], to_strides: &[4, 2] };
        assert_eq!(copied(&copy, &[1, 2, 3, 4, 5, 6], 3, 12, 0), [4, 0, 1, 0, 5, 0, 2, 0, 6, 0, 3, 0]);
    }

    #[test]
    fn many_elements_are_copied_side_by_side() {
        let from: Vec<u16> = (0..400 * 300).map(|i| i as u16).collect();
        let copy = Copy { size: 2, shape: &[300, 400], from_strides: &[1, 300], to_strides: &[401, 1] };
        let to = copied(&copy, &from, 0, 300 * 401, 0);
        for row in 0..300 {
            assert!((0..400).all(|column| to[row * 401 + column] == from[column * 300 + row]), "row {row}");
        }
    }
}
