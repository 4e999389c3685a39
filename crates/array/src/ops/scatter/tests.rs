//! Expected values from the wheel: `x[i] = v`, `x.at[i].add(v)` and the like on its CPU device.

use super::*;
use crate::ops::views::tests::on_each_device;
use crate::transforms::{vjp, vmap};

fn ints(values: &[i32]) -> Array {
    Array::from_slice(values, &[values.len() as i32]).expect("a vector")
}

/// Elements of a vector written one by one.
fn scattered(combine: Combine, x: &Array, indices: &[i32], updates: &Array) -> Array {
    let updates = reshape(updates, &[updates.shape()[0], 1]).expect("it fits");
    scatter_by(combine, x, &[ints(indices)], &updates, &[0]).expect("it scatters")
}

#[test]
fn updates_accumulate_in_every_type() {
    on_each_device(|| {
        for dtype in Dtype::ALL.into_iter().filter(|&dtype| !matches!(dtype, Dtype::Bool | Dtype::F64)) {
            let make = |values: &[i32]| astype(&ints(values), dtype).expect("it converts");
            let (x, updates) = (make(&[5, 7, 3, 2, 1]), make(&[4, 2, 3, 6, 1]));
            let after = |combine| {
                let y = scattered(combine, &x, &[0, 3, 0, -1, 0], &updates);
                astype(&y, Dtype::I32).expect("it converts").to_vec::<i32>().expect("ints")
            };
            assert_eq!(after(Combine::Add), [13, 7, 3, 4, 7], "{dtype}");
            assert_eq!(after(Combine::Multiply), [60, 7, 3, 4, 6], "{dtype}");
            assert_eq!(after(Combine::Max), [5, 7, 3, 2, 6], "{dtype}");
            assert_eq!(after(Combine::Min), [1, 7, 3, 2, 1], "{dtype}");
        }
    });
}

#[test]
fn bools_that_meet_combine_as_logic_does() {
    on_each_device(|| {
        let x = Array::from_bools(&[true, false, true], &[3]).expect("three");
        let updates = Array::from_bools(&[false, true, true], &[3]).expect("three");
        let after = |combine| scattered(combine, &x, &[0, 1, 2], &updates).to_bools().expect("bools");
        assert_eq!(after(Combine::Add), [true, true, true]);
        assert_eq!(after(Combine::Multiply), [false, false, true]);
        assert_eq!(after(Combine::Max), [true, true, true]);
        assert_eq!(after(Combine::Min), [false, false, true]);
    });
}

#[test]
fn signed_and_unsigned_numbers_keep_their_order() {
    on_each_device(|| {
        let x = Array::from_slice(&[-5i8, 5], &[2]).expect("two");
        let y = scattered(Combine::Max, &x, &[0, 1], &Array::from_slice(&[3i8, -3], &[2]).expect("two"));
        assert_eq!(y.to_vec::<i8>().expect("bytes"), [3, 5]);
        let x = Array::from_slice(&[200u8, 5], &[2]).expect("two");
        let y = scattered(Combine::Add, &x, &[0, 0], &Array::from_slice(&[100u8, 1], &[2]).expect("two"));
        assert_eq!(y.to_vec::<u8>().expect("bytes"), [45, 5]);
        let x = Array::from_slice(&[u32::MAX, 5], &[2]).expect("two");
        let y = scattered(Combine::Max, &x, &[0, 1], &Array::from_slice(&[1u32, 7], &[2]).expect("two"));
        assert_eq!(y.to_vec::<u32>().expect("words"), [u32::MAX, 7]);
        let x = Array::from_slice(&[u32::MAX as u64, 5], &[2]).expect("two");
        let y = scattered(Combine::Add, &x, &[0, 0], &Array::from_slice(&[1u64, 1 << 40], &[2]).expect("two"));
        assert_eq!(y.to_vec::<u64>().expect("words"), [(1 << 40) + (1 << 32), 5]);
    });
}

#[test]
fn many_updates_of_one_element_all_count() {
    on_each_device(|| {
        for dtype in [Dtype::F32, Dtype::I16, Dtype::F16, Dtype::U8, Dtype::I64, Dtype::C64] {
            let ones = crate::ops::full::ones(&[600], dtype).expect("ones");
            let x = crate::ops::full::zeros(&[3], dtype).expect("zeros");
            let y = scattered(Combine::Add, &x, &[1; 600], &ones);
            let count = if dtype == Dtype::U8 { 600 % 256 } else { 600 };
            let y = astype(&y, Dtype::I32).expect("it converts").to_vec::<i32>().expect("ints");
            assert_eq!(y, [0, count, 0], "{dtype}");
        }
    });
}

#[test]
fn rows_are_replaced_and_what_lies_outside_is_dropped() {
    on_each_device(|| {
        let x = crate::ops::full::zeros(&[3, 4], Dtype::I32).expect("zeros");
        let updates = Array::from_slice(&[1i32, 2, 3, 4, 5, 6, 7, 8], &[2, 1, 4]).expect("eight");
        let y = scatter(&x, &[ints(&[-1, 99])], &updates, &[0]).expect("it scatters");
        assert_eq!(y.to_vec::<i32>().expect("ints"), [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
    });
}

#[test]
fn values_are_put_along_an_axis() {
    on_each_device(|| {
        let x = Array::from_slice(&(0..12).collect::<Vec<i32>>(), &[3, 4]).expect("twelve");
        let column = Array::from_slice(&[0i32, 1, -1], &[3, 1]).expect("three");
        let values = Array::from_slice(&[9i32, 8, 7], &[3, 1]).expect("three");
        let y = put_along_axis(&x, &column, &values, Some(1)).expect("it puts");
        assert_eq!(y.to_vec::<i32>().expect("ints"), [9, 1, 2, 3, 4, 8, 6, 7, 8, 9, 10, 7]);
        let y = put_along_axis(&x, &ints(&[0, 5]), &Array::scalar(9i32), None).expect("it puts");
        assert_eq!(y.to_vec::<i32>().expect("ints"), [9, 1, 2, 3, 4, 9, 6, 7, 8, 9, 10, 11]);
    });
    let x = Array::from_slice(&[0i32; 12], &[3, 4]).expect("twelve");
    assert!(matches!(put_along_axis(&x, &ints(&[0]), &Array::scalar(9i32), Some(1)), Err(Error::Value(_))));
    assert!(matches!(put_along_axis(&x, &ints(&[0]), &Array::scalar(9i32), Some(7)), Err(Error::Index(_))));
}

#[test]
fn derivatives_flow_to_what_is_left_and_to_what_was_written() {
    let x = Array::from_slice(&[1f32, 5.0, 3.0], &[3]).expect("three");
    let updates = Array::from_slice(&[2f32, 4.0, 2.0], &[3]).expect("three");
    let g = Array::from_slice(&[2f32, 3.0, 4.0], &[3]).expect("three");
    let after = |combine| {
        let f = move |x: &[Array]| Ok(vec![scattered(combine, &x[0], &[0, 1, 0], &x[1])]);
        let (_, both) = vjp(f, &[x.clone(), updates.clone()], std::slice::from_ref(&g)).expect("it has one");
        [0, 1].map(|i| both[i].to_vec::<f32>().expect("floats"))
    };
    on_each_device(|| {
        assert_eq!(after(Combine::Add), [vec![2.0, 3.0, 4.0], vec![2.0, 3.0, 2.0]]);
        assert_eq!(after(Combine::Max), [vec![0.0, 3.0, 4.0], vec![2.0, 0.0, 2.0]]);
        assert_eq!(after(Combine::Min), [vec![2.0, 0.0, 4.0], vec![0.0, 3.0, 0.0]]);
        assert_eq!(after(Combine::Replace), [vec![0.0, 0.0, 4.0], vec![2.0, 3.0, 2.0]]);
    });
}

#[test]
fn mapped_scatters_write_each_their_own() {
    on_each_device(|| {
        let x = crate::ops::full::zeros(&[2, 3], Dtype::I32).expect("zeros");
        let indices = Array::from_slice(&[0i32, 2, 1, 1], &[2, 2]).expect("four");
        let updates = Array::from_slice(&[1i32, 2, 3, 4], &[2, 2, 1]).expect("four");
        let f = |x: &[Array]| Ok(vec![scatter_add(&x[0], &x[1..2], &x[2], &[0])?]);
        let y = vmap(f, [Some(0); 3], [Some(0)])(&[x.clone(), indices, updates.clone()]).expect("it maps");
        assert_eq!(y[0].to_vec::<i32>().expect("ints"), [1, 0, 2, 0, 7, 0]);
        let y = vmap(f, [Some(0), None, Some(0)], [Some(0)])(&[x, ints(&[2, 0]), updates]).expect("it maps");
        assert_eq!(y[0].to_vec::<i32>().expect("ints"), [2, 0, 1, 4, 0, 3]);
    });
}

#[test]
fn what_somebody_holds_is_not_written_over() {
    on_each_device(|| {
        let one = Array::from_slice(&[1i32, 1, 1], &[1, 3]).expect("three");
        let held = crate::ops::binary::add(crate::ops::full::zeros(&[4, 3], Dtype::I32).expect("zeros"), &one);
        let held = held.expect("they add");
        let given = crate::ops::binary::add(&held, 1).expect("they add");
        let updates = reshape(&one, &[1, 1, 3]).expect("it fits");
        let first = scatter_add(&held, &[ints(&[2])], &updates, &[0]).expect("it scatters");
        let second = scatter_add(&given, &[ints(&[2])], &updates, &[0]).expect("it scatters");
        drop(given);
        crate::eval(&[first.clone(), second.clone()]).expect("they evaluate");
        assert_eq!(held.to_vec::<i32>().expect("ints"), [1; 12]);
        assert_eq!(first.to_vec::<i32>().expect("ints"), [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1]);
        assert_eq!(second.to_vec::<i32>().expect("ints"), [2, 2, 2, 2, 2, 2, 3, 3, 3, 2, 2, 2]);
    });
}

#[test]
fn updates_may_be_read_from_the_array_they_are_written_to() {
    on_each_device(|| {
        let x = crate::ops::binary::add(ints(&[1, 2, 3, 4]), 0).expect("they add");
        let updates = reshape(&crate::ops::slices::slice(&x, &[2], &[4], &[1]).expect("a part"), &[2, 1]);
        let y = scatter(&x, &[ints(&[0, 1])], &updates.expect("it fits"), &[0]).expect("it scatters");
        drop(x);
        assert_eq!(y.to_vec::<i32>().expect("ints"), [3, 4, 3, 4]);
    });
}
