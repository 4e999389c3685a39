//! Functions of two doubles: the CPU only, by Rust's.

use rayon::prelude::*;

use super::Row;
use crate::error::Result;
use crate::eval::site::HostSite;
use crate::op::Host;
use crate::ops::unary::double::{MANY, doubles};

impl Host for Row {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        let function = self.double.expect("only rows with a function of doubles are lowered so");
        let (a, b) = (doubles(&site.inputs[0]), doubles(&site.inputs[1]));
        let y = site.outputs[0].elements::<f64>();
        match y.len() {
            ..MANY => y.iter_mut().zip(&*a).zip(&*b).for_each(|((y, &a), &b)| *y = function(a, b)),
            _ => y.par_iter_mut().zip(&*a).zip(&*b).for_each(|((y, &a), &b)| *y = function(a, b)),
        }
        Ok(())
    }
}

/// With the sign of the divisor.
pub(super) fn remainder(a: f64, b: f64) -> f64 {
    let r = a % b;
    if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
}

pub(super) fn logaddexp(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if high == low || high.is_infinite() {
        return if high.is_infinite() { high } else { high + std::f64::consts::LN_2 };
    }
    high + (low - high).exp().ln_1p()
}
