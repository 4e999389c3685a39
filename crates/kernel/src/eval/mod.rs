//! What the scalar operations mean, as functions of bits.
//!
//! Every component of a value is a word of 64 bits: integers and floats as in memory in the low end, bools as 0 or 1,
//! everything above zero. The interpreter and the folding pass both compute with these functions and nothing else, so a
//! folded constant is what the interpreter would have computed, and both are what every device must compute.
//!
//! Each family is one table from operation and type to a closure, handed to a visitor: applied to one word it is the public
//! function, applied to whole columns it is the interpreter's inner loop.

mod binary;
mod compare;
mod convert;
mod dot;
mod fma;
mod storage;
mod unary;
mod word;

pub use binary::{binary, identity};
pub use compare::compare;
pub use convert::{bitcast, convert};
pub use dot::dot4;
pub use fma::fma;
pub use storage::{decode, encode, narrow, round_to_elem};
pub use unary::unary;
pub use word::low_bits;

pub(crate) use binary::visit_binary;
pub(crate) use compare::visit_compare;
pub(crate) use convert::visit_convert;
pub(crate) use fma::visit_fma;
pub(crate) use storage::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
pub(crate) use storage::{visit_decode, visit_encode, visit_narrow};
pub(crate) use unary::visit_unary;
pub(crate) use word::{Visit1, Visit2, Visit3};
