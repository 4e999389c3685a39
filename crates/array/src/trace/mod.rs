//! Tracing: what the process did and when, as a file that Perfetto and Chrome's tracing page show.
//!
//! `PUMICE_TRACE=file.json` traces from the first evaluation to the end of the process, [`start`] and [`stop`] a part of it. The host's part
//! is evaluations, plans, steps of the CPU and waits, a track for each thread; the GPU's is launches and copies by its own clock, a
//! track for each stream and as many more as run side by side; the driver's is kernels that it compiled.
//!
//! While something is traced, compiled functions are not replayed: the GPU's times are those of single launches.

mod file;

use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::debug;
use crate::device::open_gpu;
use crate::error::{Error, Result};
use crate::gpu::trace::{Span as GpuSpan, Track};
use file::TraceFile;

static ON: AtomicBool = AtomicBool::new(false);
static OPEN: Mutex<Option<Open>> = Mutex::new(None);

/// A trace that is being written.
struct Open {
    /// None if times are only printed.
    file: Option<TraceFile>,
    began: Instant,
    /// Whether the GPU knows that it is traced; it may be opened later.
    gpu: bool,
    /// Why nothing more is written.
    failure: Option<Error>,
}

/// Something that lasts as long as this lives.
pub(crate) struct Span(Option<Begun>);

struct Begun {
    name: Cow<'static, str>,
    start: Instant,
    count: Option<(&'static str, u64)>,
    /// Whether it computes something itself.
    step: bool,
}

/// Starts to trace into a file.
pub fn start(path: impl AsRef<Path>) -> Result<()> {
    let open = &mut *lock();
    if let Some(Open { file: Some(file), .. }) = open {
        let path = file.path().display();
        return Err(Error::Runtime(format!("[trace] one trace at a time must be open but {path} is; stop it first.")));
    }
    let file = TraceFile::create(path.as_ref())?;
    open.get_or_insert_with(Open::new).file = Some(file);
    ON.store(true, Ordering::Relaxed);
    Ok(())
}

/// Has times printed from now on.
pub(crate) fn watch() {
    lock().get_or_insert_with(Open::new);
    ON.store(true, Ordering::Relaxed);
}

/// Ends the trace and its file, if there is one. What was submitted to the GPU is waited for.
pub fn stop() -> Result<()> {
    ON.store(false, Ordering::Relaxed);
    let Some(mut open) = lock().take() else { return Ok(()) };
    if let Some(gpu) = open_gpu().filter(|_| open.gpu) {
        match gpu.device().stop_trace() {
            Ok(spans) => open.gpu_spans(&spans),
            Err(error) => drop(open.failure.get_or_insert(error.into())),
        }
    }
    open.write(TraceFile::end);
    if debug::level() >= debug::TIMES {
        watch();
    }
    open.failure.map_or(Ok(()), Err)
}

/// Whether something is traced.
#[inline]
pub(crate) fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Notes how long something lasts: until the span is dropped.
#[inline]
pub(crate) fn span<N: Into<Cow<'static, str>>>(name: impl FnOnce() -> N) -> Span {
    Span(on().then(|| Begun { name: name().into(), start: Instant::now(), count: None, step: false }))
}

/// The same for what computes something itself.
#[inline]
pub(crate) fn step<N: Into<Cow<'static, str>>>(name: impl FnOnce() -> N) -> Span {
    let mut span = span(name);
    span.0.iter_mut().for_each(|begun| begun.step = true);
    span
}

impl Span {
    /// With a number beside it.
    pub fn of(mut self, what: &'static str, count: usize) -> Span {
        if let Some(begun) = &mut self.0 {
            begun.count = Some((what, count as u64));
        }
        self
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(Begun { name, start, count, step }) = self.0.take() else { return };
        let length = start.elapsed();
        if step {
            debug::say(debug::TIMES, || debug::timed(&name, length, None));
        }
        if let Some(open) = &mut *lock() {
            let start = start.saturating_duration_since(open.began);
            open.write(|file| file.host_span(&name, start, length, count));
        }
    }
}

/// Lets the GPU be traced from now on if it is not yet, and writes what it did. To be called now and then.
pub(crate) fn attend() {
    if !on() {
        return;
    }
    let (Some(gpu), Some(open)) = (open_gpu(), &mut *lock()) else { return };
    if !open.gpu {
        open.gpu = true;
        if let Err(error) = gpu.device().start_trace(open.began) {
            open.failure.get_or_insert(error.into());
        }
        return;
    }
    match gpu.device().traced() {
        Ok(spans) => open.gpu_spans(&spans),
        // The device's failure is told to who evaluates.
        Err(error) => drop(open.failure.get_or_insert(error.into())),
    }
}

/// Lets go of a trace without a word to its file: it is the parent's of a forked process.
pub(crate) fn forget() {
    ON.store(false, Ordering::Relaxed);
    if let Ok(mut open) = OPEN.try_lock() {
        std::mem::forget(open.take());
    }
}

impl Open {
    fn new() -> Open {
        Open { file: None, began: Instant::now(), gpu: false, failure: None }
    }

    fn gpu_spans(&mut self, spans: &[GpuSpan]) {
        for span in spans.iter().filter(|span| span.track != Track::Compiler) {
            debug::say(debug::TIMES, || debug::timed(&span.name, span.length, span.groups));
        }
        self.write(|file| file.gpu_spans(spans));
    }

    fn write(&mut self, write: impl FnOnce(&mut TraceFile) -> Result<()>) {
        if let (None, Some(file)) = (&self.failure, &mut self.file) {
            self.failure = write(file).err();
        }
    }
}

fn lock() -> MutexGuard<'static, Option<Open>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}
