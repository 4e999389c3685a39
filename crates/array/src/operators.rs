//! Element-wise ops as methods and operators of arrays: methods give results, operators panic with the error's text.

use std::ops;

use crate::array::Array;
use crate::dtype::{Complex64, Dtype};
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
    /// Hyperbolic tangents.
    tanh;
    /// The error function.
    erf;
    /// One over 1 and e to the power of the negative numbers.
    sigmoid;
    /// The largest whole numbers that are not above.
    floor;
    /// The smallest whole numbers that are not below.
    ceil;
    /// The nearest whole numbers, ties to even.
    round;
    /// Which numbers are zero.
    logical_not;
    /// The numbers with every bit turned.
    bitwise_invert;
    /// Which numbers are NaN.
    isnan;
    /// Which numbers are infinite.
    isinf;
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

    /// The elements, or the bound they are beyond.
    pub fn clip(&self, low: Option<&dyn Operand>, high: Option<&dyn Operand>) -> Result<Array> {
        select::clip(self, low, high)
    }
}

/// What an operator gives, or a panic with what is wrong.
#[track_caller]
fn given(result: Result<Array>) -> Array {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// Operators between arrays, and between arrays and numbers.
macro_rules! operators {
    ($($trait:ident $method:ident => $function:ident;)*) => {$(
        impl<R: Operand> ops::$trait<R> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: R) -> Array {
                given(binary::$function(self, other))
            }
        }
        impl<R: Operand> ops::$trait<R> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: R) -> Array {
                given(binary::$function(self, other))
            }
        }
        // One type of each kind: a literal on the left must have one meaning.
        operators!(@number $trait $method $function bool i64 f64 Complex64);
    )*};
    (@number $trait:ident $method:ident $function:ident $($number:ty)*) => {$(
        impl ops::$trait<&Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array {
                given(binary::$function(self, other))
            }
        }
        impl ops::$trait<Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array {
                given(binary::$function(self, other))
            }
        }
    )*};
}

operators! {
    Add add => add;
    Sub sub => subtract;
    Mul mul => multiply;
    Div div => divide;
    Rem rem => remainder;
    BitAnd bitand => bitwise_and;
    BitOr bitor => bitwise_or;
    BitXor bitxor => bitwise_xor;
    Shl shl => left_shift;
    Shr shr => right_shift;
}

/// Prefix operators.
macro_rules! prefixes {
    ($($trait:ident $method:ident => $function:ident;)*) => {$(
        impl ops::$trait for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self) -> Array {
                given(unary::$function(self))
            }
        }
        impl ops::$trait for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self) -> Array {
                given(unary::$function(&self))
            }
        }
    )*};
}

prefixes! {
    Neg neg => negative;
    Not not => bitwise_invert;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Array {
        Array::from_slice(values, &[values.len() as i32]).expect("as many")
    }

    #[test]
    fn operators_take_arrays_and_numbers_on_either_side() {
        let (a, b) = (floats(&[1.0, 2.0]), floats(&[3.0, 5.0]));
        let y = 2.0 * (&a + &b) - &b / 2.0 - -&a;
        assert_eq!(y.to_vec::<f32>().expect("floats"), [7.5, 13.5]);
        let n = Array::from_slice(&[5i32, -6], &[2]).expect("two");
        let m = ((&n % 4) << 2) | 1;
        assert_eq!(m.to_vec::<i32>().expect("ints"), [5, 9]);
        assert_eq!((!n).to_vec::<i32>().expect("ints"), [-6, 5]);
    }

    #[test]
    #[should_panic(expected = "[add] shapes must broadcast but are (2,) and (3,).")]
    fn operators_panic_with_the_text_of_the_error() {
        let _ = floats(&[1.0, 2.0]) + floats(&[1.0, 2.0, 3.0]);
    }

    #[test]
    fn methods_give_the_error_instead() {
        assert!(floats(&[1.0, 2.0]).add(floats(&[1.0, 2.0, 3.0])).is_err());
    }
}
