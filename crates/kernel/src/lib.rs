//! The kernel language.
pub mod arguments;
pub mod error;
pub mod ir;
mod operands;
pub mod target;
pub mod types;
