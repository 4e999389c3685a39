//! Memory as callers see it: MLX's limits and counters, reuse, and what happens when there is none left.

mod rig;

use pumice_gpu::{Device, Error, Fault, FaultPlan, MemoryStats, Options};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const PAGE: u64 = 16 * KIB;

fn limited(capacity: u64) -> Option<rig::TestDevice> {
    rig::device_with(Options { memory_capacity: Some(capacity), ..Options::default() })
}

fn counters(device: &Device) -> (u64, u64, u64) {
    let MemoryStats { active, peak, cached, .. } = device.memory();
    (active, peak, cached)
}

#[test]
fn counters_follow_buffers_as_in_mlx() {
    let Some(device) = rig::device() else { return };
    assert_eq!(counters(&device), (0, 0, 0));
    let small = device.allocate(100).unwrap();
    let large = device.allocate(PAGE + 1).unwrap();
    assert_eq!((small.size(), large.size()), (256, 2 * PAGE));
    assert_eq!(counters(&device), (256 + 2 * PAGE, 256 + 2 * PAGE, 0));
    drop(large);
    assert_eq!(counters(&device), (256, 256 + 2 * PAGE, 2 * PAGE));
    device.reset_peak();
    assert_eq!(device.memory().peak, 0);
    drop(device.allocate(10).unwrap());
    assert_eq!(device.memory().peak, 512);
    device.clear_cache();
    assert_eq!(counters(&device), (256, 512, 0));
    drop(small);
}

#[test]
fn the_default_limits_are_mlx_s() {
    let Some(device) = rig::device() else { return };
    let total = device.info().memory_bytes;
    let stats = device.memory();
    assert_eq!(stats.memory_limit, total / 100 * 95);
    assert_eq!(stats.cache_limit, stats.memory_limit);
    assert!(stats.capacity <= total);
}

#[test]
fn setting_a_limit_returns_the_old_one() {
    let Some(device) = rig::device() else { return };
    let before = device.memory();
    assert_eq!(device.set_memory_limit(10), before.memory_limit);
    assert_eq!(device.set_memory_limit(before.memory_limit), 10);
    assert_eq!(device.set_cache_limit(20), before.cache_limit);
    assert_eq!(device.set_cache_limit(before.cache_limit), 20);
}

#[test]
fn a_buffer_given_up_is_used_again() {
    let Some(device) = rig::device() else { return };
    let first = device.allocate(MIB).unwrap();
    let (address, id) = (first.address(), first.allocation_id());
    drop(first);
    let second = device.allocate(MIB - PAGE).unwrap();
    assert_eq!(second.address(), address);
    assert_eq!((second.len(), second.size()), (MIB - PAGE, MIB), "a cached buffer keeps its size");
    assert_ne!(second.allocation_id(), id, "hazards of the old one are not those of the new one");
}

#[test]
fn a_buffer_much_larger_than_wanted_is_not_used_again() {
    let Some(device) = rig::device() else { return };
    let first = device.allocate(MIB).unwrap();
    let address = first.address();
    drop(first);
    let second = device.allocate(MIB - 2 * PAGE).unwrap();
    assert_ne!(second.address(), address);
    assert_eq!(device.memory().cached, MIB);
}

#[test]
fn a_cache_without_room_keeps_nothing() {
    let Some(device) = rig::device() else { return };
    device.set_cache_limit(0);
    drop(device.allocate(MIB).unwrap());
    assert_eq!(device.memory().cached, 0);
}

#[test]
fn lowering_the_cache_limit_shrinks_the_cache_at_the_next_allocation() {
    let Some(device) = rig::device() else { return };
    let held: Vec<_> = (1..=8).map(|pages| device.allocate(pages * 3 * PAGE).unwrap()).collect();
    drop(held);
    let full = device.memory().cached;
    device.set_cache_limit(full / 2);
    assert_eq!(device.memory().cached, full);
    let _other = device.allocate(100).unwrap();
    assert!(device.memory().cached <= full / 2, "{:?}", device.memory());
}

#[test]
fn the_oldest_buffers_leave_the_cache_when_memory_comes_near_the_limit() {
    let Some(device) = rig::device() else { return };
    let buffers: Vec<_> = (0..20).map(|_| device.allocate(MIB).unwrap()).collect();
    drop(buffers);
    assert_eq!(device.memory().cached, 20 * MIB);
    device.set_memory_limit(20 * MIB);
    // 20 cached and 5 wanted are 5 more than the limit.
    let _large = device.allocate(5 * MIB).unwrap();
    assert_eq!(counters(&device), (5 * MIB, 20 * MIB, 15 * MIB));
}

#[test]
fn the_memory_limit_is_a_guideline_and_the_capacity_is_not() {
    let Some(device) = limited(128 * MIB) else { return };
    device.set_memory_limit(MIB);
    let _above_the_guideline = device.allocate(32 * MIB).unwrap();
    assert!(matches!(device.allocate(129 * MIB), Err(Error::TooLarge { limit, .. }) if limit == 128 * MIB));
    let error = device.allocate(100 * MIB).unwrap_err();
    assert!(
        matches!(error, Error::OutOfMemory { requested, capacity, .. } if requested == 100 * MIB && capacity == 128 * MIB)
    );
}

#[test]
fn an_absurd_allocation_is_an_error_and_the_next_one_works() {
    let Some(device) = rig::device() else { return };
    for bytes in [u64::MAX, u64::MAX - 1, 1 << 63, 1 << 50, device.info().memory_bytes * 2] {
        let error = device.allocate(bytes).unwrap_err();
        assert!(matches!(error, Error::TooLarge { requested, .. } if requested == bytes), "{error}");
    }
    let stream = device.stream().unwrap();
    let buffer = rig::upload(&device, &stream, &[1, 2, 3]);
    assert_eq!(rig::download(&stream, &buffer), [1, 2, 3]);
}

#[test]
fn when_memory_runs_out_the_cache_is_freed_first() {
    let Some(device) = limited(256 * MIB) else { return };
    drop(device.allocate(200 * MIB).unwrap());
    assert_eq!(device.memory().cached, 200 * MIB);
    let other = device.allocate(90 * MIB).unwrap();
    assert_eq!(counters(&device), (other.size(), 200 * MIB, 0));
    assert!(device.memory().reserved <= 256 * MIB);
}

#[test]
fn when_memory_runs_out_work_in_flight_is_waited_for() {
    let Some(device) = limited(256 * MIB) else { return };
    let stream = device.stream().unwrap();
    let held_by_work = device.allocate(200 * MIB).unwrap();
    stream.fill(&held_by_work, 0, 200 * MIB, 1).unwrap();
    stream.commit().unwrap();
    drop(held_by_work);
    device.allocate(201 * MIB).expect("the fill ends, and then there is room");
}

#[test]
fn a_driver_that_has_no_memory_is_asked_again_and_then_believed() {
    let Some(device) = rig::device() else { return };
    let asked = device.calls().count("vkAllocateMemory");
    device.calls().set_faults(FaultPlan::named("vkAllocateMemory", asked, Fault::OutOfDeviceMemory));
    let _second_try = device.allocate(100 * MIB).expect("the second try succeeds");
    let from = device.calls().fallible_calls();
    device.calls().set_faults(FaultPlan::from_then_on(from, Fault::OutOfDeviceMemory));
    let error = device.allocate(100 * MIB).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { requested, .. } if requested == 100 * MIB), "{error}");
    device.calls().set_faults(FaultPlan::none());
    device.allocate(100 * MIB).expect("memory has come back");
}

#[test]
fn no_bytes_need_no_memory() {
    let Some(device) = rig::device() else { return };
    let empty = device.allocate(0).unwrap();
    assert_eq!((empty.len(), empty.address(), counters(&device)), (0, 0, (0, 0, 0)));
    let stream = device.stream().unwrap();
    stream.upload(&empty, 0, &[]).unwrap();
    stream.download(&empty, 0, &mut []).unwrap();
}

#[test]
fn addresses_are_aligned_and_ranges_apart() {
    let Some(device) = rig::device() else { return };
    let buffers: Vec<_> = (1..200).map(|n| device.allocate(n * 37).unwrap()).collect();
    let mut ranges: Vec<_> = buffers.iter().map(|b| (b.address(), b.address() + b.size())).collect();
    ranges.sort_unstable();
    assert!(ranges.iter().all(|(start, _)| start % 256 == 0));
    assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
}

#[test]
fn small_buffers_share_blocks_and_large_ones_do_not() {
    let Some(device) = rig::device() else { return };
    let _small: Vec<_> = (0..1000).map(|_| device.allocate(10 * KIB).unwrap()).collect();
    assert_eq!(device.calls().count("vkAllocateMemory"), 1);
    let large = device.allocate(80 * MIB).unwrap();
    assert_eq!(device.calls().count("vkAllocateMemory"), 2);
    drop(large);
    device.clear_cache();
    assert_eq!(device.memory().reserved, 64 * MIB);
}

#[test]
fn threads_allocate_side_by_side() {
    let Some(device) = rig::device() else { return };
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let device = &device;
            scope.spawn(move || {
                for round in 0..500 {
                    let buffer = device.allocate(((thread * 7919 + round * 104729) % 300 + 1) * KIB).unwrap();
                    assert!(buffer.size() >= buffer.len());
                }
            });
        }
    });
    assert_eq!(device.memory().active, 0);
}
