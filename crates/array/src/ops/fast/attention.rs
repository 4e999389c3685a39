//! `scaled_dot_product_attention(q, k, v) = softmax(scale · q kᵀ + mask) v` for each head. Several heads of queries may share one of
//! keys and values. The exponentials are computed in float32.

use smallvec::smallvec;

use super::{FLOATING, floating};
use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{Key, Op, Specs};
use crate::ops::astype::astype;
use crate::ops::binary::{add, greater_equal, multiply};
use crate::ops::broadcast_to::broadcast_to;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::create::arange;
use crate::ops::joins::concatenate;
use crate::ops::matmul::matmul;
use crate::ops::select::where_;
use crate::ops::slices::slice;
use crate::ops::softmax::softmax;
use crate::ops::views::{reshape, swapaxes};
use crate::shape::{self, Spec};

const NAME: &str = "scaled_dot_product_attention";

/// Which keys a query sees.
#[derive(Clone, Copy, Debug)]
pub enum Mask<'a> {
    /// All.
    None,
    /// Those that are not after it, the last query being where the last key is.
    Causal,
    /// Where bools are true; other numbers are added to the scores. It broadcasts to (batch, heads, queries, keys).
    Array(&'a Array),
}

/// What each query of shape (batch, heads, queries, features) finds: values, weighed by how well their keys match. `sinks` are
/// scores, one for each head, that take a part of the weight and give nothing.
pub fn scaled_dot_product_attention(
    q: &Array,
    k: &Array,
    v: &Array,
    scale: f32,
    mask: Mask<'_>,
    sinks: Option<&Array>,
) -> Result<Array> {
    let dtype = floating(NAME, q.dtype().promote(k.dtype()).promote(v.dtype()))?;
    let mut inputs = [q, k, v].iter().map(|x| astype(x, dtype)).collect::<Result<Vec<_>>>()?;
    if let Mask::Array(mask) = mask {
        inputs.push(if mask.dtype() == Dtype::Bool { mask.clone() } else { promoted("mask", mask, dtype)? });
    }
    if let Some(sinks) = sinks {
        inputs.push(promoted("sinks", sinks, dtype)?);
    }
    let masked = match mask {
        Mask::None => Masked::Not,
        Mask::Causal => Masked::Causal,
        Mask::Array(_) => Masked::ByInput,
    };
    call_one(Attention { scale, masked, sinks: sinks.is_some() }, inputs)
}

/// An array in the result's type, which must be able to hold it.
fn promoted(name: &str, x: &Array, dtype: Dtype) -> Result<Array> {
    match x.dtype().promote(dtype) == dtype {
        true => astype(x, dtype),
        false => {
            let found = x.dtype();
            Err(Error::Value(format!("[{NAME}] {name} must promote to the result's type {dtype} but is {found}.")))
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Masked {
    Not,
    Causal,
    /// By the fourth input.
    ByInput,
}

/// The op: of queries, keys and values of one type, then a mask and sinks if there are any.
#[derive(Debug)]
struct Attention {
    scale: f32,
    masked: Masked,
    sinks: bool,
}

impl Op for Attention {
    fn name(&self) -> &'static str {
        NAME
    }

    fn key(&self, key: &mut Key) {
        key.float(self.scale as f64);
        key.word(self.masked as u64);
        key.word(self.sinks);
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let sizes = Sizes::of(inputs[0], inputs[1], inputs[2])?;
        if self.masked == Masked::ByInput {
            sizes.refuse_mask(inputs[3])?;
        }
        match inputs.last() {
            Some(sinks) if self.sinks && sinks.shape[..] != [sizes.heads] => {
                let (heads, found) = (sizes.heads, shape::display(&sinks.shape));
                Err(Error::Value(format!("[{NAME}] sinks must have shape ({heads},) but has shape {found}.")))
            }
            _ => Ok(smallvec![Spec::new(sizes.result(), inputs[0].dtype)]),
        }
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let (q, k, v) = (&inputs[0], &inputs[1], &inputs[2]);
        let sizes = Sizes::of(q.spec(), k.spec(), v.spec())?;
        // Heads that share keys are rows of one product.
        let q = reshape(&multiply(q, self.scale)?, &sizes.rows(sizes.features))?;
        let scores = matmul(&q, &swapaxes(k, -1, -2)?)?;
        let mut scores = self.mask(&reshape(&scores, &sizes.scores())?, inputs.get(3), &sizes)?;
        if self.sinks {
            let sinks = reshape(&inputs[inputs.len() - 1], &[sizes.heads, 1, 1])?;
            let sinks = broadcast_to(&sinks, &[sizes.batch, sizes.heads, sizes.queries, 1])?;
            scores = concatenate(&[sinks, scores], -1)?;
        }
        let mut weights = softmax(&scores, Some(&[-1]), true)?;
        if self.sinks {
            weights = slice(&weights, &[0, 0, 0, 1], weights.shape(), &[1; 4])?;
        }
        let found = matmul(&reshape(&weights, &sizes.rows(sizes.keys))?, v)?;
        Ok(Some(vec![reshape(&found, &sizes.result())?]))
    }
}

impl Attention {
    fn mask(&self, scores: &Array, mask: Option<&Array>, sizes: &Sizes) -> Result<Array> {
        let hidden = lowest(scores.dtype());
        match (self.masked, mask) {
            (Masked::Not, _) => Ok(scores.clone()),
            (Masked::Causal, _) => where_(&sizes.causal()?, scores, hidden),
            (Masked::ByInput, Some(mask)) if mask.dtype() == Dtype::Bool => where_(mask, scores, hidden),
            (Masked::ByInput, Some(mask)) => add(scores, mask),
            (Masked::ByInput, None) => unreachable!("the call was made with a mask"),
        }
    }
}

/// The score of a key that a query must not see: the least number there is.
fn lowest(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F16 => half::f16::MIN.to_f64(),
        Dtype::BF16 => half::bf16::MIN.to_f64(),
        Dtype::F32 => f32::MIN as f64,
        _ => f64::MIN,
    }
}

/// The sizes of the axes.
struct Sizes {
    batch: i32,
    heads: i32,
    /// Heads of keys and values.
    shared: i32,
    queries: i32,
    keys: i32,
    features: i32,
    /// Features of values.
    found: i32,
}

impl Sizes {
    /// The sizes, or the user's error.
    fn of(q: &Spec, k: &Spec, v: &Spec) -> Result<Sizes> {
        let ([batch, heads, queries, features], [b, shared, keys, f], [c, n, m, found]) =
            (&q.shape[..], &k.shape[..], &v.shape[..])
        else {
            return Err(misfit("q, k and v must have 4 axes", q, k, v));
        };
        let text = match () {
            () if (batch, batch) != (b, c) => "q, k and v must have one batch size",
            () if shared != n => "k and v must have as many heads",
            () if *shared == 0 || heads % shared != 0 => "the heads of q must be a multiple of those of k",
            () if features != f => "q and k must have as many features",
            () if keys != m => "k and v must be as long",
            () if (heads / shared).checked_mul(*queries).is_none() => {
                "heads that share keys must have fewer than 2³¹ queries"
            }
            () => {
                let [batch, heads, shared, queries] = [*batch, *heads, *shared, *queries];
                return Ok(Sizes { batch, heads, shared, queries, keys: *keys, features: *features, found: *found });
            }
        };
        Err(misfit(text, q, k, v))
    }

    fn refuse_mask(&self, mask: &Spec) -> Result<()> {
        let scores = self.scores();
        match shape::broadcast(NAME, &mask.shape, &scores).is_ok_and(|shape| shape[..] == scores) {
            true => Ok(()),
            false => {
                let [mask, scores] = [&mask.shape[..], &scores].map(shape::display);
                Err(Error::Value(format!("[{NAME}] mask must broadcast to shape {scores} but has shape {mask}.")))
            }
        }
    }

    fn scores(&self) -> [i32; 4] {
        [self.batch, self.heads, self.queries, self.keys]
    }

    fn result(&self) -> [i32; 4] {
        [self.batch, self.heads, self.queries, self.found]
    }

    /// Matrices with the queries of all heads that share keys.
    fn rows(&self, columns: i32) -> [i32; 4] {
        [self.batch, self.shared, self.heads / self.shared * self.queries, columns]
    }

    fn causal(&self) -> Result<Array> {
        let queries = arange(self.keys - self.queries, self.keys, 1, Some(Dtype::I32))?;
        greater_equal(reshape(&queries, &[self.queries, 1])?, arange(0, self.keys, 1, Some(Dtype::I32))?)
    }
}

fn misfit(text: &str, q: &Spec, k: &Spec, v: &Spec) -> Error {
    let [q, k, v] = [q, k, v].map(|spec| shape::display(&spec.shape));
    Error::Value(format!("[{NAME}] {text} but they have shapes {q}, {k} and {v}."))
}

pub(super) fn entry() -> Entry {
    let case = |name: &str, heads: [i32; 2], mask: Option<(&[i32], Option<Dtype>)>, causal: bool, sinks: bool| {
        let mask = mask.map(|(shape, dtype)| Sample { dtype, ..Sample::new(shape) });
        let masked = mask.is_some();
        let inputs = [[2, heads[0], 3, 4], [2, heads[1], 5, 4], [2, heads[1], 5, 2]];
        Case {
            name: name.into(),
            inputs: inputs
                .iter()
                .map(|shape| Sample::new(shape))
                .chain(mask)
                .chain(sinks.then(|| Sample::new(&heads[..1])))
                .collect(),
            dtypes: FLOATING,
            call: Box::new(move |x| {
                let mask = match (masked, causal) {
                    (true, _) => Mask::Array(&x[3]),
                    (_, true) => Mask::Causal,
                    _ => Mask::None,
                };
                let sinks = sinks.then(|| &x[x.len() - 1]);
                Ok(vec![scaled_dot_product_attention(&x[0], &x[1], &x[2], 0.5, mask, sinks)?])
            }),
            differentiable: true,
        }
    };
    let cases = vec![
        case("one head of keys for each", [2, 2], None, false, false),
        case("shared keys and a mask of bools", [4, 2], Some((&[2, 1, 3, 5], Some(Dtype::Bool))), false, false),
        case("a mask that is added", [2, 2], Some((&[2, 3, 5], None)), false, false),
        case("causal, with sinks", [4, 1], None, true, true),
    ];
    Entry { name: NAME, doc: "Values, weighed by how well their keys match queries.", cases }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ones(shape: &[i32]) -> Array {
        crate::ops::full::ones(shape, Dtype::F32).expect("a shape")
    }

    fn refused(q: &[i32], k: &[i32], v: &[i32]) -> String {
        let error = scaled_dot_product_attention(&ones(q), &ones(k), &ones(v), 1.0, Mask::None, None);
        error.expect_err("it is refused").to_string()
    }

    #[test]
    fn heads_must_share_keys_evenly() {
        let text = "[scaled_dot_product_attention] the heads of q must be a multiple of those of k but they have shapes \
                    (1,3,5,8), (1,2,7,8) and (1,2,7,8).";
        assert_eq!(refused(&[1, 3, 5, 8], &[1, 2, 7, 8], &[1, 2, 7, 8]), text);
        assert!(refused(&[1, 3, 5, 8], &[1, 0, 7, 8], &[1, 0, 7, 8]).contains("multiple"));
    }

    #[test]
    fn a_mask_must_broadcast_to_the_scores() {
        let (q, k, mask) = (ones(&[1, 2, 5, 8]), ones(&[1, 2, 7, 8]), ones(&[5, 6]));
        let error = scaled_dot_product_attention(&q, &k, &k, 1.0, Mask::Array(&mask), None).expect_err("6 keys of 7");
        let text = "[scaled_dot_product_attention] mask must broadcast to shape (1,2,5,7) but has shape (5,6).";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_query_before_all_keys_sees_them_alike() {
        // Two queries, one key: the first query is before it, and every score it has is the same.
        let (q, k) = (ones(&[1, 1, 2, 4]), ones(&[1, 1, 1, 4]));
        let found = scaled_dot_product_attention(&q, &k, &k, 1.0, Mask::Causal, None).expect("it fits");
        assert_eq!(found.to_vec::<f32>().expect("it evaluates"), [1.0; 8]);
    }
}
