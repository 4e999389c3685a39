//! `mean`, `var` and `std`: sums along axes over their number. Of halves they are computed in float32 and rounded once.

use super::table::{PRECISE_SUM, precise};
use super::{apply, axes_of};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::astype::astype;
use crate::ops::binary::{add, multiply, subtract};
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::inverse_count::{self, inverse_count};
use crate::ops::unary::{imag, real, sqrt, square};
use crate::transforms::tracing;

/// The mean along axes; along all of them if none are given.
pub fn mean(x: &Array, axes: Option<&[i32]>, keepdims: bool) -> Result<Array> {
    let x = astype(x, x.dtype().at_least_float())?;
    astype(&over("mean", &x, axes, keepdims, 0)?, x.dtype())
}

/// The variance along axes, `ddof` fewer than the elements as divisor; along all axes if none are given.
pub fn var(x: &Array, axes: Option<&[i32]>, keepdims: bool, ddof: i32) -> Result<Array> {
    let given = real_type(x.dtype().at_least_float());
    astype(&precise_var(x, axes, keepdims, ddof)?, given)
}

/// The standard deviation along axes: the square root of [`var`].
pub fn std(x: &Array, axes: Option<&[i32]>, keepdims: bool, ddof: i32) -> Result<Array> {
    let given = real_type(x.dtype().at_least_float());
    astype(&sqrt(&precise_var(x, axes, keepdims, ddof)?)?, given)
}

fn precise_var(x: &Array, axes: Option<&[i32]>, keepdims: bool, ddof: i32) -> Result<Array> {
    let x = astype(x, precise(x.dtype().at_least_float()))?;
    let apart = subtract(&x, over("var", &x, axes, true, 0)?)?;
    let squares = match apart.dtype() {
        Dtype::C64 => add(square(&real(&apart)?)?, square(&imag(&apart)?)?)?,
        _ => square(&apart)?,
    };
    over("var", &squares, axes, keepdims, ddof)
}

/// The sum along axes, divided by `ddof` less than their elements.
fn over(op: &str, x: &Array, axes: Option<&[i32]>, keepdims: bool, ddof: i32) -> Result<Array> {
    let along = axes_of(op, x, axes)?;
    let sum = apply(&PRECISE_SUM, x, axes, keepdims)?;
    if tracing::shapeless() {
        let dtype = sum.dtype();
        return multiply(sum, inverse_count(x, along, ddof, dtype)?);
    }
    multiply(sum, inverse_count::value(x.shape(), &along, ddof))
}

fn real_type(dtype: Dtype) -> Dtype {
    if dtype == Dtype::C64 { Dtype::F32 } else { dtype }
}

pub(super) fn entries() -> Vec<Entry> {
    let case =
        |call: fn(&Array, Option<&[i32]>, bool) -> Result<Array>, shape: &[i32], axes: Option<&'static [i32]>| Case {
            name: format!("{shape:?} along {axes:?}"),
            inputs: vec![Sample::new(shape)],
            dtypes: &Dtype::ALL,
            call: Box::new(move |x| Ok(vec![call(&x[0], axes, false)?])),
            differentiable: true,
        };
    let entry = |name, doc, call: fn(&Array, Option<&[i32]>, bool) -> Result<Array>| Entry {
        name,
        doc,
        cases: vec![
            case(call, &[3, 37], Some(&[-1])),
            case(call, &[37, 3], Some(&[0])),
            case(call, &[4, 5], None),
            case(call, &[0, 3], Some(&[1])),
        ],
    };
    vec![
        entry("mean", "The mean along axes.", mean),
        entry("var", "The variance along axes.", |x, axes, keepdims| var(x, axes, keepdims, 0)),
        entry("std", "The standard deviation along axes.", |x, axes, keepdims| std(x, axes, keepdims, 1)),
    ]
}
