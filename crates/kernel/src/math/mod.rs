//! Mathematical functions.
mod bits;
mod exponential;
mod hyperbolic;
mod inverse;
mod logarithm;
mod polynomial;
mod reduction;
mod trigonometric;

use crate::build::{Val, here};
use crate::types::Type;

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

unary! {
    /// e^x.
    exp => exponential;
    /// 2^x.
    exp2 => exponential;
    /// e^x - 1.
    expm1 => exponential;
    /// 1 / (1 + e^-x).
    sigmoid => exponential;
    /// Natural logarithm.
    log => logarithm;
    /// Base 2.
    log2 => logarithm;
    /// Base 10.
    log10 => logarithm;
    /// log(1+x).
    log1p => logarithm;
    /// Sine.
    sin => trigonometric;
    /// Cosine.
    cos => trigonometric;
    /// Tangent.
    tan => trigonometric;
    /// asin.
    asin => inverse;
    /// acos
    acos => inverse;
    /// atan
    atan => inverse;
    /// sinh
    sinh => hyperbolic;
    /// cosh
    cosh => hyperbolic;
    /// tanh
    tanh => hyperbolic;
    /// asinh
    asinh => hyperbolic;
    /// acosh
    acosh => hyperbolic;
    /// atanh
    atanh => hyperbolic;
}

impl<'k> Val<'k> {
    #[track_caller]
    fn must_be_f32(self, function: &str) {
        let ty = self.ty();
        if ty != Type::F32 {
            self.builder().note_mistake(here(), format!("[{function}] takes f32 but was given {ty}."));
        }
    }
}
