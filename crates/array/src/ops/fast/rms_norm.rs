//! `rms_norm(x, weight, eps) = x / √(mean(x²) + eps) · weight` along the last axis. It is computed in float32 or float64 and rounded
//! to the result's type before the weight is applied.

use smallvec::smallvec;

use super::cpu::{self, Norm};
use super::{FLOATING, converted, fits_last_axis, floating};
use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::HostSite;
use crate::op::{Host, Key, Lowering, Op, Place, Sizes, Specs};
use crate::ops::astype::astype;
use crate::ops::binary::{add, multiply};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::reduce::{mean, precise};
use crate::ops::unary::{rsqrt, square};
use crate::shape::Spec;

/// The array over the root of the mean square of its last axis, times a weight for each element of that axis.
pub fn rms_norm(x: &Array, weight: Option<&Array>, eps: f32) -> Result<Array> {
    let dtype = floating("rms_norm", weight.map_or(x.dtype(), |weight| x.dtype().promote(weight.dtype())))?;
    let weight = converted(weight, dtype)?;
    call_one(RmsNorm { eps, dtype }, std::iter::once(x.clone()).chain(weight))
}

#[derive(Debug)]
struct RmsNorm {
    eps: f32,
    /// The result's type.
    dtype: Dtype,
}

impl Op for RmsNorm {
    fn name(&self) -> &'static str {
        "rms_norm"
    }

    fn key(&self, key: &mut Key) {
        key.float(self.eps as f64);
        key.word(self.dtype as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let x = inputs[0];
        if x.ndim() == 0 {
            return Err(Error::Value("[rms_norm] x must have at least 1 axis but has none.".into()));
        }
        inputs[1..].iter().try_for_each(|weight| fits_last_axis("rms_norm", "weight", x, weight))?;
        Ok(smallvec![x.with_dtype(self.dtype)])
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let x = astype(&inputs[0], precise(self.dtype))?;
        let scale = rsqrt(&add(mean(&square(&x)?, Some(&[-1]), true)?, self.eps)?)?;
        let scaled = astype(&multiply(&x, scale)?, self.dtype)?;
        Ok(Some(vec![inputs.get(1).map_or(Ok(scaled.clone()), |weight| multiply(&scaled, weight))?]))
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        cpu::lower(self, self.dtype, place)
    }
}

impl Host for RmsNorm {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        let weight = (site.inputs.len() > 1).then_some(1);
        cpu::run(Norm { eps: self.eps, centred: false, weight, bias: None }, site)
    }

    fn row_axes(&self, place: &Place<'_>) -> Option<usize> {
        cpu::row_axes(place)
    }
}

pub(super) fn entry() -> Entry {
    let case = |name: &str, shape: &[i32], weighed: bool| Case {
        name: name.into(),
        inputs: [shape, &shape[shape.len() - 1..]][..1 + weighed as usize].iter().map(|s| Sample::new(s)).collect(),
        dtypes: FLOATING,
        call: Box::new(|x| Ok(vec![rms_norm(&x[0], x.get(1), 1e-3)?])),
        differentiable: true,
    };
    let cases = vec![
        case("rows", &[3, 16], true),
        case("without weight", &[2, 3, 8], false),
        case("one row", &[37], true),
        case("no rows", &[0, 4], true),
        case("empty rows", &[3, 0], true),
    ];
    Entry { name: "rms_norm", doc: "The array over the root of the mean square of its last axis, weighed.", cases }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ones(shape: &[i32]) -> Array {
        crate::ops::full::ones(shape, Dtype::F32).expect("a shape")
    }

    #[test]
    fn weight_must_match_the_last_axis() {
        let error = rms_norm(&ones(&[2, 8]), Some(&ones(&[4])), 1e-5).expect_err("4 is not 8");
        let text = "[rms_norm] weight must have shape (8,) to match the last axis of x but has shape (4,).";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn x_must_have_an_axis() {
        let error = rms_norm(&ones(&[]), None, 1e-5).expect_err("a number has no axis");
        assert_eq!(error.to_string(), "[rms_norm] x must have at least 1 axis but has none.");
    }

    #[test]
    fn integers_are_refused() {
        let x = astype(&ones(&[4]), Dtype::I32).expect("it converts");
        let error = rms_norm(&x, None, 1e-5).expect_err("integers have no norm");
        assert_eq!(error.to_string(), "[rms_norm] the inputs must promote to a floating type but give int32.");
    }
}
