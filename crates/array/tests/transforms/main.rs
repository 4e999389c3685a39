//! Transforms through the public functions, on every device there is.

mod compile;
mod custom;
mod errors;
mod large;
mod nested;
mod random;
#[path = "../rig/mod.rs"]
mod rig;
mod wheel;

use pumice::ops::reduce::sum;
use pumice::{Array, Result, default_stream, with_stream};

/// Runs a test on every device there is.
fn on_every_device(test: impl Fn()) {
    for device in rig::devices() {
        let stream = default_stream(device).expect("the device is there");
        with_stream(stream, &test);
    }
}

fn floats(values: &[f32]) -> Array {
    Array::from_slice(values, &[values.len() as i32]).expect("as many as there are")
}

/// The sum of all elements.
fn total(x: &Array) -> Result<Array> {
    sum(x, None, false)
}

fn values(x: &Array) -> Vec<f32> {
    x.to_vec().expect("floats that can be computed")
}

/// Asserts that values are those wanted but for rounding.
fn assert_close(found: &[f32], wanted: &[f32]) {
    let largest = wanted.iter().fold(0f32, |m, x| m.max(x.abs()));
    let close = found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= 1e-6 * largest);
    assert!(close, "{found:?} instead of {wanted:?}");
}
