//! `pumice devices` as a user runs it, with and without a driver.

use std::process::{Command, Output};

fn devices(driver: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pumice"));
    command.arg("devices");
    if let Some(manifest) = driver {
        command.env("VK_DRIVER_FILES", manifest).env("VK_ICD_FILENAMES", manifest);
    }
    command.output().expect("the command starts")
}

#[test]
fn a_machine_without_a_driver_is_told_what_is_missing() {
    let output = devices(Some("/nonexistent/driver.json"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "a missing driver is not an error: {output:?}");
    assert!(text.starts_with("No Vulkan device: "), "{text}");
    assert!(text.contains("install"), "it must say what to install but says {text}");
}

#[test]
fn the_chosen_device_is_marked_and_its_reason_given() {
    let output = devices(None);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    if text.starts_with("No Vulkan device") {
        let required = std::env::var("PUMICE_REQUIRE_VULKAN").as_deref() == Ok("1");
        assert!(!required, "PUMICE_REQUIRE_VULKAN=1 asks for a Vulkan device: {text}");
        return;
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("* [")).count(), 1, "one device is chosen:\n{text}");
    for word in ["driver", "memory", "features", "chosen"] {
        assert!(text.contains(word), "{word} is missing from\n{text}");
    }
}

#[test]
fn a_wrong_command_teaches_the_right_ones() {
    let output = Command::new(env!("CARGO_BIN_EXE_pumice")).output().expect("the command starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("devices") && text.contains("bench"), "{text}");
}
