//! The independent checker on what streams really submitted: clean for random work, and able to see a planted hazard.

mod rig;

use pumice_gpu::checker::{Command, CommandLog, HazardKind};
use pumice_gpu::{Device, Stream, StreamOptions};
use rig::{Mix, N, Random};

fn logging(device: &Device, log: &CommandLog) -> Stream {
    device.stream_with(StreamOptions { log: Some(log.clone()), ..StreamOptions::default() }).unwrap()
}

#[test]
fn random_launch_graphs_on_one_stream_are_proven_clean_and_right() {
    let Some(device) = rig::device() else { return };
    let mix = rig::mix(&device);
    for seed in 0..20 {
        let (log, mut random) = (CommandLog::new(), Random::new(seed));
        let stream = logging(&device, &log);
        let count = 2 + random.below(6);
        let (buffers, mut expected) = rig::buffers(&device, &stream, count);
        for _ in 0..100 {
            let launch = random.mix(count);
            launch.launch(&stream, &mix, &buffers).unwrap();
            launch.apply(&mut expected);
            if random.below(15) == 0 {
                stream.commit().unwrap();
            }
        }
        for (buffer, expected) in buffers.iter().zip(&expected) {
            assert_eq!(rig::download(&stream, buffer), *expected, "seed {seed}");
        }
        assert_eq!(log.check(), [], "seed {seed}");
    }
}

#[test]
fn random_launch_graphs_on_several_streams_with_events_are_proven_clean_and_right() {
    let Some(device) = rig::device() else { return };
    let mix = rig::mix(&device);
    for seed in 100..115 {
        let (log, mut random) = (CommandLog::new(), Random::new(seed));
        let streams: Vec<Stream> = (0..3).map(|_| logging(&device, &log)).collect();
        let (buffers, mut expected) = rig::buffers(&device, &streams[0], 6);
        let mut last: Vec<Option<pumice_gpu::Event>> = vec![None; 6];
        for _ in 0..120 {
            let (launch, at) = (random.mix(6), random.below(3));
            // Whoever used these buffers last committed and is waited for.
            for buffer in [launch.src, launch.dst] {
                if let Some(event) = &last[buffer] {
                    streams[at].wait_event(event).unwrap();
                }
            }
            launch.launch(&streams[at], &mix, &buffers).unwrap();
            launch.apply(&mut expected);
            let event = streams[at].commit().unwrap();
            last[launch.dst] = Some(event.clone());
            last[launch.src] = Some(event);
        }
        streams.iter().for_each(|stream| stream.synchronize().unwrap());
        for (buffer, expected) in buffers.iter().zip(&expected) {
            assert_eq!(rig::download(&streams[0], buffer), *expected, "seed {seed}");
        }
        assert_eq!(log.check(), [], "seed {seed}");
    }
}

#[test]
fn independent_launches_get_no_barriers() {
    let Some(device) = rig::device() else { return };
    let (mix, log) = (rig::mix(&device), CommandLog::new());
    let stream = logging(&device, &log);
    let (buffers, _) = rig::buffers(&device, &stream, 9);
    stream.synchronize().unwrap();
    let before = log.barriers();
    for dst in 1..9 {
        Mix { src: 0, dst, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    }
    stream.synchronize().unwrap();
    assert!(log.barriers() - before <= 1, "one may separate them from the uploads");
    assert_eq!(log.check(), []);
}

#[test]
fn a_planted_hazard_is_found() {
    let Some(device) = rig::device() else { return };
    let (mix, log) = (rig::mix(&device), CommandLog::new());
    let stream = logging(&device, &log);
    let (buffers, _) = rig::buffers(&device, &stream, 3);
    stream.synchronize().unwrap();
    Mix { src: 0, dst: 1, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    stream.plant_hazard();
    Mix { src: 1, dst: 2, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    Mix { src: 2, dst: 0, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    stream.synchronize().unwrap();
    let found = log.check();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].kind, HazardKind::ReadAfterWrite);
    assert_eq!(found[0].allocation, buffers[1].allocation_id());
    assert_eq!(&*found[0].first.name, "mix");
}

#[test]
fn hazards_planted_anywhere_in_random_graphs_are_found() {
    let Some(device) = rig::device() else { return };
    let mix = rig::mix(&device);
    for seed in 0..20 {
        let (log, mut random) = (CommandLog::new(), Random::new(seed));
        let stream = logging(&device, &log);
        let (buffers, _) = rig::buffers(&device, &stream, 3);
        let planted_at = random.below(40);
        for step in 0..60 {
            if step == planted_at {
                stream.plant_hazard();
            }
            random.mix(3).launch(&stream, &mix, &buffers).unwrap();
        }
        stream.synchronize().unwrap();
        assert!(!log.check().is_empty(), "seed {seed}");
    }
}

#[test]
fn streams_that_share_a_buffer_without_an_event_are_found() {
    let Some(device) = rig::device() else { return };
    let log = CommandLog::new();
    let (first, second) = (logging(&device, &log), logging(&device, &log));
    let buffer = device.allocate(u64::from(N) * 4).unwrap();
    first.fill(&buffer, 0, 4, 1).unwrap();
    first.commit().unwrap();
    second.fill(&buffer, 0, 4, 2).unwrap();
    second.synchronize().unwrap();
    assert!(log.check().iter().any(|hazard| hazard.kind == HazardKind::WriteAfterWrite));
}

#[test]
fn replayed_plans_are_proven_clean_among_other_work() {
    let Some(device) = rig::device() else { return };
    let (mix, log) = (rig::mix(&device), CommandLog::new());
    let stream = logging(&device, &log);
    let (buffers, mut expected) = rig::buffers(&device, &stream, 4);
    let mut random = Random::new(5);
    let steps: Vec<Mix> = (0..20).map(|_| random.mix(4)).collect();
    let mut recorder = device.recorder().unwrap();
    for step in &steps {
        step.record(&mut recorder, &mix, &buffers).unwrap();
    }
    let plan = recorder.finish().unwrap();
    for _ in 0..10 {
        for _ in 0..random.below(4) {
            let launch = random.mix(4);
            launch.launch(&stream, &mix, &buffers).unwrap();
            launch.apply(&mut expected);
        }
        stream.replay(&plan).unwrap();
        steps.iter().for_each(|step| step.apply(&mut expected));
    }
    for (buffer, expected) in buffers.iter().zip(&expected) {
        assert_eq!(rig::download(&stream, buffer), *expected);
    }
    assert_eq!(log.check(), []);
    let works = |command: &Command| matches!(command, Command::Work(_));
    let logged: usize = log.submissions().iter().map(|s| s.commands.iter().filter(|c| works(c)).count()).sum();
    assert!(logged >= 200, "the plans' own launches are in the log");
}
