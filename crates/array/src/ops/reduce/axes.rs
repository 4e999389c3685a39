//! Which axes of a layout are kept and which are reduced, with as few of each as possible.

use smallvec::SmallVec;

use crate::shape::{Layout, Shape, Strides, collapse};

/// An axis: how many elements, and how far apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Axis {
    pub size: i64,
    pub stride: i64,
}

/// A layout seen by a reduction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Axes {
    /// Where the first element lies.
    pub start: i64,
    /// The result's axes, the last fastest.
    pub kept: SmallVec<[Axis; 4]>,
    /// The axes that are reduced, the last fastest.
    pub reduced: SmallVec<[Axis; 4]>,
}

/// Whether the order of the reduced elements matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// Elements are numbered: axes stay as they are.
    Kept,
    /// Elements may be taken in the order they lie in memory.
    Free,
}

impl Axes {
    /// Takes a layout apart.
    pub fn new(layout: &Layout, reduced: &[usize], order: Order) -> Axes {
        let mut start = layout.offset;
        let axis = |i: usize| Axis { size: layout.shape[i] as i64, stride: layout.strides[i] };
        let kept = (0..layout.shape.len()).filter(|i| !reduced.contains(i)).map(axis);
        let kept = joined(kept.collect());
        let mut reduced: SmallVec<[Axis; 4]> = reduced.iter().map(|&i| axis(i)).filter(|a| a.size != 1).collect();
        if order == Order::Free {
            for axis in reduced.iter_mut().filter(|axis| axis.stride < 0) {
                start += axis.stride * (axis.size - 1);
                axis.stride = -axis.stride;
            }
            reduced.sort_by_key(|axis| std::cmp::Reverse(axis.stride));
        }
        Axes { start, kept, reduced: joined(reduced) }
    }

    /// Whether results lie side by side in memory where the elements of each do not.
    pub fn are_columns(&self) -> bool {
        let innermost = |axes: &[Axis]| axes.last().map(|axis| axis.stride);
        innermost(&self.kept) == Some(1) && innermost(&self.reduced).is_some_and(|stride| stride != 1)
    }

    /// Results that are better computed together: neighbouring columns share what memory delivers.
    pub fn together(&self) -> usize {
        if self.are_columns() { 2048 } else { 1 }
    }

    /// Number of results.
    pub fn results(&self) -> i64 {
        self.kept.iter().map(|axis| axis.size).product()
    }

    /// Number of elements each is made of.
    pub fn reduced(&self) -> i64 {
        self.reduced.iter().map(|axis| axis.size).product()
    }
}

fn joined(axes: SmallVec<[Axis; 4]>) -> SmallVec<[Axis; 4]> {
    let shape: Shape = axes.iter().map(|axis| axis.size as i32).collect();
    let strides: Strides = axes.iter().map(|axis| axis.stride).collect();
    let (sizes, strides) = collapse(&shape, &[&strides]);
    sizes.iter().zip(&strides[0]).map(|(&size, &stride)| Axis { size, stride }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[i32], strides: &[i64], offset: i64) -> Layout {
        Layout { shape: Shape::from_slice(shape), strides: Strides::from_slice(strides), offset }
    }

    #[test]
    fn a_transposed_array_reduced_whole_is_one_run() {
        let axes = Axes::new(&layout(&[3, 4, 5], &[1, 15, 3], 0), &[0, 1, 2], Order::Free);
        assert_eq!(axes.reduced.as_slice(), [Axis { size: 60, stride: 1 }]);
        assert!(axes.kept.is_empty());
    }

    #[test]
    fn a_reversed_axis_is_reduced_from_its_other_end() {
        let axes = Axes::new(&layout(&[2, 5], &[5, -1], 4), &[1], Order::Free);
        assert_eq!((axes.start, axes.reduced.as_slice()), (0, &[Axis { size: 5, stride: 1 }][..]));
        let axes = Axes::new(&layout(&[2, 5], &[5, -1], 4), &[1], Order::Kept);
        assert_eq!((axes.start, axes.reduced[0].stride), (4, -1));
    }

    #[test]
    fn neighbouring_kept_axes_are_joined() {
        let axes = Axes::new(&Layout::contiguous(&[2, 3, 7, 4, 5]), &[2], Order::Free);
        assert_eq!(axes.kept.as_slice(), [Axis { size: 6, stride: 140 }, Axis { size: 20, stride: 1 }]);
        assert_eq!((axes.results(), axes.reduced()), (120, 7));
    }
}
