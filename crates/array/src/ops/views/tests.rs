//! Views on both devices, of arrays that are known and of arrays that are not yet.

use super::*;
use crate::ops::binary::add;
use crate::{default_stream, with_stream};

/// Runs a test on each device that is there.
pub(crate) fn on_each_device(test: impl Fn()) {
    for device in crate::device::test_devices() {
        with_stream(default_stream(device).expect("the device is there"), &test);
    }
}

fn count(shape: &[i32]) -> Array {
    let n: i32 = shape.iter().product();
    Array::from_slice(&(0..n).collect::<Vec<i32>>(), shape).expect("as many as the shape has")
}

/// An array that is not evaluated, with the values of one that is.
fn lazy(x: &Array) -> Array {
    add(x, 0).expect("they add")
}

#[test]
fn a_transposed_array_reshapes_by_a_copy() {
    on_each_device(|| {
        for x in [count(&[2, 3]), lazy(&count(&[2, 3]))] {
            let y = reshape(&transpose(&x, None).expect("two axes"), &[-1]).expect("six elements");
            assert_eq!(y.to_vec::<i32>().expect("ints"), [0, 3, 1, 4, 2, 5]);
        }
    });
}

#[test]
fn a_view_of_a_view_is_read_in_order() {
    on_each_device(|| {
        for x in [count(&[2, 3, 2]), lazy(&count(&[2, 3, 2]))] {
            let y = swapaxes(&moveaxis(&x, 0, -1).expect("three axes"), 0, 1).expect("three axes");
            assert_eq!(y.shape(), [2, 3, 2]);
            // numpy: np.arange(12).reshape(2, 3, 2), moveaxis(0, -1), swapaxes(0, 1), ravel
            assert_eq!(y.to_vec::<i32>().expect("ints"), [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]);
            let z = add(&y, 1).expect("they add");
            assert_eq!(z.to_vec::<i32>().expect("ints"), [1, 7, 3, 9, 5, 11, 2, 8, 4, 10, 6, 12]);
        }
    });
}

#[test]
fn a_reshape_that_strides_allow_takes_no_memory() {
    let x = transpose(&count(&[4, 6]), None).expect("two axes");
    let y = reshape(&x, &[2, 3, 1, 4]).expect("24 elements");
    assert_eq!(y.data().expect("of what is known").layout.strides.as_slice(), [3, 1, 24, 6]);
    assert!(reshape(&x, &[24]).expect("24 elements").data().is_none());
}

#[test]
fn shapes_are_inferred_as_mlx_does() {
    let empty = count(&[0, 3]);
    assert_eq!(reshape(&empty, &[3, -1]).expect("empty").shape(), [3, 0]);
    assert_eq!(flatten(&count(&[2, 3, 4]), 1, 9).expect("clipped").shape(), [2, 12]);
    assert_eq!(flatten(&count(&[2, 3, 4]), -9, 1).expect("clipped").shape(), [6, 4]);
    assert_eq!(atleast_3d(&count(&[3])).expect("a vector").shape(), [1, 3, 1]);
    assert_eq!(expand_dims(&count(&[2, 3]), &[0, -1]).expect("two new").shape(), [1, 2, 3, 1]);
    assert_eq!(squeeze(&count(&[1, 2, 1]), None).expect("one left").shape(), [2]);
}

#[test]
fn errors_are_of_the_kind_that_mlx_raises() {
    use crate::Error::{Index, Value};
    let x = &count(&[2, 3, 4]);
    assert!(matches!(reshape(x, &[-1, 5]), Err(Value(_))));
    assert!(matches!(reshape(x, &[-1, -1]), Err(Value(_))));
    assert!(matches!(reshape(x, &[-2, -12]), Err(Value(_))));
    assert!(matches!(reshape(x, &[i32::MAX, i32::MAX, i32::MAX]), Err(Value(_))));
    assert!(matches!(reshape(&count(&[0]), &[-1, 0]), Err(Value(_))));
    assert!(matches!(flatten(x, 1, 0), Err(Value(_))));
    assert!(matches!(unflatten(x, 1, &[2, 2]), Err(Value(_))));
    assert!(matches!(unflatten(x, 5, &[2, 2]), Err(Index(_))));
    assert!(matches!(transpose(x, Some(&[0, 1])), Err(Value(_))));
    assert!(matches!(transpose(x, Some(&[0, 1, 1])), Err(Value(_))));
    assert!(matches!(transpose(x, Some(&[0, 1, 3])), Err(Index(_))));
    assert!(matches!(moveaxis(x, 3, 0), Err(Index(_))));
    assert!(matches!(swapaxes(x, 0, -4), Err(Index(_))));
    assert!(matches!(expand_dims(x, &[0, 0]), Err(Value(_))));
    assert!(matches!(expand_dims(x, &[4]), Err(Index(_))));
    assert!(matches!(squeeze(x, Some(&[0])), Err(Value(_))));
    assert!(matches!(squeeze(x, Some(&[4])), Err(Index(_))));
    let text = reshape(x, &[7]).expect_err("24 are not 7").to_string();
    assert_eq!(text, "[reshape] the shape must have 24 elements but is (7,).");
}

#[test]
fn any_look_at_the_elements_in_order() {
    on_each_device(|| {
        for x in [count(&[2, 3, 4]), lazy(&count(&[2, 3, 4]))] {
            // mx.as_strided of mlx 0.32.4
            let y = as_strided(&x, Some(&[2, 2]), Some(&[1, 1]), 3).expect("four elements");
            assert_eq!(y.to_vec::<i32>().expect("ints"), [3, 4, 4, 5]);
            let y = as_strided(&x, Some(&[3]), Some(&[-1]), 5).expect("three elements");
            assert_eq!(y.to_vec::<i32>().expect("ints"), [5, 4, 3]);
            let y = as_strided(&transpose(&x, None).expect("three axes"), Some(&[5]), None, 0).expect("five");
            assert_eq!(y.to_vec::<i32>().expect("ints"), [0, 12, 4, 16, 8]);
        }
    });
    let x = &count(&[2, 3]);
    for (shape, strides, offset) in [(7, 1, 0), (2, -1, 0), (1, 1, -1), (2, i64::MAX, 1), (i32::MAX, i64::MIN, 5)] {
        assert!(as_strided(x, Some(&[shape]), Some(&[strides]), offset).is_err(), "{shape} {strides} {offset}");
    }
    assert!(as_strided(x, Some(&[2, 2]), Some(&[1]), 0).is_err());
    assert!(as_strided(x, Some(&[-2]), Some(&[1]), 0).is_err());
}

#[test]
fn a_contiguous_array_stays_where_it_is() {
    let x = count(&[4, 6]);
    let turned = transpose(&x, None).expect("two axes");
    assert!(contiguous(&x, false).expect("it is").is_evaluated());
    assert!(contiguous(&turned, true).expect("it is").is_evaluated());
    on_each_device(|| {
        let y = contiguous(&turned, false).expect("a copy");
        assert!(!y.is_evaluated());
        y.eval().expect("it evaluates");
        assert!(y.data().expect("it is evaluated").layout.is_row_contiguous());
        assert_eq!(y.to_vec::<i32>().expect("ints"), turned.to_vec::<i32>().expect("ints"));
    });
}

#[test]
fn a_size_beyond_all_memory_is_no_panic() {
    let x = crate::ops::broadcast_to::broadcast_to(&Array::scalar(1f32), &[i32::MAX; 4]).expect("a view");
    assert_eq!(x.size(), usize::MAX);
    assert!(reshape(&x, &[-1]).is_err());
    assert!(flatten(&x, 0, -1).is_err());
    assert!(crate::ops::joins::repeat(&x, 2, Some(0)).is_err());
}
