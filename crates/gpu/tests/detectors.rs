//! The detectors detect: a leak, a violation of Vulkan's rules and a buffer that stays behind are each planted and
//! reported, for otherwise their silence would prove nothing.

mod rig;

use pumice_gpu::{Device, LeakLog, Options, Validation, ValidationLog};

fn watched() -> Option<(Device, LeakLog, ValidationLog)> {
    rig::device()?;
    // Collected, not strict: here the messages are wanted.
    match rig::open(Options { validation: Validation::Collect, ..Options::default() }) {
        Ok(device) => {
            let logs = (device.leak_log(), device.validation_log());
            Some((device, logs.0, logs.1))
        }
        Err(error) => {
            assert_ne!(std::env::var("PUMICE_VALIDATION").as_deref(), Ok("1"), "{error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

#[test]
fn a_session_without_faults_is_silent() {
    let Some((device, leaks, messages)) = watched() else { return };
    let (stream, mix) = (device.stream().unwrap(), rig::mix(&device));
    let (buffers, _) = rig::buffers(&device, &stream, 2);
    rig::Mix { src: 0, dst: 1, multiply: 1, add: 1 }.launch(&stream, &mix, &buffers).unwrap();
    rig::download(&stream, &buffers[1]);
    drop((stream, mix, buffers, device));
    assert_eq!(leaks.entries(), [""; 0]);
    assert_eq!(messages.messages(), [""; 0]);
}

#[test]
fn a_planted_object_is_reported_by_both_detectors() {
    let Some((device, leaks, messages)) = watched() else { return };
    device.calls().plant_leak().unwrap();
    drop(device);
    assert_eq!(leaks.entries(), ["1 VkSemaphore alive when the device was destroyed"]);
    let said = messages.messages();
    assert!(said.iter().any(|message| message.contains("VUID-vkDestroyDevice-device")), "{said:?}");
}

#[test]
fn a_buffer_that_stays_behind_is_reported() {
    let Some((device, leaks, _)) = watched() else { return };
    let buffer = device.allocate(1000).unwrap();
    let id = buffer.allocation_id();
    drop(device);
    assert_eq!(leaks.entries(), [format!("buffer #{id} of 1024 bytes alive when the device was dropped")]);
    drop(buffer);
    assert_eq!(leaks.entries().len(), 1, "and with the buffer everything goes");
}

#[test]
fn a_planted_violation_is_reported() {
    let Some((device, _, messages)) = watched() else { return };
    device.calls().plant_violation();
    let said = messages.messages();
    assert!(said.iter().any(|message| message.contains("VUID-")), "{said:?}");
}

#[test]
fn a_strict_device_does_not_go_quietly() {
    let Some(_) = watched() else { return };
    let device = rig::open(Options { validation: Validation::Strict, ..Options::default() }).unwrap();
    device.calls().plant_violation();
    let gone = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(device)));
    let reason = gone.expect_err("the layers said something");
    let reason = reason.downcast_ref::<String>().expect("panics with text");
    assert!(reason.contains("VUID-"), "{reason}");
}
