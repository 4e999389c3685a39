//! The mathematical functions as a list, each with a reference in f64 and the error it may have: what tests on the
//! interpreter and on devices sweep, and what `docs/math.md` is made from.

mod document;
mod reference;
mod samples;
mod table;

pub use document::document;
pub use table::table;

use crate::build::Val;
use crate::error::Result;
use crate::ir::Kernel;
use crate::types::Elem;

/// A mathematical function and what is promised about it.
#[derive(Clone, Copy)]
pub struct MathFunction {
    /// The method's name on `Val`.
    pub name: &'static str,
    /// Where it is defined, in words.
    pub domain: &'static str,
    /// The largest error, in units in the last place of the exact result.
    pub bound_ulp: f64,
    /// How it is built and what it should give.
    pub form: Form,
    /// Where errors are looked for most densely; both ends have the same sign.
    pub ranges: &'static [(f32, f32)],
    /// For a sum that can cancel: the sum of its terms' magnitudes. The error then counts in units of that.
    pub terms: Option<fn(f64, f64) -> f64>,
}

/// A function of one or of two numbers.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub enum Form {
    Unary { build: for<'k> fn(Val<'k>) -> Val<'k>, reference: fn(f64) -> f64 },
    Binary { build: for<'k> fn(Val<'k>, Val<'k>) -> Val<'k>, reference: fn(f64, f64) -> f64 },
}

/// An error and where it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Worst {
    pub ulp: f64,
    pub x: f32,
    /// Zero for a function of one number.
    pub y: f32,
    pub found: f32,
    pub expected: f64,
}

impl MathFunction {
    /// How many numbers it takes.
    pub fn arity(&self) -> usize {
        match self.form {
            Form::Unary { .. } => 1,
            Form::Binary { .. } => 2,
        }
    }

    /// What it should give; `y` is ignored by a function of one number.
    pub fn expected(&self, x: f32, y: f32) -> f64 {
        match self.form {
            Form::Unary { reference, .. } => reference(x as f64),
            Form::Binary { reference, .. } => reference(x as f64, y as f64),
        }
    }

    /// A kernel that applies it: buffers x, y and out, and the number of elements, one per invocation.
    pub fn kernel(&self) -> Result<Kernel> {
        Kernel::build(self.name, [64, 1, 1], |k| {
            let (x, y) = (k.input("x", Elem::F32), k.input("y", Elem::F32));
            let (out, n) = (k.output("out", Elem::F32), k.arg_i32("n"));
            k.each(n, |i| {
                let found = match self.form {
                    Form::Unary { build, .. } => build(x.load(i)),
                    Form::Binary { build, .. } => build(x.load(i), y.load(i)),
                };
                out.store(i, found);
            });
        })
    }

    /// Arguments to try: special values, every `step`-th float, and the ranges. Both lists have the same length.
    pub fn samples(&self, step: u32) -> (Vec<f32>, Vec<f32>) {
        match self.form {
            Form::Unary { .. } => samples::unary(self.ranges, step),
            Form::Binary { .. } => samples::binary(step),
        }
    }

    /// The error of a result in units in the last place; infinite where NaN or the sign of a zero is wrong.
    pub fn error_ulp(&self, x: f32, y: f32, found: f32) -> f64 {
        let expected = self.expected(x, y);
        if expected.is_nan() || found.is_nan() {
            return if expected.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
        }
        // Infinity stands for the next power of two, so that rounding up to it is an ordinary error.
        let limit = 2f64.powi(128);
        let (e, f) = (expected.clamp(-limit, limit), (found as f64).clamp(-limit, limit));
        if e == 0.0 && f == 0.0 {
            let same = e.is_sign_negative() == f.is_sign_negative();
            return if same { 0.0 } else { f64::INFINITY };
        }
        let terms = self.terms.map_or(0.0, |terms| terms(x as f64, y as f64));
        (e - f).abs() / unit(e.abs().max(if terms.is_finite() { terms } else { 0.0 }))
    }

    /// The largest error over arguments and results.
    pub fn worst(&self, x: &[f32], y: &[f32], found: &[f32]) -> Worst {
        let mut worst = Worst { ulp: -1.0, x: 0.0, y: 0.0, found: 0.0, expected: 0.0 };
        for ((&x, &y), &found) in x.iter().zip(y).zip(found) {
            let ulp = self.error_ulp(x, y, found);
            if ulp > worst.ulp {
                worst = Worst { ulp, x, y, found, expected: self.expected(x, y) };
            }
        }
        worst
    }
}

/// The distance between neighbouring f32 at a magnitude.
fn unit(magnitude: f64) -> f64 {
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
    2f64.powi(exponent.clamp(-126, 127) - 23)
}
