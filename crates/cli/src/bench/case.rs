//! A case, its figure, and how it is timed.

use std::time::{Duration, Instant};

use pumice::Error;
use pumice::gpu::Stream;
use pumice::launch::Gpu;

/// The device, and whether to use sizes a software driver can bear.
pub struct Session {
    pub gpu: Gpu,
    pub small: bool,
}

impl Session {
    /// One of two sizes.
    pub fn size(&self, full: u64, small: u64) -> u64 {
        if self.small { small } else { full }
    }
}

/// How a case is run.
pub type Run = Box<dyn Fn(&Session) -> Result<Option<Figure>, Error>>;

/// Something that is timed; it gives nothing on a device that lacks what it needs.
pub struct Case {
    pub name: String,
    pub run: Run,
}

impl Case {
    pub fn new(name: impl Into<String>, run: impl Fn(&Session) -> Result<Option<Figure>, Error> + 'static) -> Case {
        Case { name: name.into(), run: Box::new(run) }
    }
}

/// A time and the work done in it.
#[derive(Clone, Copy)]
pub struct Figure {
    pub time: Duration,
    pub work: Work,
}

/// What a case does, and so which ceiling it is held against.
#[derive(Clone, Copy, PartialEq)]
pub enum Work {
    /// Bytes read and written.
    Bytes(f64),
    /// Floating-point operations with plain arithmetic.
    Flops(f64),
    /// Floating-point operations with cooperative matrices.
    MatrixFlops(f64),
    /// A launch.
    Launch,
    /// Work of the host alone.
    Host,
}

/// Samples of which the median is taken.
const SAMPLES: usize = 9;
/// How long the clocks are warmed before the first sample of a case.
///
/// Compiling a pipeline leaves the device idle long enough for its clocks to fall: an H200 was seen at a fifth of its speed
/// after 60 ms of load, and at full speed after 300.
const WARM_UP: Duration = Duration::from_millis(300);
/// How long one sample should take at least.
const SAMPLE: Duration = Duration::from_millis(4);

/// The median GPU time of one call of `record`, which records one repetition.
pub fn gpu_time(session: &Session, record: impl Fn(&Stream) -> Result<(), Error>) -> Result<Duration, Error> {
    let stream = session.gpu.device().stream()?;
    let warm = warm_up(session, &stream, &record)?;
    let repetitions = (SAMPLE.as_secs_f64() / warm.as_secs_f64()).clamp(1.0, 200.0) as u32;
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        let before = stream.timestamp()?;
        for _ in 0..repetitions {
            record(&stream)?;
        }
        let after = stream.timestamp()?;
        stream.synchronize()?;
        samples.push(after.since(&before)? / repetitions);
    }
    Ok(median(samples))
}

/// Runs until the clocks are warm; gives the time of one repetition.
fn warm_up(
    session: &Session,
    stream: &Stream,
    record: &impl Fn(&Stream) -> Result<(), Error>,
) -> Result<Duration, Error> {
    let start = Instant::now();
    let mut repetitions = 0;
    loop {
        record(stream)?;
        stream.synchronize()?;
        repetitions += 1;
        if session.small || start.elapsed() > WARM_UP {
            return Ok(start.elapsed() / repetitions);
        }
    }
}

/// The median host time of one call of `run`, which returns when its work is done.
pub fn host_time(session: &Session, run: impl Fn() -> Result<(), Error>) -> Result<Duration, Error> {
    let warm = Instant::now();
    for _ in 0..3 {
        run()?;
    }
    while !session.small && warm.elapsed() < WARM_UP {
        run()?;
    }
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        let start = Instant::now();
        run()?;
        samples.push(start.elapsed());
    }
    Ok(median(samples))
}

/// The middle one.
fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}
