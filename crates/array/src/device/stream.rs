//! Streams: numbered sequences of work. Each belongs to the thread that made it.
//!
//! Numbers are counted over all devices and threads. Every thread has a default stream per device, made when it is first asked for.
//! A graph may be built for any stream, but only the thread that has the stream can evaluate it there, as in MLX.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use smallvec::SmallVec;

use super::{Device, DeviceKind, Worker, the_gpu};
use crate::error::{Error, Result};
use crate::eval::cache::violations;
use crate::eval::interrupt;
use crate::gpu::StreamOptions;
use crate::{gpu, random};

/// A sequence of work on a device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stream {
    /// Its number, over all devices.
    pub index: u32,
    /// Where its work is done.
    pub device: Device,
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({}, {})", self.device, self.index)
    }
}

/// A stream of every thread's own, made when the thread first asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadLocalStream {
    /// Its number among its kind.
    pub index: u32,
    /// Where its work is done.
    pub device: Device,
}

impl fmt::Display for ThreadLocalStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadLocalStream({}, {})", self.device, self.index)
    }
}

impl ThreadLocalStream {
    /// The calling thread's stream.
    pub fn stream(self) -> Result<Stream> {
        if let Some(stream) = MINE.with_borrow(|mine| mine.local.get(&self.index).copied()) {
            return Ok(stream);
        }
        let stream = new_stream(self.device)?;
        MINE.with_borrow_mut(|mine| mine.local.insert(self.index, stream));
        Ok(stream)
    }
}

/// Streams that can be used, by their numbers.
type Open = HashMap<u32, Behind>;

/// What does a stream's work.
#[derive(Clone)]
enum Behind {
    Cpu(Arc<Worker>),
    Gpu(Arc<gpu::Stream>),
}

impl Behind {
    fn synchronize(&self) -> Result<()> {
        match self {
            Behind::Cpu(worker) => worker.synchronize(),
            Behind::Gpu(stream) => {
                interrupt::wait(&stream.commit()?)?;
                violations()
            }
        }
    }
}

/// What a thread has: its streams, and which of them are its defaults and its own of thread-local ones.
#[derive(Default)]
struct Mine {
    open: Open,
    /// At most one for each device.
    defaults: SmallVec<[Stream; 2]>,
    local: HashMap<u32, Stream>,
}

thread_local! {
    static MINE: RefCell<Mine> = RefCell::default();
    static SCOPED: Cell<Option<Stream>> = const { Cell::new(None) };
}

/// The streams of no thread.
fn shared() -> &'static RwLock<Open> {
    static SHARED: OnceLock<RwLock<Open>> = OnceLock::new();
    SHARED.get_or_init(RwLock::default)
}

/// The calling thread's default stream of a device.
pub fn default_stream(device: Device) -> Result<Stream> {
    if let Some(stream) = MINE.with_borrow(|mine| mine.defaults.iter().copied().find(|s| s.device == device)) {
        return Ok(stream);
    }
    let stream = new_stream(device)?;
    set_default_stream(stream);
    Ok(stream)
}

/// Makes a stream the calling thread's default of its device.
pub fn set_default_stream(stream: Stream) {
    MINE.with_borrow_mut(|mine| {
        mine.defaults.retain(|old| old.device != stream.device);
        mine.defaults.push(stream);
    });
}

/// A new stream; it belongs to the calling thread.
pub fn new_stream(device: Device) -> Result<Stream> {
    new_stream_with(device, StreamOptions::default())
}

/// A new stream that differs from the GPU's usual ones: one that logs its commands for the hazard checker, say.
pub fn new_stream_with(device: Device, options: StreamOptions) -> Result<Stream> {
    let (stream, open) = make(device, options)?;
    MINE.with_borrow_mut(|mine| mine.open.insert(stream.index, open));
    Ok(stream)
}

/// A new stream that every thread may use, but not several at once: whoever shares it keeps them apart.
pub fn new_thread_unsafe_stream(device: Device) -> Result<Stream> {
    let (stream, open) = make(device, StreamOptions::default())?;
    shared().write().unwrap_or_else(PoisonError::into_inner).insert(stream.index, open);
    Ok(stream)
}

/// A stream of every thread's own.
pub fn new_thread_local_stream(device: Device) -> Result<ThreadLocalStream> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    expect_available("new_thread_local_stream", device)?;
    Ok(ThreadLocalStream { index: NEXT.fetch_add(1, Ordering::Relaxed), device })
}

/// Drops the calling thread's streams and its random state. Work that was given to the streams is done.
pub fn clear_streams() -> Result<()> {
    let open = MINE.with_borrow_mut(|mine| {
        mine.local.clear();
        std::mem::take(&mut mine.open)
    });
    random::forget();
    open.into_values().try_for_each(|behind| behind.synchronize())
}

fn make(device: Device, options: StreamOptions) -> Result<(Stream, Behind)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    expect_available("new_stream", device)?;
    let index = NEXT.fetch_add(1, Ordering::Relaxed);
    let open = match device.kind {
        DeviceKind::Cpu => Behind::Cpu(new_worker(index)),
        DeviceKind::Gpu => Behind::Gpu(Arc::new(the_gpu()?.device().stream_with(options)?)),
    };
    Ok((Stream { index, device }, open))
}

fn expect_available(op: &str, device: Device) -> Result<()> {
    match device.is_available() {
        true => Ok(()),
        false => Err(Error::Value(format!("[{op}] the device must be available but {device} is not."))),
    }
}

/// Runs the closure with this stream as the one that new arrays are computed on.
pub fn with_stream<R>(stream: Stream, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<Stream>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SCOPED.set(self.0);
        }
    }
    let _restore = Restore(SCOPED.replace(Some(stream)));
    body()
}

/// The stream that a new array is computed on.
pub fn current_stream() -> Result<Stream> {
    match SCOPED.get() {
        Some(stream) => Ok(stream),
        None => default_stream(super::default_device()),
    }
}

/// What is behind a stream that the calling thread may use.
fn open(stream: Stream) -> Result<Behind> {
    if let Some(open) = MINE.with_borrow(|mine| mine.open.get(&stream.index).cloned()) {
        return Ok(open);
    }
    let shared = shared().read().unwrap_or_else(PoisonError::into_inner);
    shared.get(&stream.index).cloned().ok_or_else(|| missing(stream))
}

/// MLX's text.
fn missing(stream: Stream) -> Error {
    let kind = if stream.device.kind == DeviceKind::Cpu { "cpu" } else { "gpu" };
    Error::Runtime(format!("There is no Stream({kind}, {}) in current thread.", stream.index))
}

/// Refuses a stream that the calling thread may not use.
pub(crate) fn expect_stream(stream: Stream) -> Result<()> {
    open(stream).map(drop)
}

/// The runtime's stream behind one of ours.
pub(crate) fn gpu_stream(stream: Stream) -> Result<Arc<gpu::Stream>> {
    match open(stream)? {
        Behind::Gpu(stream) => Ok(stream),
        Behind::Cpu(_) => Err(missing(stream)),
    }
}

/// The worker behind one of the CPU's streams.
pub(crate) fn cpu_worker(stream: Stream) -> Option<Arc<Worker>> {
    match open(stream) {
        Ok(Behind::Cpu(worker)) => Some(worker),
        _ => None,
    }
}

/// Waits until everything given to a stream is done, and tells of what failed since somebody last waited for it.
pub fn synchronize(stream: Stream) -> Result<()> {
    match (open(stream), stream.device.kind) {
        (Ok(behind), _) => behind.synchronize(),
        // Another thread's, or none that is left: its work may be waited for all the same.
        (Err(_), DeviceKind::Cpu) => others_worker(stream).map_or(Ok(()), |worker| worker.synchronize()),
        (Err(error), DeviceKind::Gpu) => Err(error),
    }
}

/// The workers of all threads' CPU streams, by the streams' numbers.
static WORKERS: Mutex<BTreeMap<u32, Weak<Worker>>> = Mutex::new(BTreeMap::new());

fn others_worker(stream: Stream) -> Option<Arc<Worker>> {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner).get(&stream.index)?.upgrade()
}

fn new_worker(number: u32) -> Arc<Worker> {
    let worker = Arc::default();
    let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
    workers.retain(|_, worker| worker.strong_count() > 0);
    workers.insert(number, Arc::downgrade(&worker));
    worker
}

/// What the wheel does with several threads.
#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::array::Array;
    use crate::device::test_devices;
    use crate::ops::binary::add;
    use crate::{async_eval, eval};

    fn text<T>(result: Result<T>) -> String {
        match result {
            Err(Error::Runtime(text)) => text,
            Err(other) => panic!("not the wheel's kind: {other:?}"),
            Ok(_) => panic!("it must be refused"),
        }
    }

    fn on<R: Send>(body: impl FnOnce() -> R + Send) -> R {
        thread::scope(|scope| scope.spawn(body).join().expect("the thread ends well"))
    }

    fn two_on(stream: Stream) -> Array {
        with_stream(stream, || add(Array::scalar(1f32), 1.0)).expect("a graph is built for any stream")
    }

    #[test]
    fn another_threads_stream_is_refused_when_a_graph_is_evaluated() {
        for device in test_devices() {
            let (mine, own) = (new_stream(device).expect("a stream"), default_stream(device).expect("a stream"));
            let kind = if device == Device::CPU { "cpu" } else { "gpu" };
            let refused = |stream: Stream| format!("There is no Stream({kind}, {}) in current thread.", stream.index);
            for stream in [mine, own] {
                let pending = two_on(stream);
                on(|| {
                    assert_eq!(text(two_on(stream).eval()), refused(stream));
                    assert_eq!(text(pending.eval()), refused(stream));
                    assert_eq!(text(async_eval(&[two_on(stream)])), refused(stream));
                });
                assert_eq!(pending.item::<f32>().expect("its thread evaluates it"), 2.0);
            }
        }
    }

    #[test]
    fn what_is_evaluated_can_be_used_by_every_thread() {
        for device in test_devices() {
            let two = two_on(default_stream(device).expect("a stream"));
            eval(std::slice::from_ref(&two)).expect("it evaluates");
            let three = on(move || {
                let own = default_stream(device).expect("a stream");
                with_stream(own, || add(&two, 1.0)).and_then(|sum| sum.item::<f32>())
            });
            assert_eq!(three.expect("it evaluates"), 3.0, "{device}");
        }
    }

    #[test]
    fn what_a_thread_started_is_there_after_its_end() {
        for device in test_devices() {
            let two = on(|| {
                let two = two_on(default_stream(device).expect("a stream"));
                async_eval(std::slice::from_ref(&two)).expect("it starts");
                two
            });
            assert_eq!(two.item::<f32>().expect("it was started"), 2.0, "{device}");
        }
    }

    #[test]
    fn numbers_are_counted_over_devices_and_threads() {
        let first = new_stream(Device::CPU).expect("a stream").index;
        let second = on(|| new_stream(Device::CPU)).expect("a stream").index;
        let third = new_stream(*test_devices().last().expect("a device")).expect("a stream").index;
        assert!(first < second && second < third);
        let [own, others] = [default_stream(Device::CPU), on(|| default_stream(Device::CPU))].map(|s| s.expect("one"));
        assert_ne!(own, others);
        assert_eq!(own, default_stream(Device::CPU).expect("a stream"));
    }

    #[test]
    fn a_thread_local_stream_is_another_in_every_thread() {
        let local = new_thread_local_stream(Device::CPU).expect("a stream");
        let next = new_thread_local_stream(Device::CPU).expect("a stream");
        assert!(next.index > local.index);
        assert_eq!(local.to_string(), format!("ThreadLocalStream(Device(cpu, 0), {})", local.index));
        let evaluated = |local: ThreadLocalStream| {
            let stream = local.stream().expect("a stream of this thread");
            assert_eq!(stream, local.stream().expect("the same"));
            assert_eq!(two_on(stream).item::<f32>().expect("it evaluates"), 2.0);
            stream
        };
        assert_ne!(evaluated(local), on(|| evaluated(local)));
    }

    #[test]
    fn a_thread_unsafe_stream_serves_every_thread() {
        for device in test_devices() {
            let stream = new_thread_unsafe_stream(device).expect("a stream");
            assert_eq!(on(|| two_on(stream).item::<f32>()).expect("it evaluates"), 2.0, "{device}");
            assert_eq!(two_on(stream).item::<f32>().expect("it evaluates"), 2.0, "{device}");
        }
    }

    #[test]
    fn cleared_streams_are_gone() {
        on(|| {
            let own = default_stream(Device::CPU).expect("a stream");
            clear_streams().expect("nothing is at work");
            assert_eq!(default_stream(Device::CPU).expect("its number is kept"), own);
            let refused = format!("There is no Stream(cpu, {}) in current thread.", own.index);
            assert_eq!(text(two_on(own).eval()), refused);
        });
    }
}
