//! Recorded plans: patched arguments, many replays, lifetimes.

mod rig;

use pumice_gpu::{Device, Error, Pipeline, Plan, Stream};
use rig::{Mix, N, Random, TestDevice};

const ADD: usize = 24;

fn plan_of(device: &Device, mix: &Pipeline, buffers: &[pumice_gpu::Buffer], steps: &[Mix]) -> Plan {
    let mut recorder = device.recorder().unwrap();
    for (at, step) in steps.iter().enumerate() {
        assert_eq!(step.record(&mut recorder, mix, buffers).unwrap(), at);
    }
    recorder.finish().unwrap()
}

fn setup() -> Option<(TestDevice, Stream, Pipeline)> {
    let device = rig::device()?;
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    Some((device, stream, mix))
}

#[test]
fn a_plan_does_the_same_every_time() {
    let Some((device, stream, mix)) = setup() else { return };
    let (buffers, mut expected) = rig::buffers(&device, &stream, 3);
    let mut random = Random::new(3);
    let steps: Vec<Mix> = (0..50).map(|_| random.mix(3)).collect();
    let plan = plan_of(&device, &mix, &buffers, &steps);
    assert_eq!(plan.launches(), 50);
    for _ in 0..30 {
        stream.replay(&plan).unwrap();
        steps.iter().for_each(|step| step.apply(&mut expected));
    }
    for (buffer, expected) in buffers.iter().zip(&expected) {
        assert_eq!(rig::download(&stream, buffer), *expected);
    }
}

#[test]
fn patched_arguments_are_right_many_times_without_waiting() {
    let Some((device, stream, mix)) = setup() else { return };
    let (buffers, mut expected) = rig::buffers(&device, &stream, 2);
    let mut steps = [Mix { src: 1, dst: 0, multiply: 3, add: 0 }, Mix { src: 0, dst: 1, multiply: 5, add: 0 }];
    let plan = plan_of(&device, &mix, &buffers, &steps);
    let mut random = Random::new(4);
    for round in 0..500u32 {
        for (at, step) in steps.iter_mut().enumerate() {
            if random.below(3) > 0 {
                step.add = round * 2 + at as u32;
                plan.patch(at, ADD, &step.add.to_ne_bytes()).unwrap();
            }
        }
        stream.replay(&plan).unwrap();
        steps.iter().for_each(|step| step.apply(&mut expected));
    }
    for (buffer, expected) in buffers.iter().zip(&expected) {
        assert_eq!(rig::download(&stream, buffer), *expected);
    }
}

#[test]
fn a_whole_block_can_be_patched_to_other_buffers() {
    let Some((device, stream, mix)) = setup() else { return };
    let (buffers, mut expected) = rig::buffers(&device, &stream, 3);
    let plan = plan_of(&device, &mix, &buffers, &[Mix { src: 0, dst: 1, multiply: 1, add: 0 }]);
    for round in 0..20 {
        let step = Mix { src: round % 2, dst: 1, multiply: 2, add: round as u32 };
        plan.patch(0, 0, &step.arguments(&buffers)).unwrap();
        stream.replay(&plan).unwrap();
        step.apply(&mut expected);
    }
    assert_eq!(rig::download(&stream, &buffers[1]), expected[1]);
}

#[test]
fn a_patch_outside_of_the_block_is_an_error() {
    let Some((device, stream, mix)) = setup() else { return };
    let (buffers, _) = rig::buffers(&device, &stream, 1);
    let plan = plan_of(&device, &mix, &buffers, &[Mix { src: 0, dst: 0, multiply: 1, add: 0 }]);
    for (launch, offset) in [(1, 0), (0, 25), (0, usize::MAX)] {
        assert!(matches!(plan.patch(launch, offset, &[0; 4]), Err(Error::InvalidArgument(_))));
    }
}

#[test]
fn plans_copy_and_fill_too() {
    let Some((device, stream, mix)) = setup() else { return };
    let (buffers, _) = rig::buffers(&device, &stream, 2);
    let len = u64::from(N) * 4;
    let mut recorder = device.recorder().unwrap();
    recorder.fill(&buffers[0], 0, len, 6).unwrap();
    Mix { src: 0, dst: 0, multiply: 2, add: 1 }.record(&mut recorder, &mix, &buffers).unwrap();
    recorder.copy(&buffers[0], 0, &buffers[1], 0, len).unwrap();
    assert!(recorder.copy(&buffers[0], 0, &buffers[0], 0, len).is_err());
    let plan = recorder.finish().unwrap();
    for _ in 0..3 {
        stream.replay(&plan).unwrap();
        assert_eq!(rig::download(&stream, &buffers[1]), vec![19; N as usize]);
    }
}

#[test]
fn an_empty_plan_is_replayed_without_harm() {
    let Some((device, stream, _)) = setup() else { return };
    let plan = device.recorder().unwrap().finish().unwrap();
    stream.replay(&plan).unwrap().wait().unwrap();
}

#[test]
fn a_plan_dropped_after_its_replay_stays_until_it_is_done() {
    let Some((device, stream, mix)) = setup() else { return };
    let (buffers, mut expected) = rig::buffers(&device, &stream, 2);
    for round in 0..50 {
        let steps = [Mix { src: 0, dst: 1, multiply: 3, add: round }, Mix { src: 1, dst: 0, multiply: 1, add: 7 }];
        stream.replay(&plan_of(&device, &mix, &buffers, &steps)).unwrap();
        steps.iter().for_each(|step| step.apply(&mut expected));
    }
    for (buffer, expected) in buffers.iter().zip(&expected) {
        assert_eq!(rig::download(&stream, buffer), *expected);
    }
}

#[test]
fn a_plan_keeps_its_buffers_alive() {
    let Some((device, stream, mix)) = setup() else { return };
    let (buffers, _) = rig::buffers(&device, &stream, 2);
    let result = buffers[1].clone();
    let plan = plan_of(&device, &mix, &buffers, &[Mix { src: 0, dst: 1, multiply: 0, add: 8 }]);
    let number = buffers[0].address();
    drop(buffers);
    let fresh = device.allocate(u64::from(N) * 4).unwrap();
    assert_ne!(fresh.address(), number);
    stream.replay(&plan).unwrap();
    assert_eq!(rig::download(&stream, &result), vec![8; N as usize]);
}

#[test]
fn one_plan_runs_on_several_streams() {
    let Some((device, stream, mix)) = setup() else { return };
    let (buffers, mut expected) = rig::buffers(&device, &stream, 2);
    stream.synchronize().unwrap();
    let mut step = Mix { src: 0, dst: 1, multiply: 3, add: 0 };
    let plan = plan_of(&device, &mix, &buffers, &[step]);
    let streams = [device.stream().unwrap(), device.stream().unwrap()];
    for round in 0..100 {
        step.add = round;
        plan.patch(0, ADD, &round.to_ne_bytes()).unwrap();
        streams[round as usize % 2].replay(&plan).unwrap();
        step.apply(&mut expected);
    }
    streams.iter().for_each(|stream| stream.synchronize().unwrap());
    assert_eq!(rig::download(&stream, &buffers[1]), expected[1]);
}

#[test]
fn replays_are_counted() {
    let Some((device, stream, mix)) = setup() else { return };
    let (buffers, _) = rig::buffers(&device, &stream, 1);
    let plan = plan_of(&device, &mix, &buffers, &[Mix { src: 0, dst: 0, multiply: 1, add: 0 }; 4]);
    stream.synchronize().unwrap();
    device.reset_stats();
    for _ in 0..3 {
        stream.replay(&plan).unwrap();
    }
    stream.synchronize().unwrap();
    let stats = device.stats();
    assert_eq!((stats.replays, stats.launches["mix"], stats.barriers), (3, 12, 12));
    assert_eq!(stats.submits, 3);
}
