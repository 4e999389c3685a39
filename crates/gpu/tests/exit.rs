//! The end of a process that is still building pipelines, and of one that was forked.

mod rig;

use std::fs;
use std::process::{Command, exit};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use pumice_gpu::{Options, PipelineRequest};

/// Says in the environment that this process is the child.
const CHILD: &str = "PUMICE_TEST_EXIT";
/// How the child ends if it finds a thread at work too late.
const AT_WORK: i32 = 17;

fn kernel() -> PipelineRequest {
    let words = include_bytes!("kernels/mix.spv").chunks_exact(4);
    let spirv: Vec<u32> = words.map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    PipelineRequest { name: "mix".into(), spirv: spirv.into(), subgroup_size: None }
}

// SAFETY: these are the declarations of the C standard library.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
    fn _exit(status: i32) -> !;
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

/// Whether this process has a builder.
fn has_builder() -> bool {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let mut names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.any(|name| name.trim() == "pumice-build")
}

/// Stands for the clean-up of a library: nobody may be at work in it any more.
extern "C" fn clean_up() {
    if has_builder() {
        // SAFETY: the call ends the process and touches nothing.
        unsafe { _exit(AT_WORK) }
    }
}

/// What the child does: a library registers its clean-up while a pipeline is built, and the process ends.
fn end_while_builders_wait() {
    let device = rig::open(Options::default()).expect("the parent has found a device");
    // SAFETY: the function lives as long as the program, takes nothing and does not unwind.
    assert_eq!(unsafe { atexit(clean_up) }, 0);
    device.pipeline_async(&kernel()).wait().expect("the kernel is built");
    while !has_builder() {
        // It has been started, but may not have begun.
        sleep(Duration::from_millis(1));
    }
    std::mem::forget(device);
    exit(0);
}

/// Stands for a driver's clean-up, which gives back what the parent uses.
extern "C" fn give_back() {
    if FORKED.load(Ordering::Relaxed) {
        // SAFETY: the call ends the process and touches nothing.
        unsafe { _exit(AT_WORK) }
    }
}

static FORKED: AtomicBool = AtomicBool::new(false);

/// What the child does: it forks one that ends as programs do, and ends as that one did.
fn end_as_a_forked_process() {
    let device = rig::open(Options::default()).expect("the parent has found a device");
    // SAFETY: the function lives as long as the program, takes nothing and does not unwind.
    assert_eq!(unsafe { atexit(give_back) }, 0);
    // SAFETY: the forked process uses no lock that another thread may have held.
    let forked = unsafe { fork() };
    if forked == 0 {
        FORKED.store(true, Ordering::Relaxed);
        device.abandon();
        exit(5);
    }
    let mut status = 0;
    // SAFETY: the status lives while the call lasts.
    assert_eq!(unsafe { waitpid(forked, &mut status, 0) }, forked);
    std::mem::forget(device);
    exit(status >> 8);
}

#[test]
fn a_forked_process_leaves_the_driver_to_its_parent() {
    if std::env::var_os(CHILD).is_some() {
        end_as_a_forked_process();
    }
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        run_again("a_forked_process_leaves_the_driver_to_its_parent", 5);
    }
}

#[test]
fn builders_end_before_what_was_registered_while_they_built() {
    if std::env::var_os(CHILD).is_some() {
        end_while_builders_wait();
    }
    if cfg!(target_os = "linux") {
        run_again("builders_end_before_what_was_registered_while_they_built", 0);
    }
}

/// Runs a test of these as the child, which must end so; not where there is no device.
fn run_again(name: &str, code: i32) {
    if rig::device().is_none() {
        return;
    }
    let mut child = Command::new(std::env::current_exe().expect("this program has a path"));
    let ended = child.args([name, "--exact"]).env(CHILD, "1").output().expect("it runs again");
    assert_eq!(ended.status.code(), Some(code), "{}", String::from_utf8_lossy(&ended.stderr));
}
