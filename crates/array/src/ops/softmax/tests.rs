//! Softmax and logsumexp on both devices, along rows of every kind of length.

use super::{logsumexp, softmax};
use crate::{Array, Device, default_stream, with_stream};

fn on_both(f: impl Fn() -> Array, check: impl Fn(Vec<f32>, Device)) {
    for device in crate::device::test_devices() {
        let stream = default_stream(device).expect("the device is there");
        check(with_stream(stream, || f().to_vec().expect("floats")), device);
    }
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7919) % 1009) as f32 / 240.0 - 2.0).collect()
}

/// In f64, by the formula.
fn expected(x: &[f32]) -> Vec<f64> {
    let powers: Vec<f64> = x.iter().map(|&x| (x as f64).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|p| p / sum).collect()
}

#[test]
fn rows_of_every_length_sum_to_one_in_the_right_parts() {
    for (rows, n) in [(5, 1), (300, 3), (7, 64), (3, 65), (4, 1000), (2, 2049), (2, 8192), (1, 8193), (2, 40_004)] {
        let x = numbers(rows * n);
        let wanted: Vec<f64> = x.chunks(n).flat_map(expected).collect();
        let build = || {
            let x = Array::from_slice(&x, &[rows as i32, n as i32]).expect("as many");
            softmax(&x, Some(&[-1]), false).expect("it has the axis")
        };
        on_both(build, |found, device| {
            for (f, e) in found.iter().zip(&wanted) {
                assert!((*f as f64 - e).abs() <= 1e-6 * e + 1e-30, "{f} instead of {e}: {rows} x {n} on {device}");
            }
        });
    }
}

#[test]
fn a_row_that_is_masked_out_is_nan_and_its_logarithm_lowest() {
    let x = || Array::from_slice(&[f32::NEG_INFINITY; 20_000], &[2, 10_000]).expect("as many");
    on_both(|| softmax(&x(), Some(&[1]), false).expect("an axis"), |y, _| assert!(y.iter().all(|y| y.is_nan())));
    on_both(|| logsumexp(&x(), Some(&[1]), false).expect("an axis"), |y, _| assert_eq!(y, [f32::NEG_INFINITY; 2]));
}

#[test]
fn logsumexp_does_not_overflow() {
    let x = || Array::from_slice(&[1000f32, 1000.0, -1000.0, 999.0], &[2, 2]).expect("four");
    on_both(
        || logsumexp(&x(), Some(&[0]), false).expect("an axis"),
        |y, device| {
            assert_eq!(y[0], 1000.0, "{device}");
            assert!((y[1] - 1000.3133).abs() < 1e-3, "{} on {device}", y[1]);
        },
    );
}
