//! The list itself.

use super::reference;
use super::{Form, MathFunction};

/// A row of one argument: name, domain, bound, reference, ranges.
macro_rules! unary {
    ($name:ident, $domain:literal, $bound:literal, $reference:expr, $ranges:expr) => {
        MathFunction {
            name: stringify!($name),
            domain: $domain,
            bound_ulp: $bound,
            form: Form::Unary { build: |x| x.$name(), reference: $reference },
            ranges: &$ranges,
            terms: None,
        }
    };
}

/// A row of two arguments: name, domain, bound, reference, terms.
macro_rules! binary {
    ($name:ident, $domain:literal, $bound:literal, $reference:expr, $terms:expr) => {
        MathFunction {
            name: stringify!($name),
            domain: $domain,
            bound_ulp: $bound,
            form: Form::Binary { build: |x, y| x.$name(y), reference: $reference },
            ranges: &[],
            terms: $terms,
        }
    };
}

/// Angles: around the first quadrants, up to where the reduction changes, and up to the largest float.
const ANGLES: [(f32, f32); 5] =
    [(0.1, 3.2), (3.0, 100.0), (100.0, 131_072.0), (131_000.0, 132_000.0), (131_072.0, f32::MAX)];

static TABLE: [MathFunction; 37] = [
    unary!(exp, "all", 2.0, f64::exp, [(0.25, 1.0), (-1.0, -0.25), (80.0, 89.0), (-104.0, -87.0)]),
    unary!(exp2, "all", 2.0, f64::exp2, [(0.25, 1.0), (-1.0, -0.25), (126.0, 128.5), (-150.0, -125.0)]),
    unary!(expm1, "all", 2.0, f64::exp_m1, [(0.25, 1.0), (-1.0, -0.25), (0.49, 0.51), (-18.0, -1.0), (15.0, 89.0)]),
    unary!(sigmoid, "all", 2.0, reference::sigmoid, [(0.25, 2.0), (-2.0, -0.1), (-20.0, -2.0), (-105.0, -85.0)]),
    unary!(log, "x > 0", 2.0, f64::ln, [(0.5, 0.9), (0.9, 1.1), (1.1, 3.0), (1e-45, 1e-37)]),
    unary!(log2, "x > 0", 2.0, f64::log2, [(0.5, 0.9), (0.9, 1.1), (1.1, 3.0), (1e-45, 1e-37)]),
    unary!(log10, "x > 0", 2.0, f64::log10, [(0.5, 0.9), (0.9, 1.1), (1.1, 3.0), (1e-45, 1e-37)]),
    unary!(log1p, "x > -1", 2.0, f64::ln_1p, [(0.1, 0.7), (-0.999, -0.1), (0.7, 3.0), (1e4, 1e9)]),
    unary!(sin, "finite", 2.0, f64::sin, ANGLES),
    unary!(cos, "finite", 2.0, f64::cos, ANGLES),
    unary!(tan, "finite", 2.0, f64::tan, ANGLES),
    unary!(asin, "-1 to 1", 2.0, f64::asin, [(0.1, 0.5), (0.5, 0.6), (0.5, 1.0)]),
    unary!(acos, "-1 to 1", 2.0, f64::acos, [(0.1, 0.6), (0.5, 1.0), (0.99, 1.0), (-0.6, -0.1), (-1.0, -0.5)]),
    unary!(atan, "all", 2.0, f64::atan, [(0.1, 1.0), (1.0, 10.0)]),
    unary!(sinh, "all", 2.0, f64::sinh, [(0.1, 1.1), (1.0, 10.0), (80.0, 90.0)]),
    unary!(cosh, "all", 2.0, f64::cosh, [(0.1, 1.1), (1.0, 10.0), (80.0, 90.0)]),
    unary!(tanh, "all", 2.0, f64::tanh, [(0.1, 0.6), (0.5, 1.0), (1.0, 9.3)]),
    unary!(asinh, "all", 2.0, libm::asinh, [(0.1, 1.0), (1.0, 2.0), (2.0, 1e9)]),
    unary!(acosh, "x >= 1", 2.0, reference::acosh, [(1.0, 1.1), (1.1, 3.0), (3.0, 1e9)]),
    unary!(atanh, "-1 to 1", 2.0, libm::atanh, [(0.1, 0.5), (0.5, 1.0)]),
    unary!(erf, "all", 2.0, libm::erf, [(0.1, 1.0), (1.0, 1.5), (1.0, 4.0)]),
    unary!(erfc, "all", 2.0, libm::erfc, [(0.1, 0.7), (0.7, 2.0), (2.0, 9.2), (9.2, 10.1), (-1.0, -0.1), (-4.0, -1.0)]),
    unary!(erfinv, "-1 to 1", 4.0, reference::erfinv, [(0.1, 0.9), (0.9, 0.999), (0.999, 1.0)]),
    unary!(
        gamma,
        "no negative integers",
        4.0,
        reference::gamma,
        [(0.1, 3.0), (3.0, 35.1), (-3.0, -0.1), (-42.0, -3.0)]
    ),
    MathFunction {
        terms: Some(|x, _| if x < 0.0 { libm::lgamma(-x).abs() + reference::log_reflection(-x) } else { 0.0 }),
        ..unary!(
            lgamma,
            "all",
            2.0,
            reference::lgamma,
            [(0.1, 0.9), (0.9, 1.1), (1.1, 1.9), (1.9, 2.1), (2.1, 10.0), (-10.0, -0.1)]
        )
    },
    MathFunction {
        terms: Some(|x, _| if x < 0.0 { reference::digamma(1.0 - x).abs() + reference::cotangent(-x) } else { 0.0 }),
        ..unary!(
            digamma,
            "no negative integers",
            2.0,
            reference::digamma,
            [(0.1, 1.2), (1.2, 1.6), (1.46, 1.463), (1.6, 4.0), (4.0, 100.0), (-10.0, -0.1)]
        )
    },
    unary!(rsqrt, "x > 0", 1.5, reference::rsqrt, [(0.5, 2.0), (2.0, 4.0), (1e-45, 1e-37)]),
    unary!(square, "all", 0.5, |x| x * x, [(0.5, 2.0)]),
    unary!(reciprocal, "all", 0.5, |x| 1.0 / x, [(0.5, 2.0), (1e38, f32::MAX)]),
    unary!(sign, "all", 0.0, reference::sign, []),
    binary!(pow, "x >= 0, or y an integer", 4.0, f64::powf, None),
    binary!(atan2, "all", 2.0, f64::atan2, None),
    binary!(hypot, "all", 2.0, f64::hypot, None),
    binary!(
        logaddexp,
        "all",
        3.0,
        reference::logaddexp,
        Some(|x, y| {
            let high = reference::larger(x, y);
            high.abs() + (reference::logaddexp(x, y) - high)
        })
    ),
    binary!(fmod, "x finite, y not 0", 0.0, |x, y| x % y, None),
    binary!(remainder, "x finite, y not 0", 0.5, reference::remainder, None),
    binary!(floor_div, "x finite", 1.0, reference::floor_div, None),
];

/// Every mathematical function, with its reference and its bound.
pub fn table() -> &'static [MathFunction] {
    &TABLE
}
