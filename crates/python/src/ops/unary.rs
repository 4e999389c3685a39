//! Ops of one operand.

use pumice::ops::astype::astype;
use pumice::ops::unary::{self, NanToNum};
use pumice::{Array, Dtype, Error, Result};
use pyo3::prelude::*;

use super::{functions, methods};

use crate::array::Given;
use crate::convert::Value;
use crate::dtype::PyDtype;

/// Functions of a number or an array, by the op of the same name.
macro_rules! by_name {
    ($($name:ident $doc:literal;)*) => {
        mod by_name {
            use super::*;
            functions! {$(
                #[doc = $doc]
                $name [a, /, *] (a: Value) => unary::$name(&a.to_array()?);
            )*}
        }
    };
}

by_name! {
    abs "The distance from zero.";
    arccos "The inverse of the cosine, in radians.";
    arccosh "The inverse of the hyperbolic cosine.";
    arcsin "The inverse of the sine, in radians.";
    arcsinh "The inverse of the hyperbolic sine.";
    arctan "The inverse of the tangent, in radians.";
    arctanh "The inverse of the hyperbolic tangent.";
    bitwise_invert "The number with every bit turned.";
    ceil "The smallest whole number that is not below.";
    conjugate "The number mirrored at the real axis.";
    cos "The cosine, of radians.";
    cosh "The hyperbolic cosine.";
    degrees "The angle in degrees, of radians.";
    erf "The error function.";
    erfinv "The inverse of the error function.";
    exp "e to the power of the number.";
    expm1 "e to the power of the number, less 1, without cancellation near 0.";
    floor "The largest whole number that is not above.";
    imag "The imaginary part; zero of real numbers.";
    isfinite "Whether the number is neither infinite nor NaN.";
    isinf "Whether the number is infinite.";
    isnan "Whether the number is NaN.";
    isneginf "Whether the number is negative infinity.";
    isposinf "Whether the number is positive infinity.";
    log "The natural logarithm.";
    log10 "The logarithm to base 10.";
    log1p "The natural logarithm of 1 and the number, without cancellation near 0.";
    log2 "The logarithm to base 2.";
    logical_not "Whether the number is zero.";
    negative "The number with the other sign.";
    radians "The angle in radians, of degrees.";
    real "The real part.";
    reciprocal "One over the number.";
    rsqrt "One over the square root.";
    sigmoid "One over 1 and e to the power of the negative number.";
    sign "-1, 0 or 1: the sign.";
    sin "The sine, of radians.";
    sinh "The hyperbolic sine.";
    sqrt "The square root.";
    square "The number times itself.";
    tan "The tangent, of radians.";
    tanh "The hyperbolic tangent.";
}

mod others {
    use super::*;
    functions! {
        /// The array itself.
        positive [a, /, *] (a: Given) => unary::positive(&a.0);
        /// The array itself, for transforms a constant.
        stop_gradient [a, /, *] (a: Given) => unary::stop_gradient(&a.0);
        /// The nearest number of eight bits (e4m3), as its bits.
        to_fp8 [x, *] (x: Given) => unary::to_fp8(&x.0);
        /// The number that eight bits (e4m3) stand for, as a bfloat16 or another type.
        from_fp8 [x, dtype=None, *] (x: Given, dtype: Option<PyDtype>) =>
            from_eight_bits(&x.0, dtype.map_or(Dtype::BF16, |dtype| dtype.0));
        /// The whole number next to it towards zero.
        trunc [a, /, *] (a: Given) => unary::trunc(&a.0);
        /// The number rounded to so many decimals, ties to even.
        round [a, /, decimals=0, *] (a: Value, decimals: i32) => rounded(&a.to_array()?, decimals);
        /// The number, or what stands for it where it is NaN or infinite.
        nan_to_num [a, nan=0.0, posinf=None, neginf=None, *]
            (a: Value, nan: f64, posinf: Option<f64>, neginf: Option<f64>) =>
            unary::nan_to_num(&a.to_array()?, NanToNum { nan, posinf, neginf });
    }
}

fn from_eight_bits(x: &Array, dtype: Dtype) -> Result<Array> {
    if !dtype.is_floating() {
        return Err(Error::Value(format!("[from_fp8] dtype must be floating but is {dtype}.")));
    }
    astype(&unary::from_fp8(x)?, dtype)
}

fn rounded(a: &Array, decimals: i32) -> Result<Array> {
    if decimals == 0 { unary::round(a) } else { unary::round_to(a, decimals) }
}

methods! {
    /// See `mx.abs`.
    abs |a| [*,] () => unary::abs(a);
    /// See `mx.conj`.
    conj |a| [*,] () => unary::conjugate(a);
    /// See `mx.cos`.
    cos |a| [*,] () => unary::cos(a);
    /// See `mx.exp`.
    exp |a| [*,] () => unary::exp(a);
    /// See `mx.log`.
    log |a| [*,] () => unary::log(a);
    /// See `mx.log10`.
    log10 |a| [*,] () => unary::log10(a);
    /// See `mx.log1p`.
    log1p |a| [*,] () => unary::log1p(a);
    /// See `mx.log2`.
    log2 |a| [*,] () => unary::log2(a);
    /// See `mx.reciprocal`.
    reciprocal |a| [*,] () => unary::reciprocal(a);
    /// See `mx.round`.
    round |a| [decimals=0, *,] (decimals: i32) => rounded(a, decimals);
    /// See `mx.rsqrt`.
    rsqrt |a| [*,] () => unary::rsqrt(a);
    /// See `mx.sin`.
    sin |a| [*,] () => unary::sin(a);
    /// See `mx.sqrt`.
    sqrt |a| [*,] () => unary::sqrt(a);
    /// See `mx.square`.
    square |a| [*,] () => unary::square(a);
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    by_name::add_to(module)?;
    others::add_to(module)
}
