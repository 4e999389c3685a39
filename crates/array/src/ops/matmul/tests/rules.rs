//! Errors, empty results, tangents, mapped axes, and kernels that the tests' devices never choose.

use super::super::{addmm, matmul, tensordot};
use super::{array, on_each_device, values};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::Error;
use crate::transforms::{jvp, vmap};

fn counting(shape: &[i32]) -> Array {
    let size = crate::shape::size_of(shape);
    array(&(0..size).map(|i| (i % 5) as f64 - 2.0).collect::<Vec<_>>(), shape, Dtype::F32)
}

#[test]
fn factors_must_match() {
    let text = |a: &[i32], b: &[i32]| matmul(&counting(a), &counting(b)).expect_err("they do not").to_string();
    assert_eq!(text(&[], &[3]), "[matmul] a must have at least one axis but has none.");
    assert_eq!(
        text(&[2, 3], &[2, 3]),
        "[matmul] the last axis of a must match the second to last of b but shapes are (2,3) and (2,3)."
    );
    assert_eq!(text(&[2, 1, 3], &[4, 3, 1]), "[matmul] shapes must broadcast but are (2,) and (4,).");
}

#[test]
fn integers_have_no_product() {
    let x = array(&[1.0, 2.0], &[2], Dtype::I32);
    let error = matmul(&x, &x).expect_err("they are integers");
    let text = "[matmul] the inputs must promote to a floating or complex type but int32 and int32 give int32.";
    assert_eq!(error.to_string(), text);
}

#[test]
fn an_axis_out_of_range_is_an_index_error() {
    let x = counting(&[2, 3]);
    assert!(matches!(tensordot(&x, &x, &[7], &[0]), Err(Error::Index(_))));
    assert!(matches!(tensordot(&x, &x, &[0, 0], &[0, 0]), Err(Error::Value(_))));
    assert!(matches!(tensordot(&x, &x, &[0], &[0, 1]), Err(Error::Value(_))));
}

#[test]
fn a_factor_of_zero_takes_its_term_out() {
    on_each_device(Dtype::F32, |device| {
        let (nan, one) = (array(&[f64::NAN; 4], &[2, 2], Dtype::F32), array(&[1.0; 4], &[2, 2], Dtype::F32));
        let found = addmm(&nan, &one, &one, 1.0, 0.0).expect("they match");
        assert_eq!(values(&found), [2.0; 4], "{device}");
        let found = addmm(&one, &nan, &one, 0.0, 3.0).expect("they match");
        assert_eq!(values(&found), [3.0; 4], "{device}");
    });
}

#[test]
fn tangents_follow_both_factors() {
    on_each_device(Dtype::F32, |device| {
        let (a, b) = (counting(&[2, 3]), counting(&[3, 2]));
        let (ta, tb) = (counting(&[2, 3]), counting(&[3, 2]));
        let f = |x: &[Array]| Ok(vec![matmul(&x[0], &x[1])?]);
        let (out, tangents) = jvp(f, &[a, b], &[ta, tb]).expect("it has a jvp");
        // d(a·b) with da = a and db = b is twice the product.
        let doubled: Vec<f64> = values(&out[0]).iter().map(|x| 2.0 * x).collect();
        assert_eq!(values(&tangents[0]), doubled, "{device}");
    });
}

#[test]
fn mapped_factors_are_products_one_by_one() {
    let (left, right) = (counting(&[4, 2, 3]), counting(&[3, 4, 5]));
    let (one_left, one_right) = (counting(&[2, 3]), counting(&[3, 5]));
    on_each_device(Dtype::F32, |device| {
        let f = |x: &[Array]| Ok(vec![matmul(&x[0], &x[1])?]);
        for (axes, a, b) in [
            ([Some(0), Some(1)], &left, &right),
            ([Some(0), None], &left, &one_right),
            ([None, Some(1)], &one_left, &right),
        ] {
            let found = vmap(f, axes, 0)(&[a.clone(), b.clone()]).expect("it maps").swap_remove(0);
            assert_eq!(found.shape(), [4, 2, 5]);
            let (x, y) = (values(a), values(b));
            let (of_a, of_b) = (axes[0].map_or(0, |_| 6), axes[1].map_or([0, 5], |_| [5, 20]));
            let element = |t: usize, i: usize, j: usize| -> f64 {
                (0..3).map(|l| x[t * of_a + i * 3 + l] * y[l * of_b[1] + t * of_b[0] + j]).sum()
            };
            let expected: Vec<f64> = (0..40).map(|at| element(at / 10, at / 5 % 2, at % 5)).collect();
            assert_eq!(values(&found), expected, "{axes:?} on {device}");
        }
    });
}

#[test]
fn a_mapped_addmm_follows_its_meaning() {
    on_each_device(Dtype::F32, |device| {
        let (c, a, b) = (counting(&[2]), counting(&[4, 3]), counting(&[3, 2]));
        let f = |x: &[Array]| Ok(vec![addmm(&x[0], &x[1], &x[2], 0.5, 2.0)?]);
        let whole = f(&[c.clone(), a.clone(), b.clone()]).expect("they match");
        let mapped = vmap(f, [None, Some(0), None], 0)(&[c, a, b]).expect("it maps");
        assert_eq!(values(&mapped[0]), values(&whole[0]), "{device}");
    });
}
