//! A hundred thousand launches leave memory as it was. Alone in its process, because it watches the process grow.

mod rig;

use rig::Mix;

#[test]
fn a_hundred_thousand_launches_leave_memory_flat() {
    let Some(device) = rig::device() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, _) = rig::buffers(&device, &stream, 2);
    let go = |launches: u32| {
        for number in 0..launches {
            let scratch = [buffers[0].clone(), device.allocate(256).unwrap()];
            let both = if number % 4 == 0 { &scratch[..] } else { &buffers[..] };
            Mix { src: 0, dst: number as usize % 2, multiply: 1, add: 1 }.launch(&stream, &mix, both).unwrap();
        }
        stream.synchronize().unwrap();
        (device.memory(), resident())
    };
    let (before, resident_before) = go(20_000);
    let (after, resident_after) = go(100_000);
    assert_eq!(after.active, before.active);
    // How many scratch buffers are in flight at once differs from run to run: a window of 8 command buffers and the open one.
    let window = 9 * 50 * 256;
    assert!(after.cached <= before.cached + window, "{} then {}", before.cached, after.cached);
    assert_eq!(after.reserved, before.reserved);
    let growth = resident_after.saturating_sub(resident_before);
    assert!(growth < 8 << 20, "the process grew by {growth} bytes");
}

/// Bytes of this process in memory; 0 where the system does not say.
fn resident() -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/statm") else { return 0 };
    status.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
