//! An index expression settled for a shape.

use smallvec::SmallVec;

use super::Index;
use crate::array::Array;
use crate::error::{Error, Result};
use crate::ops::slices::{slice, slice_update};
use crate::ops::views::transpose;
use crate::shape::{Shape, broadcast, size_of};

/// What an expression selects of a shape.
///
/// The result has the axes of the sliced array that nothing goes from, in order; the axes of the index arrays,
/// broadcast together, stand before `before` of them; and new axes are put in between at last.
#[derive(Debug)]
pub(super) struct Selection {
    start: Shape,
    stop: Shape,
    step: Shape,
    /// Whether each axis goes: an int's does, and an index array's.
    gone: SmallVec<[bool; 4]>,
    /// The index arrays, and the axes they point along.
    pub arrays: Vec<(usize, Array)>,
    /// Axes that the index arrays have together.
    pub positions: usize,
    /// Axes of the sliced array before those of the index arrays.
    before: usize,
    /// Places of the new axes in the result.
    pub new_axes: Shape,
}

impl Selection {
    pub fn new(shape: &[i32], expression: &[Index]) -> Result<Selection> {
        let expression = without_ellipsis(shape.len(), expression)?;
        let mut selection = Selection::whole(shape);
        let mut order = Order::default();
        let mut axis = 0;
        for index in expression {
            match index {
                Index::NewAxis => order.plain(Axis::New),
                Index::Slice { start, stop, step } => {
                    selection.narrow(axis, range(shape[axis], *start, *stop, *step)?);
                    order.plain(Axis::Kept);
                }
                Index::Int(place) => {
                    selection.narrow(axis, one(shape[axis], *place)?);
                    selection.gone[axis] = true;
                    order.pointed();
                }
                Index::Array(array) => {
                    selection.arrays.push((axis, array.clone()));
                    selection.gone[axis] = true;
                    order.pointed();
                }
                Index::Ellipsis => unreachable!("an ellipsis was replaced by slices"),
            }
            axis += !matches!(index, Index::NewAxis) as usize;
        }
        selection.settle(order)
    }

    fn whole(shape: &[i32]) -> Selection {
        let n = shape.len();
        let (start, stop, step) = (Shape::from_elem(0, n), Shape::from_slice(shape), Shape::from_elem(1, n));
        let (gone, arrays, new_axes) = (SmallVec::from_elem(false, n), Vec::new(), Shape::new());
        Selection { start, stop, step, gone, arrays, positions: 0, before: 0, new_axes }
    }

    fn narrow(&mut self, axis: usize, (start, stop, step): (i32, i32, i32)) {
        (self.start[axis], self.stop[axis], self.step[axis]) = (start, stop, step);
    }

    fn settle(mut self, order: Order) -> Result<Selection> {
        let mut shape = Shape::new();
        for (axis, array) in &self.arrays {
            shape = broadcast("index", &shape, array.shape())?;
            if self.stop[*axis] == 0 && array.size() > 0 {
                return Err(Error::Value("[index] the axis must have elements to be indexed but is empty.".into()));
            }
        }
        self.positions = shape.len();
        let first = if order.separated { 0 } else { order.first.unwrap_or(0) };
        self.before = order.axes[..first].iter().filter(|axis| **axis == Axis::Kept).count();
        // Index arrays' axes stand where the first of them is pointed along, between plain axes.
        let mut place = 0;
        for (i, axis) in order.axes.iter().enumerate() {
            place += if i == first { self.positions as i32 } else { 0 };
            if *axis == Axis::New {
                self.new_axes.push(place);
            }
            place += 1;
        }
        Ok(self)
    }

    /// The slice of every axis.
    pub fn slice(&self, x: &Array) -> Result<Array> {
        slice(x, &self.start, &self.stop, &self.step)
    }

    /// An array with its slice replaced.
    pub fn with_slice(&self, x: &Array, part: &Array) -> Result<Array> {
        slice_update(x, part, &self.start, &self.stop, &self.step)
    }

    /// Whether every axis stays.
    pub fn keeps_axes(&self) -> bool {
        !self.gone.contains(&true)
    }

    /// The sizes of the slice's axes that do not go.
    pub fn kept(&self, part: &[i32]) -> Shape {
        part.iter().zip(&self.gone).filter(|(_, gone)| !**gone).map(|(&n, _)| n).collect()
    }

    /// The index arrays, and the axes they point along.
    pub fn index_arrays(&self) -> (Vec<Array>, Vec<i32>) {
        self.arrays.iter().map(|(axis, array)| (array.clone(), *axis as i32)).unzip()
    }

    /// From the index arrays' axes first to where they stand in the result.
    pub fn positions_in_place(&self, x: &Array) -> Result<Array> {
        let (n, before) = (self.positions as i32, self.before as i32);
        let order: Vec<i32> = (n..n + before).chain(0..n).chain(n + before..x.ndim() as i32).collect();
        if before == 0 || n == 0 { Ok(x.clone()) } else { transpose(x, Some(&order)) }
    }

    /// From where the index arrays' axes stand in the result to first.
    pub fn positions_first(&self, x: &Array) -> Result<Array> {
        let (n, before) = (self.positions as i32, self.before as i32);
        let order: Vec<i32> = (before..before + n).chain(0..before).chain(before + n..x.ndim() as i32).collect();
        if before == 0 || n == 0 { Ok(x.clone()) } else { transpose(x, Some(&order)) }
    }

    /// The shape of the result without new axes, from the shapes of the slice and of the index arrays together.
    pub fn shape(&self, part: &[i32], positions: &[i32]) -> Shape {
        let mut shape = self.kept(part);
        shape.insert_many(self.before, positions.iter().copied());
        shape
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self, part: &[i32], positions: &[i32]) -> bool {
        size_of(&self.shape(part, positions)) == 0
    }
}

/// How the axes of the result come about.
#[derive(Default)]
struct Order {
    /// Axes that are not pointed along, in order.
    axes: SmallVec<[Axis; 6]>,
    /// How many of them stand before the first that is pointed along.
    first: Option<usize>,
    /// How many of them stood before the last that was pointed along.
    last: usize,
    /// Whether some stand between those that are pointed along.
    separated: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Axis {
    Kept,
    New,
}

impl Order {
    fn plain(&mut self, axis: Axis) {
        self.axes.push(axis);
    }

    fn pointed(&mut self) {
        let here = self.axes.len();
        self.separated |= self.first.is_some() && self.last != here;
        self.first.get_or_insert(here);
        self.last = here;
    }
}

/// Says nothing about an axis.
static WHOLE: Index = Index::Slice { start: None, stop: None, step: None };

/// The expression with slices of whole axes for its ellipsis, or at its end.
fn without_ellipsis(ndim: usize, expression: &[Index]) -> Result<impl Iterator<Item = &Index>> {
    let mut places = (0..expression.len()).filter(|&i| matches!(expression[i], Index::Ellipsis));
    let place = places.next();
    if places.next().is_some() {
        return Err(Error::Value("[index] an index can only have a single ellipsis but has several.".into()));
    }
    let said = expression.iter().filter(|index| !matches!(index, Index::Ellipsis | Index::NewAxis)).count();
    if said > ndim {
        return Err(Error::Value(format!(
            "[index] there must be at most {ndim} indices, one an axis, but are {said}."
        )));
    }
    let (before, after) = expression.split_at(place.unwrap_or(expression.len()));
    let rest = std::iter::repeat_n(&WHOLE, ndim - said);
    Ok(before.iter().chain(rest).chain(after.iter().skip(place.is_some() as usize)))
}

/// The range of one element.
fn one(n: i32, place: i64) -> Result<(i32, i32, i32)> {
    let from_front = if place < 0 { place.saturating_add(n as i64) } else { place };
    match (0..n as i64).contains(&from_front) {
        true => Ok((from_front as i32, from_front as i32 + 1, 1)),
        false => Err(Error::Index(format!("[index] the index must be in [{}, {n}) but is {place}.", -n))),
    }
}

/// A slice's range as Python settles it: places counted from the front, with -1 before the first.
fn range(n: i32, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Result<(i32, i32, i32)> {
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(Error::Value("[index] the step of a slice must not be zero but is.".into()));
    }
    let n = n as i64;
    let (lowest, highest) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let settled = |place: i64| if place < 0 { place.saturating_add(n) } else { place }.clamp(lowest, highest);
    let (first, last) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
    let (start, stop) = (start.map_or(first, settled), stop.map_or(last, settled));
    Ok((start as i32, stop as i32, step.clamp(-(i32::MAX as i64), i32::MAX as i64) as i32))
}
