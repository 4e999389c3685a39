//! What a launch costs: a thousand tiny additions, each needing the one before, end to end on the host's clock.

use pumice::Error;
use pumice::gpu::Buffer;
use pumice::kernel::Elem;
use pumice::kernel::arguments::Argument;
use pumice::kernels::binary;
use pumice::launch::{Build, Compiled};

use super::case::{Case, Figure, Session, Work, host_time};

/// Launches in a row.
const CHAIN: u32 = 1000;

/// The cases.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("launch/dependent", dependent),
        Case::new("launch/replayed", replayed),
        Case::new("launch/independent", independent),
        Case::new("launch/submit_and_wait", submit_and_wait),
    ]
}

struct Tiny {
    compiled: Compiled,
    buffers: Vec<Buffer>,
}

impl Tiny {
    fn new(session: &Session) -> Result<Tiny, Error> {
        let compiled = session.gpu.compile(&binary::binary("add", Elem::F32, |a, b| a + b)?, Build::Fast)?;
        let buffers = (0..8).map(|_| session.gpu.allocate(64)).collect::<Result<Vec<_>, _>>()?;
        for buffer in &buffers {
            session.gpu.stream().fill(buffer, 0, 64, 0)?;
        }
        session.gpu.stream().synchronize()?;
        Ok(Tiny { compiled, buffers })
    }

    /// The i-th addition of a chain: its left operand is what the one before wrote.
    fn operands(&self, i: u32) -> [&Buffer; 3] {
        let at = i as usize % 2;
        [&self.buffers[at], &self.buffers[2], &self.buffers[1 - at]]
    }
}

const SCALARS: [Argument; 1] = [Argument::I32(16)];

fn per_launch(session: &Session, launches: u32, run: impl Fn() -> Result<(), Error>) -> Result<Option<Figure>, Error> {
    Ok(Some(Figure { time: host_time(session, run)? / launches, work: Work::Launch }))
}

/// Recorded, submitted and waited for.
fn dependent(session: &Session) -> Result<Option<Figure>, Error> {
    let tiny = Tiny::new(session)?;
    let stream = session.gpu.device().stream()?;
    let run = || {
        for i in 0..CHAIN {
            tiny.compiled.launch(&stream, [1, 1, 1], &tiny.operands(i), &SCALARS)?;
        }
        Ok(stream.synchronize()?)
    };
    per_launch(session, CHAIN, run)
}

/// Recorded once, submitted again, waited for.
fn replayed(session: &Session) -> Result<Option<Figure>, Error> {
    let tiny = Tiny::new(session)?;
    let stream = session.gpu.device().stream()?;
    let mut recorder = session.gpu.device().recorder()?;
    for i in 0..CHAIN {
        tiny.compiled.with_launch([1, 1, 1], &tiny.operands(i), &SCALARS, |launch| Ok(recorder.launch(launch)?))?;
    }
    let plan = recorder.finish()?;
    let run = || {
        stream.replay(&plan)?;
        Ok(stream.synchronize()?)
    };
    per_launch(session, CHAIN, run)
}

/// No launch needs another: each writes its own buffer.
fn independent(session: &Session) -> Result<Option<Figure>, Error> {
    let tiny = Tiny::new(session)?;
    let outs = (0..CHAIN).map(|_| session.gpu.allocate(64)).collect::<Result<Vec<_>, _>>()?;
    let stream = session.gpu.device().stream()?;
    let run = || {
        for out in &outs {
            tiny.compiled.launch(&stream, [1, 1, 1], &[&tiny.buffers[0], &tiny.buffers[1], out], &SCALARS)?;
        }
        Ok(stream.synchronize()?)
    };
    per_launch(session, CHAIN, run)
}

/// One launch at a time, waited for.
fn submit_and_wait(session: &Session) -> Result<Option<Figure>, Error> {
    let tiny = Tiny::new(session)?;
    let stream = session.gpu.device().stream()?;
    let run = || {
        for i in 0..20 {
            tiny.compiled.launch(&stream, [1, 1, 1], &tiny.operands(i), &SCALARS)?;
            stream.synchronize()?;
        }
        Ok(())
    };
    per_launch(session, 20, run)
}
