//! Streams on a device: order, events, lifetimes, timestamps, limits.

mod rig;

use std::thread::sleep;
use std::time::{Duration, Instant};

use pumice_gpu::trace::Track;
use pumice_gpu::{Buffer, Device, Error, Options, Stream, StreamOptions, Transfers};
use rig::{Mix, N, Random};

#[test]
fn dependent_launches_run_in_order() {
    let Some(device) = rig::device() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, mut expected) = rig::buffers(&device, &stream, 3);
    let mut random = Random::new(1);
    for _ in 0..500 {
        let launch = random.mix(3);
        launch.launch(&stream, &mix, &buffers).unwrap();
        launch.apply(&mut expected);
    }
    for (buffer, expected) in buffers.iter().zip(&expected) {
        assert_eq!(rig::download(&stream, buffer), *expected);
    }
}

#[test]
fn copies_and_fills_are_ordered_with_launches() {
    let Some(device) = rig::device() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, _) = rig::buffers(&device, &stream, 2);
    let len = u64::from(N) * 4;
    for round in 0..50u32 {
        stream.fill(&buffers[0], 0, len, round).unwrap();
        Mix { src: 0, dst: 0, multiply: 3, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
        stream.copy(&buffers[0], 0, &buffers[1], 0, len).unwrap();
        stream.fill(&buffers[1], 0, 4, 77).unwrap();
        if round % 10 == 9 {
            let words = rig::download(&stream, &buffers[1]);
            assert_eq!(words[0], 77);
            assert!(words[1..].iter().all(|&word| word == 4 * round + 1), "round {round}");
        }
    }
}

#[test]
fn events_order_work_across_streams() {
    let Some(device) = rig::device() else { return };
    let mix = rig::mix(&device);
    let streams: Vec<_> = (0..3).map(|_| device.stream().unwrap()).collect();
    let (buffers, mut expected) = rig::buffers(&device, &streams[0], 3);
    let mut random = Random::new(2);
    for step in 0..200 {
        let stream = &streams[step % 3];
        for _ in 0..random.below(5) {
            let launch = random.mix(3);
            launch.launch(stream, &mix, &buffers).unwrap();
            launch.apply(&mut expected);
        }
        let event = stream.commit().unwrap();
        streams[(step + 1) % 3].wait_event(&event).unwrap();
    }
    streams.iter().for_each(|stream| stream.synchronize().unwrap());
    for (buffer, expected) in buffers.iter().zip(&expected) {
        assert_eq!(rig::download(&streams[0], buffer), *expected);
    }
}

#[test]
fn an_event_is_done_after_it_was_waited_for() {
    let Some(device) = rig::device() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    assert!(stream.commit().unwrap().is_done().unwrap(), "nothing was given");
    let (buffers, _) = rig::buffers(&device, &stream, 1);
    Mix { src: 0, dst: 0, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    let event = stream.commit().unwrap();
    event.wait().unwrap();
    assert!(event.is_done().unwrap());
    assert!(event.wait_for(Duration::ZERO).unwrap());
}

#[test]
fn buffers_dropped_after_their_launch_stay_until_it_is_done() {
    let Some(device) = rig::device() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (mut buffers, mut expected) = rig::buffers(&device, &stream, 1);
    for round in 0..300u32 {
        let source = device.allocate(u64::from(N) * 4).unwrap();
        stream.fill(&source, 0, u64::from(N) * 4, round).unwrap();
        buffers.push(source);
        let launch = Mix { src: 1, dst: 0, multiply: 5, add: 1 };
        launch.launch(&stream, &mix, &buffers).unwrap();
        // The next allocation would get this memory if the stream let go of it.
        drop(buffers.pop());
        expected.push(vec![round; N as usize]);
        launch.apply(&mut expected);
        expected.pop();
    }
    assert_eq!(rig::download(&stream, &buffers[0]), expected[0]);
}

#[test]
fn a_kernel_dropped_after_its_launch_stays_until_it_is_done() {
    let Some(device) = rig::device() else { return };
    let stream = device.stream().unwrap();
    let (buffers, _) = rig::buffers(&device, &stream, 1);
    Mix { src: 0, dst: 0, multiply: 0, add: 3 }.launch(&stream, &rig::mix(&device), &buffers).unwrap();
    assert_eq!(rig::download(&stream, &buffers[0]), vec![3; N as usize]);
}

#[test]
fn dropping_a_stream_finishes_its_work() {
    let Some(device) = rig::device() else { return };
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let (buffers, _) = rig::buffers(&device, &stream, 1);
    stream.fill(&buffers[0], 0, u64::from(N) * 4, 9).unwrap();
    drop(stream);
    assert_eq!(rig::download(&other, &buffers[0]), vec![9; N as usize]);
}

#[test]
fn gpu_timestamps_are_positive_and_ordered() {
    let Some(device) = rig::device() else { return };
    if !device.limits().has_timestamps {
        return eprintln!("skipped: the device has no timestamps");
    }
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, _) = rig::buffers(&device, &stream, 1);
    let mut stamps = vec![stream.timestamp().unwrap()];
    for _ in 0..100 {
        Mix { src: 0, dst: 0, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
        stamps.push(stream.timestamp().unwrap());
    }
    stream.synchronize().unwrap();
    let times: Vec<f64> = stamps.iter().map(|stamp| stamp.nanoseconds().unwrap()).collect();
    assert!(times[0] > 0.0);
    assert!(times.is_sorted(), "{times:?}");
    assert!(stamps[100].since(&stamps[0]).unwrap() > Duration::ZERO);
}

#[test]
fn a_timestamp_that_was_not_passed_cannot_be_read() {
    let Some(device) = rig::device() else { return };
    if !device.limits().has_timestamps {
        return eprintln!("skipped: the device has no timestamps");
    }
    let stream = device.stream().unwrap();
    let earlier = stream.timestamp().unwrap();
    stream.synchronize().unwrap();
    let stamp = stream.timestamp().unwrap();
    assert!(earlier.nanoseconds().is_ok());
    assert!(matches!(stamp.nanoseconds(), Err(Error::InvalidArgument(_))));
}

#[test]
fn timed_work_takes_longer_when_there_is_more_of_it() {
    let Some(device) = rig::device() else { return };
    if !device.limits().has_timestamps {
        return eprintln!("skipped: the device has no timestamps");
    }
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, _) = rig::buffers(&device, &stream, 1);
    let time = |launches: usize| {
        let work = |stream: &pumice_gpu::Stream| {
            (0..launches).try_for_each(|_| Mix { src: 0, dst: 0, multiply: 1, add: 1 }.launch(stream, &mix, &buffers))
        };
        (0..3).map(|_| stream.time(work).unwrap()).min().unwrap()
    };
    time(1);
    assert!(time(1000) > time(10));
}

#[test]
fn what_does_not_fit_is_an_error_and_the_stream_goes_on() {
    let Some(device) = rig::device() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, _) = rig::buffers(&device, &stream, 2);
    let len = u64::from(N) * 4;
    let invalid = [
        stream.copy(&buffers[0], 4, &buffers[1], 0, len),
        stream.copy(&buffers[0], 0, &buffers[1], u64::MAX, 4),
        stream.copy(&buffers[0], 0, &buffers[0], 4, 8),
        stream.fill(&buffers[0], 2, 4, 0),
        stream.fill(&buffers[0], 0, len + 4, 0),
        stream.launch(&pumice_gpu::Launch {
            pipeline: &mix,
            groups: [u32::MAX, 1, 1],
            arguments: &[],
            reads: &[],
            writes: &[],
        }),
    ];
    for outcome in invalid {
        assert!(matches!(outcome, Err(Error::InvalidArgument(_))), "{outcome:?}");
    }
    stream.copy(&buffers[0], 0, &buffers[0], 8, 8).unwrap();
    stream.fill(&buffers[1], 0, len, 5).unwrap();
    assert_eq!(rig::download(&stream, &buffers[1]), vec![5; N as usize]);
}

/// How often a stream that is asked to commit after 20 operations has done so, after operations from one buffer into another.
fn commits_after(device: &Device, operations: &[(usize, usize)]) -> u64 {
    let mix = rig::mix(device);
    let options = StreamOptions { max_operations: Some(20), ..StreamOptions::default() };
    let stream = device.stream_with(options).unwrap();
    let (buffers, _) = rig::buffers(device, &stream, 25);
    stream.synchronize().unwrap();
    let before = device.stats().submits;
    for &(src, dst) in operations {
        Mix { src, dst, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    }
    device.stats().submits - before
}

#[test]
fn commits_come_after_the_number_of_operations_asked_for() {
    let Some(device) = rig::device() else { return };
    // After 10 (the first comes early), 30, 50 and 70 operations.
    assert_eq!(commits_after(&device, &[(0, 0); 71]), 4);
}

#[test]
fn commits_wait_for_an_operation_that_waits_but_not_for_ever() {
    let Some(device) = rig::device() else { return };
    // 10 operations would do; 15 need no barrier, and the one after them does.
    let side_by_side: Vec<_> = (1..=15).map(|dst| (0, dst)).collect();
    assert_eq!(commits_after(&device, &side_by_side), 0);
    assert_eq!(commits_after(&device, &[&side_by_side[..], &[(1, 16)]].concat()), 1);
    // Nothing waits, but 20 are enough.
    let many: Vec<_> = (1..=21).map(|dst| (0, dst)).collect();
    assert_eq!(commits_after(&device, &many), 1);
}

/// Commits that each take the device a while, without waiting for any.
fn keep_busy(stream: &Stream, buffer: &Buffer, commits: u32) {
    for word in 0..commits {
        stream.fill(buffer, 0, buffer.len(), word).unwrap();
        stream.commit().unwrap();
    }
}

#[test]
fn what_waits_for_a_busy_device_goes_to_it_together_and_without_being_asked_for() {
    let Some(device) = rig::device() else { return };
    let options = StreamOptions { in_flight: Some(100), ..StreamOptions::default() };
    let stream = device.stream_with(options).unwrap();
    let buffer = device.allocate(256 << 20).unwrap();
    stream.synchronize().unwrap();
    let submissions = || device.calls().count("vkQueueSubmit2");
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let before = submissions();
        keep_busy(&stream, &buffer, 30);
        let at_once = submissions() - before;
        assert!(at_once < 30, "30 commits must not be {at_once} submissions");
        let patience = Instant::now() + Duration::from_secs(2);
        while submissions() - before == at_once && Instant::now() < patience {
            sleep(Duration::from_millis(1));
        }
        if submissions() - before > at_once {
            break;
        }
        // On a machine with much else to do, everything may have been handed over before the first look.
        assert!(Instant::now() < end, "what waits must be handed over by itself but is not");
        stream.synchronize().unwrap();
    }
    let mut word = [0; 4];
    stream.download(&buffer, buffer.len() - 4, &mut word).unwrap();
    assert_eq!(u32::from_le_bytes(word), 29);
}

#[test]
fn a_device_closes_with_work_that_it_was_never_handed() {
    let Some(device) = rig::device() else { return };
    let stream = device.stream().unwrap();
    let buffer = device.allocate(64 << 20).unwrap();
    keep_busy(&stream, &buffer, 8);
}

#[test]
fn statistics_count_launches_barriers_and_submits() {
    let Some(device) = rig::device() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, _) = rig::buffers(&device, &stream, 2);
    stream.synchronize().unwrap();
    device.reset_stats();
    for _ in 0..5 {
        Mix { src: 0, dst: 0, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    }
    stream.fill(&buffers[1], 0, 4, 0).unwrap();
    stream.synchronize().unwrap();
    let stats = device.stats();
    assert_eq!(stats.launches["mix"], 5);
    assert_eq!(stats.fills, 1);
    assert_eq!(stats.submits, 1);
    assert!((4..=5).contains(&stats.barriers), "{}", stats.barriers);
}

#[test]
fn statistics_tell_launches_by_size() {
    let Some(device) = rig::device() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    device.reset_stats();
    // A workgroup has 32 invocations.
    for words in [20, 32, 3 * 32, 4 * 32, 100 * 32] {
        let buffers = [rig::upload(&device, &stream, &vec![1; words]), rig::upload(&device, &stream, &vec![1; words])];
        Mix { src: 0, dst: 1, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    }
    stream.synchronize().unwrap();
    let stats = device.stats();
    assert_eq!(stats.launches["mix"], 5);
    assert_eq!(stats.launch_sizes["mix"], [(1, 2), (4, 2), (128, 1)].into());
}

#[test]
fn concurrent_work_on_one_buffer_needs_no_barriers() {
    let Some(device) = rig::device() else { return };
    let stream = device.stream().unwrap();
    let (buffers, _) = rig::buffers(&device, &stream, 1);
    stream.synchronize().unwrap();
    device.reset_stats();
    let fill =
        |stream: &pumice_gpu::Stream| (0..8u32).try_for_each(|at| stream.fill(&buffers[0], u64::from(at) * 4, 4, at));
    stream.concurrent(fill).unwrap();
    stream.synchronize().unwrap();
    assert!(device.stats().barriers <= 1);
    assert_eq!(rig::download(&stream, &buffers[0])[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn work_goes_through_staging_where_memory_is_not_mapped() {
    let options = Options { transfers: Transfers::Staged, ..Options::default() };
    let Some(device) = rig::device_with(options) else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, mut expected) = rig::buffers(&device, &stream, 2);
    let launch = Mix { src: 1, dst: 0, multiply: 2, add: 3 };
    launch.launch(&stream, &mix, &buffers).unwrap();
    launch.apply(&mut expected);
    assert_eq!(rig::download(&stream, &buffers[0]), expected[0]);
}

#[test]
fn two_devices_do_not_mix() {
    let (Some(first), Some(second)) = (rig::device(), rig::device()) else { return };
    let (a, b) = (first.stream().unwrap(), second.stream().unwrap());
    let (buffers, _) = rig::buffers(&first, &a, 1);
    a.fill(&buffers[0], 0, 4, 1).unwrap();
    let event = a.commit().unwrap();
    b.wait_event(&event).unwrap();
    assert!(event.is_done().unwrap(), "an event of another device is waited for on the host");
}

#[test]
fn a_traced_device_tells_when_its_launches_ran() {
    let Some(device) = rig::device() else { return };
    if !device.limits().has_timestamps {
        return eprintln!("skipped: the device has no timestamps");
    }
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, _) = rig::buffers(&device, &stream, 3);
    let began = Instant::now();
    device.start_trace(began).unwrap();
    // The first two run side by side, the third needs both, and so does the fill need the third.
    for (src, dst) in [(0, 0), (1, 1), (0, 1)] {
        Mix { src, dst, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    }
    stream.fill(&buffers[1], 0, u64::from(N) * 4, 9).unwrap();
    stream.commit().unwrap();
    let spans = device.stop_trace().unwrap();
    let whole = began.elapsed();
    Mix { src: 0, dst: 0, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    stream.synchronize().unwrap();
    assert!(device.traced().unwrap().is_empty(), "nothing is told of what was not traced");
    let names: Vec<&str> = spans.iter().map(|span| &*span.name).collect();
    assert_eq!(names, ["mix", "mix", "mix", "fill"]);
    let lanes: Vec<Track> = spans.iter().map(|span| span.track).collect();
    let Track::Stream { number, .. } = lanes[0] else { panic!("launches are a stream's") };
    assert_eq!(lanes, [0, 1, 0, 0].map(|lane| Track::Stream { number, lane }));
    assert_eq!(spans[0].start, spans[1].start);
    for pair in spans[1..].windows(2) {
        assert!(pair[1].start + Duration::from_nanos(1) >= pair[0].start + pair[0].length, "{spans:?}");
    }
    assert!(spans.iter().all(|span| span.start < whole + Duration::from_millis(50)), "the clocks agree: {spans:?}");
    assert!(spans[0].groups.is_some() && spans[3].groups.is_none());
}
