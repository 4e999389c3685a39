//! Expected values from the wheel: `mx.take` and `mx.take_along_axis` on its CPU device.

use super::*;
use crate::ops::create::arange;
use crate::ops::views::{reshape, tests::on_each_device, transpose};
use crate::transforms::{vjp, vmap};

fn numbers(shape: &[i32]) -> Array {
    reshape(&arange(0, crate::shape::size_of(shape) as i32, 1, None).expect("a range"), shape).expect("it fits")
}

fn ints(values: &[i32]) -> Array {
    Array::from_slice(values, &[values.len() as i32]).expect("a vector")
}

#[test]
fn rows_columns_and_elements_are_taken() {
    on_each_device(|| {
        let x = numbers(&[3, 4]);
        let take = |indices: &Array, axis| take(&x, indices, axis).expect("it takes").to_vec::<i32>().expect("ints");
        assert_eq!(take(&ints(&[0, 2]), Some(0)), [0, 1, 2, 3, 8, 9, 10, 11]);
        assert_eq!(take(&ints(&[0, 2]), Some(1)), [0, 2, 4, 6, 8, 10]);
        assert_eq!(take(&ints(&[0, -1, 5]), None), [0, 11, 5]);
        assert_eq!(take_one(&x, 1, Some(0)).expect("a row").to_vec::<i32>().expect("ints"), [4, 5, 6, 7]);
    });
}

#[test]
fn indices_of_every_integer_type_point_alike() {
    on_each_device(|| {
        let x = numbers(&[3, 4]);
        for dtype in Dtype::ALL.into_iter().filter(|dtype| dtype.is_integer()) {
            let index = astype(&ints(&[2, 0]), dtype).expect("it converts");
            let y = take(&x, &index, Some(0)).expect("it takes").to_vec::<i32>().expect("ints");
            assert_eq!(y, [8, 9, 10, 11, 0, 1, 2, 3], "{dtype}");
        }
    });
}

#[test]
fn elements_of_every_size_are_moved() {
    on_each_device(|| {
        for dtype in Dtype::ALL.into_iter().filter(|&dtype| dtype != Dtype::F64) {
            for width in [1, 2, 3, 8] {
                let x = astype(&numbers(&[5, width]), dtype).expect("it converts");
                let y = take(&x, &ints(&[4, 1]), Some(0)).expect("it takes").to_bytes().expect("bytes");
                let all = x.to_bytes().expect("bytes");
                let row = all.len() / 5;
                assert_eq!(y, [&all[4 * row..], &all[row..2 * row]].concat(), "{dtype} {width}");
            }
        }
    });
}

#[test]
fn views_are_indexed_where_they_lie() {
    on_each_device(|| {
        let x = transpose(&numbers(&[3, 4]), None).expect("it turns");
        let y = take(&x, &ints(&[1, -1]), Some(0)).expect("it takes");
        assert_eq!(y.to_vec::<i32>().expect("ints"), [1, 5, 9, 3, 7, 11]);
    });
}

#[test]
fn indices_outside_read_the_nearest() {
    on_each_device(|| {
        let y = take(&numbers(&[3]), &ints(&[100, -100]), Some(0)).expect("it takes");
        assert_eq!(y.to_vec::<i32>().expect("ints"), [2, 0]);
    });
}

#[test]
fn several_index_arrays_broadcast_and_parts_may_be_longer() {
    on_each_device(|| {
        let x = numbers(&[3, 4, 5]);
        let rows = Array::from_slice(&[0i32, 2], &[2, 1]).expect("two");
        let y = gather(&x, &[rows, ints(&[1, -1, 0])], &[0, 2], &[1, 2, 1]).expect("it gathers");
        assert_eq!(y.shape(), [2, 3, 1, 2, 1]);
        assert_eq!(y.to_vec::<i32>().expect("ints"), [1, 6, 4, 9, 0, 5, 41, 46, 44, 49, 40, 45]);
    });
}

#[test]
fn along_an_axis_every_place_has_its_own_index() {
    on_each_device(|| {
        let x = numbers(&[3, 4]);
        let column = Array::from_slice(&[0i32, 1, -1], &[3, 1]).expect("three");
        let y = take_along_axis(&x, &column, Some(1)).expect("it takes");
        assert_eq!(y.to_vec::<i32>().expect("ints"), [0, 5, 11]);
        let row = Array::from_slice(&[0i32, 1, 2, 0], &[1, 4]).expect("four");
        let y = take_along_axis(&x, &row, Some(0)).expect("it takes");
        assert_eq!(y.to_vec::<i32>().expect("ints"), [0, 5, 10, 3]);
        let y = take_along_axis(&x, &ints(&[0, 1]), None).expect("it takes");
        assert_eq!(y.to_vec::<i32>().expect("ints"), [0, 1]);
    });
}

#[test]
fn what_cannot_be_taken_is_an_error() {
    let x = numbers(&[3, 4]);
    let half = Array::from_slice(&[0.5f32], &[1]).expect("one");
    assert!(matches!(take(&x, &half, Some(0)), Err(Error::Value(_))));
    assert!(matches!(take(&x, &ints(&[0]), Some(2)), Err(Error::Index(_))));
    assert!(matches!(take(&numbers(&[0, 3]), &ints(&[0]), Some(0)), Err(Error::Value(_))));
    assert!(matches!(take_one(&x, 5, Some(0)), Err(Error::Value(_))));
    assert!(matches!(take_along_axis(&x, &ints(&[0]), Some(0)), Err(Error::Value(_))));
    assert!(matches!(gather(&x, &[ints(&[0])], &[0], &[4, 4]), Err(Error::Value(_))));
}

#[test]
fn the_derivative_of_taking_adds_where_it_was_taken() {
    on_each_device(|| {
        let x = Array::from_slice(&[1f32, 2.0, 3.0], &[3]).expect("three");
        let g = Array::from_slice(&[1f32, 10.0, 100.0], &[3]).expect("three");
        let f = |x: &[Array]| Ok(vec![take(&x[0], &ints(&[2, 0, 2]), Some(0))?]);
        let (_, dx) = vjp(f, &[x], &[g]).expect("it has one");
        assert_eq!(dx[0].to_vec::<f32>().expect("floats"), [10.0, 0.0, 101.0]);
    });
}

#[test]
fn mapped_arrays_and_indices_are_taken_one_by_one() {
    on_each_device(|| {
        let x = numbers(&[2, 5]);
        let indices = Array::from_slice(&[0i32, 4, 1, -1], &[2, 2]).expect("four");
        let f = |x: &[Array]| Ok(vec![take(&x[0], &x[1], Some(0))?]);
        let both = vmap(f, [Some(0), Some(0)], [Some(0)])(&[x.clone(), indices.clone()]).expect("it maps");
        assert_eq!(both[0].to_vec::<i32>().expect("ints"), [0, 4, 6, 9]);
        let array = vmap(f, [Some(0), None], [Some(0)])(&[x.clone(), ints(&[3, 0])]).expect("it maps");
        assert_eq!(array[0].to_vec::<i32>().expect("ints"), [3, 0, 8, 5]);
        let index = vmap(f, [None, Some(1)], [Some(0)])(&[ints(&[7, 8, 9]), indices]).expect("it maps");
        assert_eq!(index[0].to_vec::<i32>().expect("ints"), [7, 8, 9, 9]);
    });
}
