//! Derivatives: backwards against finite differences, and forwards against backwards.

use pumice::{Array, Device, Dtype, Result, jvp, vjp};

use crate::data::{Data, rounding};
use crate::types::smooth_types;
use crate::{Call, check};

/// Roundings that a derivative in a narrow type may be off.
const NARROW: f64 = 4.0;

/// A call as a function of those inputs that can be moved a little.
struct Smooth<'a> {
    call: &'a Call<'a>,
    inputs: Vec<Data>,
    movable: Vec<usize>,
}

impl<'a> Smooth<'a> {
    fn new(call: &'a Call<'a>) -> Smooth<'a> {
        let inputs = call.inputs(0);
        let movable = (0..inputs.len()).filter(|&i| inputs[i].dtype.is_inexact()).collect();
        Smooth { call, inputs, movable }
    }

    /// Calls it with others in the movable inputs' places.
    fn make(&self, moved: &[Array]) -> Result<Vec<Array>> {
        let mut all: Vec<Array> = self.inputs.iter().map(Data::array).collect();
        for (&i, array) in self.movable.iter().zip(moved) {
            all[i] = array.clone();
        }
        self.call.make(&all)
    }

    /// The movable inputs.
    fn point(&self) -> Vec<Data> {
        self.movable.iter().map(|&i| self.inputs[i].clone()).collect()
    }

    /// Where to move them.
    fn direction(&self) -> Vec<Data> {
        self.movable.iter().map(|&i| noise(&self.inputs[i].shape, self.inputs[i].dtype, i as u64)).collect()
    }

    /// Weights of the results at a point.
    fn weights(&self) -> Result<Vec<Data>> {
        let results = self.make(&arrays(&self.point()))?;
        Ok(results.iter().enumerate().map(|(j, y)| noise(y.shape(), y.dtype(), 100 + j as u64)).collect())
    }

    /// The weighted sum of the results at a point, computed in a type.
    fn weighted(&self, point: &[Data], weights: &[Data], dtype: Dtype) -> Result<f64> {
        let given: Vec<Array> = point.iter().map(|data| data.with_dtype(dtype).array()).collect();
        let results = self.make(&given)?.iter().map(Data::read).collect::<Result<Vec<_>>>()?;
        Ok(dot(&results, weights))
    }
}

/// Numbers between -1 and 1; zeros for types that have no derivatives.
fn noise(shape: &[i32], dtype: Dtype, seed: u64) -> Data {
    let range = if dtype.is_inexact() { 1.0 } else { 0.0 };
    Data::sample(&pumice::ops::catalogue::Sample::within(shape, -range, range), dtype, seed)
}

fn arrays(all: &[Data]) -> Vec<Array> {
    all.iter().map(Data::array).collect()
}

fn dot(a: &[Data], b: &[Data]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

fn size(all: &[Data]) -> f64 {
    dot(all, all).sqrt()
}

#[test]
fn vjp_agrees_with_finite_differences() {
    check(smooth_types, &[Device::CPU], finite_difference);
}

#[test]
fn jvp_is_the_transpose_of_vjp() {
    check(smooth_types, &[Device::CPU], transposition);
}

/// How the vjp differs from a difference of two results.
pub fn finite_difference(call: &Call) -> Result<Option<String>> {
    let smooth = Smooth::new(call);
    let (point, direction, weights) = (smooth.point(), smooth.direction(), smooth.weights()?);
    let backward = vjp(|x: &[Array]| smooth.make(x), &arrays(&point), &arrays(&weights))?.1;
    let backward = backward.iter().map(Data::read).collect::<Result<Vec<_>>>()?;
    // In float64 where the op has it: the step may be small then, and the difference is nearly exact.
    let double = call.dtype.is_floating() && call.case.dtypes.contains(&Dtype::F64);
    let (dtype, step, exact): (_, _, f64) = if double { (Dtype::F64, 1e-6, 1e-5) } else { (call.dtype, 1e-3, 1e-2) };
    let allowed = exact.max(NARROW * rounding(call.dtype));
    let moved = |step: f64| point.iter().zip(&direction).map(|(x, v)| x.moved(step, v)).collect::<Vec<_>>();
    let ahead = smooth.weighted(&moved(step), &weights, dtype)?;
    let behind = smooth.weighted(&moved(-step), &weights, dtype)?;
    let (found, wanted) = (dot(&backward, &direction), (ahead - behind) / (2.0 * step));
    let scale = size(&backward) * size(&direction) + ahead.abs() + 1e-3;
    let fits = (found - wanted).abs() <= allowed * scale;
    Ok((!fits).then(|| format!("the derivative along a line is {found} instead of {wanted} (scale {scale})")))
}

/// How the jvp differs from what the vjp says it is.
pub fn transposition(call: &Call) -> Result<Option<String>> {
    let smooth = Smooth::new(call);
    let (point, direction, weights) = (smooth.point(), smooth.direction(), smooth.weights()?);
    let (point, f) = (arrays(&point), |x: &[Array]| smooth.make(x));
    let read = |all: Vec<Array>| all.iter().map(Data::read).collect::<Result<Vec<_>>>();
    let backward = read(vjp(f, &point, &arrays(&weights))?.1)?;
    let forward = read(jvp(f, &point, &arrays(&direction))?.1)?;
    let (found, wanted) = (dot(&forward, &weights), dot(&backward, &direction));
    let scale = size(&backward) * size(&direction) + size(&forward) * size(&weights) + 1e-3;
    let fits = (found - wanted).abs() <= rounding(call.dtype) * scale;
    Ok((!fits).then(|| format!("forwards {found}, backwards {wanted} (scale {scale})")))
}
