//! Mathematical functions of typed scalars: of the f32 they are computed in, or of complex numbers. Doubles are none of their
//! business; Rust computes those.

use super::Typed;
use crate::dtype::Dtype;

/// Functions that real and complex numbers have: name => the name the kernel language has for it.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident => $kernel:ident;)*) => {
        impl<'k> Typed<'k> {$(
            $(#[$doc])*
            pub fn $name(self) -> Typed<'k> {
                self.apply(|x| x.$kernel(), |z| z.$kernel())
            }
        )*}
    };
}

functions! {
    /// e^x.
    exp => exp;
    /// Natural logarithm.
    log => log;
    /// Logarithm to base 2.
    log2 => log2;
    /// Logarithm to base 10.
    log10 => log10;
    /// log(1 + x).
    log1p => log1p;
    /// Sine.
    sin => sin;
    /// Cosine.
    cos => cos;
    /// Tangent.
    tan => tan;
    /// Inverse of the sine.
    arcsin => asin;
    /// Inverse of the cosine.
    arccos => acos;
    /// Inverse of the tangent.
    arctan => atan;
    /// Hyperbolic sine.
    sinh => sinh;
    /// Hyperbolic cosine.
    cosh => cosh;
    /// Hyperbolic tangent.
    tanh => tanh;
    /// Inverse of the hyperbolic sine.
    arcsinh => asinh;
    /// Inverse of the hyperbolic cosine.
    arccosh => acosh;
    /// Inverse of the hyperbolic tangent.
    arctanh => atanh;
    /// Square root.
    sqrt => sqrt;
}

/// Functions of real numbers only.
macro_rules! real_functions {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        impl<'k> Typed<'k> {$(
            $(#[$doc])*
            pub fn $name(self) -> Typed<'k> {
                Typed::rounded(self.val.$name(), self.dtype)
            }
        )*}
    };
}

real_functions! {
    /// e^x - 1.
    expm1;
    /// 1 / (1 + e^-x).
    sigmoid;
    /// The error function.
    erf;
    /// The inverse of the error function.
    erfinv;
    /// Towards negative infinity.
    floor;
    /// Towards positive infinity.
    ceil;
    /// Towards zero.
    trunc;
}

impl<'k> Typed<'k> {
    /// 1 / sqrt(x).
    pub fn rsqrt(self) -> Typed<'k> {
        match self.dtype {
            Dtype::F64 | Dtype::C64 => self.like(1.0) / self.sqrt(),
            dtype => Typed::rounded(self.val.rsqrt(), dtype),
        }
    }

    /// To the nearest whole number, ties to even; of complex numbers both parts.
    pub fn round(self) -> Typed<'k> {
        self.apply(
            |x| x.round_even(),
            |mut z| {
                (z.re, z.im) = (z.re.round_even(), z.im.round_even());
                z
            },
        )
    }

    /// The angle of the point (other, self).
    pub fn arctan2(self, other: Typed<'k>) -> Typed<'k> {
        Typed::rounded(self.val.atan2(other.val), self.dtype)
    }

    /// log(e^x + e^y).
    pub fn logaddexp(self, other: Typed<'k>) -> Typed<'k> {
        match self.dtype {
            Dtype::C64 => {
                let (high, low) = (self.maximum(other), self.minimum(other));
                high + (low - high).exp().log1p()
            }
            dtype => Typed::rounded(self.val.logaddexp(other.val), dtype),
        }
    }
}
