//! `vecdot(a, b, axis)`: sums of products along an axis, `Σ conj(a[i])·b[i]`.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::binary::multiply;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::reduce::sum;
use crate::ops::unary::conjugate;
use crate::shape::{self, normalize_axis};

/// The dot products of vectors along an axis, the first conjugated. The other axes broadcast.
pub fn vecdot(a: &Array, b: &Array, axis: i32) -> Result<Array> {
    if a.ndim() == 0 || b.ndim() == 0 {
        return Err(Error::Value("[vecdot] a and b must have an axis but one is a scalar.".into()));
    }
    let along = normalize_axis("vecdot", axis, a.ndim())?;
    if normalize_axis("vecdot", axis, b.ndim()).ok() != Some(along) || a.shape()[along] != b.shape()[along] {
        let [a, b] = [a, b].map(|x| shape::display(x.shape()));
        let text = format!("[vecdot] a and b must have the same axis {axis} but have shapes {a} and {b}.");
        return Err(Error::Value(text));
    }
    sum(&multiply(conjugate(a)?, b)?, Some(&[along as i32]), false)
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, shapes: [&[i32]; 2], axis: i32| Case {
        name: name.into(),
        inputs: shapes.iter().map(|shape| Sample::new(shape)).collect(),
        dtypes: &Dtype::ALL,
        call: Box::new(move |x| Ok(vec![vecdot(&x[0], &x[1], axis)?])),
        differentiable: true,
    };
    let cases = vec![
        case("vectors", [&[5], &[5]], 0),
        case("rows", [&[3, 5], &[3, 5]], -1),
        case("columns", [&[3, 5], &[3, 1]], 0),
        case("empty", [&[2, 0], &[2, 0]], 1),
    ];
    vec![Entry { name: "vecdot", doc: "Dot products along an axis.", cases }]
}

/// Expected values from the wheel.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_must_be_there_and_of_one_size() {
        let ones = |shape: &[i32]| crate::ops::full::ones(shape, Dtype::F32).expect("a shape");
        let y = vecdot(&ones(&[2, 3]), &ones(&[2, 3]), 0).expect("they fit");
        assert_eq!(y.to_vec::<f32>().expect("floats"), [2.0; 3]);
        for (a, b, axis) in [(&[2, 3][..], &[3][..], -1), (&[2, 1], &[2, 3], -1), (&[3], &[3, 3], -1), (&[], &[], 0)] {
            assert!(matches!(vecdot(&ones(a), &ones(b), axis), Err(Error::Value(_))), "{a:?} {b:?}");
        }
        assert!(matches!(vecdot(&ones(&[2]), &ones(&[2]), 1), Err(Error::Index(_))));
    }
}
