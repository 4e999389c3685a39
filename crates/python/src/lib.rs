//! `mlx.core` over Pumice: what Python programs written for MLX import.
//!
//! Every op of the array crate is a line in `ops/`; everything around them stands once: Python's values become arrays in
//! `convert` and leave in `export`, index expressions are read in `index`, trees of arrays in `tree`, errors become
//! exceptions in `error`. Python's numbers stay weak, errors are raised when the graph is built, and the interpreter
//! is let go while something is computed or waited for.
//!
//! README.md says how it is built, installed and tested.

mod array;
mod backends;
mod captured;
mod convert;
mod device;
mod dlpack;
mod dtype;
mod error;
mod evaluation;
mod export;
mod index;
mod info;
mod kit;
mod memory;
mod namespace;
mod number;
mod operators;
mod ops;
mod printing;
mod random;
mod transforms;
mod tree;

use pyo3::prelude::*;

/// The version of MLX whose names and behaviour these are.
const MLX_VERSION: &str = "0.32.4";

/// The module `mlx.core`.
#[pymodule(name = "core")]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", MLX_VERSION)?;
    constants(module)?;
    dtype::add_to(module)?;
    info::add_to(module)?;
    namespace::add_to(module)?;
    device::add_to(module)?;
    array::add_to(module)?;
    index::add_to(module)?;
    export::add_to(module)?;
    dlpack::add_to(module)?;
    evaluation::add_to(module)?;
    ops::add_to(module)?;
    transforms::add_to(module)?;
    printing::add_to(module)?;
    memory::add_to(module)?;
    random::add_to(&submodule(module, "random")?)?;
    kit::add_to(&submodule(module, "pumice")?)?;
    backends::add_metal_to(&submodule(module, "metal")?, module)?;
    backends::add_cuda_to(&submodule(module, "cuda")?)?;
    backends::add_distributed_to(&submodule(module, "distributed")?)?;
    ops::fast::add_to(&submodule(module, "fast")?)?;
    ["linalg", "fft"].iter().try_for_each(|name| submodule(module, name).map(drop))
}

/// A module inside the module, which can be imported by its full name.
fn submodule<'py>(module: &Bound<'py, PyModule>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    let py = module.py();
    let full = format!("mlx.core.{name}");
    let made = PyModule::new(py, &full)?;
    module.add(name, &made)?;
    py.import("sys")?.getattr("modules")?.set_item(full, &made)?;
    Ok(made)
}

fn constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("pi", std::f64::consts::PI)?;
    module.add("e", std::f64::consts::E)?;
    module.add("euler_gamma", 0.577_215_664_901_532_9)?;
    module.add("inf", f64::INFINITY)?;
    module.add("nan", f64::NAN)?;
    module.add("newaxis", module.py().None())
}
