//! `rope`: pairs of features turned by an angle that grows with the position. Pair `i` at position `p` turns by
//! `(p + offset) · scale · base^(-2i/dims)`, or by `(p + offset) · scale / freqs[i]`. Angles are float32; their sines and cosines
//! are rounded to the array's type.

use smallvec::smallvec;

use super::FLOATING;
use crate::array::{Array, call_one};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{Key, Op, Specs};
use crate::ops::astype::astype;
use crate::ops::binary::{add, multiply, subtract};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::create::arange;
use crate::ops::joins::{concatenate, stack};
use crate::ops::slices::slice;
use crate::ops::unary::{cos, exp, reciprocal, sin};
use crate::ops::views::{expand_dims, flatten, reshape};
use crate::scalar::Operand;
use crate::shape::{self, Shape, Spec};

/// How features are turned. Exactly one of `base` and `freqs` is given.
#[derive(Clone, Copy, Debug)]
pub struct Rope<'a> {
    /// How many features are turned; the rest stays as it is.
    pub dims: i32,
    /// Whether neighbours are pairs; otherwise a feature of the first half and one of the second are.
    pub traditional: bool,
    /// What frequencies are powers of.
    pub base: Option<f32>,
    /// What positions are multiplied by.
    pub scale: f32,
    /// One over the frequency of each pair.
    pub freqs: Option<&'a Array>,
}

/// An array of shape (batch, …, positions, features) with its features turned by their positions, which count from `offset`: one for
/// all, or one for each of the batch.
pub fn rope(x: &Array, offset: impl Operand, turn: Rope<'_>) -> Result<Array> {
    let frequencies = match (turn.base, turn.freqs) {
        (Some(base), None) => Frequencies::PowersOf(base),
        (None, Some(_)) => Frequencies::Given,
        (Some(_), Some(_)) => {
            return Err(Error::Value("[rope] one of base and freqs must be given but both are.".into()));
        }
        (None, None) => return Err(Error::Value("[rope] one of base and freqs must be given but none is.".into())),
    };
    let offset = offset.operand().to_array("rope", None)?;
    if !offset.dtype().is_integer() {
        let found = offset.dtype();
        return Err(Error::Value(format!("[rope] offset must be of an integer type but is {found}.")));
    }
    let freqs = turn.freqs.map(|freqs| astype(freqs, Dtype::F32)).transpose()?;
    let op = Turn { dims: turn.dims, traditional: turn.traditional, scale: turn.scale, frequencies };
    call_one(op, [x.clone(), offset].into_iter().chain(freqs))
}

#[derive(Clone, Copy, Debug)]
enum Frequencies {
    PowersOf(f32),
    /// One over the third input.
    Given,
}

/// The op: of an array, offsets, and frequencies if they are given.
#[derive(Debug)]
struct Turn {
    dims: i32,
    traditional: bool,
    scale: f32,
    frequencies: Frequencies,
}

impl Op for Turn {
    fn name(&self) -> &'static str {
        "rope"
    }

    fn key(&self, key: &mut Key) {
        key.int(self.dims.into());
        key.word(self.traditional);
        key.float(self.scale as f64);
        match self.frequencies {
            Frequencies::PowersOf(base) => key.float(base as f64),
            Frequencies::Given => key.float(f64::NEG_INFINITY),
        }
    }

    fn infer(&self, inputs: &[&Spec]) -> Result<Specs> {
        let x = inputs[0];
        self.refuse_array(x)?;
        refuse_offset(x, inputs[1])?;
        let half = self.dims / 2;
        match inputs.get(2) {
            Some(freqs) if freqs.shape[..] != [half] => {
                let found = shape::display(&freqs.shape);
                Err(Error::Value(format!(
                    "[rope] freqs must have shape ({half},), half of dims, but has shape {found}."
                )))
            }
            _ => Ok(smallvec![x.clone()]),
        }
    }

    fn decompose(&self, inputs: &[Array]) -> Result<Option<Vec<Array>>> {
        let x = &inputs[0];
        let angles = self.angles(x, inputs)?;
        let (cos, sin) = (astype(&cos(&angles)?, x.dtype())?, astype(&sin(&angles)?, x.dtype())?);
        let (dims, half) = (self.dims, self.dims / 2);
        let (first, second) = match self.traditional {
            true => (features(x, 0, dims, 2)?, features(x, 1, dims, 2)?),
            false => (features(x, 0, half, 1)?, features(x, half, dims, 1)?),
        };
        let turned = [
            subtract(multiply(&first, &cos)?, multiply(&second, &sin)?)?,
            add(multiply(&first, &sin)?, multiply(&second, &cos)?)?,
        ];
        let mut parts = match self.traditional {
            true => vec![flatten(&stack(&turned, -1)?, -2, -1)?],
            false => turned.to_vec(),
        };
        let n = last(x.shape());
        if dims < n {
            parts.push(features(x, dims, n, 1)?);
        }
        Ok(Some(vec![if parts.len() == 1 { parts.remove(0) } else { concatenate(&parts, -1)? }]))
    }
}

impl Turn {
    fn refuse_array(&self, x: &Spec) -> Result<()> {
        let (dims, ndim, dtype) = (self.dims, x.ndim(), x.dtype);
        let text = match () {
            () if ndim < 3 => format!("x must have at least 3 axes but has {ndim}"),
            () if !dtype.is_floating() => format!("x must be of a floating type but is {dtype}"),
            () if dims <= 0 || dims % 2 != 0 => format!("dims must be positive and even but is {dims}"),
            () if dims > last(&x.shape) => {
                format!("dims must be at most {}, the size of the last axis of x, but is {dims}", last(&x.shape))
            }
            () => return Ok(()),
        };
        Err(Error::Value(format!("[rope] {text}.")))
    }

    /// The angles of pairs at positions; where the batch has offsets of its own, with its axis in front.
    fn angles(&self, x: &Array, inputs: &[Array]) -> Result<Array> {
        let ndim = x.ndim();
        let mut offset = astype(&inputs[1], Dtype::F32)?;
        if offset.size() > 1 {
            let mut shape: Shape = smallvec![1; ndim - 1];
            shape[0] = offset.shape()[0];
            offset = reshape(&offset, &shape)?;
        }
        let counted = astype(&arange(0, x.shape()[ndim - 2], 1, Some(Dtype::I32))?, Dtype::F32)?;
        let positions = multiply(add(counted, offset)?, self.scale)?;
        multiply(expand_dims(&positions, &[-1])?, self.speeds(inputs.get(2))?)
    }

    /// How far each pair turns from one position to the next.
    fn speeds(&self, freqs: Option<&Array>) -> Result<Array> {
        let half = self.dims / 2;
        match (self.frequencies, freqs) {
            (Frequencies::PowersOf(base), _) => {
                let pairs = astype(&arange(0, half, 1, Some(Dtype::I32))?, Dtype::F32)?;
                exp(&multiply(&pairs, -base.ln() / half as f32)?)
            }
            (Frequencies::Given, Some(freqs)) => reciprocal(freqs),
            (Frequencies::Given, None) => unreachable!("the call was made with frequencies"),
        }
    }
}

fn refuse_offset(x: &Spec, offset: &Spec) -> Result<()> {
    let batch = x.shape[0];
    let fits = match offset.shape[..] {
        [] => true,
        [n] => n == 1 || n == batch,
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => Err(Error::Value(format!(
            "[rope] offset must be one number or have shape ({batch},), the batch's, but has shape {}.",
            shape::display(&offset.shape)
        ))),
    }
}

fn last(shape: &[i32]) -> i32 {
    *shape.last().expect("there are at least 3 axes")
}

/// Every so manieth feature between two.
fn features(x: &Array, start: i32, stop: i32, step: i32) -> Result<Array> {
    let ndim = x.ndim();
    let (mut starts, mut stops) = (Shape::from_elem(0, ndim), Shape::from_slice(x.shape()));
    let mut steps = Shape::from_elem(1, ndim);
    (starts[ndim - 1], stops[ndim - 1], steps[ndim - 1]) = (start, stop, step);
    slice(x, &starts, &stops, &steps)
}

pub(super) fn entry() -> Entry {
    let turn = |dims, traditional, base| Rope { dims, traditional, base, scale: 0.5, freqs: None };
    let case = |name: &str, shape: &[i32], offsets: Option<i32>, freqs: bool, turn: Rope<'static>| Case {
        name: name.into(),
        inputs: [Sample::new(shape)]
            .into_iter()
            .chain(offsets.map(|n| Sample::within(&[n], 0.0, 9.0).of(Dtype::I32)))
            .chain(freqs.then(|| Sample::within(&[turn.dims / 2], 1.0, 9.0)))
            .collect(),
        dtypes: FLOATING,
        call: Box::new(move |x| {
            let turn = Rope { freqs: freqs.then(|| &x[x.len() - 1]), ..turn };
            Ok(vec![match offsets {
                Some(_) => rope(&x[0], &x[1], turn)?,
                None => rope(&x[0], 3, turn)?,
            }])
        }),
        differentiable: !freqs,
    };
    let cases = vec![
        case("halves", &[2, 3, 8], None, false, turn(8, false, Some(100.0))),
        case("neighbours", &[2, 2, 3, 8], None, false, turn(8, true, Some(100.0))),
        case("some features", &[1, 2, 3, 10], None, false, turn(6, false, Some(100.0))),
        case("offsets for the batch", &[2, 2, 3, 6], Some(2), false, turn(4, true, Some(100.0))),
        case("given frequencies", &[2, 3, 8], Some(1), true, turn(8, false, None)),
        case("no positions", &[2, 0, 4], None, false, turn(4, false, Some(100.0))),
    ];
    Entry { name: "rope", doc: "Pairs of features turned by angles that grow with the position.", cases }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(shape: &[i32], dims: i32, offset: &[i32], base: Option<f32>) -> String {
        let x = crate::ops::full::ones(shape, Dtype::F32).expect("a shape");
        let offset = Array::from_slice(offset, &[offset.len() as i32]).expect("numbers");
        let turn = Rope { dims, traditional: false, base, scale: 1.0, freqs: None };
        rope(&x, &offset, turn).expect_err("it is refused").to_string()
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let base = Some(1e4);
        assert_eq!(refused(&[3, 8], 8, &[0], base), "[rope] x must have at least 3 axes but has 2.");
        assert_eq!(refused(&[2, 3, 8], 7, &[0], base), "[rope] dims must be positive and even but is 7.");
        let text = "[rope] dims must be at most 8, the size of the last axis of x, but is 10.";
        assert_eq!(refused(&[2, 3, 8], 10, &[0], base), text);
        let text = "[rope] offset must be one number or have shape (2,), the batch's, but has shape (3,).";
        assert_eq!(refused(&[2, 3, 8], 8, &[0, 1, 2], base), text);
        assert_eq!(refused(&[2, 3, 8], 8, &[0], None), "[rope] one of base and freqs must be given but none is.");
    }
}
