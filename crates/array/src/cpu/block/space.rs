//! The elements a program runs over, how operands lie in memory, and which elements a block has.
//!
//! A block is a run of consecutive elements, or, where an operand lies across (a transposed matrix), a tile: then every
//! cache line of every operand is read once, not once for each of its elements.

use std::ops::Range;

use smallvec::SmallVec;

/// A number for each dimension.
pub(super) type Dims<T> = SmallVec<[T; 6]>;

/// Where an operand's elements lie: `start + Σ index · stride`, in elements.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) start: i64,
    pub(super) strides: Dims<i64>,
}

impl Layout {
    /// One element after another.
    pub(super) fn contiguous(shape: &[usize]) -> Layout {
        let mut strides: Dims<i64> = shape.iter().map(|_| 1).collect();
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis] as i64;
        }
        Layout { start: 0, strides }
    }

    /// The lowest and the highest element over a shape without empty dimensions; none if the arithmetic overflows.
    pub(super) fn extent(&self, shape: &[usize]) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.start, self.start);
        for (size, stride) in shape.iter().zip(&self.strides) {
            let reach = stride.checked_mul(*size as i64 - 1)?;
            low = low.checked_add(reach.min(0))?;
            high = high.checked_add(reach.max(0))?;
        }
        Some((low, high))
    }

    fn offset(&self, index: &[usize]) -> i64 {
        self.start + index.iter().zip(&self.strides).map(|(i, stride)| *i as i64 * stride).sum::<i64>()
    }
}

/// The order in which elements are visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    /// One after another.
    Runs,
    /// Tiles of this axis and the last one.
    Tiles(usize),
}

/// Rows of a tile: a cache line of 32-bit elements along the axis that an operand is contiguous in.
const TILE_ROWS: usize = 16;

/// Lanes of a tile at most: what it gathers from afar must stay in the cache until it is used.
const TILE_LANES: usize = 1024;

/// Below this many elements along either axis a tile would be mostly edge.
const TILE_WORTHWHILE: usize = 8;

impl Order {
    /// The order for operands that lie so: tiles where one has its nearest neighbours along another axis than the last.
    pub(super) fn of<'l>(shape: &[usize], operands: impl IntoIterator<Item = &'l Layout>) -> Order {
        let Some((last, across)) = shape.split_last() else {
            return Order::Runs;
        };
        for layout in operands {
            let Some((inner, outer)) = layout.strides.split_last() else {
                continue;
            };
            let near = |axis: &usize| outer[*axis] != 0 && across[*axis] >= TILE_WORTHWHILE;
            let nearest = (0..across.len()).filter(near).min_by_key(|axis| outer[*axis].unsigned_abs());
            if let Some(axis) = nearest
                && *last >= TILE_WORTHWHILE
                && outer[axis].unsigned_abs() * 4 <= inner.unsigned_abs()
            {
                return Order::Tiles(axis);
            }
        }
        Order::Runs
    }
}

/// The elements of a block.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Region {
    /// Consecutive ones.
    Run(Range<usize>),
    /// A rectangle: rows along `axis`, columns along the last one. Lanes go along the rows.
    Tile { at: Dims<usize>, axis: usize, rows: usize, cols: usize },
}

/// Lanes whose elements are evenly spaced in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    /// First lane, and the distance to the next.
    pub(super) lane: usize,
    pub(super) lane_step: usize,
    /// First element, and the distance to the next.
    pub(super) element: i64,
    pub(super) stride: i64,
    pub(super) len: usize,
}

impl Region {
    /// Lanes of the block.
    pub(super) fn lanes(&self) -> usize {
        match self {
            Region::Run(range) => range.len(),
            Region::Tile { rows, cols, .. } => rows * cols,
        }
    }

    /// Calls a function on the pieces of the block as an operand has them.
    pub(super) fn each_piece(&self, shape: &[usize], layout: &Layout, f: impl FnMut(Piece)) {
        match self {
            Region::Run(range) => run_pieces(range.clone(), shape, layout, f),
            Region::Tile { at, axis, rows, cols } => tile_pieces(layout, at, *axis, [*rows, *cols], f),
        }
    }
}

/// A run breaks wherever the last index starts anew.
fn run_pieces(range: Range<usize>, shape: &[usize], layout: &Layout, mut f: impl FnMut(Piece)) {
    let Some((&inner, outer)) = shape.split_last() else {
        return f(Piece { lane: 0, lane_step: 1, element: layout.start, stride: 1, len: range.len() });
    };
    let mut index: Dims<usize> = SmallVec::from_elem(0, shape.len());
    let mut rest = range.start;
    for (axis, size) in shape.iter().enumerate().rev() {
        (index[axis], rest) = (rest % size, rest / size);
    }
    let (last, stride) = (outer.len(), layout.strides[outer.len()]);
    let (mut lane, mut element) = (0, layout.offset(&index));
    let mut left = inner - index[last];
    // The element that begins the row at hand.
    let mut row = element - index[last] as i64 * stride;
    while lane < range.len() {
        let len = left.min(range.len() - lane);
        f(Piece { lane, lane_step: 1, element, stride, len });
        (lane, left) = (lane + len, inner);
        for axis in (0..last).rev() {
            index[axis] += 1;
            row += layout.strides[axis];
            if index[axis] < outer[axis] {
                break;
            }
            row -= layout.strides[axis] * outer[axis] as i64;
            index[axis] = 0;
        }
        element = row;
    }
}

/// A tile's pieces go the way the operand's memory goes.
fn tile_pieces(layout: &Layout, at: &[usize], axis: usize, [rows, cols]: [usize; 2], mut f: impl FnMut(Piece)) {
    let (down, across) = (layout.strides[axis], layout.strides[at.len() - 1]);
    let first = layout.offset(at);
    if across.unsigned_abs() <= down.unsigned_abs() || down == 0 {
        for row in 0..rows {
            let element = first + row as i64 * down;
            f(Piece { lane: row * cols, lane_step: 1, element, stride: across, len: cols });
        }
    } else {
        for col in 0..cols {
            let element = first + col as i64 * across;
            f(Piece { lane: col, lane_step: cols, element, stride: down, len: rows });
        }
    }
}

/// Calls a function on every block of a range of elements, at most `lanes` at a time. Tiles need whole rows of the
/// first axis.
pub(super) fn each_region<E>(
    shape: &[usize],
    order: Order,
    range: Range<usize>,
    lanes: usize,
    mut f: impl FnMut(&Region) -> Result<(), E>,
) -> Result<(), E> {
    let Order::Tiles(axis) = order else {
        return range.clone().step_by(lanes).try_for_each(|i| f(&Region::Run(i..(i + lanes).min(range.end))));
    };
    let row = shape[1..].iter().product::<usize>();
    let last = shape.len() - 1;
    let mut end: Dims<usize> = shape.iter().copied().collect();
    let mut at: Dims<usize> = SmallVec::from_elem(0, shape.len());
    (at[0], end[0]) = (range.start / row, range.end / row);
    let start = at.clone();
    let tile_cols = lanes.min(TILE_LANES) / TILE_ROWS;
    let step = |dim: usize| {
        if dim == axis {
            TILE_ROWS
        } else if dim == last {
            tile_cols
        } else {
            1
        }
    };
    loop {
        let (rows, cols) = ((end[axis] - at[axis]).min(TILE_ROWS), (end[last] - at[last]).min(tile_cols));
        f(&Region::Tile { at: at.clone(), axis, rows, cols })?;
        // The axis turns fastest: the operand across goes on where it was.
        let dims = [axis, last].into_iter().chain((0..last).rev().filter(|dim| *dim != axis));
        let mut turned = false;
        for dim in dims {
            at[dim] += step(dim);
            turned = at[dim] < end[dim];
            if turned {
                break;
            }
            at[dim] = start[dim];
        }
        if !turned {
            return Ok(());
        }
    }
}
