//! Functions of doubles: the CPU only, by Rust's and libm's.

use std::borrow::Cow;
use std::f64::consts::{FRAC_2_SQRT_PI, PI};

use rayon::prelude::*;

use super::Row;
use crate::error::Result;
use crate::eval::site::{HostInput, HostSite};
use crate::op::Host;

/// Elements from which on the work is shared among threads.
pub(in crate::ops) const MANY: usize = 1 << 13;

impl Host for Row {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        let function = self.double.expect("only rows with a function of doubles are lowered so");
        let x = doubles(&site.inputs[0]);
        let y = site.outputs[0].elements::<f64>();
        match y.len() {
            ..MANY => y.iter_mut().zip(&*x).for_each(|(y, &x)| *y = function(x)),
            _ => y.par_iter_mut().zip(&*x).for_each(|(y, &x)| *y = function(x)),
        }
        Ok(())
    }
}

/// The elements in order, copied only if they do not lie so.
pub(in crate::ops) fn doubles<'a>(input: &'a HostInput<'_>) -> Cow<'a, [f64]> {
    input.contiguous().map_or_else(|| Cow::Owned(input.to_vec()), Cow::Borrowed)
}

pub(super) fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// libm's goes on below 1.
pub(super) fn arccosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// By Halley's steps on erf, or on erfc where that keeps digits, from Winitzki's approximation.
pub(super) fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    match a {
        _ if a.is_nan() || a > 1.0 => return f64::NAN,
        1.0 => return f64::INFINITY.copysign(x),
        ..1e-8 => return x / FRAC_2_SQRT_PI,
        _ => {}
    }
    const W: f64 = 0.147;
    let l = ((1.0 - a) * (1.0 + a)).ln();
    let t = 2.0 / (PI * W) + l / 2.0;
    let mut y = ((t * t - l / W).sqrt() - t).sqrt();
    for _ in 0..4 {
        let miss = if a < 0.5 { libm::erf(y) - a } else { (1.0 - a) - libm::erfc(y) };
        let step = miss / (FRAC_2_SQRT_PI * (-y * y).exp());
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_error_function_inverts_the_error_function() {
        for i in -999..1000 {
            let x = i as f64 / 1000.0;
            assert!((libm::erf(erfinv(x)) - x).abs() < 4e-16, "at {x}");
        }
        assert_eq!(erfinv(1.0), f64::INFINITY);
        assert_eq!(erfinv(-1.0), f64::NEG_INFINITY);
        assert!(erfinv(1.5).is_nan());
    }
}
