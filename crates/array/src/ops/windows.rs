//! Windows for spectra, of `m` points `n = 0, 1, …`: `bartlett`, `blackman`, `hamming`, `hanning`.

use std::f64::consts::PI;

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::binary::{add, multiply, subtract};
use crate::ops::catalogue::{Case, Entry};
use crate::ops::create::arange;
use crate::ops::full::ones;
use crate::ops::unary::{abs, cos};

/// A triangle: `1 - |2n/(m - 1) - 1|`.
pub fn bartlett(m: i32) -> Result<Array> {
    window(m, |n, step| subtract(1.0, abs(&subtract(multiply(n, 2.0 * step)?, 1.0)?)?))
}

/// `0.42 - 0.5·cos(2πn/(m - 1)) + 0.08·cos(4πn/(m - 1))`.
pub fn blackman(m: i32) -> Result<Array> {
    window(m, |n, step| add(raised(n, step, 0.42, 0.5)?, multiply(cosine(n, 2.0 * step)?, 0.08)?))
}

/// `0.54 - 0.46·cos(2πn/(m - 1))`.
pub fn hamming(m: i32) -> Result<Array> {
    window(m, |n, step| raised(n, step, 0.54, 0.46))
}

/// `0.5 - 0.5·cos(2πn/(m - 1))`.
pub fn hanning(m: i32) -> Result<Array> {
    window(m, |n, step| raised(n, step, 0.5, 0.5))
}

/// A window of as many points: nothing of fewer than one, 1 of one; else from the points' numbers and `1/(m - 1)`.
fn window(m: i32, shape: impl FnOnce(&Array, f64) -> Result<Array>) -> Result<Array> {
    match m {
        ..2 => ones(&[m.max(0)], Dtype::F32),
        _ => shape(&arange(0, m, 1, Some(Dtype::F32))?, 1.0 / (m as f64 - 1.0)),
    }
}

fn raised(n: &Array, step: f64, middle: f64, height: f64) -> Result<Array> {
    subtract(middle, multiply(cosine(n, step)?, height)?)
}

fn cosine(n: &Array, step: f64) -> Result<Array> {
    cos(&multiply(n, 2.0 * PI * step)?)
}

pub(super) fn entries() -> Vec<Entry> {
    let entry = |name, doc, make: fn(i32) -> Result<Array>| {
        let cases = [0, 1, 2, 9].map(|m| Case {
            name: format!("{m} points"),
            inputs: Vec::new(),
            dtypes: &[Dtype::F32],
            call: Box::new(move |_| Ok(vec![make(m)?])),
            differentiable: false,
        });
        Entry { name, doc, cases: cases.into() }
    };
    vec![
        entry("bartlett", "A triangle.", bartlett),
        entry("blackman", "Three terms of cosines.", blackman),
        entry("hamming", "A raised cosine that does not end in zero.", hamming),
        entry("hanning", "A raised cosine.", hanning),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_those_of_their_formulas() {
        let turn = |n: i32, m: i32| 2.0 * PI * n as f64 / (m as f64 - 1.0);
        type Make = fn(i32) -> Result<Array>;
        type Formula = fn(f64) -> f64;
        let formulas: [(Make, Formula); 4] = [
            (bartlett, |turn| 1.0 - (turn / PI - 1.0).abs()),
            (blackman, |turn| 0.42 - 0.5 * turn.cos() + 0.08 * (2.0 * turn).cos()),
            (hamming, |turn| 0.54 - 0.46 * turn.cos()),
            (hanning, |turn| 0.5 - 0.5 * turn.cos()),
        ];
        for (make, formula) in formulas {
            for m in [2, 5, 8, 100] {
                let found = make(m).expect("a window").to_vec::<f32>().expect("floats");
                assert!((0..m).zip(found).all(|(n, w)| (w as f64 - formula(turn(n, m))).abs() < 1e-6), "{m} points");
            }
            assert_eq!(make(1).expect("a window").to_vec::<f32>().expect("floats"), [1.0]);
            assert_eq!(make(-3).expect("a window").shape(), [0]);
        }
    }
}
