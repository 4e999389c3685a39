//! Element-wise ops as methods of arrays, by the functions of the same names.

use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::{astype, binary, bitcast, select, unary};
use crate::scalar::Operand;

/// Methods of one array, by the functions of the same name.
macro_rules! unary_methods {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        impl Array {$(
            $(#[$doc])*
            pub fn $name(&self) -> Result<Array> {
                unary::$name(self)
            }
        )*}
    };
}

unary_methods! {
    /// The numbers with the other sign.
    negative;
    /// The distances from zero.
    abs;
    /// -1, 0 or 1.
    sign;
    /// The numbers times themselves.
    square;
    /// Square roots.
    sqrt;
    /// One over the square roots.
    rsqrt;
    /// One over the numbers.
    reciprocal;
    /// e to the power of the numbers.
    exp;
    /// e to the power of the numbers, less 1.
    expm1;
    /// Natural logarithms.
    log;
    /// Logarithms to base 2.
    log2;
    /// Logarithms to base 10.
    log10;
    /// Natural logarithms of 1 and the numbers.
    log1p;
    /// Sines.
    sin;
    /// Cosines.
    cos;
    /// Tangents.
    tan;
    /// Inverses of sines.
    arcsin;
    /// Inverses of cosines.
    arccos;
    /// Inverses of tangents.
    arctan;
    /// Hyperbolic sines.
    sinh;
    /// Hyperbolic cosines.
    cosh;
    /// Hyperbolic tangents.
    tanh;
    /// Inverses of hyperbolic sines.
    arcsinh;
    /// Inverses of hyperbolic cosines.
    arccosh;
    /// Inverses of hyperbolic tangents.
    arctanh;
    /// The error function.
    erf;
    /// The inverse of the error function.
    erfinv;
    /// One over 1 and e to the power of the negative numbers.
    sigmoid;
    /// The largest whole numbers that are not above.
    floor;
    /// The smallest whole numbers that are not below.
    ceil;
    /// The nearest whole numbers, ties to even.
    round;
    /// The whole numbers next to them towards zero.
    trunc;
    /// Radians as degrees.
    degrees;
    /// Degrees as radians.
    radians;
    /// Which numbers are zero.
    logical_not;
    /// The numbers with every bit turned.
    bitwise_invert;
    /// Which numbers are NaN.
    isnan;
    /// Which numbers are infinite.
    isinf;
    /// Which numbers are positive infinity.
    isposinf;
    /// Which numbers are negative infinity.
    isneginf;
    /// Which numbers are neither infinite nor NaN.
    isfinite;
    /// Real parts.
    real;
    /// Imaginary parts.
    imag;
    /// The numbers mirrored at the real axis.
    conjugate;
    /// The array as a constant to derivatives.
    stop_gradient;
}

/// Methods of an array and another or a number, by the functions of the same name.
macro_rules! binary_methods {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        impl Array {$(
            $(#[$doc])*
            pub fn $name(&self, other: impl Operand) -> Result<Array> {
                binary::$name(self, other)
            }
        )*}
    };
}

binary_methods! {
    /// Sums.
    add;
    /// Differences.
    subtract;
    /// Products.
    multiply;
    /// Quotients.
    divide;
    /// Quotients rounded down.
    floor_divide;
    /// What floor division leaves.
    remainder;
    /// Powers.
    power;
    /// The larger of two.
    maximum;
    /// The smaller of two.
    minimum;
    /// Angles of points.
    arctan2;
    /// Logarithms of sums of exponentials.
    logaddexp;
    /// Which are equal.
    equal;
    /// Which differ.
    not_equal;
    /// Which are less.
    less;
    /// Which are less or equal.
    less_equal;
    /// Which are greater.
    greater;
    /// Which are greater or equal.
    greater_equal;
    /// Where both differ from zero.
    logical_and;
    /// Where one differs from zero.
    logical_or;
    /// Where one of them differs from zero.
    logical_xor;
    /// The bits set in both.
    bitwise_and;
    /// The bits set in one or both.
    bitwise_or;
    /// The bits set in one of them.
    bitwise_xor;
    /// The bits moved up.
    left_shift;
    /// The bits moved down.
    right_shift;
}

impl Array {
    /// The elements as another type.
    pub fn astype(&self, dtype: Dtype) -> Result<Array> {
        astype::astype(self, dtype)
    }

    /// The same bytes as another type.
    pub fn view(&self, dtype: Dtype) -> Result<Array> {
        bitcast::view(self, dtype)
    }

    /// The nearest numbers with this many digits after the point.
    pub fn round_to(&self, decimals: i32) -> Result<Array> {
        unary::round_to(self, decimals)
    }

    /// Numbers instead of NaN and infinities.
    pub fn nan_to_num(&self, instead: unary::NanToNum) -> Result<Array> {
        unary::nan_to_num(self, instead)
    }

    /// Quotients rounded down, and what they leave.
    pub fn divmod(&self, other: impl Operand) -> Result<(Array, Array)> {
        binary::divmod(self, other)
    }

    /// Which numbers are close to others.
    pub fn isclose(&self, other: impl Operand, close: binary::Close) -> Result<Array> {
        binary::isclose(self, other, close)
    }

    /// The elements, or the bound they are beyond.
    pub fn clip(&self, low: Option<&dyn Operand>, high: Option<&dyn Operand>) -> Result<Array> {
        select::clip(self, low, high)
    }
}
