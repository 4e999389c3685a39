//! Random well-formed kernels give the same bits on the interpreter and on the device, and `spirv-val` accepts them.

mod rig;

use std::ops::Range;

use std::io::Write;
use std::process::{Command, Stdio};

use pumice::kernel::random::{RandomKernel, RandomLimits, first_difference, random_kernel};
use pumice::kernel::target::Denormals;
use pumice::kernel::{Target, passes, spirv};
use pumice::launch::{Build, Gpu};
use rig::Job;

/// Kernels in the quick and in the slow suite.
const QUICK: u64 = 120;
const SLOW: u64 = 10_000;

fn limits(target: &Target) -> RandomLimits {
    RandomLimits {
        subgroup_multiple: target.subgroup_size,
        f64: target.float64,
        atomic_i64: target.atomic_i64,
        ..RandomLimits::default()
    }
}

#[test]
fn interpreter_and_device_agree_bit_for_bit() {
    let Some(gpu) = rig::gpu() else { return };
    let limits = limits(gpu.target());
    let seeds = seeds();
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get()) as u64;
    let failures: Vec<String> = std::thread::scope(|scope| {
        let (limits, Range { start: first, end }) = (&limits, seeds.clone());
        let start =
            |worker| scope.spawn(move || failures_among(gpu, limits, (first + worker..end).step_by(workers as usize)));
        let threads: Vec<_> = (0..workers).map(start).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a worker gives its failures")).collect()
    });
    assert!(failures.is_empty(), "{} of {seeds:?} kernels differ:\n{}", failures.len(), failures.join("\n"));
}

/// The seeds to try. `PUMICE_SEEDS=2000..4000` shares the slow suite among processes: lavapipe compiles one kernel at a time.
fn seeds() -> Range<u64> {
    let all = 0..if rig::slow() { SLOW } else { QUICK };
    let Ok(text) = std::env::var("PUMICE_SEEDS") else { return all };
    let (first, end) = text.split_once("..").expect("PUMICE_SEEDS must be two numbers with .. between");
    first.parse().expect("a number")..end.parse().expect("a number")
}

/// Seeds of the slow suite whose kernels once gave a zero of the wrong sign on lavapipe, which leaves out `+ 0.0`.
const ONCE_WRONG: [u64; 14] = [1721, 1724, 1766, 1792, 1978, 1983, 1985, 1986, 1997, 2005, 8117, 8231, 8237, 8238];

#[test]
fn kernels_that_once_differed_agree() {
    let Some(gpu) = rig::gpu() else { return };
    let failures = failures_among(gpu, &limits(gpu.target()), ONCE_WRONG.into_iter());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_a_device_lacks_is_made_up_for_bit_for_bit() {
    let Some(gpu) = rig::gpu() else { return };
    let has = gpu.target().clone();
    let lesser = [
        Target { int8: false, int16: false, float16: false, storage8: false, storage16: false, ..has.clone() },
        Target { integer_dot: false, atomic_f32_add: false, subgroup_arithmetic: false, ..has.clone() },
        Target { denormals: Denormals::FLUSHED, ..has.clone() },
        Target { subgroup_size: 1, ..has },
    ];
    for target in lesser {
        let gpu = gpu.with_target(target.clone()).expect("the device makes streams");
        for seed in 0..if rig::slow() { 500 } else { 20 } {
            compare(&gpu, seed, &limits(&target)).unwrap_or_else(|error| panic!("{error} for {target:#?}"));
        }
    }
}

fn failures_among(gpu: &Gpu, limits: &RandomLimits, seeds: impl Iterator<Item = u64>) -> Vec<String> {
    let own_stream = gpu.with_target(gpu.target().clone()).expect("the device makes streams");
    let compared = seeds.inspect(|seed| {
        if seed.is_multiple_of(1000) && *seed > 0 {
            eprintln!("random kernels: at seed {seed}");
        }
    });
    compared.filter_map(|seed| compare(&own_stream, seed, limits).err()).collect()
}

/// Runs one kernel both ways, every fourth as a checked build.
fn compare(gpu: &Gpu, seed: u64, limits: &RandomLimits) -> Result<(), String> {
    let RandomKernel { kernel, buffers, scalars, groups } = random_kernel(seed, limits);
    let build = if seed.is_multiple_of(4) { Build::Checked } else { Build::Fast };
    let job = Job { kernel: &kernel, groups, scalars: &scalars, buffers };
    let expected = job.interpreted(gpu.target().subgroup_size).map_err(|e| format!("seed {seed}, interpreter: {e}"))?;
    let found = job.on_device(gpu, build).map_err(|e| format!("seed {seed}, {build:?}: {e}"))?;
    for ((param, expected), found) in kernel.buffers.iter().zip(&expected).zip(&found) {
        if let Some(at) = first_difference(param.elem, expected, found) {
            let (name, elem, size) = (&param.name, param.elem.name(), param.elem.bytes());
            let range = at * size..(at + 1) * size;
            let (expected, found) = (&expected[range.clone()], &found[range]);
            return Err(format!(
                "seed {seed}, {build:?}: {name}[{at}] ({elem}) is {found:02x?} but must be {expected:02x?}"
            ));
        }
    }
    Ok(())
}

#[test]
fn spirv_val_accepts_random_kernels_for_every_kind_of_device() {
    if Command::new("spirv-val").arg("--version").output().is_err() {
        assert_ne!(std::env::var("PUMICE_REQUIRE_VULKAN").as_deref(), Ok("1"), "spirv-val must be installed");
        eprintln!("skipped, no spirv-val");
        return;
    }
    let seeds = if rig::slow() { SLOW / 10 } else { 40 };
    let full = Target::full();
    let software = Target { subgroup_size: 8, fused_fma: false, signed_zeros: false, ..Target::full() };
    let full = Target { denormals: Denormals::FLUSHED, ..full };
    let plain = Target { float64: true, ..Target::minimal() };
    for (name, target) in [("full", full), ("software", software), ("minimal", plain)] {
        let limits = RandomLimits { f64: target.float64, atomic_i64: target.atomic_i64, ..RandomLimits::default() };
        for seed in 0..seeds {
            let mut kernel = random_kernel(seed, &limits).kernel;
            if seed.is_multiple_of(3) {
                passes::checked(&mut kernel);
            }
            passes::optimize(&mut kernel);
            let module = spirv::emit(&kernel, &target).unwrap_or_else(|e| panic!("{name}, seed {seed}: {e}"));
            validate(&module.words).unwrap_or_else(|e| panic!("{name}, seed {seed}: {e}"));
        }
    }
}

/// What `spirv-val` says of a module.
fn validate(words: &[u32]) -> Result<(), String> {
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.3", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    child.stdin.take().expect("piped").write_all(&bytes).map_err(|e| e.to_string())?;
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
