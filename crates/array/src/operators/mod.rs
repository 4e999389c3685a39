//! Element-wise ops as operators and [`methods`] of arrays: methods give results, operators panic with the error's text.

mod methods;

use std::ops;

use crate::array::Array;
use crate::dtype::Complex64;
use crate::error::Result;
use crate::ops::{binary, unary};
use crate::scalar::Operand;

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
