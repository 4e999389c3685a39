//! `mx.metal`, `mx.cuda` and `mx.distributed`: Pumice is neither Metal nor CUDA, and a process is a group of its own.

use pyo3::prelude::*;

use crate::array::{Given, PyArray};
use crate::device::On;
use crate::error::{Answer, value_error};

/// No: this is neither Metal nor CUDA.
#[pyfunction]
fn is_available() -> bool {
    false
}

/// Adds `mx.metal`'s functions, of which those about memory are the module's own.
pub fn add_metal_to(metal: &Bound<'_, PyModule>, core: &Bound<'_, PyModule>) -> PyResult<()> {
    metal.add_function(wrap_pyfunction!(is_available, metal)?)?;
    let memory = ["clear_cache", "device_info", "get_active_memory", "get_cache_memory", "get_peak_memory"];
    let limits = ["reset_peak_memory", "set_cache_limit", "set_memory_limit", "set_wired_limit"];
    memory.iter().chain(&limits).try_for_each(|name| metal.add(*name, core.getattr(*name)?))
}

/// Adds `mx.cuda`'s functions.
pub fn add_cuda_to(cuda: &Bound<'_, PyModule>) -> PyResult<()> {
    cuda.add_function(wrap_pyfunction!(is_available, cuda)?)
}

/// Processes that compute together: this one alone.
#[pyclass(module = "mlx.core.distributed", frozen)]
struct Group;

#[pymethods]
impl Group {
    /// The number of this process.
    fn rank(&self) -> usize {
        0
    }

    /// The number of processes.
    fn size(&self) -> usize {
        1
    }
}

/// The group of this process.
#[pyfunction]
#[pyo3(signature = (strict=false, backend="any"))]
fn init(strict: bool, backend: &str) -> Answer<Group> {
    match strict {
        true => Err(value_error(format!("[distributed] the backend '{backend}' must be available but is not."))),
        false => Ok(Group),
    }
}

/// Whether processes can compute together.
#[pyfunction(name = "is_available")]
#[pyo3(signature = (backend="any"))]
fn is_distributed(backend: &str) -> bool {
    let _ = backend;
    false
}

/// Over a group of one every reduction gives what it is given.
macro_rules! alone {
    ($($name:ident)*) => {$(
        /// Over a group of one, the array itself.
        #[pyfunction]
        #[pyo3(signature = (x, *, group=None, stream=None))]
        fn $name(x: Given, group: Option<&Bound<'_, Group>>, stream: Option<On>) -> PyArray {
            let _ = (group, stream);
            x.0.into()
        }
    )*};
}
alone!(all_gather all_max all_min all_sum sum_scatter);

/// Adds `mx.distributed`'s functions.
pub fn add_distributed_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Group>()?;
    module.add_function(wrap_pyfunction!(init, module)?)?;
    module.add_function(wrap_pyfunction!(is_distributed, module)?)?;
    module.add_function(wrap_pyfunction!(all_gather, module)?)?;
    module.add_function(wrap_pyfunction!(all_max, module)?)?;
    module.add_function(wrap_pyfunction!(all_min, module)?)?;
    module.add_function(wrap_pyfunction!(all_sum, module)?)?;
    module.add_function(wrap_pyfunction!(sum_scatter, module)?)
}
