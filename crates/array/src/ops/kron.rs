//! `kron(a, b)`: the Kronecker product, `b` times each element of `a`: along every axis `out[i·n + j] = a[i]·b[j]`, with `n` the size
//! of `b`.

use smallvec::smallvec;

use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{Key, Op, Specs, borrow_inputs};
use crate::ops::astype::astype;
use crate::ops::binary::multiply;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::views::reshape;
use crate::shape::{self, Shape, Spec, size_of};

/// The Kronecker product. Missing axes in front are axes of one element.
pub fn kron(a: &Array, b: &Array) -> Result<Array> {
    let dtype = a.dtype().promote(b.dtype());
    call_one(Kron, [astype(a, dtype)?, astype(b, dtype)?])
}

#[derive(Debug)]
struct Kron;

impl Op for Kron {
    fn name(&self) -> &'static str {
        "kron"
    }

    fn key(&self, _: &mut Key) {}

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let [a, b] = borrow_inputs(self.name(), inputs)?;
        if size_of(&a.shape) == 0 || size_of(&b.shape) == 0 {
            let [a, b] = [a, b].map(|spec| shape::display(&spec.shape));
            return Err(Error::Value(format!("[kron] a and b must not be empty but have shapes {a} and {b}.")));
        }
        let axes = interleaved(&a.shape, &b.shape).into_iter().map(|[n, m]| {
            let error = || Error::Value(format!("[kron] an axis must fit 32 bits but has {n} times {m} elements."));
            n.checked_mul(m).ok_or_else(error)
        });
        Ok(smallvec![Spec::new(axes.collect::<Result<Shape>>()?, a.dtype)])
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let [a, b] = [&inputs[0], &inputs[1]];
        let axes = interleaved(a.shape(), b.shape());
        let [left, right]: [Shape; 2] =
            [axes.iter().flat_map(|&[n, _]| [n, 1]).collect(), axes.iter().flat_map(|&[_, m]| [1, m]).collect()];
        let product = multiply(reshape(a, &left)?, reshape(b, &right)?)?;
        let whole: Shape = axes.iter().map(|[n, m]| n * m).collect();
        Ok(Some(vec![reshape(&product, &whole)?]))
    }
}

/// The sizes of both along each axis.
fn interleaved(a: &[i32], b: &[i32]) -> Vec<[i32; 2]> {
    let ndim = a.len().max(b.len());
    let size = |shape: &[i32], axis: usize| (axis + shape.len()).checked_sub(ndim).map_or(1, |axis| shape[axis]);
    (0..ndim).map(|axis| [size(a, axis), size(b, axis)]).collect()
}

pub(super) fn entries() -> Vec<Entry> {
    let case = |name: &str, a: &[i32], b: &[i32]| Case {
        name: name.into(),
        inputs: vec![Sample::new(a), Sample::new(b)],
        dtypes: &Dtype::ALL,
        call: Box::new(|x| Ok(vec![kron(&x[0], &x[1])?])),
        differentiable: true,
    };
    let cases = vec![
        case("matrices", &[2, 3], &[3, 2]),
        case("vector and matrix", &[3], &[2, 2]),
        case("more axes", &[2, 1, 3], &[2, 2]),
        case("scalar", &[], &[3]),
        case("scalars", &[], &[]),
    ];
    vec![Entry { name: "kron", doc: "One array times each element of another.", cases }]
}

/// Expected values from the wheel.
#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[i32], shape: &[i32]) -> Array {
        Array::from_slice(values, shape).expect("as many")
    }

    #[test]
    fn each_element_is_replaced_by_its_product_with_the_other_array() {
        let y = kron(&ints(&[1, 2, 3, 4], &[2, 2]), &ints(&[0, 5, 6, 7], &[2, 2])).expect("matrices");
        assert_eq!(y.shape(), [4, 4]);
        let expected = [0, 5, 0, 10, 6, 7, 12, 14, 0, 15, 0, 20, 18, 21, 24, 28];
        assert_eq!(y.to_vec::<i32>().expect("ints"), expected);
    }

    #[test]
    fn types_are_promoted_and_missing_axes_stand_in_front() {
        let b = Array::from_slice(&[1f32, 2.0], &[1, 2]).expect("two");
        let y = kron(&ints(&[1, 2], &[2]), &b).expect("they multiply");
        assert_eq!((y.shape(), y.to_vec::<f32>().expect("floats")), (&[1, 4][..], vec![1.0, 2.0, 2.0, 4.0]));
    }

    #[test]
    fn empty_arrays_are_refused() {
        let error = kron(&ints(&[], &[0, 2]), &ints(&[1], &[1])).expect_err("nothing to multiply");
        assert_eq!(error.to_string(), "[kron] a and b must not be empty but have shapes (0,2) and (1,).");
    }
}
