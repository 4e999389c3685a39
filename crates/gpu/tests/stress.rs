//! Hostile runs: threads do not disturb each other, and a kernel that never ends is an error.

mod rig;

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pumice_gpu::{Device, Error, Launch, Options};
use rig::{Mix, Random};

/// Set in the child process that runs the endless kernel.
const CHILD: &str = "PUMICE_TEST_ENDLESS";

#[test]
fn eight_threads_on_their_own_streams_get_right_results() {
    let Some(device) = rig::device() else { return };
    let mix = rig::mix(&device);
    let slow = std::env::var("PUMICE_SLOW").as_deref() == Ok("1");
    let end = Instant::now() + Duration::from_secs(if slow { 60 } else { 3 });
    let rounds = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (device, mix, rounds) = (&device, &mix, &rounds);
            scope.spawn(move || {
                let (stream, mut random) = (device.stream().unwrap(), Random::new(thread));
                while Instant::now() < end {
                    let (buffers, mut expected) = rig::buffers(device, &stream, 3);
                    for _ in 0..random.below(150) {
                        let launch = random.mix(3);
                        launch.launch(&stream, mix, &buffers).unwrap();
                        launch.apply(&mut expected);
                    }
                    for (buffer, expected) in buffers.iter().zip(&expected) {
                        assert_eq!(rig::download(&stream, buffer), *expected, "thread {thread}");
                    }
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(rounds.load(Ordering::Relaxed) >= 8);
}

#[test]
fn eight_threads_share_a_stream_without_losing_work() {
    let Some(device) = rig::device() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, _) = rig::buffers(&device, &stream, 1);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..250 {
                    let launch = Mix { src: 0, dst: 0, multiply: 0, add: 1 };
                    launch.launch(&stream, &mix, &buffers).unwrap();
                }
            });
        }
    });
    assert_eq!(rig::download(&stream, &buffers[0])[0], 2000);
}

#[test]
fn a_kernel_that_never_ends_is_a_timeout_and_the_process_goes_on() {
    if rig::device().is_none() {
        return;
    }
    // A software driver's threads spin for ever: in a process of their own.
    let program = std::env::current_exe().unwrap();
    let arguments = ["endless_kernel_in_a_child", "--exact", "--ignored", "--nocapture"];
    let mut child = Command::new(program).args(arguments).env(CHILD, "1").spawn().unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("the child neither finished nor exited");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "{status}");
}

#[test]
#[ignore = "run by a_kernel_that_never_ends_is_a_timeout_and_the_process_goes_on"]
fn endless_kernel_in_a_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let limit = Duration::from_millis(300);
    // What a hung kernel may still use is leaked on purpose, so nobody looks for leaks here.
    let device = rig::open(Options { timeout: limit, ..Options::default() }).expect("the parent found one");
    let stream = device.stream().unwrap();
    let endless = rig::endless(&device);
    let flag = rig::upload(&device, &stream, &[0]);
    let arguments = flag.address().to_ne_bytes();
    let launch = Launch { pipeline: &endless, groups: [1, 1, 1], arguments: &arguments, reads: &[&flag], writes: &[] };
    stream.launch(&launch).unwrap();
    let start = Instant::now();
    let outcome = stream.synchronize();
    let took = start.elapsed();
    let Err(Error::Timeout { after, last_kernels, .. }) = outcome else { panic!("not a timeout: {outcome:?}") };
    assert_eq!(after, limit);
    assert_eq!(last_kernels, ["endless"]);
    assert!(took >= limit && took < limit * 10, "{took:?}");
    after_the_hang_everything_fails_at_once(&device, &stream, &launch);
    drop((stream, flag, device));
}

fn after_the_hang_everything_fails_at_once(device: &Device, stream: &pumice_gpu::Stream, launch: &Launch<'_>) {
    let start = Instant::now();
    assert!(matches!(stream.launch(launch), Err(Error::Timeout { .. })));
    assert!(matches!(stream.synchronize(), Err(Error::Timeout { .. })));
    assert!(device.stream().is_err());
    assert!(device.allocate(1024).is_err());
    assert!(start.elapsed() < Duration::from_millis(100));
}
