//! Slices and their updates on both devices, against plain loops over indices.

use super::*;
use crate::array::Array;
use crate::ops::binary::add;
use crate::ops::views::tests::on_each_device;
use crate::ops::views::transpose;
use crate::storage::Source;
use crate::{Device, Dtype, Error, default_stream, with_stream};

fn count(shape: &[i32]) -> Array {
    let n: i32 = shape.iter().product();
    Array::from_slice(&(0..n).collect::<Vec<i32>>(), shape).expect("as many as the shape has")
}

/// An array that is not evaluated, with the values of one that is.
fn lazy(x: &Array) -> Array {
    add(x, 0).expect("they add")
}

fn ints(x: &Array) -> Vec<i32> {
    x.to_vec().expect("ints")
}

/// Which memory an evaluated array has.
fn memory(x: &Array) -> usize {
    match x.data().expect("it is evaluated").source {
        Source::Memory(storage) => std::sync::Arc::as_ptr(&storage) as usize,
        Source::Value(_) => 0,
    }
}

/// The places that a slice of one axis has.
fn places(n: i32, start: i32, stop: i32, step: i32) -> Vec<i32> {
    let before_stop = |at: &i32| if step > 0 { *at < stop } else { *at > stop };
    let places = (0..).map(|i| start + i * step).take_while(|at| before_stop(at) && *at < 100 && *at > -100);
    places.filter(|at| (0..n).contains(at)).collect()
}

#[test]
fn slices_of_every_sign_are_what_a_loop_gives() {
    on_each_device(|| {
        let (n, m) = (7, 5);
        for x in [count(&[n, m]), lazy(&count(&[n, m]))] {
            for (start, stop, step) in
                [(0, 7, 1), (1, 6, 2), (6, -1, -1), (5, 0, -3), (3, 3, 1), (2, 99, 4), (0, 5, -1)]
            {
                let y = slice(&x, &[start, 4], &[stop, -1], &[step, -2]).expect("it is a slice");
                let rows = places(n, start, stop, step);
                let expected: Vec<i32> = rows.iter().flat_map(|r| [4, 2, 0].map(|c| r * m + c)).collect();
                assert_eq!(y.shape(), [rows.len() as i32, 3]);
                assert_eq!(ints(&y), expected, "{start}:{stop}:{step}");
                assert_eq!(ints(&add(&y, 1).expect("they add")), expected.iter().map(|v| v + 1).collect::<Vec<_>>());
            }
        }
    });
}

#[test]
fn updates_of_every_sign_are_what_a_loop_gives() {
    on_each_device(|| {
        let (n, m) = (7, 6);
        for (start, stop, step) in [(0, 7, 1), (1, 6, 2), (6, -1, -1), (5, 0, -3), (2, 99, 4)] {
            for (first, last, by) in [(0, 6, 1), (5, -1, -1), (1, 5, 2), (4, 6, 1)] {
                let (rows, columns) = (places(n, start, stop, step), places(m, first, last, by));
                let update = add(count(&[rows.len() as i32, columns.len() as i32]), 100).expect("they add");
                let mut expected: Vec<i32> = (0..n * m).collect();
                for (i, r) in rows.iter().enumerate() {
                    for (j, c) in columns.iter().enumerate() {
                        expected[(r * m + c) as usize] = 100 + (i * columns.len() + j) as i32;
                    }
                }
                for x in [count(&[n, m]), lazy(&count(&[n, m]))] {
                    let y = slice_update(&x, &update, &[start, first], &[stop, last], &[step, by]).expect("it fits");
                    assert_eq!(ints(&y), expected, "{start}:{stop}:{step}, {first}:{last}:{by}");
                    assert_eq!(ints(&x), (0..n * m).collect::<Vec<i32>>(), "what somebody holds stays");
                }
            }
        }
    });
}

#[test]
fn an_update_of_what_nobody_else_holds_is_in_place() {
    on_each_device(|| {
        let x = lazy(&count(&[4, 8]));
        x.eval().expect("it evaluates");
        let before = memory(&x);
        let update = lazy(&Array::from_slice(&[-1, -2], &[2, 1]).expect("two"));
        let y = slice_update(&x, &update, &[1, 2], &[3, 6], &[1, 1]).expect("it fits");
        drop(x);
        let mut expected: Vec<i32> = (0..32).collect();
        expected[10..14].fill(-1);
        expected[18..22].fill(-2);
        assert_eq!(ints(&y), expected);
        assert_eq!(memory(&y), before);
    });
}

#[test]
fn a_chain_of_updates_uses_one_memory() {
    on_each_device(|| {
        let mut x = lazy(&count(&[16]));
        x.eval().expect("it evaluates");
        let before = memory(&x);
        for i in 0..10 {
            x = slice_update(&x, &Array::scalar(-i), &[i], &[i + 1], &[1]).expect("it fits");
        }
        let expected: Vec<i32> = (0..16).map(|i| if i < 10 { -i } else { i }).collect();
        assert_eq!(ints(&x), expected);
        assert_eq!(memory(&x), before);
    });
}

#[test]
fn an_update_by_a_part_of_itself_reads_before_it_writes() {
    on_each_device(|| {
        for lazily in [false, true] {
            let whole = || if lazily { lazy(&count(&[1000])) } else { count(&[1000]) };
            let forth = |x: &Array| slice_update(x, &slice(x, &[0], &[999], &[1])?, &[1], &[1000], &[1]);
            let back = |x: &Array| slice_update(x, &slice(x, &[1], &[1000], &[1])?, &[0], &[999], &[1]);
            let turned = |x: &Array| slice_update(x, &slice(x, &[998], &[-1], &[-1])?, &[0], &[999], &[1]);
            let results = [forth, back, turned].map(|update| ints(&update(&whole()).expect("it fits")));
            assert_eq!(results[0], (0..1000).map(|i| (i - 1).max(0)).collect::<Vec<i32>>());
            assert_eq!(results[1], (0..1000).map(|i| (i + 1).min(999)).collect::<Vec<i32>>());
            assert_eq!(results[2], (0..1000).map(|i| if i < 999 { 998 - i } else { i }).collect::<Vec<i32>>());
        }
    });
}

#[test]
fn a_sum_with_its_own_reverse_is_not_made_in_place() {
    on_each_device(|| {
        let x = lazy(&count(&[1000]));
        x.eval().expect("it evaluates");
        let reversed = slice(&lazy(&x), &[999], &[-1], &[-1]).expect("it is a slice");
        assert_eq!(ints(&add(&x, &reversed).expect("they add")), [999; 1000]);
        let y = lazy(&x);
        let sum = add(&y, slice(&y, &[999], &[-1], &[-1]).expect("it is a slice")).expect("they add");
        drop((x, y));
        assert_eq!(ints(&sum), [999; 1000]);
    });
}

#[test]
fn updates_of_every_type_are_bytes_moved() {
    on_each_device(|| {
        let on_gpu = crate::current_stream().expect("a stream").device == crate::Device::GPU;
        for dtype in Dtype::ALL.into_iter().filter(|&dtype| !(on_gpu && dtype == Dtype::F64)) {
            let size = dtype.size();
            let low = if dtype == Dtype::Bool { 2 } else { 120 };
            let bytes = |n: usize, more: usize| (0..n * size).map(|i| ((i + more) % low) as u8).collect::<Vec<u8>>();
            let x = Array::from_bytes(&bytes(64, 0), &[4, 16], dtype).expect("64");
            for columns in [[0, 16], [8, 16], [4, 8], [3, 8], [2, 4]] {
                let n = columns[1] - columns[0];
                let part = bytes(2 * n as usize, 7);
                let update = Array::from_bytes(&part, &[2, n], dtype).expect("two rows");
                let y = slice_update(&x, &update, &[1, columns[0]], &[3, columns[1]], &[1, 1]).expect("it fits");
                let mut expected = bytes(64, 0);
                for (row, part) in part.chunks(n as usize * size).enumerate() {
                    let at = ((row + 1) * 16 + columns[0] as usize) * size;
                    expected[at..at + part.len()].copy_from_slice(part);
                }
                assert_eq!(y.to_bytes().expect("bytes"), expected, "{dtype} {columns:?}");
            }
        }
    });
}

#[test]
fn a_transposed_base_and_a_plain_number_are_written() {
    on_each_device(|| {
        let x = transpose(&count(&[2, 3]), None).expect("two axes");
        let y = slice_update(&x, &Array::scalar(9), &[0, 1], &[3, 2], &[2, 1]).expect("it fits");
        assert_eq!(ints(&y), [0, 9, 1, 4, 2, 9]);
        let zeros = crate::ops::full::zeros(&[2, 2], Dtype::I32).expect("zeros");
        let y = slice_update(&zeros, &Array::scalar(9), &[1, 1], &[2, 2], &[1, 1]).expect("it fits");
        assert_eq!(ints(&y), [0, 0, 0, 9]);
    });
}

#[test]
fn parts_are_cut_as_mlx_cuts_them() {
    // mx.split(x, indices, 1) of mlx 0.32.4, sizes along the axis of three.
    let sizes = |parts: Vec<Array>| parts.iter().map(|part| part.shape()[1]).collect::<Vec<i32>>();
    for x in [count(&[2, 3, 4]), lazy(&count(&[2, 3, 4]))] {
        let cut = |indices: &[i32]| sizes(split_at(&x, indices, 1).expect("parts"));
        assert_eq!(cut(&[1, 2]), [1, 1, 1]);
        assert_eq!(cut(&[2, 1]), [2, 0, 2]);
        assert_eq!(cut(&[-1]), [2, 1]);
        assert_eq!(cut(&[-9, 9]), [0, 3, 0]);
        assert_eq!(cut(&[]), [3]);
        let halves = split(&x, 2, -1).expect("halves");
        assert_eq!(ints(&halves[1]), [2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23]);
    }
}

#[test]
fn errors_are_of_the_kind_that_mlx_raises() {
    let x = &count(&[2, 3]);
    assert!(matches!(split(x, 2, 1), Err(Error::Value(_))));
    assert!(matches!(split(x, 0, 1), Err(Error::Value(_))));
    assert!(matches!(split(x, 1, 2), Err(Error::Index(_))));
    assert!(matches!(split_at(x, &[1], -3), Err(Error::Index(_))));
    assert!(matches!(slice(x, &[0], &[1], &[1]), Err(Error::Value(_))));
    assert!(matches!(slice(x, &[0, 0], &[1, 1], &[1, 0]), Err(Error::Value(_))));
    let error = slice_update(x, &count(&[4]), &[0, 0], &[2, 3], &[1, 1]).expect_err("four do not fit three");
    let text = "[slice_update] the update must broadcast to the slice's shape (2,3) but has shape (4,).";
    assert_eq!(error.to_string(), text);
}

#[test]
fn bytes_looked_at_as_numbers_are_copied() {
    on_each_device(|| {
        let bytes: Vec<u8> = (0..27).collect();
        let x = lazy(&Array::from_slice(&bytes, &[27]).expect("27"));
        let words = slice(&x, &[0], &[24], &[1]).and_then(|x| x.view(Dtype::U32)).expect("six words");
        let turned = words.reshape(&[2, 3]).and_then(|x| x.transpose(None)).and_then(|x| x.flatten(0, -1));
        let order: Vec<u8> =
            [0, 3, 1, 4, 2, 5].iter().flat_map(|word| bytes[4 * word..4 * word + 4].to_vec()).collect();
        assert_eq!(turned.and_then(|x| x.to_bytes()).expect("bytes"), order);
    });
}

#[test]
fn numbers_of_eight_bytes_fill_parts() {
    on_each_device(|| {
        let zeros = crate::ops::full::zeros(&[2, 3], Dtype::I64).expect("zeros");
        let y = slice_update(&zeros, &Array::scalar(-7i64), &[0, 1], &[2, 2], &[1, 1]).expect("it fits");
        assert_eq!(y.to_vec::<i64>().expect("ints"), [0, -7, 0, 0, -7, 0]);
    });
}

#[test]
fn an_update_of_what_another_device_made_is_right() {
    let devices: Vec<Device> = crate::device::test_devices();
    let on = |device: Device, make: &dyn Fn() -> Array| with_stream(default_stream(device).expect("a stream"), make);
    for (&here, &there) in devices.iter().flat_map(|here| devices.iter().map(move |there| (here, there))) {
        for evaluated in [false, true] {
            let x = on(here, &|| lazy(&count(&[100])));
            let update = on(there, &|| lazy(&count(&[50])));
            if evaluated {
                x.eval().expect("it evaluates");
            }
            let y = on(there, &|| slice_update(&x, &update, &[0], &[100], &[2]).expect("it fits"));
            drop((x, update));
            let z = on(here, &|| slice_update(&y, &Array::scalar(-1), &[99], &[100], &[1]).expect("it fits"));
            drop(y);
            let mut expected: Vec<i32> = (0..100).map(|i| if i % 2 == 0 { i / 2 } else { i }).collect();
            expected[99] = -1;
            assert_eq!(ints(&z), expected, "{here} then {there}, evaluated {evaluated}");
        }
    }
}
