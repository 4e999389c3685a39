//! Element-wise functions of one array that are a few others.

use crate::array::Array;
use crate::dtype::{Complex64, Dtype};
use crate::error::{Error, Result};
use crate::ops::astype::astype;
use crate::ops::binary::multiply;
use crate::ops::catalogue::{Case, Entry, Sample};
use crate::ops::select::where_;
use crate::ops::unary::{isnan, isneginf, isposinf, round};

/// Radians as degrees.
pub fn degrees(x: &Array) -> Result<Array> {
    multiply(&astype(x, x.dtype().at_least_float())?, 180.0 / std::f64::consts::PI)
}

/// Degrees as radians.
pub fn radians(x: &Array) -> Result<Array> {
    multiply(&astype(x, x.dtype().at_least_float())?, std::f64::consts::PI / 180.0)
}

/// The nearest number with this many digits after the point; negative ones count before it. Ties to even.
pub fn round_to(x: &Array, decimals: i32) -> Result<Array> {
    if decimals == 0 {
        return round(x);
    }
    let scale = 10f64.powi(decimals);
    let scaled = multiply(&astype(x, x.dtype().at_least_float())?, scale)?;
    astype(&multiply(&round(&scaled)?, 1.0 / scale)?, x.dtype())
}

/// What [`nan_to_num`] writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NanToNum {
    /// Instead of NaN.
    pub nan: f64,
    /// Instead of infinity; the type's largest number if there is none.
    pub posinf: Option<f64>,
    /// Instead of negative infinity; the type's smallest number if there is none.
    pub neginf: Option<f64>,
}

/// The number, or what stands for it where it is NaN or infinite.
pub fn nan_to_num(x: &Array, instead: NanToNum) -> Result<Array> {
    let most = match x.dtype() {
        Dtype::F16 => half::f16::MAX.to_f64(),
        Dtype::BF16 => half::bf16::MAX.to_f64(),
        Dtype::F32 => f32::MAX as f64,
        Dtype::F64 | Dtype::C64 => {
            let dtype = x.dtype();
            return Err(Error::Value(format!("[nan_to_num] x must not be float64 or complex64 but is {dtype}.")));
        }
        _ => return Ok(x.clone()),
    };
    let y = where_(&isnan(x)?, instead.nan, x)?;
    let y = where_(&isposinf(x)?, instead.posinf.unwrap_or(most), &y)?;
    where_(&isneginf(x)?, instead.neginf.unwrap_or(-most), &y)
}

/// The numbers times i; of cotangents of imaginary parts those of the whole.
pub(super) fn times_i(g: &Array) -> Result<Array> {
    multiply(g, Complex64 { re: 0.0, im: 1.0 })
}

/// Every type of real numbers but float64.
const NARROW: &[Dtype] = &{
    use Dtype::{BF16, Bool, F16, F32, I8, I16, I32, I64, U8, U16, U32, U64};
    [Bool, U8, U16, U32, U64, I8, I16, I32, I64, F16, F32, BF16]
};

pub(super) fn entries() -> Vec<Entry> {
    let entry = |name, doc, call: fn(&Array) -> Result<Array>, dtypes| Entry {
        name,
        doc,
        cases: [&[3, 5][..], &[], &[0, 2]].map(|shape| case(shape, call, dtypes)).into(),
    };
    vec![
        entry("degrees", "Radians as degrees.", degrees, &Dtype::ALL),
        entry("radians", "Degrees as radians.", radians, &Dtype::ALL),
        entry("round_to", "The nearest number with some digits.", |x| round_to(x, 1), &Dtype::ALL),
        entry("nan_to_num", "Numbers instead of NaN and infinities.", |x| nan_to_num(x, NanToNum::default()), NARROW),
    ]
}

fn case(shape: &[i32], call: fn(&Array) -> Result<Array>, dtypes: &'static [Dtype]) -> Case {
    Case {
        name: format!("{} axes", shape.len()),
        inputs: vec![Sample::new(shape)],
        dtypes,
        call: Box::new(move |x| Ok(vec![call(&x[0])?])),
        differentiable: false,
    }
}

/// Expected values from the wheel.
#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Array {
        Array::from_slice(values, &[values.len() as i32]).expect("as many")
    }

    #[test]
    fn numbers_round_to_digits_after_or_before_the_point() {
        let x = floats(&[12345.678, -2.5, 1.25, 1.35]);
        let rounded = |digits| round_to(&x, digits).expect("it rounds").to_vec::<f32>().expect("floats");
        assert_eq!(rounded(1), [12_345.7, -2.5, 1.2, 1.4]);
        assert_eq!(rounded(-2), [12300.0, 0.0, 0.0, 0.0]);
        let n = Array::from_slice(&[15, 25, -25, 12345], &[4]).expect("four");
        assert_eq!(round_to(&n, -1).expect("it rounds").to_vec::<i32>().expect("ints"), [20, 20, -20, 12340]);
        let halves = astype(&floats(&[15.55, 2.25]), Dtype::F16).expect("it converts");
        let halves = astype(&round_to(&halves, 1).expect("it rounds"), Dtype::F32).expect("it converts");
        assert_eq!(halves.to_vec::<f32>().expect("floats"), [15.593_75, 2.199_218_8]);
    }

    #[test]
    fn numbers_stand_for_nan_and_infinities() {
        let x = floats(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.5]);
        let plain = nan_to_num(&x, NanToNum::default()).expect("floats").to_vec::<f32>().expect("floats");
        assert_eq!(plain, [0.0, f32::MAX, f32::MIN, 1.5]);
        let chosen = NanToNum { nan: 1.0, posinf: Some(2.0), neginf: Some(3.0) };
        assert_eq!(nan_to_num(&x, chosen).expect("floats").to_vec::<f32>().expect("floats"), [1.0, 2.0, 3.0, 1.5]);
        assert!(matches!(nan_to_num(&Array::scalar(1f64), chosen), Err(Error::Value(_))));
    }
}
