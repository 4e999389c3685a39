//! `mlx.core` over Pumice: what Python programs written for MLX import.
//!
//! Every op of the array crate is a line in `ops/`; everything around them stands once: Python's values become arrays in
//! `convert` and leave in `export`, index expressions are read in `index`, trees of arrays in `tree`, errors become
//! exceptions in `error`. Python's numbers stay weak, errors are raised when the graph is built, and the interpreter
//! is let go while something is computed or waited for.

mod array;
mod convert;
mod device;
mod dlpack;
mod dtype;
mod error;
mod evaluation;
mod number;
mod operators;
mod ops;
mod tree;

use pyo3::prelude::*;

/// The module `mlx.core`.
#[pymodule(name = "core")]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", "0.32.4")?;
    dtype::add_to(module)?;
    device::add_to(module)?;
    array::add_to(module)?;
    evaluation::add_to(module)?;
    ops::add_to(module)
}
