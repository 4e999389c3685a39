//! The rows.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use pumice_kernel::Scalar;

use super::{NUMBERS, REAL, Row, double};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::astype::astype;
use crate::ops::binary::{add, divide, multiply, subtract};
use crate::ops::full::zeros_like;
use crate::typed::Typed;

/// Makes a public function and a row of the table of each op.
macro_rules! unary {
    ($($(#[doc = $doc:literal])* $name:ident => $row:expr;)*) => {
        $(
            $(#[doc = $doc])*
            pub fn $name(x: &Array) -> Result<Array> {
                TABLE[Index::$name as usize].call(x)
            }
        )*

        /// Where each op stands in the table.
        #[allow(non_camel_case_types)]
        enum Index {
            $($name),*
        }

        /// Every op of the family.
        pub static TABLE: &[Row] = &[$(Row { name: stringify!($name), doc: concat!($($doc),*).trim_ascii(), ..$row }),*];
    };
}

/// Functions of inexact numbers: others become float32 first.
const FLOATS: Row = Row { computes: Dtype::at_least_float, ..NUMBERS };
/// Functions of real numbers: others become float32 first.
const REALS: Row = Row { dtypes: REAL, ..FLOATS };
/// Rounding: what is whole already stays.
const ROUNDING: Row = Row { keeps: |dtype| !dtype.is_inexact(), dtypes: REAL, ..NUMBERS };
/// Questions.
const TRUTHS: Row = Row { gives: |_| Dtype::Bool, ..NUMBERS };
/// Parts of complex numbers: real ones stay.
const PARTS: Row = Row { keeps: |dtype| dtype != Dtype::C64, ..NUMBERS };
/// Every type with bits to turn.
const WHOLE: &[Dtype] = Dtype::ALL.split_at(9).0;
/// Every type but bool.
const SIGNED: &[Dtype] = Dtype::ALL.split_at(1).1;
/// Real numbers that are not whole.
const FRACTIONS: &[Dtype] = &[Dtype::F16, Dtype::F32, Dtype::F64, Dtype::BF16];

unary! {
    /// The number with the other sign; unsigned ones wrap.
    negative => Row { scalar: |x| -x, derivative: Some(|_, _, g| negative(g)), dtypes: SIGNED, ..NUMBERS };
    /// The distance from zero; of complex numbers a float32.
    abs => Row {
        scalar: |x| x.abs(),
        keeps: |dtype| dtype.is_unsigned() || dtype == Dtype::Bool,
        gives: |dtype| if dtype == Dtype::C64 { Dtype::F32 } else { dtype },
        derivative: Some(|x, y, g| astype(&multiply(conjugate(&sign(x)?)?, g)?, y.dtype())),
        backward: Some(|x, _, g| multiply(g, sign(x)?)),
        ..NUMBERS
    };
    /// -1, 0 or 1, 0 of NaN; of complex numbers the one of magnitude 1 in their direction.
    sign => Row { scalar: |x| x.sign(), ..NUMBERS };
    /// The number times itself.
    square => Row { scalar: |x| x * x, derivative: Some(|x, _, g| multiply(g, multiply(x, 2)?)), ..NUMBERS };
    /// The square root.
    sqrt => Row {
        scalar: |x| x.sqrt(),
        derivative: Some(|_, y, g| divide(multiply(g, 0.5)?, y)),
        range: (0.1, 4.0),
        ..FLOATS
    };
    /// One over the square root.
    rsqrt => Row {
        scalar: |x| x.rsqrt(),
        derivative: Some(|x, y, g| divide(multiply(multiply(g, -0.5)?, y)?, x)),
        range: (0.1, 4.0),
        ..FLOATS
    };
    /// One over the number.
    reciprocal => Row {
        scalar: |x| x.like(1.0) / x,
        derivative: Some(|_, y, g| negative(&multiply(g, square(y)?)?)),
        range: (0.5, 2.0),
        ..FLOATS
    };
    /// e to the power of the number.
    exp => Row { scalar: |x| x.exp(), double: Some(f64::exp), derivative: Some(|_, y, g| multiply(g, y)), ..FLOATS };
    /// e to the power of the number, less 1, without cancellation near 0.
    expm1 => Row {
        scalar: |x| x.expm1(),
        double: Some(f64::exp_m1),
        derivative: Some(|_, y, g| multiply(g, add(y, 1.0)?)),
        ..REALS
    };
    /// The natural logarithm.
    log => Row {
        scalar: |x| x.log(),
        double: Some(f64::ln),
        derivative: Some(|x, _, g| divide(g, x)),
        range: (0.1, 4.0),
        ..FLOATS
    };
    /// The logarithm to base 2.
    log2 => Row {
        scalar: |x| x.log2(),
        double: Some(f64::log2),
        derivative: Some(|x, _, g| divide(g, multiply(x, LN_2)?)),
        range: (0.1, 4.0),
        ..FLOATS
    };
    /// The logarithm to base 10.
    log10 => Row {
        scalar: |x| x.log10(),
        double: Some(f64::log10),
        derivative: Some(|x, _, g| divide(g, multiply(x, LN_10)?)),
        range: (0.1, 4.0),
        ..FLOATS
    };
    /// The natural logarithm of 1 and the number, without cancellation near 0.
    log1p => Row {
        scalar: |x| x.log1p(),
        double: Some(f64::ln_1p),
        derivative: Some(|x, _, g| divide(g, add(x, 1.0)?)),
        range: (-0.9, 4.0),
        ..FLOATS
    };
    /// The sine, of radians.
    sin => Row {
        scalar: |x| x.sin(),
        double: Some(f64::sin),
        derivative: Some(|x, _, g| multiply(g, cos(x)?)),
        ..FLOATS
    };
    /// The cosine, of radians.
    cos => Row {
        scalar: |x| x.cos(),
        double: Some(f64::cos),
        derivative: Some(|x, _, g| multiply(g, negative(&sin(x)?)?)),
        ..FLOATS
    };
    /// The tangent, of radians.
    tan => Row {
        scalar: |x| x.tan(),
        double: Some(f64::tan),
        derivative: Some(|x, _, g| divide(g, square(&cos(x)?)?)),
        range: (-1.4, 1.4),
        ..FLOATS
    };
    /// The inverse of the sine, in radians.
    arcsin => Row {
        scalar: |x| x.arcsin(),
        double: Some(f64::asin),
        derivative: Some(|x, _, g| multiply(g, rsqrt(&subtract(1.0, square(x)?)?)?)),
        range: (-0.9, 0.9),
        ..FLOATS
    };
    /// The inverse of the cosine, in radians.
    arccos => Row {
        scalar: |x| x.arccos(),
        double: Some(f64::acos),
        derivative: Some(|x, _, g| multiply(g, negative(&rsqrt(&subtract(1.0, square(x)?)?)?)?)),
        range: (-0.9, 0.9),
        ..FLOATS
    };
    /// The inverse of the tangent, in radians.
    arctan => Row {
        scalar: |x| x.arctan(),
        double: Some(f64::atan),
        derivative: Some(|x, _, g| divide(g, add(1.0, square(x)?)?)),
        ..FLOATS
    };
    /// The hyperbolic sine.
    sinh => Row {
        scalar: |x| x.sinh(),
        double: Some(f64::sinh),
        derivative: Some(|x, _, g| multiply(g, cosh(x)?)),
        ..FLOATS
    };
    /// The hyperbolic cosine.
    cosh => Row {
        scalar: |x| x.cosh(),
        double: Some(f64::cosh),
        derivative: Some(|x, _, g| multiply(g, sinh(x)?)),
        ..FLOATS
    };
    /// The hyperbolic tangent.
    tanh => Row {
        scalar: |x| x.tanh(),
        double: Some(f64::tanh),
        derivative: Some(|_, y, g| multiply(g, subtract(1.0, square(y)?)?)),
        ..FLOATS
    };
    /// The inverse of the hyperbolic sine.
    arcsinh => Row {
        scalar: |x| x.arcsinh(),
        double: Some(libm::asinh),
        derivative: Some(|x, _, g| multiply(g, rsqrt(&add(1.0, square(x)?)?)?)),
        ..FLOATS
    };
    /// The inverse of the hyperbolic cosine.
    arccosh => Row {
        scalar: |x| x.arccosh(),
        double: Some(double::arccosh),
        derivative: Some(|x, _, g| match x.dtype() {
            // The root of the product is on another branch left of the imaginary axis.
            Dtype::C64 => divide(g, multiply(sqrt(&subtract(x, 1.0)?)?, sqrt(&add(x, 1.0)?)?)?),
            _ => multiply(g, rsqrt(&subtract(square(x)?, 1.0)?)?),
        }),
        range: (1.1, 4.0),
        ..FLOATS
    };
    /// The inverse of the hyperbolic tangent.
    arctanh => Row {
        scalar: |x| x.arctanh(),
        double: Some(libm::atanh),
        derivative: Some(|x, _, g| divide(g, subtract(1.0, square(x)?)?)),
        range: (-0.9, 0.9),
        ..FLOATS
    };
    /// The error function.
    erf => Row {
        scalar: |x| x.erf(),
        double: Some(libm::erf),
        derivative: Some(|x, _, g| multiply(multiply(g, FRAC_2_SQRT_PI)?, exp(&negative(&square(x)?)?)?)),
        ..REALS
    };
    /// The inverse of the error function.
    erfinv => Row {
        scalar: |x| x.erfinv(),
        double: Some(double::erfinv),
        derivative: Some(|_, y, g| multiply(multiply(g, 1.0 / FRAC_2_SQRT_PI)?, exp(&square(y)?)?)),
        range: (-0.9, 0.9),
        ..REALS
    };
    /// One over 1 and e to the power of the negative number.
    sigmoid => Row {
        scalar: |x| x.sigmoid(),
        double: Some(double::sigmoid),
        derivative: Some(|_, y, g| multiply(g, multiply(y, subtract(1.0, y)?)?)),
        ..REALS
    };
    /// The largest whole number that is not above.
    floor => Row { scalar: |x| x.floor(), ..ROUNDING };
    /// The smallest whole number that is not below.
    ceil => Row { scalar: |x| x.ceil(), ..ROUNDING };
    /// The nearest whole number, ties to even.
    round => Row { scalar: |x| x.round(), dtypes: &Dtype::ALL, ..ROUNDING };
    /// The whole number next to it towards zero.
    trunc => Row { scalar: |x| x.trunc(), ..ROUNDING };
    /// The number itself.
    positive => Row { keeps: |_| true, derivative: Some(|_, _, g| Ok(g.clone())), ..NUMBERS };
    /// Whether the number is zero.
    logical_not => Row { scalar: |x| Typed::truth(!x.is_nonzero()), ..TRUTHS };
    /// The number with every bit turned.
    bitwise_invert => Row { scalar: |x| x.invert(), dtypes: WHOLE, ..NUMBERS };
    /// Whether the number is NaN.
    isnan => Row { scalar: |x| Typed::truth(x.is_nan()), ..TRUTHS };
    /// Whether the number is infinite.
    isinf => Row { scalar: |x| Typed::truth(x.is_inf()), ..TRUTHS };
    /// Whether the number is positive infinity.
    isposinf => Row { scalar: |x| Typed::truth(x.is_infinity(f64::INFINITY)), ..TRUTHS };
    /// Whether the number is negative infinity.
    isneginf => Row { scalar: |x| Typed::truth(x.is_infinity(f64::NEG_INFINITY)), ..TRUTHS };
    /// Whether the number is neither infinite nor NaN.
    isfinite => Row { scalar: |x| Typed::truth(!(x.is_nan() | x.is_inf())), ..TRUTHS };
    /// The real part.
    real => Row {
        scalar: |x| Typed::new(x.complex().re, Dtype::F32),
        gives: |_| Dtype::F32,
        derivative: Some(|_, _, g| real(g)),
        backward: Some(|x, _, g| astype(g, x.dtype())),
        ..PARTS
    };
    /// The imaginary part; zero of real numbers.
    imag => Row {
        scalar: |x| if x.dtype == Dtype::C64 { Typed::new(x.complex().im, Dtype::F32) } else { x.like(0.0) },
        gives: |dtype| if dtype == Dtype::C64 { Dtype::F32 } else { dtype },
        derivative: Some(|_, _, g| imag(g)),
        backward: Some(|x, _, g| if x.dtype() == Dtype::C64 { super::composed::times_i(g) } else { zeros_like(x) }),
        ..NUMBERS
    };
    /// The number mirrored at the real axis.
    conjugate => Row {
        scalar: |x| Typed::complex_of(x.complex().conjugate()),
        derivative: Some(|_, _, g| conjugate(g)),
        ..PARTS
    };
    /// The bits of the nearest number of eight bits (e4m3), ties to even; NaN and what lies beyond become 448.
    to_fp8 => Row {
        scalar: to_e4m3,
        computes: |_| Dtype::F32,
        gives: |_| Dtype::U8,
        dtypes: FRACTIONS,
        range: (-500.0, 500.0),
        ..NUMBERS
    };
    /// The number that eight bits (e4m3) stand for, as a float32.
    from_fp8 => Row { scalar: from_e4m3, gives: |_| Dtype::F32, dtypes: &[Dtype::U8], range: (0.0, 255.0), ..NUMBERS };
}

/// A sign, four bits of exponent (its bias is 7), three of mantissa.
fn to_e4m3(x: Typed<'_>) -> Typed<'_> {
    let size = x.val.abs();
    let size = size.lt(448.0).select(size, 448.0);
    // Below 2^-6 the step is 2^-9. The least that rounds up to 2^-6 has its bits already.
    let small = (size * 512.0).round_even().to(Scalar::I32);
    // Twenty bits are cut off the mantissa, and the exponent's bias falls from 127 to 7.
    let bits = size.bitcast(Scalar::I32);
    let large = ((bits + 0x7_ffff + (bits.shr_u(20) & 1)).shr_u(20)) - (120 << 3);
    let sign = x.val.bitcast(Scalar::I32).shr_u(31) << 7;
    let is_nan = x.is_nan();
    Typed::new(is_nan.select(0x7e, size.lt(1.0 / 64.0).select(small, large) | sign), Dtype::U8)
}

fn from_e4m3(x: Typed<'_>) -> Typed<'_> {
    let (exponent, mantissa) = (x.val.shr_u(3) & 15, x.val & 7);
    let small = mantissa.to(Scalar::F32) * (1.0 / 512.0);
    let large = ((exponent + 120) << 23 | mantissa << 20).bitcast(Scalar::F32);
    let size = exponent.eq(0).select(small, (x.val & 0x7f).eq(0x7f).select(f32::NAN, large));
    Typed::new((x.val & 0x80).ne(0).select(-size, size), Dtype::F32)
}

/// Expected values: e4m3 by its definition, which the wheel agrees with.
#[cfg(test)]
mod tests {
    use super::*;

    /// Every number of eight bits but NaN, by its bits.
    fn numbers() -> Vec<f32> {
        let size = |bits: i32| match bits >> 3 {
            0 => (bits & 7) as f32 / 512.0,
            exponent => (1.0 + (bits & 7) as f32 / 8.0) * (exponent as f32 - 7.0).exp2(),
        };
        (0..256)
            .filter(|bits| bits & 0x7f != 0x7f)
            .map(|bits| size(bits & 0x7f) * if bits < 128 { 1.0 } else { -1.0 })
            .collect()
    }

    #[test]
    fn numbers_of_eight_bits_come_back() {
        let numbers = numbers();
        let x = Array::from_slice(&numbers, &[254]).expect("254 numbers");
        let bits = to_fp8(&x).expect("floats");
        assert_eq!(
            bits.to_vec::<u8>().expect("bytes"),
            (0..=255u8).filter(|bits| bits & 0x7f != 0x7f).collect::<Vec<_>>()
        );
        assert_eq!(from_fp8(&bits).expect("bytes").to_vec::<f32>().expect("floats"), numbers);
    }

    #[test]
    fn what_lies_between_goes_to_the_nearer_and_halfway_to_the_even() {
        let numbers = &numbers()[..127];
        for (bits, pair) in numbers.windows(2).enumerate() {
            let middle = (pair[0] + pair[1]) / 2.0;
            let x = Array::from_slice(&[middle.next_down(), middle, middle.next_up()], &[3]).expect("three");
            let [low, high] = [bits as u8, bits as u8 + 1];
            let even = if low % 2 == 0 { low } else { high };
            assert_eq!(to_fp8(&x).expect("floats").to_vec::<u8>().expect("bytes"), [low, even, high], "{middle}");
        }
    }

    #[test]
    fn what_lies_beyond_becomes_the_largest() {
        let x = Array::from_slice(&[1000.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN], &[4]).expect("four");
        assert_eq!(to_fp8(&x).expect("floats").to_vec::<u8>().expect("bytes"), [0x7e, 0x7e, 0xfe, 0x7e]);
        let nan = from_fp8(&Array::from_slice(&[0x7fu8, 0xff], &[2]).expect("two")).expect("bytes");
        assert!(nan.to_vec::<f32>().expect("floats").iter().all(|x| x.is_nan()));
        assert!(to_fp8(&Array::from_slice(&[1], &[1]).expect("one")).is_err());
    }
}
