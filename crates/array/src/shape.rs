//! Shapes and layouts: how many elements there are along each axis, and where in memory each lies.

use smallvec::SmallVec;

use crate::dtype::Dtype;
use crate::error::{Error, Result};

/// Elements along each axis.
pub type Shape = SmallVec<[i32; 4]>;
/// Distances, in elements, from one element to the next along each axis.
pub type Strides = SmallVec<[i64; 4]>;

/// What an array is before anybody knows its values.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Spec {
    /// Elements along each axis.
    pub shape: Shape,
    /// The type of its elements.
    pub dtype: Dtype,
}

impl Spec {
    /// A spec of this shape and type.
    pub fn new(shape: impl Into<Shape>, dtype: Dtype) -> Spec {
        Spec { shape: shape.into(), dtype }
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        size_of(&self.shape)
    }

    /// Bytes of all elements.
    pub fn nbytes(&self) -> usize {
        self.size().saturating_mul(self.dtype.size())
    }

    /// The same number of axes and type, without sizes.
    pub fn sizeless(&self) -> Spec {
        Spec { shape: Shape::from_elem(0, self.ndim()), dtype: self.dtype }
    }

    /// The same shape of another type.
    pub fn with_dtype(&self, dtype: Dtype) -> Spec {
        Spec { shape: Shape::from_slice(&self.shape), dtype }
    }
}

/// Copies the sizes at once; `SmallVec`'s own clone goes through them one by one.
impl Clone for Spec {
    fn clone(&self) -> Spec {
        self.with_dtype(self.dtype)
    }
}

/// Number of elements of a shape; where no memory could hold them, the most there is.
pub fn size_of(shape: &[i32]) -> usize {
    shape.iter().fold(1usize, |size, &n| size.saturating_mul(n as usize))
}

/// Refuses a result of more elements than places can be counted. Views of what is there may have more: they need none.
pub(crate) fn refuse_uncountable(op: &str, shape: &[i32]) -> Result<()> {
    match size_of(shape) > i64::MAX as usize {
        true => {
            let shape = display(shape);
            Err(Error::Value(format!("[{op}] an array must have fewer than 2^63 elements but shape {shape} has more.")))
        }
        false => Ok(()),
    }
}

/// A shape as Python writes it: `(2, 3)`, `(4,)`, `()`.
pub fn display(shape: &[i32]) -> String {
    let parts: Vec<String> = shape.iter().map(i32::to_string).collect();
    match parts.len() {
        1 => format!("({},)", parts[0]),
        _ => format!("({})", parts.join(",")),
    }
}

/// An axis counted from the front; negative ones count from the end.
pub fn normalize_axis(op: &str, axis: i32, ndim: usize) -> Result<usize> {
    let n = ndim as i32;
    match axis {
        _ if (0..n).contains(&axis) => Ok(axis as usize),
        _ if (-n..0).contains(&axis) => Ok((axis + n) as usize),
        _ => Err(Error::Index(format!("[{op}] axis must be in [{}, {n}) but is {axis}.", -n))),
    }
}

/// Axes counted from the front, ascending; no axis may occur twice.
pub fn normalize_axes(op: &str, axes: &[i32], ndim: usize) -> Result<SmallVec<[usize; 4]>> {
    let mut all = axes.iter().map(|&axis| normalize_axis(op, axis, ndim)).collect::<Result<SmallVec<[usize; 4]>>>()?;
    all.sort_unstable();
    if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::Value(format!("[{op}] axes must differ but axis {} is given twice.", twice[0])));
    }
    Ok(all)
}

/// The shape both broadcast to, or the user's error.
pub fn broadcast(op: &str, a: &[i32], b: &[i32]) -> Result<Shape> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut shape = Shape::from_slice(long);
    let skip = long.len() - short.len();
    for (n, &m) in shape[skip..].iter_mut().zip(short) {
        match (*n, m) {
            (x, y) if x == y => {}
            (_, 1) => {}
            (1, y) => *n = y,
            _ => {
                let [a, b] = [a, b].map(display);
                return Err(Error::Value(format!("[{op}] shapes must broadcast but are {a} and {b}.")));
            }
        }
    }
    Ok(shape)
}

/// Where each element of an array lies in its memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    /// Elements along each axis.
    pub shape: Shape,
    /// Elements of memory from one to the next along each axis.
    pub strides: Strides,
    /// Elements of memory before the first.
    pub offset: i64,
}

impl Layout {
    /// Elements without gaps, the last axis fastest.
    pub fn contiguous(shape: &[i32]) -> Layout {
        Layout { shape: Shape::from_slice(shape), strides: contiguous_strides(shape), offset: 0 }
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        size_of(&self.shape)
    }

    /// Whether the elements lie without gaps, the last axis fastest.
    pub fn is_row_contiguous(&self) -> bool {
        let mut expected = 1i64;
        for (&n, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if n == 0 {
                return true;
            }
            if n != 1 && stride != expected {
                return false;
            }
            expected = expected.saturating_mul(n as i64);
        }
        true
    }

    /// Whether every element is the same one.
    pub fn is_single(&self) -> bool {
        self.shape.iter().zip(&self.strides).all(|(&n, &stride)| n == 1 || stride == 0)
    }

    /// The lowest and the highest element of memory that the layout touches; nothing if it has no elements.
    pub fn extent(&self) -> Option<(i64, i64)> {
        if self.size() == 0 {
            return None;
        }
        let (mut low, mut high) = (self.offset, self.offset);
        for (&n, &stride) in self.shape.iter().zip(&self.strides) {
            let span = stride.saturating_mul(n as i64 - 1);
            if span < 0 { low = low.saturating_add(span) } else { high = high.saturating_add(span) }
        }
        Some((low, high))
    }

    /// The layout read as a larger shape, by repeating axes of one element.
    pub fn broadcast_to(&self, shape: &[i32]) -> Layout {
        let skip = shape.len() - self.shape.len();
        let mut strides: Strides = SmallVec::from_elem(0, shape.len());
        for (i, (&n, &stride)) in self.shape.iter().zip(&self.strides).enumerate() {
            strides[skip + i] = if n == 1 && shape[skip + i] != 1 { 0 } else { stride };
        }
        Layout { shape: Shape::from_slice(shape), strides, offset: self.offset }
    }
}

/// The strides of elements without gaps, the last axis fastest; at most the most there is, for views beyond all memory and for shapes
/// that have any sizes beside a zero.
pub fn contiguous_strides(shape: &[i32]) -> Strides {
    let mut strides: Strides = SmallVec::from_elem(1, shape.len());
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i].saturating_mul(shape[i].max(1) as i64);
    }
    strides
}

/// Joins neighbouring axes that lie without gaps in all of the given strides, and drops axes of one element. What remains has the
/// fewest axes an index must be split into.
pub fn collapse(shape: &[i32], strides: &[&[i64]]) -> (SmallVec<[i64; 4]>, Vec<Strides>) {
    let mut sizes: SmallVec<[i64; 4]> = SmallVec::new();
    let mut joined: Vec<Strides> = vec![Strides::new(); strides.len()];
    for (axis, &n) in shape.iter().enumerate() {
        if n == 1 {
            continue;
        }
        let fits = !sizes.is_empty()
            && joined
                .iter()
                .zip(strides)
                .all(|(done, s)| *done.last().expect("as many as sizes") == s[axis].saturating_mul(n as i64));
        if fits {
            let last = sizes.last_mut().expect("not empty");
            *last = last.saturating_mul(n as i64);
            joined.iter_mut().zip(strides).for_each(|(done, s)| *done.last_mut().expect("as many as sizes") = s[axis]);
        } else {
            sizes.push(n as i64);
            joined.iter_mut().zip(strides).for_each(|(done, s)| done.push(s[axis]));
        }
    }
    (sizes, joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_from_the_last_axis() {
        assert_eq!(broadcast("add", &[3, 1], &[4]).expect("they broadcast").as_slice(), [3, 4]);
        assert_eq!(broadcast("add", &[0], &[1]).expect("they broadcast").as_slice(), [0]);
        let error = broadcast("add", &[3], &[4]).expect_err("they do not");
        assert_eq!(error.to_string(), "[add] shapes must broadcast but are (3,) and (4,).");
    }

    #[test]
    fn neighbouring_axes_without_gaps_are_joined() {
        let (sizes, strides) = collapse(&[2, 3, 4], &[&[12, 4, 1], &[12, 4, 1]]);
        assert_eq!((sizes.as_slice(), strides[0].as_slice()), (&[24i64][..], &[1i64][..]));
        let (sizes, strides) = collapse(&[2, 3, 4], &[&[12, 4, 1], &[0, 4, 1]]);
        assert_eq!(sizes.as_slice(), [2, 12]);
        assert_eq!(strides[1].as_slice(), [0, 1]);
    }

    #[test]
    fn contiguity_ignores_axes_of_one_element() {
        let layout =
            Layout { shape: Shape::from_slice(&[2, 1, 3]), strides: SmallVec::from_slice(&[3, 99, 1]), offset: 5 };
        assert!(layout.is_row_contiguous());
        assert_eq!(layout.extent(), Some((5, 10)));
    }
}
