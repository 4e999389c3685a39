//! Hostile runs: threads do not disturb each other, and a kernel that never ends is an error.

mod rig;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
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
    let slow = std::env::var_os("PUMICE_SLOW").is_some();
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

/// What the child says when its kernel ended in an error as it should.
const THROUGH: &str = "the endless kernel timed out";

#[test]
fn a_kernel_that_never_ends_is_a_timeout_and_the_process_goes_on() {
    if rig::device().is_none() {
        return;
    }
    // A software driver's threads spin for ever, and NVIDIA's driver may hold a process back from ending while its kernel runs:
    // the child says when it is through, and is ended then.
    let program = std::env::current_exe().unwrap();
    let arguments = ["endless_kernel_in_a_child", "--exact", "--ignored", "--nocapture"];
    let mut child = Command::new(program).args(arguments).env(CHILD, "1").stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (told, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| told.send(line).unwrap_or_default()));
    let end = Instant::now() + Duration::from_secs(60);
    let through = loop {
        match heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) if line.contains(THROUGH) => break true,
            Ok(_) => {}
            Err(_) => break false,
        }
    };
    let _ = child.kill();
    std::thread::spawn(move || child.wait());
    assert!(through, "the child must say that the kernel timed out but did not");
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
    println!("{THROUGH}");
}

fn after_the_hang_everything_fails_at_once(device: &Device, stream: &pumice_gpu::Stream, launch: &Launch<'_>) {
    let start = Instant::now();
    assert!(matches!(stream.launch(launch), Err(Error::Timeout { .. })));
    assert!(matches!(stream.synchronize(), Err(Error::Timeout { .. })));
    assert!(device.stream().is_err());
    assert!(device.allocate(1024).is_err());
    assert!(start.elapsed() < Duration::from_millis(100));
}
