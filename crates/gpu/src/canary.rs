//! The canary: refuses a driver that ends loops before their time.
//!
//! Mesa 22.3.6, Debian 12's own, silently leaves a kernel's loops after 65,535 iterations in total, and every sum over a
//! longer row is wrong from then on. So a software driver first runs one long loop, once per process. GPUs are not
//! asked: their loops are the hardware's.
//!
//! `loop.spv` is `loop.spvasm`, assembled by `spirv-as --target-env vulkan1.3`.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::device::Device;
use crate::encoder::Launch;
use crate::error::{Error, Result};
use crate::pipeline::PipelineRequest;
use crate::probe::DeviceInfo;

/// More than the drivers that stop early do.
const ITERATIONS: u32 = 70_000;

/// Fails if the driver is known to be, or turns out to be, one that ends loops early. `open` gives a device to try.
pub(crate) fn check(info: &DeviceInfo, open: impl FnOnce() -> Result<Device>) -> Result<()> {
    static SOUND: Mutex<BTreeSet<([u8; 16], u32)>> = Mutex::new(BTreeSet::new());
    let driver = (info.uuid, info.driver_version);
    // Held while trying, so that of several threads one tries.
    let mut sound = SOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if sound.contains(&driver) {
        return Ok(());
    }
    judge(&info.driver, sing(&open()?)?)?;
    sound.insert(driver);
    Ok(())
}

/// What the loop computes on the device.
fn sing(device: &Device) -> Result<u32> {
    let words = include_bytes!("canary/loop.spv").chunks_exact(4);
    let spirv = words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let kernel = device.pipeline(&PipelineRequest { name: "canary".into(), spirv, subgroup_size: None })?;
    let numbers = device.allocate(8)?;
    device.upload(&numbers, 4, &ITERATIONS.to_ne_bytes())?;
    let stream = device.stream()?;
    stream.launch(&Launch {
        pipeline: &kernel,
        groups: [1, 1, 1],
        arguments: &numbers.address().to_ne_bytes(),
        reads: &[&numbers],
        writes: &[&numbers],
    })?;
    let mut word = [0; 4];
    stream.download(&numbers, 0, &mut word)?;
    Ok(u32::from_ne_bytes(word))
}

fn judge(driver: &str, sung: u32) -> Result<()> {
    if sung == expected(ITERATIONS) {
        return Ok(());
    }
    let found = match (0..ITERATIONS).find(|&n| expected(n) == sung) {
        Some(stopped) => format!("it leaves them after {stopped}"),
        None => "it computes something else".to_owned(),
    };
    Err(Error::NoVulkan(format!(
        "driver {driver} must run loops of {ITERATIONS} iterations but {found}. Install Mesa 25 or newer (Debian 12: from \
         bookworm-backports)."
    )))
}

fn expected(iterations: u32) -> u32 {
    let step = |x: u32, i: u32| x.wrapping_mul(1_664_525).wrapping_add(i).wrapping_add(1_013_904_223);
    (0..iterations).fold(1, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_stops_early_is_refused_with_the_iteration_it_stopped_at() {
        let driver = "llvmpipe Mesa 22.3.6";
        assert!(judge(driver, expected(ITERATIONS)).is_ok());
        let message = judge(driver, expected(65_535)).expect_err("too early").to_string();
        assert!(
            message.contains("Mesa 22.3.6 must run loops of 70000 iterations but it leaves them after 65535."),
            "{message}"
        );
    }
}
