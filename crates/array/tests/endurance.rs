//! What must hold for long and for much: memory stays flat, large arrays work, and the detectors stay silent.
//!
//! `PUMICE_SLOW=1` does what the names say; otherwise the same with less of it.

mod rig;

use std::sync::{Mutex, MutexGuard, PoisonError};

use pumice::gpu::StreamOptions;
use pumice::gpu::checker::{self, Command, CommandLog};
use pumice::ops::astype::astype;
use pumice::ops::binary::{add, multiply, subtract};
use pumice::ops::full::full;
use pumice::ops::matmul::matmul;
use pumice::ops::reduce::{max, sum};
use pumice::ops::slices::{slice, slice_update};
use pumice::ops::softmax::softmax;
use pumice::ops::unary::exp;
use pumice::ops::views::transpose;
use pumice::{
    Array, Device, Dtype, Result, Stream, clear_cache, default_stream, eval, get_active_memory, get_cache_memory,
    get_memory_limit, get_peak_memory, new_stream, new_stream_with, reset_peak_memory, set_cache_limit,
    set_memory_limit, set_wired_limit, synchronize, the_gpu, with_stream,
};
use rig::{devices, slow};

/// Memory is counted for the whole process: tests take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn on<R>(device: Device, body: impl FnOnce() -> R) -> R {
    with_stream(default_stream(device).expect("the device is there"), body)
}

/// A little of everything: maps, a reduction, a product, a write, on a matrix that depends on the number.
fn step(number: usize) -> Result<Array> {
    let n = 4 + (number % 7) as i32;
    let values: Vec<f32> = (0..n * n).map(|i| i as f32 / 16.0).collect();
    let x = Array::from_slice(&values, &[n, n])?;
    let rows = softmax(&add(&x, 1.0)?, Some(&[-1]), false)?;
    let product = matmul(&rows, &transpose(&x, None)?)?;
    let written = slice_update(&product, &rows, &[0, 0], &[n, n], &[1, 1])?;
    sum(&multiply(&written, exp(&subtract(&x, max(&x, None, false)?)?)?)?, None, false)
}

#[test]
fn ten_thousand_evaluations_leave_memory_flat() {
    let _turn = turn();
    for device in devices() {
        on(device, || {
            let run = |count: usize| (0..count).try_for_each(|i| step(i)?.eval()).expect("it evaluates");
            run(50);
            clear_cache();
            let before = (get_active_memory(), resident());
            reset_peak_memory();
            run(if slow() { 10_000 } else { 300 });
            clear_cache();
            assert_eq!(get_active_memory(), before.0, "{device}");
            assert!(get_peak_memory() < before.0 + (1 << 20), "{device}: {} bytes at once", get_peak_memory());
            let grown = resident().saturating_sub(before.1);
            assert!(grown < 64 << 20, "{device}: the process has {grown} bytes more");
        });
    }
}

/// Bytes of memory that the process has; none where the system does not say.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

#[test]
fn counters_follow_what_arrays_hold() {
    let _turn = turn();
    for device in devices() {
        on(device, || {
            let before = get_active_memory();
            reset_peak_memory();
            let x = add(full(&[1000, 1000], 1, Some(Dtype::U8)).expect("a shape"), 1).expect("they add");
            assert_eq!(get_active_memory(), before, "{device}: nothing is computed yet");
            eval(std::slice::from_ref(&x)).expect("it evaluates");
            assert!((1_000_000..1_100_000).contains(&(get_active_memory() - before)), "{device}");
            assert!(get_peak_memory() >= 1_000_000, "{device}");
            drop(x);
            assert_eq!(get_active_memory(), before, "{device}");
            clear_cache();
            assert_eq!(get_cache_memory(), 0, "{device}");
        });
    }
}

#[test]
fn limits_give_what_was_set_before() {
    let _turn = turn();
    let first = get_memory_limit();
    assert!(first > 0);
    assert_eq!(set_memory_limit(1 << 20), first);
    assert_eq!(set_memory_limit(first), 1 << 20);
    assert_eq!(get_memory_limit(), first);
    let kept = set_cache_limit(1 << 20);
    let expected = if devices().contains(&Device::GPU) { 1 << 20 } else { 0 };
    assert_eq!(set_cache_limit(kept), expected);
    assert_eq!((set_wired_limit(1 << 20), set_wired_limit(0)), (0, 0));
}

/// A limit is a guideline: what exists can be had.
#[test]
fn work_beyond_the_memory_limit_is_done() {
    let _turn = turn();
    let before = set_memory_limit(1 << 10);
    for device in devices() {
        on(device, || {
            let x = add(full(&[1 << 16], 1f32, None).expect("a shape"), 1.0).expect("they add");
            assert_eq!(
                sum(&x, None, false).and_then(|sum| sum.item::<f32>()).expect("it evaluates"),
                131_072.0,
                "{device}"
            );
        });
    }
    set_memory_limit(before);
}

/// Rows of a mebibyte, or of a gibibyte.
fn row() -> i32 {
    if slow() { 1 << 30 } else { 1 << 20 }
}

#[test]
fn an_array_of_six_gibibytes_works() {
    let _turn = turn();
    for device in devices() {
        let needed = 7 * row() as usize;
        if slow() && available() < needed {
            eprintln!("skipped on {device}: {needed} bytes are not free");
            continue;
        }
        // Drivers in software give no buffer of more than four gibibytes, and say so.
        if slow() && device == Device::GPU && is_software() {
            let error = on(device, || six_rows(row())).expect_err("a driver in software");
            assert!(error.to_string().contains("an allocation must have at most"), "{error}");
            continue;
        }
        on(device, || six_rows(row()).unwrap_or_else(|error| panic!("{device}: {error}")));
        clear_cache();
    }
}

fn is_software() -> bool {
    the_gpu().is_ok_and(|gpu| gpu.device().info().kind == pumice::gpu::DeviceKind::Software)
}

/// Bytes that the system could give.
fn available() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<usize>().ok()).map_or(usize::MAX, |n| n * 1024)
}

fn six_rows(n: i32) -> Result<()> {
    let first: Vec<u8> = vec![1, 2, 3, 4, 5, 6];
    let column = Array::from_slice(&first, &[6, 1])?;
    let x = add(full(&[6, n], 10, Some(Dtype::U8))?, column)?;
    x.eval()?;
    assert_eq!(x.nbytes(), 6 * n as usize);
    // Beyond 2^31 elements lie the last rows.
    let near_the_end = slice(&x, &[4, n - 3], &[6, n], &[1, 1])?;
    assert_eq!(near_the_end.to_vec::<u8>()?, [15, 15, 15, 16, 16, 16]);
    assert_eq!(x.index((5, n - 1))?.item::<u8>()?, 16);
    assert_eq!(x.index((0, 0))?.item::<u8>()?, 11);
    let total = sum(&x, None, false)?;
    assert_eq!(total.item::<u32>()?, (n as u64 * (60 + 21)) as u32, "sums of uint8 are uint32 and wrap around");
    assert_eq!(max(&x, None, false)?.item::<u8>()?, 16);
    let rows = sum(&astype(&slice(&x, &[0, n - 100], &[6, n], &[1, 1])?, Dtype::I32)?, Some(&[1]), false)?;
    assert_eq!(rows.to_vec::<i32>()?, [1100, 1200, 1300, 1400, 1500, 1600]);
    Ok(())
}

/// Streams whose commands are written down.
fn logged_streams(log: &CommandLog) -> Vec<Stream> {
    let logged = || StreamOptions { log: Some(log.clone()), ..StreamOptions::default() };
    let mut streams: Vec<Stream> = (0..3).map(|_| new_stream_with(Device::GPU, logged()).expect("a stream")).collect();
    streams.push(new_stream(Device::CPU).expect("a stream"));
    streams
}

/// Random work whose calls go to streams in turn.
fn mixed(seed: usize, streams: &[Stream]) -> Result<Array> {
    let mut last = Array::from_slice(&[1f32; 48], &[6, 8])?;
    let mut before = last.clone();
    for i in 0..12 {
        let stream = streams[(seed + i * i) % streams.len()];
        let next = with_stream(stream, || match (seed / (i + 1) + i) % 5 {
            0 => add(&last, &before),
            1 => softmax(&last, Some(&[-1]), false),
            2 => slice_update(&last, &slice(&before, &[0, 0], &[3, 8], &[1, 1])?, &[3, 0], &[6, 8], &[1, 1]),
            3 => subtract(&last, max(&before, Some(&[1]), true)?),
            _ => multiply(&last, 0.5),
        })?;
        before = std::mem::replace(&mut last, next);
    }
    Ok(last)
}

#[test]
fn the_hazard_checker_and_the_validation_layers_are_silent() {
    let _turn = turn();
    if rig::gpu().is_none() {
        return;
    }
    let log = CommandLog::new();
    let streams = logged_streams(&log);
    for seed in 0..if slow() { 1000 } else { 40 } {
        let found = mixed(seed, &streams).and_then(|x| x.to_vec::<f32>()).expect("it evaluates");
        let expected = mixed(seed, &streams[3..]).and_then(|x| x.to_vec::<f32>()).expect("it evaluates");
        let near = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-5 * b.abs().max(1.0));
        assert!(near, "seed {seed}: {found:?} instead of {expected:?}");
    }
    assert_eq!(log.check(), []);
    // The same work without its barriers is found out, or finding nothing would prove nothing.
    let mut bare = log.submissions();
    bare.iter_mut().for_each(|submission| submission.commands.retain(|command| *command != Command::Barrier));
    assert!(checker::check(&bare).len() > 10, "{} barriers", log.barriers());
    let messages = the_gpu().expect("it is open").device().validation_messages();
    assert!(messages.is_empty(), "the validation layers say: {messages:#?}");
}

#[test]
fn what_the_gpu_computed_is_read_without_a_copy_where_memory_is_shared() {
    let _turn = turn();
    if rig::gpu().is_none() || !the_gpu().expect("it is there").device().is_unified() {
        return;
    }
    let x = on(Device::GPU, || add(full(&[1 << 18], 1f32, None)?, 1.0)).expect("they add");
    x.eval().expect("it evaluates");
    let before = get_active_memory();
    assert_eq!(x.to_vec::<f32>().expect("floats")[1 << 17], 2.0);
    assert_eq!(get_active_memory(), before, "the host keeps no copy");
    // Nor does the CPU need one, and what it reads is not overwritten before it is done.
    let total = on(Device::CPU, || sum(&x, None, false)).and_then(|sum| sum.item::<f32>()).expect("it evaluates");
    assert_eq!(total, 524_288.0);
    assert_eq!(get_active_memory(), before, "the CPU keeps no copy");
    let y = on(Device::GPU, || multiply(&x, 3.0)).expect("they multiply");
    drop(x);
    let z = on(Device::CPU, || add(&y, 1.0)).expect("they add");
    drop(y);
    assert_eq!(z.to_vec::<f32>().expect("floats")[7], 7.0);
}

#[test]
fn what_a_failed_evaluation_overwrote_is_told_and_never_computed_with() {
    let _turn = turn();
    for device in devices() {
        on(device, || {
            let overwritten = || -> Result<[Array; 2]> {
                let x = add(full(&[1 << 16], Array::scalar(1f32), None)?, 1.0)?;
                x.eval()?;
                // In the place of x, which nobody holds any longer.
                let y = exp(&x)?;
                drop(x);
                let rows = pumice::ops::broadcast_to::broadcast_to(&y, &[1 << 24, 1 << 16])?;
                Ok([softmax(&rows, Some(&[-1]), false)?, sum(&y, None, false)?])
            };
            let [huge, total] = overwritten().expect("a graph");
            huge.eval().expect_err("no memory holds it");
            match total.item::<f32>() {
                Ok(total) => assert!((total / (65536.0 * 2f32.exp()) - 1.0).abs() < 1e-4, "{device}: {total}"),
                Err(error) => assert_eq!(
                    error.to_string(),
                    "[eval] an array must have values but they were overwritten by an evaluation that failed.",
                    "{device}"
                ),
            }
            // Other tests count memory.
            default_stream(device).and_then(synchronize).expect("it comes to rest");
        });
    }
}
