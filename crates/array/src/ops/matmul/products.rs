//! Products that are matrix products of other looks at their arrays: `inner`, `outer`, `tensordot`.

use super::{INEXACT, matmul};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::binary::multiply;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::views::{reshape, transpose};
use crate::shape::{self, Shape, normalize_axis, size_of};

/// Sums of products along the last axes: of vectors their dot product. A number times an array is their product.
pub fn inner(a: &Array, b: &Array) -> Result<Array> {
    let (Some(last), Some(other)) = (a.shape().last(), b.shape().last()) else { return multiply(a, b) };
    if last != other {
        return Err(Error::Value(format!("[inner] a and b must have the same last axis but have {last} and {other}.")));
    }
    tensordot(a, b, &[-1], &[-1])
}

/// The product of each element of `a` with each of `b`: a matrix, both read as vectors.
pub fn outer(a: &Array, b: &Array) -> Result<Array> {
    multiply(&reshape(a, &[-1, 1])?, &reshape(b, &[-1])?)
}

/// Sums of products along pairs of axes, `axes_a[i]` with `axes_b[i]`; the other axes of `a` and then those of `b` remain.
pub fn tensordot(a: &Array, b: &Array, axes_a: &[i32], axes_b: &[i32]) -> Result<Array> {
    if axes_a.len() != axes_b.len() {
        let (left, right) = (axes_a.len(), axes_b.len());
        return Err(Error::Value(format!("[tensordot] both must have as many axes but have {left} and {right}.")));
    }
    let (a, b) = (Split::new(a, axes_a)?, Split::new(b, axes_b)?);
    if a.summed != b.summed {
        let [left, right] = [&a.summed, &b.summed].map(|s| shape::display(s));
        return Err(Error::Value(format!("[tensordot] the summed axes must match but have sizes {left} and {right}.")));
    }
    let mut shape = a.kept.clone();
    shape.extend_from_slice(&b.kept);
    let depth = fits(size_of(&a.summed))?;
    let left = reshape(&a.array(true)?, &[fits(size_of(&a.kept))?, depth])?;
    let right = reshape(&b.array(false)?, &[depth, fits(size_of(&b.kept))?])?;
    reshape(&matmul(&left, &right)?, &shape)
}

fn fits(size: usize) -> Result<i32> {
    let error = || Error::Value(format!("[tensordot] axes made one must fit 32 bits but have {size} elements."));
    i32::try_from(size).map_err(|_| error())
}

/// An array, and which of its axes are summed over.
struct Split<'a> {
    x: &'a Array,
    axes: Vec<i32>,
    others: Vec<i32>,
    summed: Shape,
    kept: Shape,
}

impl<'a> Split<'a> {
    fn new(x: &'a Array, axes: &[i32]) -> Result<Split<'a>> {
        let axes: Vec<usize> =
            axes.iter().map(|&axis| normalize_axis("tensordot", axis, x.ndim())).collect::<Result<_>>()?;
        if let Some(axis) = (0..axes.len()).find(|&i| axes[..i].contains(&axes[i])).map(|i| axes[i]) {
            return Err(Error::Value(format!("[tensordot] axes must differ but axis {axis} is given twice.")));
        }
        let others: Vec<usize> = (0..x.ndim()).filter(|axis| !axes.contains(axis)).collect();
        let sizes = |axes: &[usize]| axes.iter().map(|&axis| x.shape()[axis]).collect::<Shape>();
        let (summed, kept) = (sizes(&axes), sizes(&others));
        let signed = |axes: Vec<usize>| axes.into_iter().map(|axis| axis as i32).collect();
        Ok(Split { x, axes: signed(axes), others: signed(others), summed, kept })
    }

    /// The array with the summed axes after or before the others.
    fn array(&self, summed_last: bool) -> Result<Array> {
        let order = if summed_last { [&self.others[..], &self.axes[..]] } else { [&self.axes[..], &self.others[..]] };
        transpose(self.x, Some(&order.concat()))
    }
}

pub(super) fn entries() -> Vec<Entry> {
    type Call = fn(&[Array]) -> Result<Array>;
    let case = |name: &str, a: &[i32], b: &[i32], dtypes: &'static [Dtype], call: Call| Case {
        name: name.into(),
        inputs: vec![Sample::new(a), Sample::new(b)],
        dtypes,
        call: Box::new(move |x| Ok(vec![call(x)?])),
        differentiable: true,
    };
    let by_inner: Call = |x| inner(&x[0], &x[1]);
    let by_outer: Call = |x| outer(&x[0], &x[1]);
    let inner_cases = vec![
        case("vectors", &[5], &[5], INEXACT, by_inner),
        case("more axes", &[2, 5], &[3, 2, 5], INEXACT, by_inner),
        case("a number", &[2, 5], &[], INEXACT, by_inner),
        case("nothing to sum", &[2, 0], &[3, 0], INEXACT, by_inner),
    ];
    let outer_cases = vec![
        case("vectors", &[4], &[3], &Dtype::ALL, by_outer),
        case("matrices", &[2, 2], &[3], &Dtype::ALL, by_outer),
        case("empty", &[0], &[3], &Dtype::ALL, by_outer),
        case("numbers", &[], &[], &Dtype::ALL, by_outer),
    ];
    let tensordot_cases = vec![
        case("two axes", &[2, 3, 4], &[4, 3, 5], INEXACT, |x| tensordot(&x[0], &x[1], &[1, 2], &[1, 0])),
        case("no axes", &[2, 3], &[2], INEXACT, |x| tensordot(&x[0], &x[1], &[], &[])),
        case("all axes", &[2, 3], &[2, 3], INEXACT, |x| tensordot(&x[0], &x[1], &[0, 1], &[0, 1])),
        case("empty", &[2, 0], &[0, 3], INEXACT, |x| tensordot(&x[0], &x[1], &[1], &[0])),
    ];
    vec![
        Entry { name: "inner", doc: "Sums of products along the last axes.", cases: inner_cases },
        Entry { name: "outer", doc: "Products of each element with each.", cases: outer_cases },
        Entry { name: "tensordot", doc: "Sums of products along pairs of axes.", cases: tensordot_cases },
    ]
}
