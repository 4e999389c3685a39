//! The walk that gathers and scatters share: over the elements that are moved, saying where each lies in the indexed
//! array.
//!
//! Every axis of the walk moves in the indexed array by a stride, in each index array by a stride, and in the array of
//! moved elements by a stride. On top of that an index array's element moves along one axis of the indexed array.
//! `gather`, `take_along_axis` and their scatters differ only in these strides.

use smallvec::SmallVec;

use crate::shape::{Layout, Strides, collapse};

/// A walk over all moved elements, its axes joined where they can be.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    /// Elements along each axis.
    pub sizes: SmallVec<[i64; 4]>,
    /// Steps in the moved elements.
    pub moved: Strides,
    /// Steps in the indexed array.
    pub direct: Strides,
    /// Each index array.
    pub indices: Vec<Along>,
}

/// An index array: where its elements are, and what they mean.
#[derive(Clone, Debug)]
pub(crate) struct Along {
    /// Steps in the index array.
    pub strides: Strides,
    /// Steps of the indexed array from one index to the next.
    pub stride: i64,
    /// Elements of the indexed array along its axis: what negative indices count from.
    pub size: i64,
    /// The largest index that stays inside.
    pub last: i64,
}

impl Walk {
    /// The walk of `gather` and `scatter`: over the positions of the index arrays, and over a part of the indexed array
    /// at each.
    pub fn parts(moved: &Layout, array: &Layout, indices: &[&Layout], axes: &[usize], sizes: &[i32]) -> Walk {
        let positions = moved.shape.len() - array.shape.len();
        let mut direct: Strides = SmallVec::from_elem(0, positions);
        direct.extend_from_slice(&array.strides);
        let along = indices.iter().zip(axes).map(|(index, &axis)| {
            let mut strides = index.broadcast_to(&moved.shape[..positions]).strides;
            strides.resize(moved.shape.len(), 0);
            along(strides, array, axis, sizes[axis])
        });
        Walk::new(moved, direct, along.collect())
    }

    /// The walk of `take_along_axis` and `put_along_axis`: over the one index array.
    pub fn along_axis(moved: &Layout, array: &Layout, index: &Layout, axis: usize) -> Walk {
        let mut direct = array.strides.clone();
        direct[axis] = 0;
        Walk::new(moved, direct, vec![along(index.strides.clone(), array, axis, 1)])
    }

    /// A walk over an array without indices: a copy.
    pub fn plain(moved: &Layout, array: &Layout) -> Walk {
        Walk::new(moved, array.strides.clone(), Vec::new())
    }

    fn new(moved: &Layout, direct: Strides, mut indices: Vec<Along>) -> Walk {
        let mut all: Vec<&[i64]> = vec![&moved.strides, &direct];
        all.extend(indices.iter().map(|index| index.strides.as_slice()));
        let (sizes, joined) = collapse(&moved.shape, &all);
        let mut joined = joined.into_iter();
        let mut next = || joined.next().expect("one for each that was given");
        let (moved, direct) = (next(), next());
        indices.iter_mut().for_each(|index| index.strides = next());
        Walk { sizes, moved, direct, indices }
    }

    /// Elements that are moved.
    pub fn count(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// Elements that lie side by side in both arrays, at the end of the walk; 1 if none do.
    pub fn run(&self) -> i64 {
        let Some(&size) = self.sizes.last() else { return 1 };
        let ends = |strides: &Strides| *strides.last().expect("as many as sizes");
        let fixed = self.indices.iter().all(|index| ends(&index.strides) == 0);
        if fixed && ends(&self.moved) == 1 && ends(&self.direct) == 1 { size } else { 1 }
    }

    /// The walk in units of `n` elements, if every part of it is a whole number of them.
    pub fn in_units_of(&self, n: i64) -> Option<Walk> {
        if n == 1 {
            return Some(self.clone());
        }
        let whole = |n: i64, strides: &Strides| strides[..strides.len() - 1].iter().all(|stride| stride % n == 0);
        let fits = self.run() % n == 0
            && whole(n, &self.moved)
            && whole(n, &self.direct)
            && self.indices.iter().all(|index| index.stride % n == 0);
        let scaled = |strides: &Strides| {
            let rest = strides.len() - 1;
            strides.iter().enumerate().map(|(i, &stride)| if i < rest { stride / n } else { stride }).collect()
        };
        fits.then(|| {
            let mut sizes = self.sizes.clone();
            *sizes.last_mut().expect("a run has an axis") /= n;
            let indices = self.indices.iter().map(|index| Along { stride: index.stride / n, ..index.clone() });
            Walk { sizes, moved: scaled(&self.moved), direct: scaled(&self.direct), indices: indices.collect() }
        })
    }
}

fn along(strides: Strides, array: &Layout, axis: usize, part: i32) -> Along {
    let size = array.shape[axis] as i64;
    Along { strides, stride: array.strides[axis], size, last: size - part as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_table_are_two_axes_and_a_run() {
        let table = Layout::contiguous(&[100, 64]);
        let rows = Layout::contiguous(&[3, 7, 1, 64]);
        let walk = Walk::parts(&rows, &table, &[&Layout::contiguous(&[3, 7])], &[0], &[1, 64]);
        assert_eq!((walk.sizes.as_slice(), walk.run()), (&[21, 64][..], 64));
        let units = walk.in_units_of(4).expect("16 units a row");
        assert_eq!((units.sizes.as_slice(), units.indices[0].stride), (&[21, 16][..], 16));
    }

    #[test]
    fn a_transposed_table_has_no_run() {
        let table = Layout { shape: SmallVec::from_slice(&[4, 3]), strides: SmallVec::from_slice(&[1, 4]), offset: 0 };
        let rows = Layout::contiguous(&[2, 1, 3]);
        let walk = Walk::parts(&rows, &table, &[&Layout::contiguous(&[2])], &[0], &[1, 3]);
        assert_eq!(walk.run(), 1);
        assert!(walk.in_units_of(2).is_none());
    }
}
