//! Every Vulkan call of a whole session fails, in every way, once and for good: the session ends in a typed error or
//! copes, nothing leaks, nothing hangs, and a device that was not lost goes on.

mod rig;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use pumice_gpu::{Device, Error, Fault, FaultPlan, Health, LeakLog, Options, PipelineRequest, Result, Transfers};
use rig::{Mix, N};

/// No sweep takes this long unless something hangs.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often the host looks at the timeline depends on the weather; failing the first few looks is enough.
const LOOKS: u64 = 8;
/// The calls of a session that can fail. A sweep must have let each fail that the session makes: a fast device needs no
/// wait.
const FALLIBLE: [&str; 25] = [
    "vkAllocateCommandBuffers",
    "vkAllocateMemory",
    "vkBeginCommandBuffer",
    "vkBindBufferMemory",
    "vkCreateBuffer",
    "vkCreateCommandPool",
    "vkCreateComputePipelines",
    "vkCreateDevice",
    "vkCreateInstance",
    "vkCreatePipelineCache",
    "vkCreatePipelineLayout",
    "vkCreateQueryPool",
    "vkCreateSemaphore",
    "vkCreateShaderModule",
    "vkEndCommandBuffer",
    "vkEnumerateDeviceExtensionProperties",
    "vkEnumerateInstanceVersion",
    "vkEnumeratePhysicalDevices",
    "vkGetPipelineCacheData",
    "vkGetQueryPoolResults",
    "vkGetSemaphoreCounterValue",
    "vkMapMemory",
    "vkQueueSubmit2",
    "vkResetCommandPool",
    "vkWaitSemaphores",
];

#[test]
fn a_device_lost_at_any_call_is_an_error_everywhere() {
    for transfers in [Transfers::Automatic, Transfers::Staged] {
        sweep("lost", transfers, Fault::DeviceLost, |ended| {
            assert!(matches!(ended.outcome, Ok(()) | Err(Error::DeviceLost { .. })), "{:?}", ended.outcome);
            assert!(ended.health == Health::Working || ended.again.is_err(), "a lost device does not come back");
        });
    }
}

#[test]
fn memory_that_runs_out_once_is_an_error_and_the_device_goes_on() {
    for (fault, transfers) in
        [(Fault::OutOfDeviceMemory, Transfers::Automatic), (Fault::OutOfHostMemory, Transfers::Staged)]
    {
        sweep("out", transfers, fault, goes_on);
    }
}

#[test]
fn a_call_that_never_answers_is_an_error() {
    // A device that timed out leaves its objects on purpose, so one call of each name is enough of that.
    let Some(calls) = calls_of_a_session("timeout", Transfers::Staged) else { return };
    within(PATIENCE, move || {
        for name in calls.keys() {
            let ended = run(&folder("timeout"), Transfers::Staged, FaultPlan::named(name, 0, Fault::Timeout), name);
            assert!(matches!(ended.outcome, Ok(()) | Err(Error::Timeout { .. })), "{name}: {:?}", ended.outcome);
        }
    });
}

#[test]
fn memory_that_runs_out_for_good_is_an_error_and_nothing_leaks() {
    let Some(calls) = calls_of_a_session("out-for-good", Transfers::Staged) else { return };
    let fallible: u64 = FALLIBLE.iter().filter_map(|name| Some(made(name, *calls.get(name)?))).sum();
    within(PATIENCE, move || {
        for at in 0..fallible {
            let plan = FaultPlan::from_then_on(at, Fault::OutOfDeviceMemory);
            let ended = run(&folder("out-for-good"), Transfers::Staged, plan, "");
            goes_on(&ended);
            assert_eq!(ended.leaks, [""; 0], "from call {at} on");
        }
    });
}

/// How many calls of a name there are to fail.
fn made(call: &str, count: u64) -> u64 {
    if call == "vkGetSemaphoreCounterValue" { count.min(LOOKS) } else { count }
}

/// How a session ended.
struct Ended {
    /// Whether it ended well; what it computed is right then.
    outcome: Result<()>,
    /// The same work on the same device without faults; why there is no device, if it could not be opened.
    again: Result<()>,
    /// Whether the call that was to fail was made.
    struck: bool,
    health: Health,
    leaks: Vec<String>,
}

fn goes_on(ended: &Ended) {
    assert!(matches!(ended.outcome, Ok(()) | Err(Error::OutOfMemory { .. })), "{:?}", ended.outcome);
    assert!(matches!(ended.again, Ok(()) | Err(Error::OutOfMemory { .. })), "{:?}", ended.again);
    assert_eq!(ended.health, Health::Working);
}

/// Lets each call of a session fail, one after the other.
fn sweep(name: &'static str, transfers: Transfers, fault: Fault, check: fn(&Ended)) {
    let Some(calls) = calls_of_a_session(name, transfers) else { return };
    let wanted: Vec<_> = FALLIBLE.iter().filter(|call| calls.contains_key(*call)).collect();
    let struck = within(PATIENCE, move || {
        let mut struck = BTreeMap::new();
        for (call, count) in calls {
            for nth in 0..made(call, count) {
                let ended = run(&folder(name), transfers, FaultPlan::named(call, nth, fault), call);
                if !ended.struck {
                    break;
                }
                check(&ended);
                assert_eq!(ended.leaks, [""; 0], "{call} {nth}");
                *struck.entry(call).or_insert(0) += 1;
            }
        }
        struck
    });
    let missed: Vec<_> = wanted.iter().filter(|call| !struck.contains_key(**call)).collect();
    assert!(missed.is_empty(), "never failed: {missed:?}");
    println!("{fault:?}, {transfers:?}: {} calls failed one after the other", struck.values().sum::<i32>());
}

/// One session on a fresh device; `watched` is the call that is to fail.
fn run(folder: &Path, transfers: Transfers, faults: FaultPlan, watched: &str) -> Ended {
    // Each run finds the cache file that the one before has left, so that reading it is part of the session; but only
    // who finds none has something to write.
    if watched == "vkGetPipelineCacheData" {
        let _ = std::fs::remove_dir_all(folder);
    }
    let leak_log = LeakLog::default();
    let options = Options {
        faults,
        transfers,
        cache_dir: Some(folder.to_owned()),
        timeout: Duration::from_secs(5),
        leak_log: leak_log.clone(),
        ..Options::default()
    };
    let mut ended = match rig::open(options) {
        Ok(device) => use_device(&device, watched),
        Err(error) => Ended {
            outcome: Err(error.clone()),
            again: Err(error),
            struck: true,
            health: Health::Working,
            leaks: vec![],
        },
    };
    ended.leaks = leak_log.entries();
    ended
}

fn use_device(device: &Device, watched: &str) -> Ended {
    let outcome = session(device);
    let struck = device.calls().failures(watched) > 0;
    device.calls().set_faults(FaultPlan::none());
    let health = device.calls().health();
    Ended { outcome, again: session(device), struck, health, leaks: vec![] }
}

/// A little of everything that makes Vulkan calls.
fn session(device: &Device) -> Result<()> {
    let bytes: Vec<u8> = (0..N).flat_map(u32::to_ne_bytes).collect();
    let len = bytes.len() as u64;
    let buffers = [device.allocate(len)?, device.allocate(len)?, device.allocate(96 << 20)?];
    let stream = device.stream()?;
    stream.upload(&buffers[0], 0, &bytes)?;
    stream.fill(&buffers[1], 0, len, 7)?;
    let mix = device.pipeline_async(&request()).wait()?;
    let step = Mix { src: 0, dst: 1, multiply: 3, add: 1 };
    step.launch(&stream, &mix, &buffers)?;
    // Long enough that the host stops looking and waits.
    stream.fill(&buffers[2], 0, 8 << 20, 1)?;
    stream.copy(&buffers[1], 0, &buffers[2], 0, len)?;
    stream.synchronize()?;
    let mut recorder = device.recorder()?;
    step.record(&mut recorder, &mix, &buffers)?;
    let plan = recorder.finish()?;
    let start = stream.timestamp()?;
    stream.replay(&plan)?;
    let end = stream.timestamp()?;
    stream.synchronize()?;
    end.since(&start)?;
    device.save_pipelines()?;
    let (once, twice) = (read(device, &buffers[2])?, read(device, &buffers[1])?);
    for i in 0..N {
        assert_eq!(once[i as usize], 7 * 3 + i + 1, "a session that ends well is right");
        assert_eq!(twice[i as usize], (7 * 3 + i + 1) * 3 + i + 1, "a session that ends well is right");
    }
    Ok(())
}

fn read(device: &Device, buffer: &pumice_gpu::Buffer) -> Result<Vec<u32>> {
    let mut bytes = vec![0; 4 * N as usize];
    device.download(buffer, 0, &mut bytes)?;
    Ok(bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().expect("four bytes"))).collect())
}

fn request() -> PipelineRequest {
    let words = include_bytes!("kernels/mix.spv").chunks_exact(4);
    let spirv = words.map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    PipelineRequest { name: "mix".into(), spirv, subgroup_size: None }
}

/// The names of the calls a session makes, with how often.
fn calls_of_a_session(name: &str, transfers: Transfers) -> Option<BTreeMap<&'static str, u64>> {
    rig::device()?;
    let _ = std::fs::remove_dir_all(folder(name));
    let faults = FaultPlan::at(u64::MAX, Fault::DeviceLost);
    let options = Options { faults, transfers, cache_dir: Some(folder(name)), ..Options::default() };
    let device = rig::open(options).expect("no fault strikes");
    session(&device).expect("no fault strikes");
    Some(device.calls().counts().into_iter().collect())
}

/// Runs the work on another thread and fails if it does not come back.
fn within<T: Send + 'static>(time: Duration, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        let _ = send.send(work());
    });
    match receive.recv_timeout(time) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match worker.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => unreachable!("a worker that ends well has sent its value"),
        },
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("faults-{name}"))
}
