//! A process that evaluates what another has evaluated before compiles nothing: the driver's work is on disk.

mod rig;

use std::path::Path;
use std::process::Command;

use pumice::gpu::DeviceKind;
use pumice::ops::binary::{add, multiply};
use pumice::ops::reduce::{mean, sum};
use pumice::ops::softmax::softmax;
use pumice::ops::unary::{exp, tanh};
use pumice::{Array, Device, default_stream, eval, with_stream};

/// Where the process that is asked to work looks for the answer.
const WORKER: &str = "PUMICE_TEST_WORKER";

/// Evaluates a little of everything a few times, so that fused kernels are compiled too.
fn work() -> pumice::Result<()> {
    let x = Array::from_slice(&[0.5f32; 256], &[16, 16])?;
    for _ in 0..3 {
        let y = multiply(tanh(&x)?, &exp(&x)?)?;
        let z = softmax(&add(&y, &mean(&y, Some(&[1]), true)?)?, Some(&[1]), false)?;
        eval(&[sum(&z, None, false)?, z])?;
    }
    Ok(())
}

/// Not a test of its own: what the other one starts twice.
#[test]
fn a_process_tells_what_it_compiled() {
    if std::env::var_os(WORKER).is_none() {
        return;
    }
    pumice::eval::set_tier(pumice::eval::Tier::Now);
    let stream = default_stream(Device::GPU).expect("the device is there");
    with_stream(stream, work).expect("it evaluates");
    println!("compiled={}", pumice::eval::stats().gpu.expect("a GPU was used").pipelines_compiled);
}

fn compiled_by_a_process(cache: &Path) -> u64 {
    let program = std::env::current_exe().expect("this program is a file");
    let output = Command::new(program)
        .args(["a_process_tells_what_it_compiled", "--exact", "--nocapture"])
        .env(WORKER, "1")
        .env("PUMICE_CACHE_DIR", cache)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "the worker failed: {text}{}", String::from_utf8_lossy(&output.stderr));
    let line = text.lines().find_map(|line| line.split_once("compiled=")).expect("it says what it compiled");
    line.1.trim().parse().expect("a number")
}

#[test]
fn a_second_process_compiles_nothing() {
    let Some(gpu) = rig::gpu() else { return };
    let cache = std::env::temp_dir().join(format!("pumice-second-process-{}", std::process::id()));
    let first = compiled_by_a_process(&cache);
    let second = compiled_by_a_process(&cache);
    std::fs::remove_dir_all(&cache).expect("the cache was written there");
    assert!(first > 0, "the first process must compile its kernels");
    if gpu.device().info().kind == DeviceKind::Software {
        // Mesa's software driver never says that it found a pipeline in the cache.
        assert!(second <= first, "the second process must not compile more than the first");
        return;
    }
    assert_eq!(second, 0, "the second process must find all {first} kernels on disk");
}
