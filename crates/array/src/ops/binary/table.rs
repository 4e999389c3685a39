//! The rows.

use super::{NUMBERS, Row, double};
use crate::array::Array;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops::select::where_;
use crate::ops::unary::{exp, log, negative, sigmoid, square};
use crate::scalar::Operand;
use crate::typed::Typed;

/// Makes a public function and a row of the table of each op.
macro_rules! binary {
    ($($(#[doc = $doc:literal])* $name:ident => $row:expr;)*) => {
        $(
            $(#[doc = $doc])*
            pub fn $name(a: impl Operand, b: impl Operand) -> Result<Array> {
                TABLE[Index::$name as usize].call(&a, &b)
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
/// Questions.
const TRUTHS: Row = Row { gives: |_| Dtype::Bool, ..NUMBERS };
/// Questions about truths: what differs from zero is true.
const LOGIC: Row = Row { computes: |_| Dtype::Bool, ..TRUTHS };
/// Operations on the bits of integers and bools.
const BITS: Row = Row { dtypes: Dtype::ALL.split_at(9).0, refuses: Error::Runtime, ..NUMBERS };
/// Shifts: bools become uint8 first.
const SHIFTS: Row = Row {
    computes: |dtype| if dtype == Dtype::Bool { Dtype::U8 } else { dtype },
    ranges: [(0.0, 100.0), (0.0, 7.0)],
    ..BITS
};
/// Every type but complex64.
const REAL: &[Dtype] = Dtype::ALL.split_at(13).0;

binary! {
    /// The sum.
    add => Row { scalar: |a, b| a + b, partials: [Some(|_, _, _, g| Ok(g.clone())), Some(|_, _, _, g| Ok(g.clone()))], ..NUMBERS };
    /// The difference.
    subtract => Row { scalar: |a, b| a - b, partials: [Some(|_, _, _, g| Ok(g.clone())), Some(|_, _, _, g| negative(g))], ..NUMBERS };
    /// The product.
    multiply => Row { scalar: |a, b| a * b, partials: [Some(|_, b, _, g| multiply(g, b)), Some(|a, _, _, g| multiply(g, a))], ..NUMBERS };
    /// The quotient; integers become float32 first.
    divide => Row {
        scalar: |a, b| a / b,
        partials: [
            Some(|_, b, _, g| divide(g, b)),
            Some(|a, b, _, g| divide(negative(&multiply(g, a)?)?, square(b)?)),
        ],
        ranges: [(-2.0, 2.0), (0.5, 2.0)],
        ..FLOATS
    };
    /// The quotient rounded down; integers by zero give 0, complex numbers the quotient itself.
    floor_divide => Row { scalar: |a, b| a.floor_divide(b), ranges: [(-9.0, 9.0), (1.0, 3.0)], ..NUMBERS };
    /// What floor division leaves, with the sign of the divisor; of integers by zero the dividend.
    remainder => Row {
        scalar: |a, b| a.remainder(b),
        double: Some(double::remainder),
        dtypes: REAL,
        partials: [
            Some(|_, _, _, g| Ok(g.clone())),
            Some(|a, b, _, g| negative(&multiply(g, floor_divide(a, b)?)?)),
        ],
        ranges: [(-9.0, 9.0), (1.0, 3.0)],
        ..NUMBERS
    };
    /// The first number to the power of the second; of integers it wraps, and is 0 for negative exponents.
    power => Row {
        scalar: |a, b| a.power(b),
        double: Some(f64::powf),
        partials: [
            Some(|a, b, _, g| multiply(g, multiply(b, power(a, subtract(b, 1)?)?)?)),
            // Where the power is zero it stays so, whatever the logarithm of zero is.
            Some(|a, _, y, g| multiply(g, where_(y, multiply(log(a)?, y)?, 0)?)),
        ],
        ranges: [(0.2, 2.0), (-2.0, 2.0)],
        ..NUMBERS
    };
    /// The larger; NaN if either is. Complex numbers are ordered by their real, then by their imaginary parts.
    maximum => Row {
        scalar: |a, b| a.maximum(b),
        partials: [
            Some(|a, b, _, g| where_(greater(a, b)?, g, 0)),
            Some(|a, b, _, g| where_(less_equal(a, b)?, g, 0)),
        ],
        ..NUMBERS
    };
    /// The smaller; NaN if either is. Complex numbers are ordered by their real, then by their imaginary parts.
    minimum => Row {
        scalar: |a, b| a.minimum(b),
        partials: [
            Some(|a, b, _, g| where_(less(a, b)?, g, 0)),
            Some(|a, b, _, g| where_(greater_equal(a, b)?, g, 0)),
        ],
        ..NUMBERS
    };
    /// The angle of the point with the second number along and the first one up.
    arctan2 => Row {
        scalar: |a, b| a.arctan2(b),
        double: Some(f64::atan2),
        dtypes: REAL,
        partials: [
            Some(|a, b, _, g| divide(multiply(g, b)?, add(square(a)?, square(b)?)?)),
            Some(|a, b, _, g| divide(negative(&multiply(g, a)?)?, add(square(a)?, square(b)?)?)),
        ],
        ranges: [(0.5, 2.0), (-2.0, 2.0)],
        ..FLOATS
    };
    /// The logarithm of the sum of exponentials.
    logaddexp => Row {
        scalar: |a, b| a.logaddexp(b),
        double: Some(double::logaddexp),
        partials: [
            Some(|a, b, y, g| multiply(g, share(a, b, y)?)),
            Some(|a, b, y, g| multiply(g, share(b, a, y)?)),
        ],
        ..FLOATS
    };
    /// Whether they are equal; NaN equals nothing.
    equal => Row { scalar: |a, b| Typed::truth(a.equal(b)), ..TRUTHS };
    /// Whether they differ.
    not_equal => Row { scalar: |a, b| Typed::truth(!a.equal(b)), ..TRUTHS };
    /// Whether the first is less.
    less => Row { scalar: |a, b| Typed::truth(a.less(b)), ..TRUTHS };
    /// Whether the first is less or equal.
    less_equal => Row { scalar: |a, b| Typed::truth(a.less_equal(b)), ..TRUTHS };
    /// Whether the first is greater.
    greater => Row { scalar: |a, b| Typed::truth(b.less(a)), ..TRUTHS };
    /// Whether the first is greater or equal.
    greater_equal => Row { scalar: |a, b| Typed::truth(b.less_equal(a)), ..TRUTHS };
    /// Whether both differ from zero.
    logical_and => Row { scalar: |a, b| Typed::truth(a.val & b.val), ..LOGIC };
    /// Whether one differs from zero.
    logical_or => Row { scalar: |a, b| Typed::truth(a.val | b.val), ..LOGIC };
    /// Whether one of them differs from zero, and the other does not.
    logical_xor => Row { scalar: |a, b| Typed::truth(a.val ^ b.val), ..LOGIC };
    /// The bits that are set in both.
    bitwise_and => Row { scalar: |a, b| a.bitwise(b, |a, b| a & b), ..BITS };
    /// The bits that are set in one or both.
    bitwise_or => Row { scalar: |a, b| a.bitwise(b, |a, b| a | b), ..BITS };
    /// The bits that are set in one of them.
    bitwise_xor => Row { scalar: |a, b| a.bitwise(b, |a, b| a ^ b), ..BITS };
    /// The first number's bits moved up by the second, modulo the width they are computed in.
    left_shift => Row { scalar: |a, b| a.left_shift(b), ..SHIFTS };
    /// The first number's bits moved down by the second, modulo the width they are computed in.
    right_shift => Row { scalar: |a, b| a.right_shift(b), ..SHIFTS };
}

/// What part of a sum of exponentials the first one is; `y` is the logarithm of the sum.
fn share(a: &Array, b: &Array, y: &Array) -> Result<Array> {
    match a.dtype() {
        Dtype::C64 => exp(&subtract(a, y)?),
        _ => sigmoid(&subtract(a, b)?),
    }
}
