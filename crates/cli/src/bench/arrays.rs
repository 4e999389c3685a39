//! What arrays cost: building and evaluating graphs, end to end on the host's clock.

use std::time::Instant;

use pumice::eval::{Tier, set_disabled, set_tier};
use pumice::ops::binary::{add, maximum, multiply, subtract};
use pumice::ops::unary::{abs, exp, negative, sigmoid, tanh};
use pumice::{Array, Device, Dtype, Error, async_eval, compile, default_stream, eval, ops, with_stream};

use super::case::{Case, Figure, Session, Work, host_time};

/// Additions in a row.
const CHAIN: u32 = 1000;
/// Large graphs between two waits: a submission's cost is hidden behind the work before it.
const REPEATS: u32 = 20;

/// The cases.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("array/host/build", |session| host(session, true)),
        Case::new("array/host/evaluate", |session| host(session, false)),
        Case::new("array/add_x1000/parts", |session| chain(session, false, false)),
        Case::new("array/add_x1000/parts/replayed", |session| chain(session, false, true)),
        Case::new("array/add_x1000/fused", |session| chain(session, true, false)),
        Case::new("array/add_x1000/fused/compiled", |session| chain(session, true, true)),
        Case::new("array/pointwise11/f32", pointwise),
        Case::new("array/sum/rows", |session| row_sum(session, Evaluation::Together)),
        Case::new("array/sum/rows/each", |session| row_sum(session, Evaluation::Each)),
        Case::new("array/softmax/rows", row_softmax),
        Case::new("array/matmul/f32/4096", |session| product(session, Dtype::F32)),
        Case::new("array/matmul/f32/4096/whole", whole_product),
        Case::new("array/matmul/bf16/4096", |session| product(session, Dtype::BF16)),
    ]
}

fn on_gpu<R>(body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    with_stream(default_stream(Device::GPU)?, body)
}

fn small() -> Result<Array, Error> {
    Array::from_slice(&[1f32; 16], &[16])
}

fn additions(x: &Array) -> Result<Array, Error> {
    (0..CHAIN).try_fold(x.clone(), |sum, _| add(&sum, x))
}

/// The host's part per op of a graph that was seen before: building it, or evaluating it without waiting.
fn host(session: &Session, build: bool) -> Result<Option<Figure>, Error> {
    on_gpu(|| {
        set_tier(Tier::Now);
        let x = small()?;
        let mut samples = Vec::new();
        for _ in 0..if session.small { 12 } else { 200 } {
            let start = Instant::now();
            let y = additions(&x)?;
            let built = start.elapsed();
            async_eval(std::slice::from_ref(&y))?;
            let evaluated = start.elapsed() - built;
            eval(&[y])?;
            samples.push(if build { built } else { evaluated });
        }
        set_tier(Tier::WhenReady);
        samples.sort();
        Ok(Some(Figure { time: samples[samples.len() / 2] / CHAIN, work: Work::Host }))
    })
}

/// Built, evaluated and waited for; or called as a compiled function.
fn chain(session: &Session, fused: bool, compiled: bool) -> Result<Option<Figure>, Error> {
    on_gpu(|| {
        set_tier(Tier::Now);
        set_disabled("fusion", !fused);
        let x = small()?;
        let function = compile(|x: &[Array]| Ok(vec![additions(&x[0])?]));
        let time = host_time(session, || match compiled {
            true => eval(&function(std::slice::from_ref(&x))?),
            false => additions(&x)?.eval(),
        });
        set_disabled("fusion", false);
        set_tier(Tier::WhenReady);
        Ok(Some(Figure { time: time? / CHAIN, work: Work::Launch }))
    })
}

/// How several large graphs are evaluated.
#[derive(Clone, Copy)]
enum Evaluation {
    /// All at once.
    Together,
    /// Each by itself, without waiting in between: there is a gap from one submission to the next.
    Each,
}

/// The time per graph, after the clocks are warm.
fn evaluated(
    session: &Session,
    bytes: Work,
    evaluation: Evaluation,
    graph: impl Fn() -> Result<Array, Error>,
) -> Result<Option<Figure>, Error> {
    on_gpu(|| {
        set_tier(Tier::Now);
        let repeats = if session.small { 1 } else { REPEATS };
        let time = host_time(session, || {
            let mut made = Vec::new();
            for _ in 0..repeats {
                made.push(graph()?);
                if let Evaluation::Each = evaluation {
                    async_eval(&made)?;
                    made.drain(..made.len() - 1);
                }
            }
            eval(&made)
        });
        set_tier(Tier::WhenReady);
        Ok(Some(Figure { time: time? / repeats, work: bytes }))
    })
}

/// Eleven element-wise ops that fusion makes one kernel of.
fn pointwise(session: &Session) -> Result<Option<Figure>, Error> {
    let n = session.size(64 << 20, 1 << 12);
    let x = ramp(n, &[n as i32])?;
    let graph = || {
        let y = multiply(sigmoid(&x)?, &x)?;
        let z = add(tanh(&y)?, multiply(0.5, &x)?)?;
        let z = subtract(maximum(&z, &y)?, exp(&negative(&abs(&x)?)?)?)?;
        multiply(&z, 0.25)
    };
    evaluated(session, Work::Bytes(8.0 * n as f64), Evaluation::Together, graph)
}

fn row_sum(session: &Session, evaluation: Evaluation) -> Result<Option<Figure>, Error> {
    let rows = session.size(32_768, 64);
    let x = ramp(rows * 4096, &[rows as i32, 4096])?;
    evaluated(session, Work::Bytes(4.0 * 4096.0 * rows as f64), evaluation, || ops::reduce::sum(&x, Some(&[1]), false))
}

fn row_softmax(session: &Session) -> Result<Option<Figure>, Error> {
    let rows = session.size(32_768, 64);
    let x = ramp(rows * 4096, &[rows as i32, 4096])?;
    evaluated(session, Work::Bytes(8.0 * 4096.0 * rows as f64), Evaluation::Together, || {
        ops::softmax::softmax(&x, Some(&[1]), false)
    })
}

fn product(session: &Session, dtype: Dtype) -> Result<Option<Figure>, Error> {
    let n = session.size(4096, 256);
    let factor = || on_gpu(|| ops::astype::astype(&ramp(n * n, &[n as i32, n as i32])?, dtype));
    let (x, y) = (factor()?, factor()?);
    eval(&[x.clone(), y.clone()])?;
    let flops = 2.0 * (n as f64).powi(3);
    let work = if dtype == Dtype::F32 { Work::Flops(flops) } else { Work::MatrixFlops(flops) };
    evaluated(session, work, Evaluation::Together, || ops::matmul::matmul(&x, &y))
}

/// With whole tiles in the last wave too: products that do not wait for each other fill it, so this tells what cutting costs where it
/// brings nothing. Not where the device does not tell how many multiprocessors it has: nothing is cut there.
fn whole_product(session: &Session) -> Result<Option<Figure>, Error> {
    if session.gpu.target().multiprocessors == 0 {
        return Ok(None);
    }
    set_disabled("last_wave", true);
    let figure = product(session, Dtype::F32);
    set_disabled("last_wave", false);
    figure
}

/// Numbers between 0 and 1 that differ.
fn ramp(n: u64, shape: &[i32]) -> Result<Array, Error> {
    let values: Vec<f32> = (0..n).map(|i| (i % 1009) as f32 / 1009.0).collect();
    Array::from_slice(&values, shape)
}
