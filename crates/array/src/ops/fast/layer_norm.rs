//! `layer_norm(x, weight, bias, eps) = (x - mean(x)) / √(var(x) + eps) · weight + bias` along the last axis. It is computed in
//! float32 or float64 and rounded to the result's type before weight and bias are applied.

use smallvec::smallvec;

use super::cpu::{self, Norm};
use super::{FLOATING, converted, fits_last_axis, floating};
use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::eval::site::HostSite;
use crate::op::{Host, Key, Lowering, Op, Place, Sizes, Specs};
use crate::ops::astype::astype;
use crate::ops::binary::{add, multiply, subtract};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::reduce::{mean, precise};
use crate::ops::unary::{rsqrt, square};
use crate::shape::Spec;

/// The last axis moved and scaled to mean 0 and variance 1, times a weight and plus a bias for each element of that axis.
pub fn layer_norm(x: &Array, weight: Option<&Array>, bias: Option<&Array>, eps: f32) -> Result<Array> {
    // As in MLX, a bias without a weight leaves the type as it is.
    let dtype = match (weight, bias) {
        (Some(weight), Some(bias)) => x.dtype().promote(weight.dtype()).promote(bias.dtype()),
        (Some(weight), None) => x.dtype().promote(weight.dtype()),
        (None, _) => x.dtype(),
    };
    let dtype = floating("layer_norm", dtype)?;
    let op = LayerNorm { eps, dtype, weighed: weight.is_some(), moved: bias.is_some() };
    let (weight, bias) = (converted(weight, dtype)?, converted(bias, dtype)?);
    call_one(op, std::iter::once(x.clone()).chain(weight).chain(bias))
}

#[derive(Debug)]
struct LayerNorm {
    eps: f32,
    /// The result's type.
    dtype: Dtype,
    weighed: bool,
    moved: bool,
}

impl LayerNorm {
    /// The weight and the bias among the inputs.
    fn parts<'a, T>(&self, inputs: &'a [T]) -> (Option<&'a T>, Option<&'a T>) {
        let bias = self.moved.then(|| &inputs[1 + self.weighed as usize]);
        (self.weighed.then(|| &inputs[1]), bias)
    }
}

impl Op for LayerNorm {
    fn name(&self) -> &'static str {
        "layer_norm"
    }

    fn key(&self, key: &mut Key) {
        key.float(self.eps as f64);
        key.word(self.dtype as u64);
        key.word((self.weighed as u64) << 1 | self.moved as u64);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let x = inputs[0];
        if x.ndim() == 0 {
            return Err(Error::Value("[layer_norm] x must have at least 1 axis but has none.".into()));
        }
        let (weight, bias) = self.parts(inputs);
        weight.map_or(Ok(()), |weight| fits_last_axis("layer_norm", "weight", x, weight))?;
        bias.map_or(Ok(()), |bias| fits_last_axis("layer_norm", "bias", x, bias))?;
        Ok(smallvec![x.with_dtype(self.dtype)])
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let x = astype(&inputs[0], precise(self.dtype))?;
        let apart = subtract(&x, mean(&x, Some(&[-1]), true)?)?;
        let scale = rsqrt(&add(mean(&square(&apart)?, Some(&[-1]), true)?, self.eps)?)?;
        let mut result = astype(&multiply(&apart, scale)?, self.dtype)?;
        let (weight, bias) = self.parts(inputs);
        if let Some(weight) = weight {
            result = multiply(&result, weight)?;
        }
        if let Some(bias) = bias {
            result = add(&result, bias)?;
        }
        Ok(Some(vec![result]))
    }

    fn sizes(&self) -> Sizes {
        Sizes::Any
    }

    fn lower(&self, place: &Place<'_>) -> Lowering<'_> {
        cpu::lower(self, self.dtype, place)
    }
}

impl Host for LayerNorm {
    fn run(&self, site: &mut HostSite<'_>) -> Result<()> {
        let (weight, bias) = (self.weighed.then_some(1), self.moved.then_some(1 + self.weighed as usize));
        cpu::run(Norm { eps: self.eps, centred: true, weight, bias }, site)
    }

    fn row_axes(&self, place: &Place<'_>) -> Option<usize> {
        cpu::row_axes(place)
    }
}

pub(super) fn entry() -> Entry {
    let case = |name: &str, shape: &[i32], weighed: bool, moved: bool| Case {
        name: name.into(),
        inputs: std::iter::once(Sample::new(shape))
            .chain((0..weighed as usize + moved as usize).map(|_| Sample::new(&shape[shape.len() - 1..])))
            .collect(),
        dtypes: FLOATING,
        call: Box::new(move |x| {
            let bias = moved.then(|| &x[x.len() - 1]);
            Ok(vec![layer_norm(&x[0], weighed.then(|| &x[1]), bias, 0.5)?])
        }),
        differentiable: true,
    };
    let cases = vec![
        case("rows", &[3, 16], true, true),
        case("without weight and bias", &[2, 3, 8], false, false),
        case("without weight", &[2, 8], false, true),
        case("without bias", &[37], true, false),
        case("no rows", &[0, 4], true, true),
        case("empty rows", &[3, 0], true, true),
    ];
    Entry { name: "layer_norm", doc: "The last axis with mean 0 and variance 1, weighed and moved.", cases }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bias_must_match_the_last_axis() {
        let [x, bias] = [&[2, 8][..], &[1, 8]].map(|shape| crate::ops::full::ones(shape, Dtype::F32).expect("a shape"));
        let error = layer_norm(&x, None, Some(&bias), 1e-5).expect_err("one axis too many");
        let text = "[layer_norm] bias must have shape (8,) to match the last axis of x but has shape (1,8).";
        assert_eq!(error.to_string(), text);
    }
}
