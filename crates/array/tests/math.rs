//! The mathematical functions on the device: within their bounds, and bit for bit what the interpreter gives.
//!
//! `PUMICE_BLESS=1` writes the device's column of `docs/math.md`; without a checkout at hand the table is printed
//! (`PUMICE_MATH_TABLE=1`).

mod rig;

use std::path::Path;

use pumice::kernel::Elem;
use pumice::kernel::arguments::Argument;
use pumice::kernel::math::catalogue::{MathFunction, document, table};
use pumice::kernel::random::first_difference;
use pumice::launch::{Build, fold_groups};
use rig::{Job, bytes_of, floats};

/// Every how many of the 2³² floats is tried, besides those where errors are likely.
fn step() -> u32 {
    if rig::slow() { 1009 } else { 262_139 }
}

#[test]
fn every_function_is_within_its_bound_on_the_device() {
    let Some(gpu) = rig::gpu() else { return };
    let device = gpu.device().info().name.split(" (").next().expect("a name has a first part").to_owned();
    let (mut worsts, mut failures) = (Vec::new(), Vec::new());
    for function in table() {
        let (x, y) = function.samples(step());
        let found = on_device(function, &x, &y);
        let worst = function.worst(&x, &y, &found);
        if worst.ulp > function.bound_ulp {
            failures.push(format!("{}: {worst:?}, at most {}", function.name, function.bound_ulp));
        }
        worsts.push(worst);
    }
    if std::env::var_os("PUMICE_MATH_TABLE").is_some() {
        println!("{}", document("", &device, &worsts));
    }
    if std::env::var_os("PUMICE_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/math.md");
        let previous = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, document(&previous, &device, &worsts)).expect("the table can be written");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs the kernel on the device; a part of the results must be the interpreter's bits.
fn on_device(function: &MathFunction, x: &[f32], y: &[f32]) -> Vec<f32> {
    let gpu = rig::gpu().expect("the caller has one");
    let kernel = function.kernel().expect("the kernel is well formed");
    let run = |x: &[f32], y: &[f32], interpret: bool| {
        let n = x.len();
        let buffers = vec![bytes_of(x), bytes_of(y), vec![0; n * 4]];
        let scalars = [Argument::I32(n as i32)];
        let job = Job { kernel: &kernel, groups: fold_groups((n as u64).div_ceil(64)), scalars: &scalars, buffers };
        match interpret {
            true => job.interpreted(gpu.target().subgroup_size).expect("the interpreter runs it").swap_remove(2),
            false => job.on_device(gpu, Build::Fast).expect("the launch works").swap_remove(2),
        }
    };
    let found = run(x, y, false);
    let part = x.len().min(20_000);
    let expected = run(&x[..part], &y[..part], true);
    let differs = first_difference(Elem::F32, &expected, &found[..4 * part]);
    assert_eq!(differs.map(|at| (x[at], y[at])), None, "{} must give the interpreter's bits", function.name);
    floats(&found)
}
