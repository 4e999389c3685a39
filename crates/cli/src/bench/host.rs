//! What the host does before a kernel runs: writing it, the passes, emission, and finding its pipeline.

use std::time::Instant;

use pumice::Error;
use pumice::kernel::{Elem, Kernel, Target, passes, spirv};
use pumice::kernels::matmul::{cooperative, tiled};
use pumice::kernels::{binary, rows};
use pumice::launch::Build;

use super::case::{Case, Figure, Session, Work, host_time};

type Writer = fn() -> pumice::kernel::Result<Kernel>;

const KERNELS: [(&str, Writer); 4] = [
    ("add", || binary::binary("add", Elem::F32, |a, b| a + b)),
    ("row_softmax", || rows::softmax(Elem::F32, 4)),
    ("matmul_f32", || tiled::kernel(&tiled::Form::plain(tiled::CUTS[0]))),
    ("matmul_bf16", || cooperative::matmul(Elem::BF16, cooperative::best(32))),
];

/// The cases: building (writing and verifying), emitting (passes and SPIR-V), and finding a pipeline compiled before.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, write) in KERNELS {
        cases.push(Case::new(format!("host/build/{name}"), move |session| host(session, || Ok(write()?))));
        cases.push(Case::new(format!("host/emit/{name}"), move |session| {
            let kernel = write()?;
            let target = Target::full();
            host(session, || {
                let mut kernel = kernel.clone();
                passes::optimize(&mut kernel);
                Ok(spirv::emit(&kernel, &target)?)
            })
        }));
    }
    cases.push(Case::new("host/compile_again/add", compile_again));
    cases.push(Case::new("host/first_compile/row_sum_f16", first_compile));
    cases
}

fn host<T>(session: &Session, run: impl Fn() -> Result<T, Error>) -> Result<Option<Figure>, Error> {
    Ok(Some(Figure { time: host_time(session, || run().map(drop))?, work: Work::Host }))
}

/// A kernel this process has compiled: built, emitted and found again.
fn compile_again(session: &Session) -> Result<Option<Figure>, Error> {
    let kernel = binary::binary("add", Elem::F32, |a, b| a + b)?;
    host(session, || session.gpu.compile(&kernel, Build::Fast))
}

/// A kernel no other case uses: the driver compiles it in a first process, and reads it from disk in a second.
fn first_compile(session: &Session) -> Result<Option<Figure>, Error> {
    let kernel = rows::sum(Elem::F16)?;
    let start = Instant::now();
    session.gpu.compile(&kernel, Build::Fast)?;
    Ok(Some(Figure { time: start.elapsed(), work: Work::Host }))
}
