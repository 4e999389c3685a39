//! Reductions on both devices against plain loops.

use super::sum;
use crate::ops::views::transpose;
use crate::{Array, Device, Dtype, default_stream, with_stream};

fn on_both(f: impl Fn() -> Array, check: impl Fn(&Array, Device)) {
    for device in [Device::CPU, Device::GPU].into_iter().filter(|d| d.is_available()) {
        let stream = default_stream(device).expect("the device is there");
        let y = with_stream(stream, || {
            let y = f();
            y.eval().expect("it evaluates");
            y
        });
        check(&y, device);
    }
}

/// Whole numbers, so that every order of summation gives the same.
fn whole(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7919) % 23) as f32 - 11.0).collect()
}

fn expected(x: &[f32], shape: [usize; 3], axis: usize) -> Vec<f32> {
    let strides = [shape[1] * shape[2], shape[2], 1];
    let [a, b] = match axis {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    };
    let one =
        |i: usize, j: usize| (0..shape[axis]).map(move |k| x[i * strides[a] + j * strides[b] + k * strides[axis]]);
    (0..shape[a]).flat_map(|i| (0..shape[b]).map(move |j| (i, j))).map(|(i, j)| one(i, j).sum()).collect()
}

#[test]
fn sums_along_every_axis_are_those_of_a_loop() {
    for shape in [[2, 3, 4], [1, 1, 1], [5, 129, 7], [3, 2, 1030], [2, 700, 36], [1, 1, 100_003], [70, 3, 33]] {
        let values = whole(shape.iter().product());
        for axis in 0..3 {
            let build = || {
                let x = Array::from_slice(&values, &shape.map(|n| n as i32)).expect("as many");
                sum(&x, Some(&[axis as i32]), false).expect("it has the axis")
            };
            let wanted = expected(&values, shape, axis);
            on_both(build, |y, device| {
                assert_eq!(y.to_vec::<f32>().expect("floats"), wanted, "{shape:?} along {axis} on {device}");
            });
        }
    }
}

#[test]
fn a_whole_array_sums_in_two_launches() {
    let values = whole(1_000_003);
    let wanted: f64 = values.iter().map(|&x| x as f64).sum();
    let build = || sum(&Array::from_slice(&values, &[1_000_003]).expect("as many"), None, false).expect("sums");
    on_both(build, |y, device| {
        assert_eq!(y.shape(), [0i32; 0]);
        assert_eq!(y.to_vec::<f32>().expect("one")[0] as f64, wanted, "{device}");
    });
}

#[test]
fn transposed_rows_are_columns() {
    let values = whole(40 * 300);
    let build = || {
        let x = Array::from_slice(&values, &[40, 300]).expect("as many");
        sum(&transpose(&x, None).expect("two axes"), Some(&[1]), true).expect("it has the axis")
    };
    let wanted = expected(&values, [1, 40, 300], 1);
    on_both(build, |y, device| {
        assert_eq!(y.shape(), [300, 1]);
        assert_eq!(y.to_vec::<f32>().expect("floats"), wanted, "{device}");
    });
}

#[test]
fn sums_of_small_integers_are_wider() {
    let build = || sum(&Array::from_slice(&vec![100u8; 1000], &[1000]).expect("as many"), None, false).expect("sums");
    on_both(build, |y, device| {
        assert_eq!(y.dtype(), Dtype::U32);
        assert_eq!(y.to_vec::<u32>().expect("one"), [100_000], "{device}");
    });
}
