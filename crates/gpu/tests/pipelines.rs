//! Pipelines: built once, in the background if wanted, and kept on disk in a file that nobody has to trust.

mod rig;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pumice_gpu::{Error, Fault, FaultPlan, Options, PipelineRequest, Validation};
use rig::{Mix, TestDevice};

/// The kernel `mix` under a debug name: another content, the same work.
fn variant(number: u32) -> PipelineRequest {
    let words = include_bytes!("kernels/mix.spv").chunks_exact(4);
    let mut spirv: Vec<u32> = words.map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    // OpName of id 1 goes before the first decoration.
    let at = position(&spirv, 71).expect("the kernel has decorations");
    spirv.splice(at..at, [4 << 16 | 5, 1, 0x3030_3030 + number, 0]);
    PipelineRequest { name: format!("mix{number}"), spirv: spirv.into(), subgroup_size: None }
}

/// The place of the first instruction with this code.
fn position(spirv: &[u32], code: u32) -> Option<usize> {
    let mut at = 5;
    while at < spirv.len() {
        if spirv[at] & 0xffff == code {
            return Some(at);
        }
        at += (spirv[at] >> 16) as usize;
    }
    None
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pipelines-{name}"));
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn device_at(folder: &Path) -> Option<TestDevice> {
    rig::device_with(Options { cache_dir: Some(folder.to_owned()), ..Options::default() })
}

/// The cache files of a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "pipelines")).collect()
}

#[test]
fn the_same_kernel_is_built_once() {
    let Some(device) = rig::device() else { return };
    device.pipeline(&variant(0)).unwrap();
    device.pipeline(&PipelineRequest { name: "another name".into(), ..variant(0) }).unwrap();
    device.pipeline(&variant(1)).unwrap();
    assert_eq!(device.calls().count("vkCreateComputePipelines"), 2);
    let stats = device.stats();
    assert_eq!((stats.pipeline_hits, stats.pipeline_misses), (1, 2));
}

#[test]
fn threads_that_want_the_same_kernel_build_it_once() {
    let Some(device) = rig::device() else { return };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let device = &device;
            scope.spawn(move || (0..4).for_each(|number| drop(device.pipeline(&variant(number)).unwrap())));
        }
    });
    assert_eq!(device.calls().count("vkCreateComputePipelines"), 4);
}

#[test]
fn a_kernel_built_in_the_background_becomes_ready() {
    let Some(device) = rig::device() else { return };
    let pending = device.pipeline_async(&variant(0));
    let end = Instant::now() + Duration::from_secs(20);
    while !pending.ready() {
        assert!(Instant::now() < end, "nobody builds it");
        std::thread::sleep(Duration::from_millis(1));
    }
    let stream = device.stream().unwrap();
    let (buffers, mut expected) = rig::buffers(&device, &stream, 2);
    let step = Mix { src: 1, dst: 0, multiply: 2, add: 3 };
    step.launch(&stream, &pending.wait().unwrap(), &buffers).unwrap();
    step.apply(&mut expected);
    assert_eq!(rig::download(&stream, &buffers[0]), expected[0]);
}

#[test]
fn a_kernel_that_is_waited_for_does_not_wait_in_the_queue() {
    let Some(device) = rig::device() else { return };
    let pending: Vec<_> = (0..40).map(|number| device.pipeline_async(&variant(number))).collect();
    device.pipeline(&variant(39)).expect("whoever waits builds");
    pending.iter().for_each(|pending| drop(pending.wait().unwrap()));
    assert_eq!(device.calls().count("vkCreateComputePipelines"), 40);
}

#[test]
fn a_pending_pipeline_outlives_the_device() {
    let Some(_) = rig::device() else { return };
    let device = rig::open(Options::default()).expect("there was one before");
    let leaks = device.leak_log();
    let pending: Vec<_> = (0..8).map(|number| device.pipeline_async(&variant(number))).collect();
    drop(device);
    assert!(pending.iter().all(|pending| pending.wait().is_ok()));
    drop(pending);
    assert_eq!(leaks.entries(), [""; 0]);
}

#[test]
fn words_that_are_no_kernel_are_an_error_with_the_kernel_s_name() {
    let Some(device) = rig::device() else { return };
    let request = PipelineRequest { name: "nonsense".into(), spirv: [1, 2, 3].into(), subgroup_size: None };
    let error = device.pipeline(&request).unwrap_err();
    assert!(matches!(&error, Error::Pipeline { kernel, .. } if kernel == "nonsense"), "{error}");
    let error = device.pipeline_async(&PipelineRequest { subgroup_size: Some(3), ..variant(0) }).wait().unwrap_err();
    assert!(matches!(error, Error::Pipeline { .. }), "{error}");
}

#[test]
fn a_kernel_that_could_not_be_built_may_be_asked_for_again() {
    let Some(device) = rig::device() else { return };
    let plan = FaultPlan::named("vkCreateComputePipelines", 0, Fault::OutOfDeviceMemory);
    device.calls().set_faults(plan);
    assert!(matches!(device.pipeline(&variant(0)), Err(Error::OutOfMemory { .. })));
    device.pipeline(&variant(0)).expect("memory has come back");
}

#[test]
fn the_cache_is_written_when_the_device_closes() {
    let folder = folder("close");
    let Some(device) = device_at(&folder) else { return };
    device.pipeline(&variant(0)).unwrap();
    drop(device);
    assert_eq!(files(&folder).len(), 1);
}

#[test]
fn the_cache_is_written_a_moment_after_building() {
    let folder = folder("moment");
    let Some(device) = device_at(&folder) else { return };
    device.pipeline(&variant(0)).unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    while files(&folder).is_empty() {
        assert!(Instant::now() < end, "nobody writes it");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_damaged_cache_is_ignored_and_replaced() {
    let folder = folder("damaged");
    let Some(device) = device_at(&folder) else { return };
    device.pipeline(&variant(0)).unwrap();
    drop(device);
    let path = files(&folder).remove(0);
    let good = fs::read(&path).unwrap();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let damages: [Vec<u8>; 6] =
        [vec![], vec![0xff; 5000], good[..good.len() / 2].to_vec(), flipped(3), flipped(30), flipped(good.len() - 1)];
    for (at, damage) in damages.into_iter().enumerate() {
        fs::write(&path, &damage).unwrap();
        let device = device_at(&folder).expect("there was one before");
        device.pipeline(&variant(1)).expect("a damaged cache is no cache");
        drop(device);
        assert_ne!(fs::read(&path).unwrap(), damage, "damage {at} is replaced");
    }
}

#[test]
fn two_devices_that_write_one_cache_merge_it() {
    let folder = folder("merge");
    let Some(first) = device_at(&folder) else { return };
    let second = device_at(&folder).expect("there was one before");
    first.pipeline(&variant(0)).unwrap();
    second.pipeline(&variant(1)).unwrap();
    first.save_pipelines().unwrap();
    let plan = FaultPlan::named("vkMergePipelineCaches", 0, Fault::OutOfHostMemory);
    second.calls().set_faults(plan);
    assert!(matches!(second.save_pipelines(), Err(Error::OutOfMemory { .. })));
    second.save_pipelines().unwrap();
    assert_eq!(second.calls().count("vkMergePipelineCaches"), 2);
    assert_eq!(files(&folder).len(), 1);
}

#[test]
fn a_cache_that_cannot_be_written_is_an_error_only_for_who_asks() {
    let folder = folder("file-in-the-way");
    fs::create_dir_all(folder.parent().expect("has one")).unwrap();
    fs::write(&folder, b"not a folder").unwrap();
    let Some(device) = device_at(&folder) else { return };
    device.pipeline(&variant(0)).expect("the cache is a convenience");
    assert!(matches!(device.save_pipelines(), Err(Error::Cache { .. })));
    drop(device);
    fs::remove_file(&folder).unwrap();
}

#[test]
fn without_a_folder_nothing_is_kept() {
    let Some(device) = rig::device_with(Options { cache_dir: None, ..Options::default() }) else { return };
    device.pipeline(&variant(0)).unwrap();
    device.save_pipelines().unwrap();
    assert_eq!(device.calls().count("vkGetPipelineCacheData"), 0);
}

#[test]
fn a_warm_start_loads_a_pipeline_in_less_than_a_millisecond() {
    let folder = folder("warm");
    let time = || {
        let device = device_at(&folder)?;
        device.pipeline(&variant(100)).unwrap(); // reads the file
        let each = (0..20).map(|number| {
            let request = variant(number);
            let start = Instant::now();
            device.pipeline(&request).unwrap();
            start.elapsed()
        });
        let mut times: Vec<_> = each.collect();
        times.sort_unstable();
        Some((times[10], times[19], device.options().validation))
    };
    let Some((cold, worst_cold, _)) = time() else { return };
    let Some((warm, worst_warm, validation)) = time() else { return };
    println!("a pipeline cold: {cold:?} (at worst {worst_cold:?}), warm: {warm:?} (at worst {worst_warm:?})");
    // The validation layers look at every kernel, however warm it is.
    assert!(warm < Duration::from_millis(1) || validation != Validation::Off, "{warm:?}");
}
