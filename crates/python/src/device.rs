//! Devices, streams and the contexts that choose them.

use std::sync::Mutex;

use pumice::{Array, Device, DeviceKind, Stream, ThreadLocalStream};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::array::PyArray;
use crate::error::{Answer, type_error, value_error};

/// The members of `DeviceType`, an enumeration of Python's: CPU, GPU.
static KINDS: PyOnceLock<[Py<PyAny>; 2]> = PyOnceLock::new();

fn kind_of(object: &Bound<'_, PyAny>) -> Option<DeviceKind> {
    let [cpu, gpu] = KINDS.get(object.py())?;
    match object {
        _ if object.is(cpu) => Some(DeviceKind::Cpu),
        _ if object.is(gpu) => Some(DeviceKind::Gpu),
        _ => None,
    }
}

fn kind_object(py: Python<'_>, kind: DeviceKind) -> Py<PyAny> {
    let kinds = KINDS.get(py).expect("the module was made");
    kinds[(kind == DeviceKind::Gpu) as usize].clone_ref(py)
}

/// What computes: a kind and a number.
#[pyclass(name = "Device", module = "mlx.core", frozen)]
pub struct PyDevice(Device);

impl From<Device> for PyDevice {
    fn from(device: Device) -> PyDevice {
        PyDevice(device)
    }
}

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (r#type, index=0))]
    fn new(r#type: &Bound<'_, PyAny>, index: u32) -> Answer<PyDevice> {
        let kind = kind_of(r#type).ok_or_else(|| type_error("[Device] type must be a DeviceType but is not."))?;
        Ok(PyDevice(Device { kind, index }))
    }

    /// The kind.
    #[getter]
    fn r#type(&self, py: Python<'_>) -> Py<PyAny> {
        kind_object(py, self.0.kind)
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        device_of(other).is_some_and(|other| other == self.0)
    }

    fn __hash__(&self) -> u64 {
        (self.0.kind == DeviceKind::Gpu) as u64 + 2 * self.0.index as u64
    }
}

/// The device that a `Device` or `DeviceType` is.
fn device_of(object: &Bound<'_, PyAny>) -> Option<Device> {
    match object.cast::<PyDevice>() {
        Ok(device) => Some(device.get().0),
        Err(_) => kind_of(object).map(|kind| Device { kind, index: 0 }),
    }
}

/// An argument that is a device.
pub struct Which(pub Device);

impl<'py> FromPyObject<'_, 'py> for Which {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Which> {
        Ok(Which(device_of(&object).ok_or_else(|| type_error("a Device or DeviceType is expected."))?))
    }
}

/// A sequence of work on a device.
#[pyclass(name = "Stream", module = "mlx.core", frozen)]
pub struct PyStream(Stream);

#[pymethods]
impl PyStream {
    /// Where its work is done.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device)
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyStream>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u32 {
        self.0.index
    }
}

/// A stream of its own for every thread that uses it, made when it first does.
#[pyclass(name = "ThreadLocalStream", module = "mlx.core", frozen)]
pub struct PyThreadLocalStream(ThreadLocalStream);

#[pymethods]
impl PyThreadLocalStream {
    /// Where its work is done.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device)
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyThreadLocalStream>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u32 {
        self.0.index
    }
}

/// The `stream` argument of every op: a stream, or a device whose default stream is meant.
pub struct On(Stream);

impl<'py> FromPyObject<'_, 'py> for On {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<On> {
        Ok(On(stream_of(&object)?))
    }
}

fn stream_of(object: &Bound<'_, PyAny>) -> Answer<Stream> {
    if let Ok(stream) = object.cast::<PyStream>() {
        return Ok(stream.get().0);
    }
    if let Ok(local) = object.cast::<PyThreadLocalStream>() {
        return Ok(local.get().0.stream()?);
    }
    match device_of(object) {
        Some(device) => Ok(pumice::default_stream(device)?),
        None => Err(type_error("a stream must be a Stream, a Device, a DeviceType or None.")),
    }
}

/// Makes arrays on the stream that was given, or on the current one.
pub fn on<R>(stream: Option<On>, make: impl FnOnce() -> pumice::Result<R>) -> Answer<R> {
    Ok(match stream {
        None => make()?,
        Some(On(stream)) => pumice::with_stream(stream, make)?,
    })
}

/// Like [`on`], for one array.
pub fn array_on(stream: Option<On>, make: impl FnOnce() -> pumice::Result<Array>) -> Answer<PyArray> {
    Ok(on(stream, make)?.into())
}

/// A context in which new arrays are computed on a stream: it sets the default device and its default stream.
#[pyclass(module = "mlx.core", frozen)]
struct StreamContext {
    stream: Py<PyAny>,
    before: Mutex<Vec<(Device, Stream)>>,
}

#[pymethods]
impl StreamContext {
    #[new]
    fn new(s: Bound<'_, PyAny>) -> Answer<StreamContext> {
        if !s.is_instance_of::<PyThreadLocalStream>() {
            stream_of(&s)?;
        }
        Ok(StreamContext { stream: s.unbind(), before: Mutex::default() })
    }

    fn __enter__(&self, py: Python<'_>) -> Answer<()> {
        let stream = stream_of(self.stream.bind(py))?;
        let before = (pumice::default_device(), pumice::default_stream(stream.device)?);
        pumice::set_default_device(stream.device)?;
        pumice::set_default_stream(stream);
        self.before.lock().map_err(|_| value_error("the context is broken."))?.push(before);
        Ok(())
    }

    #[pyo3(signature = (exc_type=None, exc_value=None, traceback=None))]
    fn __exit__(
        &self,
        exc_type: Option<&Bound<'_, PyAny>>,
        exc_value: Option<&Bound<'_, PyAny>>,
        traceback: Option<&Bound<'_, PyAny>>,
    ) -> Answer<()> {
        let _ = (exc_type, exc_value, traceback);
        let before = self.before.lock().map_err(|_| value_error("the context is broken."))?.pop();
        let Some((device, stream)) = before else { return Ok(()) };
        pumice::set_default_device(device)?;
        pumice::set_default_stream(stream);
        Ok(())
    }
}

/// A context manager: new arrays are computed on the stream or device.
#[pyfunction]
fn stream(s: Bound<'_, PyAny>) -> Answer<StreamContext> {
    StreamContext::new(s)
}

/// The device that work goes to.
#[pyfunction]
fn default_device() -> PyDevice {
    PyDevice(pumice::default_device())
}

/// Sends work to another device from now on.
#[pyfunction]
fn set_default_device(device: Which) -> Answer<()> {
    Ok(pumice::set_default_device(device.0)?)
}

/// The calling thread's default stream of a device.
#[pyfunction]
fn default_stream(device: Which) -> Answer<PyStream> {
    Ok(PyStream(pumice::default_stream(device.0)?))
}

/// Makes a stream the default of its device, in the calling thread.
#[pyfunction]
fn set_default_stream(stream: &Bound<'_, PyStream>) {
    pumice::set_default_stream(stream.get().0);
}

/// A new stream on a device.
#[pyfunction]
fn new_stream(device: Which) -> Answer<PyStream> {
    Ok(PyStream(pumice::new_stream(device.0)?))
}

/// A new stream on a device that all threads may use.
#[pyfunction(name = "new_thread_unsafe_stream")]
fn new_shared_stream(device: Which) -> Answer<PyStream> {
    Ok(PyStream(pumice::new_thread_unsafe_stream(device.0)?))
}

/// A stream of which every thread that uses it has one of its own.
#[pyfunction]
fn new_thread_local_stream(device: Which) -> Answer<PyThreadLocalStream> {
    Ok(PyThreadLocalStream(pumice::new_thread_local_stream(device.0)?))
}

/// Gives the calling thread's streams back, and forgets its random numbers' key.
#[pyfunction]
fn clear_streams(py: Python<'_>) -> Answer<()> {
    Ok(py.detach(pumice::clear_streams)?)
}

/// Waits until everything given to a stream is done; without one, to the default device's default stream.
#[pyfunction]
#[pyo3(signature = (stream=None))]
fn synchronize(py: Python<'_>, stream: Option<On>) -> Answer<()> {
    let stream = match stream {
        Some(On(stream)) => stream,
        None => pumice::default_stream(pumice::default_device())?,
    };
    Ok(py.detach(|| pumice::synchronize(stream))?)
}

/// Whether work can be given to a device.
#[pyfunction]
fn is_available(device: Which) -> bool {
    device.0.is_available()
}

/// How many devices of a kind there are.
#[pyfunction]
fn device_count(device_type: Which) -> usize {
    Device { index: 0, ..device_type.0 }.is_available() as usize
}

/// Adds the classes, the functions and `mx.cpu`, `mx.gpu`.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let members = PyDict::new(py);
    members.set_item("cpu", 0)?;
    members.set_item("gpu", 1)?;
    let kinds = enumeration(module, "DeviceType", &members)?;
    let (cpu, gpu) = (kinds.getattr("cpu")?, kinds.getattr("gpu")?);
    module.add("cpu", &cpu)?;
    module.add("gpu", &gpu)?;
    // A module imported twice keeps the members of the first.
    let _ = KINDS.set(py, [cpu.unbind(), gpu.unbind()]);
    module.add_class::<PyDevice>()?;
    module.add_class::<PyStream>()?;
    module.add_class::<PyThreadLocalStream>()?;
    module.add_class::<StreamContext>()?;
    module.add_function(wrap_pyfunction!(stream, module)?)?;
    module.add_function(wrap_pyfunction!(default_device, module)?)?;
    module.add_function(wrap_pyfunction!(set_default_device, module)?)?;
    module.add_function(wrap_pyfunction!(default_stream, module)?)?;
    module.add_function(wrap_pyfunction!(set_default_stream, module)?)?;
    module.add_function(wrap_pyfunction!(new_stream, module)?)?;
    module.add_function(wrap_pyfunction!(new_shared_stream, module)?)?;
    module.add_function(wrap_pyfunction!(new_thread_local_stream, module)?)?;
    module.add_function(wrap_pyfunction!(clear_streams, module)?)?;
    module.add_function(wrap_pyfunction!(synchronize, module)?)?;
    module.add_function(wrap_pyfunction!(is_available, module)?)?;
    module.add_function(wrap_pyfunction!(device_count, module)?)
}

/// Makes an enumeration of Python's with these members, and adds it.
pub fn enumeration<'py>(
    module: &Bound<'py, PyModule>,
    name: &str,
    members: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = module.py();
    let options = PyDict::new(py);
    options.set_item("module", "mlx.core")?;
    let base = py.import("enum")?.getattr("Enum")?;
    let made = base.call((name, members), Some(&options))?;
    made.setattr("__repr__", base.getattr("__str__")?)?;
    module.add(name, &made)?;
    Ok(made)
}
