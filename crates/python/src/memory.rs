//! What memory is used, how much may be, and what the devices are.

use pumice::DeviceKind;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::device::Which;
use crate::error::Answer;

/// Functions of the array crate that take and give numbers of bytes.
macro_rules! by_name {
    ($($name:ident ($($bytes:ident)?) $doc:literal;)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            fn $name($($bytes: usize)?) -> usize {
                pumice::$name($($bytes)?)
            }
        )*

        fn add_functions_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

by_name! {
    get_active_memory() "Bytes that arrays hold.";
    get_peak_memory() "The most bytes that arrays have held.";
    get_cache_memory() "Bytes that are kept to be used again.";
    get_memory_limit() "Bytes that evaluation stays under.";
    set_memory_limit(limit) "Sets how many bytes evaluation stays under, and gives what it was.";
    set_cache_limit(limit) "Sets how many bytes may be kept, and gives what it was.";
    set_wired_limit(limit) "Memory is not wired here: nothing changes.";
}

/// Starts to look for the peak anew.
#[pyfunction]
fn reset_peak_memory() {
    pumice::reset_peak_memory();
}

/// Frees what is kept to be used again.
#[pyfunction]
fn clear_cache(py: Python<'_>) {
    py.detach(pumice::clear_cache);
}

/// What is known of a device.
#[pyfunction]
#[pyo3(signature = (d=None))]
fn device_info(py: Python<'_>, d: Option<Which>) -> Answer<Bound<'_, PyDict>> {
    let which = d.map_or_else(pumice::default_device, |which| which.0);
    let info = PyDict::new(py);
    if which.kind == DeviceKind::Cpu {
        info.set_item("device_name", processor())?;
        info.set_item("architecture", std::env::consts::ARCH)?;
    } else if let Ok(gpu) = pumice::the_gpu() {
        describe(gpu.device(), &info)?;
    }
    Ok(info)
}

/// What the processor is called, where the system says so.
fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    named.map_or(std::env::consts::ARCH, |(_, name)| name.trim()).to_string()
}

fn describe(device: &pumice::gpu::Device, info: &Bound<'_, PyDict>) -> PyResult<()> {
    let memory = device.memory();
    info.set_item("device_name", &device.info().name)?;
    info.set_item("architecture", "vulkan")?;
    info.set_item("memory_size", memory.capacity)?;
    info.set_item("max_recommended_working_set_size", memory.capacity)?;
    info.set_item("max_buffer_length", memory.capacity)?;
    info.set_item("resource_limit", 499_000)
}

/// Adds the functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions_to(module)?;
    module.add_function(wrap_pyfunction!(reset_peak_memory, module)?)?;
    module.add_function(wrap_pyfunction!(clear_cache, module)?)?;
    module.add_function(wrap_pyfunction!(device_info, module)?)
}
