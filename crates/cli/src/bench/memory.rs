//! Cases bound by memory: element-wise addition, row sums, row softmax.

use pumice::Error;
use pumice::gpu::Buffer;
use pumice::kernel::arguments::Argument;
use pumice::kernel::{Elem, Kernel};
use pumice::kernels::{binary, rows};
use pumice::launch::{Build, fold_groups};

use super::case::{Case, Figure, Session, Work, gpu_time};

/// The cases.
pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [Elem::F32, Elem::BF16, Elem::F16, Elem::U8]
        .into_iter()
        .map(|elem| Case::new(format!("add/{}", elem.name()), move |session| add(session, elem)))
        .collect();
    for elem in [Elem::F32, Elem::BF16] {
        cases.push(Case::new(format!("row_sum/{}", elem.name()), move |session| row_sum(session, elem)));
        cases.push(Case::new(format!("row_softmax/{}", elem.name()), move |session| row_softmax(session, elem)));
    }
    cases
}

/// Arrays of 1 GiB each.
fn add(session: &Session, elem: Elem) -> Result<Option<Figure>, Error> {
    let bytes = session.size(1 << 30, 1 << 20);
    let n = bytes / elem.bytes() as u64;
    let kernel = binary::binary("add", elem, |a, b| a + b)?;
    let buffers = [filled(session, bytes, 1)?, filled(session, bytes, 2)?, session.gpu.allocate(bytes)?];
    let groups = fold_groups(n.div_ceil(binary::elements_per_group(elem)));
    time_bytes(session, &kernel, groups, &buffers, &[Argument::I32(n as i32)], 3 * bytes)
}

/// 32,768 rows of 4,096, as the peers' benchmark has it.
const ROWS: u64 = 32_768;
const COLUMNS: u64 = 4_096;

fn row_sum(session: &Session, elem: Elem) -> Result<Option<Figure>, Error> {
    let rows = session.size(ROWS, 64);
    let bytes = rows * COLUMNS * elem.bytes() as u64;
    let buffers = [filled(session, bytes, 3)?, session.gpu.allocate(rows * 4)?];
    let scalars = [Argument::I32(rows as i32), Argument::I32(COLUMNS as i32)];
    time_bytes(session, &rows::sum(elem)?, fold_groups(rows), &buffers, &scalars, bytes)
}

fn row_softmax(session: &Session, elem: Elem) -> Result<Option<Figure>, Error> {
    let rows = session.size(ROWS, 64);
    let bytes = rows * COLUMNS * elem.bytes() as u64;
    let buffers = [filled(session, bytes, 4)?, session.gpu.allocate(bytes)?];
    let accesses = (COLUMNS * elem.bytes() as u64).div_ceil(16 * rows::WORKGROUP as u64) as u32;
    let scalars = [Argument::I32(rows as i32), Argument::I32(COLUMNS as i32)];
    time_bytes(session, &rows::softmax(elem, accesses)?, fold_groups(rows), &buffers, &scalars, 2 * bytes)
}

fn time_bytes(
    session: &Session,
    kernel: &Kernel,
    groups: [u32; 3],
    buffers: &[Buffer],
    scalars: &[Argument],
    bytes: u64,
) -> Result<Option<Figure>, Error> {
    let compiled = session.gpu.compile(kernel, Build::Fast)?;
    let buffers: Vec<&Buffer> = buffers.iter().collect();
    let time = gpu_time(session, |stream| compiled.launch(stream, groups, &buffers, scalars))?;
    Ok(Some(Figure { time, work: Work::Bytes(bytes as f64) }))
}

/// A buffer of bytes that are a normal number in every float type and differ from word to word.
pub fn filled(session: &Session, bytes: u64, seed: i32) -> Result<Buffer, Error> {
    let kernel = Kernel::build("bench_fill", [256, 1, 1], |k| {
        let out = k.output("out", Elem::U32);
        let (n, seed) = (k.arg_i32("n"), k.arg_i32("seed"));
        k.each(n, |i| {
            let mixed = (i ^ (seed << 20)) * 0x9e37_79b1u32;
            // Mantissa and sign bits vary, exponents stay between 0.25 and 2 in f32, f16 and bf16 alike.
            out.store(i, (mixed.shr_u(3) & 0x80ff_80ffu32) | 0x3f00_3f00);
        });
    })?;
    let buffer = session.gpu.allocate(bytes)?;
    let words = bytes / 4;
    let compiled = session.gpu.compile(&kernel, Build::Fast)?;
    let scalars = [Argument::I32(words as i32), Argument::I32(seed)];
    compiled.launch(session.gpu.stream(), fold_groups(words.div_ceil(256)), &[&buffer], &scalars)?;
    session.gpu.stream().synchronize()?;
    Ok(buffer)
}
