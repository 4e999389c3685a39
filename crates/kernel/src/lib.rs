//! The kernel language of Pumice.
//!
//! One small typed language for every GPU kernel: built-in, fused, and users' own. A kernel is data ([`ir`]), written in Rust
//! with [`build`], checked by the verifier, defined by the interpreter, rewritten by passes, and emitted as SPIR-V. Nothing
//! here knows a device, a file or a clock, and nothing is `unsafe`.
//!
//! # The contract
//! - **Bits.** Every operation is defined to the bit ([`ir`] says how): correctly rounded division, square root and fma,
//!   saturating conversions, wrapping integers, NaN rules, the order of subgroup reductions. Interpreter and devices agree,
//!   but for the payload of a NaN and the rounding inside cooperative matrix products.
//! - **Storage is not computation.** Buffers hold any [`Elem`]; values are bool, 32- and 64-bit integers and floats. `narrow`
//!   marks where a value must be rounded as if it had been stored, so fusing kernels keeps bits.
//! - **Who checks what.** The builder catches mixed types at the line where they happen; the verifier accepts only well-formed
//!   kernels; the interpreter reports overruns, races and divergence; the checked build reports overruns on a device.
//! - **Device differences are data.** [`target::Target`] says what there is; a kernel that can do without is emitted
//!   without.
//! - **Deterministic.** The same kernel and target give the same words.

pub mod arguments;
pub mod build;
pub mod error;
pub mod eval;
pub mod interpret;
pub mod ir;
pub mod math;
mod operands;
pub mod passes;
pub mod print;
#[doc(hidden)]
pub mod random;
pub mod search;
pub mod spirv;
pub mod target;
pub mod types;
pub mod verify;

pub use build::{Buffer, Builder, PrivateArray, SharedArray, TileRef, Val};
pub use error::{Error, Result};
pub use ir::{Access, Kernel};
pub use target::Target;
pub use types::{Elem, Matrix, MatrixLayout, MatrixRole, MatrixScope, Scalar, Type};
