//! `mx.pumice`: what evaluation did and when, which devices there are, and switches for fast paths.

use std::path::PathBuf;

use pumice::eval::{Tier, set_disabled, set_tier};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{Answer, value_error};

/// What evaluation did since the process began, in numbers.
#[pyfunction]
fn stats(py: Python<'_>) -> Answer<Bound<'_, PyDict>> {
    let stats = py.detach(pumice::eval::stats);
    let numbers = PyDict::new(py);
    numbers.set_item("evaluations", stats.evaluations)?;
    numbers.set_item("calls", stats.calls)?;
    numbers.set_item("plan_hits", stats.plan_hits)?;
    numbers.set_item("plan_misses", stats.plan_misses)?;
    numbers.set_item("host_calls", stats.host_calls)?;
    numbers.set_item("block_programs", stats.block_programs)?;
    numbers.set_item("launches", stats.launches)?;
    if let Some(gpu) = stats.gpu {
        numbers.set_item("launch_sizes", gpu.launch_sizes)?;
        numbers.set_item("barriers", gpu.barriers)?;
        numbers.set_item("submits", gpu.submits)?;
        numbers.set_item("replays", gpu.replays)?;
        numbers.set_item("waits", gpu.waits)?;
        numbers.set_item("pipeline_hits", gpu.pipeline_hits)?;
        numbers.set_item("pipeline_misses", gpu.pipeline_misses)?;
        numbers.set_item("pipelines_compiled", gpu.pipelines_compiled)?;
        numbers.set_item("bytes_uploaded", gpu.bytes_uploaded)?;
        numbers.set_item("bytes_downloaded", gpu.bytes_downloaded)?;
    }
    Ok(numbers)
}

/// Counts anew from here on.
#[pyfunction]
fn reset_stats(py: Python<'_>) {
    py.detach(pumice::eval::reset_stats);
}

/// Starts to trace into a file that Perfetto shows: evaluations, steps of the CPU, the GPU's launches by its own clock.
#[pyfunction]
fn start_trace(py: Python<'_>, path: PathBuf) -> Answer<()> {
    Ok(py.detach(|| pumice::trace::start(path))?)
}

/// Ends the trace and its file. What was given to the GPU is waited for.
#[pyfunction]
fn stop_trace(py: Python<'_>) -> Answer<()> {
    Ok(py.detach(pumice::trace::stop)?)
}

/// The Vulkan devices of the machine; the one that is used is `chosen`.
#[pyfunction]
fn devices(py: Python<'_>) -> Answer<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    let chosen = pumice::the_gpu().ok().map(|gpu| gpu.device().info().index);
    for info in pumice::gpu::devices().unwrap_or_default() {
        let device = PyDict::new(py);
        device.set_item("index", info.index)?;
        device.set_item("name", &info.name)?;
        device.set_item("driver", &info.driver)?;
        device.set_item("chosen", chosen == Some(info.index))?;
        list.append(device)?;
    }
    Ok(list)
}

/// Switches a fast path off, or on again: an op by its name, or `fusion`. What it means runs instead.
#[pyfunction]
#[pyo3(signature = (name, off=true))]
fn disable(name: &str, off: bool) {
    set_disabled(name, off);
}

/// The fast paths that are switched off.
#[pyfunction]
fn disabled() -> Vec<String> {
    pumice::eval::disabled_names()
}

/// When fused kernels are used: `when_ready`, `now` or `never`.
#[pyfunction]
fn set_fusion(when: &str) -> Answer<()> {
    set_tier(match when {
        "when_ready" => Tier::WhenReady,
        "now" => Tier::Now,
        "never" => Tier::Never,
        _ => return Err(value_error(format!("[set_fusion] when_ready, now or never is expected but is '{when}'."))),
    });
    Ok(())
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(stats, module)?)?;
    module.add_function(wrap_pyfunction!(reset_stats, module)?)?;
    module.add_function(wrap_pyfunction!(start_trace, module)?)?;
    module.add_function(wrap_pyfunction!(stop_trace, module)?)?;
    module.add_function(wrap_pyfunction!(devices, module)?)?;
    module.add_function(wrap_pyfunction!(disable, module)?)?;
    module.add_function(wrap_pyfunction!(disabled, module)?)?;
    module.add_function(wrap_pyfunction!(set_fusion, module)?)
}
