//! Mathematical functions, written once in the kernel language.
//!
//! Drivers' own functions differ from each other and are wrong by up to 75 units in the last place, or in all digits. These
//! are built only from operations that are defined to the bit, so the interpreter and every device give the same bits: at
//! most 2 units in the last place (ulp) off, 4 for `pow` and `erfinv`, over all of f32, denormals and huge arguments
//! included. Special values follow C99's Annex F. `docs/math.md` lists what was measured, [`catalogue`] is the list it is
//! measured from.
//!
//! All take F32 scalars. The polynomials come from `minimax.py`, beside this file.

mod bits;
#[doc(hidden)]
pub mod catalogue;
mod classify;
pub mod complex;
mod digamma;
mod error_function;
mod exponential;
mod gamma;
mod hyperbolic;
mod inverse;
mod logarithm;
mod polynomial;
mod power;
mod reduction;
mod remainder;
mod trigonometric;

use crate::build::{Operand, Val, here};
use crate::types::Type;

/// Methods of one operand: name => module.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident => $module:ident;)*) => {
        impl<'k> Val<'k> {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(self) -> Val<'k> {
                self.must_be_f32(stringify!($name));
                $module::$name(self)
            }
        )*}
    };
}

/// Methods of two operands: name => module.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident => $module:ident;)*) => {
        impl<'k> Val<'k> {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(self, other: impl Operand<'k>) -> Val<'k> {
                self.must_be_f32(stringify!($name));
                let other = other.into_val(self.builder(), Type::F32);
                other.must_be_f32(stringify!($name));
                $module::$name(self, other)
            }
        )*}
    };
}

unary! {
    /// e^x.
    exp => exponential;
    /// 2^x.
    exp2 => exponential;
    /// e^x - 1, without cancellation near 0.
    expm1 => exponential;
    /// 1 / (1 + e^-x).
    sigmoid => exponential;
    /// Natural logarithm; -infinity of zero, NaN of negative numbers.
    log => logarithm;
    /// Logarithm to base 2.
    log2 => logarithm;
    /// Logarithm to base 10.
    log10 => logarithm;
    /// log(1 + x), without cancellation near 0.
    log1p => logarithm;
    /// Sine of any angle, in radians.
    sin => trigonometric;
    /// Cosine of any angle, in radians.
    cos => trigonometric;
    /// Tangent of any angle, in radians.
    tan => trigonometric;
    /// Arcsine, between -π/2 and π/2.
    asin => inverse;
    /// Arccosine, between 0 and π.
    acos => inverse;
    /// Arctangent, between -π/2 and π/2.
    atan => inverse;
    /// Hyperbolic sine.
    sinh => hyperbolic;
    /// Hyperbolic cosine.
    cosh => hyperbolic;
    /// Hyperbolic tangent.
    tanh => hyperbolic;
    /// Inverse of sinh.
    asinh => hyperbolic;
    /// Inverse of cosh, not negative; NaN below 1.
    acosh => hyperbolic;
    /// Inverse of tanh; NaN outside -1 to 1.
    atanh => hyperbolic;
    /// Error function.
    erf => error_function;
    /// 1 - erf(x), without cancellation for large x.
    erfc => error_function;
    /// Inverse of erf; infinite at ±1, NaN beyond.
    erfinv => error_function;
    /// Gamma function; NaN at negative integers.
    gamma => gamma;
    /// Logarithm of the absolute value of the gamma function; infinite at its poles.
    lgamma => gamma;
    /// Derivative of lgamma; NaN at negative integers.
    digamma => digamma;
    /// 1 / sqrt(x).
    rsqrt => power;
    /// x².
    square => classify;
    /// 1 / x, correctly rounded.
    reciprocal => classify;
    /// -1, 0 or 1; zeros keep their sign, NaN stays.
    sign => classify;
    /// Whether it is NaN; a bool.
    is_nan => classify;
    /// Whether it is an infinity; a bool.
    is_inf => classify;
    /// Whether it is neither infinite nor NaN; a bool.
    is_finite => classify;
}

binary! {
    /// The angle of the point (other, self), between -π and π: `y.atan2(x)`.
    atan2 => inverse;
    /// self to the power of other, by C's rules for special values.
    pow => power;
    /// sqrt(x² + y²) without overflow on the way.
    hypot => power;
    /// log(e^x + e^y) without overflow on the way.
    logaddexp => logarithm;
    /// The remainder of the quotient rounded towards zero, with the sign of self, as C's fmod; exact.
    fmod => remainder;
    /// The remainder of the quotient rounded down, with the sign of other, as Python's `%`.
    remainder => remainder;
    /// The quotient rounded down, as Python's `//`.
    floor_div => remainder;
}

impl<'k> Val<'k> {
    /// Sine and cosine from one reduction of the angle.
    #[track_caller]
    pub fn sin_cos(self) -> (Val<'k>, Val<'k>) {
        self.must_be_f32("sin_cos");
        trigonometric::sin_cos(self)
    }

    #[track_caller]
    fn must_be_f32(self, function: &str) {
        let ty = self.ty();
        if ty != Type::F32 {
            self.builder().note_mistake(here(), format!("{function} takes f32 but was given {ty}."));
        }
    }
}
