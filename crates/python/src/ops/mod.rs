//! The ops as functions of the module and as methods of arrays, a line each. The families of the array crate's tables
//! have macros; the others are written with [`functions`] and [`methods`].

mod arguments;
mod binary;
mod create;
pub mod fast;
mod gather;
mod joins;
mod products;
mod reduce;
mod unary;
mod views;

use pyo3::prelude::*;

pub use arguments::{Arrays, IntList};

/// Functions of the module that give one array, with `stream` as their last argument. A line has a docstring, the name,
/// the signature without `stream` as Python writes it, the arguments as Rust has them, and the call.
macro_rules! functions {
    ($($(#[doc = $doc:literal])* $name:ident [$($signature:tt)*] ($($argument:ident: $ty:ty),* $(,)?) => $call:expr;)*) => {
        $(
            $(#[doc = $doc])*
            #[pyfunction]
            #[pyo3(signature = ($($signature)*, stream=None))]
            fn $name($($argument: $ty,)* stream: Option<crate::device::On>) -> crate::error::Answer<crate::array::PyArray> {
                crate::device::array_on(stream, || $call)
            }
        )*

        /// Adds the functions.
        pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}
pub(crate) use functions;

/// Methods of arrays that give one array, with `stream` as their last argument. A line is like one of `functions`;
/// `this` is the array.
macro_rules! methods {
    ($($(#[doc = $doc:literal])* $name:ident |$this:ident| [$($signature:tt)*] ($($argument:ident: $ty:ty),* $(,)?) => $call:expr;)*) => {
        #[pymethods]
        impl crate::array::PyArray {$(
            $(#[doc = $doc])*
            #[pyo3(signature = ($($signature)* stream=None))]
            fn $name(&self $(, $argument: $ty)*, stream: Option<crate::device::On>) -> crate::error::Answer<crate::array::PyArray> {
                let $this = &self.array();
                crate::device::array_on(stream, || $call)
            }
        )*}
    };
}
pub(crate) use methods;

/// Other names of functions, and their own.
const ALIASES: [(&str, &str); 17] = [
    ("acos", "arccos"),
    ("acosh", "arccosh"),
    ("asin", "arcsin"),
    ("asinh", "arcsinh"),
    ("atan", "arctan"),
    ("atan2", "arctan2"),
    ("atanh", "arctanh"),
    ("bitwise_left_shift", "left_shift"),
    ("bitwise_right_shift", "right_shift"),
    ("concat", "concatenate"),
    ("conj", "conjugate"),
    ("cumulative_prod", "cumprod"),
    ("cumulative_sum", "cumsum"),
    ("empty", "zeros"),
    ("empty_like", "zeros_like"),
    ("permute_dims", "transpose"),
    ("pow", "power"),
];

/// Adds the ops.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    unary::add_to(module)?;
    binary::add_to(module)?;
    reduce::add_to(module)?;
    create::add_to(module)?;
    views::add_to(module)?;
    joins::add_to(module)?;
    gather::add_to(module)?;
    products::add_to(module)?;
    for (alias, name) in ALIASES {
        if let Ok(function) = module.getattr(name) {
            module.add(alias, function)?;
        }
    }
    Ok(())
}
