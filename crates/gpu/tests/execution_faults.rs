//! Every Vulkan call of the execution side fails once, in every way: a typed error, and a device that goes on unless it
//! was lost.

mod rig;

use pumice_gpu::{Device, Error, Fault, FaultPlan, Options, Pipeline, Result};
use rig::{Mix, N};

/// The calls that streams, plans, timestamps and waits make.
const CALLS: [&str; 10] = [
    "vkCreateCommandPool",
    "vkAllocateCommandBuffers",
    "vkResetCommandPool",
    "vkBeginCommandBuffer",
    "vkEndCommandBuffer",
    "vkQueueSubmit2",
    "vkGetSemaphoreCounterValue",
    "vkWaitSemaphores",
    "vkCreateQueryPool",
    "vkGetQueryPoolResults",
];

#[test]
fn every_call_may_lose_the_device() {
    each_call(
        |device, mix| {
            let outcome = workload(device, mix);
            if device.calls().health() == pumice_gpu::Health::Working {
                return outcome.map(drop).expect("nothing was lost");
            }
            assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{outcome:?}");
            assert!(matches!(workload(device, mix), Err(Error::DeviceLost { .. })), "later calls fail too");
        },
        Fault::DeviceLost,
    );
}

#[test]
fn every_call_may_run_out_of_memory_and_the_device_goes_on() {
    for fault in [Fault::OutOfDeviceMemory, Fault::OutOfHostMemory] {
        each_call(
            |device, mix| {
                let outcome = workload(device, mix);
                assert!(matches!(outcome, Ok(_) | Err(Error::OutOfMemory { .. })), "{outcome:?}");
                device.calls().set_faults(FaultPlan::none());
                assert_eq!(workload(device, mix).expect("the device goes on"), expected());
            },
            fault,
        );
    }
}

#[test]
fn a_call_that_times_out_is_an_error_or_is_tried_again() {
    let Some(_) = rig::device() else { return };
    for (call, nth) in CALLS.iter().flat_map(|call| [(call, 0), (call, 1)]) {
        // What a hung kernel may still use is leaked on purpose, so nobody looks for leaks here.
        let device = rig::open(Options { faults: FaultPlan::named(call, nth, Fault::Timeout), ..Options::default() });
        let device = device.expect("opening makes none of these calls");
        let outcome = workload(&device, &rig::mix(&device));
        assert!(matches!(outcome, Ok(_) | Err(Error::Timeout { .. })), "{call} {nth}: {outcome:?}");
    }
}

#[test]
fn a_loss_names_the_kernels_in_flight() {
    let Some(device) = rig::device() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, _) = rig::buffers(&device, &stream, 1);
    let submits = device.calls().count("vkQueueSubmit2");
    device.calls().set_faults(FaultPlan::named("vkQueueSubmit2", submits, Fault::DeviceLost));
    Mix { src: 0, dst: 0, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    let Err(Error::DeviceLost { during, last_kernels }) = stream.synchronize() else { panic!("not lost") };
    assert_eq!((during, last_kernels), ("vkQueueSubmit2", vec!["mix".to_string()]));
}

fn each_call(check: impl Fn(&Device, &Pipeline), fault: Fault) {
    for (call, nth) in CALLS.iter().flat_map(|call| (0..3).map(move |nth| (call, nth))) {
        let Some(device) = rig::device() else { return };
        let mix = rig::mix(&device);
        let before = device.calls().count(call);
        device.calls().set_faults(FaultPlan::named(call, before + nth, fault));
        eprintln!("{call} {nth} {fault:?}");
        check(&device, &mix);
    }
}

/// A little of everything. Returns the first word of the result.
fn workload(device: &Device, mix: &Pipeline) -> Result<u32> {
    let len = u64::from(N) * 4;
    let buffers = [device.allocate(len)?, device.allocate(len)?];
    let (stream, other) = (device.stream()?, device.stream()?);
    stream.fill(&buffers[0], 0, len, 1)?;
    stream.fill(&buffers[1], 0, len, 2)?;
    let step = Mix { src: 0, dst: 1, multiply: 3, add: 5 };
    for _ in 0..12 {
        step.launch(&stream, mix, &buffers)?;
    }
    let mut recorder = device.recorder()?;
    step.record(&mut recorder, mix, &buffers)?;
    let plan = recorder.finish()?;
    let start = stream.timestamp()?;
    for add in 0..4u32 {
        plan.patch(0, 24, &add.to_ne_bytes())?;
        stream.replay(&plan)?;
    }
    let end = stream.timestamp()?;
    other.wait_event(&stream.commit()?)?;
    step.launch(&other, mix, &buffers)?;
    let event = other.commit()?;
    event.wait()?;
    end.since(&start)?;
    let mut word = [0; 4];
    stream.download(&buffers[1], 0, &mut word)?;
    Ok(u32::from_ne_bytes(word))
}

/// The same on the host.
fn expected() -> u32 {
    let adds = [5; 12].into_iter().chain(0..4).chain([5]);
    adds.fold(2u32, |word, add| word.wrapping_mul(3).wrapping_add(1 + add))
}
