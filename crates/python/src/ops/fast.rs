//! `mx.fast`: the ops that models are made of.

// As many as MLX's functions have.
#![allow(clippy::too_many_arguments)]

use pumice::ops::fast::{self, Mask, Rope};
use pumice::{Array, Error, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::functions;
use crate::array::Given;
use crate::convert::Value;

/// A mask: an array or a name.
enum Masking {
    Array(Given),
    Named(String),
}

impl<'py> FromPyObject<'_, 'py> for Masking {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Masking> {
        if let Ok(name) = object.extract::<String>() {
            return Ok(Masking::Named(name));
        }
        match object.extract::<Given>() {
            Ok(array) => Ok(Masking::Array(array)),
            Err(_) => Err(PyTypeError::new_err("mask must be None, a str or an array.")),
        }
    }
}

impl Masking {
    fn mask(given: Option<&Masking>) -> Result<Mask<'_>> {
        match given {
            None => Ok(Mask::None),
            Some(Masking::Array(array)) => Ok(Mask::Array(&array.0)),
            Some(Masking::Named(name)) if name == "causal" => Ok(Mask::Causal),
            Some(Masking::Named(name)) => Err(Error::Value(format!(
                "[scaled_dot_product_attention] mask must be an array or 'causal' but is '{name}'."
            ))),
        }
    }
}

fn array(given: &Option<Given>) -> Option<&Array> {
    given.as_ref().map(|given| &given.0)
}

fn refuse_fused(force_fused: bool) -> Result<()> {
    match force_fused {
        true => Err(Error::Value(
            "[scaled_dot_product_attention] force_fused must be False but is True, and there is no fused kernel."
                .into(),
        )),
        false => Ok(()),
    }
}

functions! {
    /// The array over the root of the mean square of its last axis, times a weight.
    rms_norm [x, weight, eps, *] (x: Given, weight: Option<Given>, eps: f32) =>
        fast::rms_norm(&x.0, array(&weight), eps);
    /// The last axis with mean 0 and variance 1, times a weight and plus a bias.
    layer_norm [x, weight, bias, eps, *] (x: Given, weight: Option<Given>, bias: Option<Given>, eps: f32) =>
        fast::layer_norm(&x.0, array(&weight), array(&bias), eps);
    /// Pairs of features of an array (batch, ..., positions, features), turned by angles that grow with the position.
    rope [a, dims, *, traditional, base, scale, offset, freqs=None]
        (a: Given, dims: i32, traditional: bool, base: Option<f32>, scale: f32, offset: Value, freqs: Option<Given>) =>
        fast::rope(&a.0, &offset, Rope { dims, traditional, base, scale, freqs: array(&freqs) });
    /// Values, weighed by how well their keys match queries: softmax(scale * q @ k.T + mask) @ v for each head.
    scaled_dot_product_attention [q, k, v, *, scale, mask=None, sinks=None, force_fused=false]
        (q: Given, k: Given, v: Given, scale: f32, mask: Option<Masking>, sinks: Option<Given>, force_fused: bool) => {
            refuse_fused(force_fused)?;
            let mask = Masking::mask(mask.as_ref())?;
            fast::scaled_dot_product_attention(&q.0, &k.0, &v.0, scale, mask, array(&sinks))
        };
}
