//! Joins on both devices, against plain loops over indices and the wheel's results.

use super::*;
use crate::array::Array;
use crate::ops::binary::add;
use crate::ops::slices::slice;
use crate::ops::views::tests::on_each_device;
use crate::ops::views::transpose;
use crate::{Dtype, Error};

fn count(shape: &[i32], from: i32) -> Array {
    let n: i32 = shape.iter().product();
    Array::from_slice(&(from..from + n).collect::<Vec<i32>>(), shape).expect("as many as the shape has")
}

fn ints(x: &Array) -> Vec<i32> {
    x.to_vec().expect("ints")
}

#[test]
fn arrays_are_joined_along_each_axis() {
    on_each_device(|| {
        for axis in 0..3 {
            let mut shape = [2, 3, 4];
            let parts: Vec<Array> = (1..4)
                .map(|n| {
                    shape[axis] = 4 * n - 3;
                    add(count(&shape, 1000 * n), 0).expect("they add")
                })
                .collect();
            let y = concatenate(&parts, axis as i32).expect("they fit");
            shape[axis] = 1 + 5 + 9;
            assert_eq!(y.shape(), shape);
            let all = ints(&y);
            let strides = [shape[1] * shape[2], shape[2], 1];
            for (at, value) in all.into_iter().enumerate() {
                let mut index = strides.map(|_| 0);
                (0..3).for_each(|i| index[i] = at as i32 / strides[i] % shape[i]);
                let part = [0, 1, 6, 15].iter().rposition(|&first| index[axis] >= first).expect("one");
                index[axis] -= [0, 1, 6][part];
                let mut sizes = [2, 3, 4];
                sizes[axis] = [1, 5, 9][part];
                let expected = 1000 * (part as i32 + 1) + (index[0] * sizes[1] + index[1]) * sizes[2] + index[2];
                assert_eq!(value, expected, "axis {axis}, element {at}");
            }
        }
    });
}

#[test]
fn strided_parts_and_plain_numbers_are_joined() {
    on_each_device(|| {
        let turned = transpose(&count(&[2, 3], 0), None).expect("two axes");
        let reversed = slice(&count(&[3, 2], 10), &[2, 1], &[-1, -1], &[-1, -1]).expect("a slice");
        let ones = crate::ops::full::ones(&[3, 1], Dtype::I32).expect("ones");
        let y = concatenate(&[turned, reversed, ones], 1).expect("they fit");
        assert_eq!(ints(&y), [0, 3, 15, 14, 1, 1, 4, 13, 12, 1, 2, 5, 11, 10, 1]);
    });
}

#[test]
fn an_array_is_joined_with_itself() {
    on_each_device(|| {
        let x = add(count(&[2, 2], 0), 0).expect("they add");
        assert_eq!(ints(&concatenate(&[x.clone(), x.clone()], 1).expect("they fit")), [0, 1, 0, 1, 2, 3, 2, 3]);
        assert_eq!(ints(&stack(&[x.clone(), x], -1).expect("they fit")), [0, 0, 1, 1, 2, 2, 3, 3]);
    });
}

#[test]
fn parts_become_the_type_they_promote_to() {
    on_each_device(|| {
        let parts = [Array::from_slice(&[1], &[1]).expect("one"), Array::from_slice(&[2.5f32], &[1]).expect("one")];
        assert_eq!(concatenate(&parts, 0).expect("they fit").to_vec::<f32>().expect("floats"), [1.0, 2.5]);
        let parts = [Array::from_bools(&[true], &[1]).expect("one"), Array::from_slice(&[2u8], &[1]).expect("one")];
        assert_eq!(concatenate(&parts, 0).expect("they fit").to_vec::<u8>().expect("bytes"), [1, 2]);
    });
}

#[test]
fn large_parts_are_joined() {
    on_each_device(|| {
        let parts = [count(&[300, 257], 0), count(&[300, 511], 500_000)];
        let y = ints(&concatenate(&parts, 1).expect("they fit"));
        for row in 0..300 {
            assert_eq!(y[row * 768], row as i32 * 257);
            assert_eq!(y[row * 768 + 256], row as i32 * 257 + 256);
            assert_eq!(y[row * 768 + 257], 500_000 + row as i32 * 511);
            assert_eq!(y[row * 768 + 767], 500_000 + row as i32 * 511 + 510);
        }
    });
}

#[test]
fn elements_and_arrays_are_repeated_as_mlx_does() {
    on_each_device(|| {
        let x = &count(&[2, 2], 1);
        assert_eq!(ints(&repeat(x, 2, Some(0)).expect("rows")), [1, 2, 1, 2, 3, 4, 3, 4]);
        assert_eq!(ints(&repeat(x, 2, None).expect("elements")), [1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(repeat(x, 0, Some(1)).expect("nothing").shape(), [2, 0]);
        assert_eq!(ints(&tile(x, &[1, 2]).expect("twice")), [1, 2, 1, 2, 3, 4, 3, 4]);
        assert_eq!(ints(&tile(x, &[2]).expect("twice")), [1, 2, 1, 2, 3, 4, 3, 4]);
        assert_eq!(tile(x, &[2, 0, 1]).expect("nothing").shape(), [2, 0, 2]);
        assert_eq!(ints(&tile(&Array::scalar(7), &[3]).expect("three")), [7, 7, 7]);
        assert_eq!(ints(&roll(&count(&[5], 0), &[2], &[0]).expect("an axis")), [3, 4, 0, 1, 2]);
        assert_eq!(ints(&roll(&count(&[5], 0), &[-7], &[0]).expect("an axis")), [2, 3, 4, 0, 1]);
        assert_eq!(ints(&roll(x, &[1, 1], &[0, 1]).expect("both")), [4, 3, 2, 1]);
        assert_eq!(ints(&roll_flat(x, 1).expect("in order")), [4, 1, 2, 3]);
    });
}

#[test]
fn errors_are_of_the_kind_that_mlx_raises() {
    let x = &count(&[2, 3], 0);
    assert!(matches!(concatenate(&[], 0), Err(Error::Value(_))));
    assert!(matches!(concatenate(std::slice::from_ref(x), 2), Err(Error::Index(_))));
    assert!(matches!(concatenate(&[x.clone(), count(&[2], 0)], 0), Err(Error::Value(_))));
    assert!(matches!(concatenate(&[x.clone(), count(&[2, 4], 0)], 0), Err(Error::Value(_))));
    assert!(matches!(stack(&[], 0), Err(Error::Value(_))));
    assert!(matches!(stack(&[x.clone(), x.clone()], 3), Err(Error::Index(_))));
    assert!(matches!(stack(&[x.clone(), count(&[3, 2], 0)], 0), Err(Error::Value(_))));
    assert!(matches!(repeat(x, -1, Some(0)), Err(Error::Value(_))));
    assert!(matches!(repeat(x, 2, Some(2)), Err(Error::Index(_))));
    assert!(matches!(repeat(x, i32::MAX, Some(0)), Err(Error::Value(_))));
    assert!(matches!(tile(x, &[-1]), Err(Error::Value(_))));
    assert!(matches!(roll(x, &[1], &[2]), Err(Error::Index(_))));
    assert!(matches!(roll(x, &[1], &[0, 1]), Err(Error::Value(_))));
}
