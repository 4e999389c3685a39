//! What the tests of the runtime run on: a device or a clear reason to skip, kernels that notice a wrong order, and the
//! same arithmetic on the host.
//!
//! On NVIDIA run these programs with `--test-threads=1`. Driver 580 deadlocks inside itself when a thread that used it
//! exits while another destroys a device, and here every test is a thread with a device: 12 of 20 runs of `replay` hung
//! on an H200, none of 20 when the devices were not destroyed, and none with one thread.

#![allow(dead_code, reason = "every test program uses its part of the rig")]

use std::ops::Deref;
use std::sync::Arc;

use pumice_gpu::{
    Buffer, Device, Error, Launch, LeakLog, Options, Pipeline, PipelineRequest, Recorder, Result, Stream, ValidationLog,
};

/// Elements of the buffers that random work runs on.
pub const N: u32 = 1000;

/// A device that complains when it is dropped and something was wrong: validation messages or leaks.
pub struct TestDevice {
    device: Option<Device>,
    validation: ValidationLog,
    leaks: LeakLog,
}

/// The device to test on. Without one the test is skipped, or fails where `PUMICE_REQUIRE_VULKAN=1`.
pub fn device() -> Option<TestDevice> {
    device_with(Options::default())
}

/// A device opened in a special way.
pub fn device_with(options: Options) -> Option<TestDevice> {
    match open(options) {
        Ok(device) => {
            let (validation, leaks) = (device.validation_log(), device.leak_log());
            Some(TestDevice { device: Some(device), validation, leaks })
        }
        Err(Error::NoVulkan(reason)) if std::env::var("PUMICE_REQUIRE_VULKAN").as_deref() != Ok("1") => {
            eprintln!("skipped: {reason}");
            None
        }
        Err(error) => panic!("a Vulkan device is needed: {error}"),
    }
}

/// Opens the chosen device.
pub fn open(options: Options) -> Result<Device> {
    let found = pumice_gpu::devices()?;
    let chosen = found.iter().find(|info| info.chosen);
    Device::open(chosen.ok_or_else(|| Error::NoVulkan("no device was chosen.".into()))?, options)
}

impl Deref for TestDevice {
    type Target = Device;

    fn deref(&self) -> &Device {
        self.device.as_ref().expect("the device is there until the drop")
    }
}

impl Drop for TestDevice {
    fn drop(&mut self) {
        self.device = None;
        if !std::thread::panicking() {
            assert_eq!(self.validation.messages(), [""; 0], "the validation layers complained");
            assert_eq!(self.leaks.entries(), [""; 0], "something leaked");
        }
    }
}

/// `dst[i] = dst[i] * multiply + src[i] + add`: whatever is lost or runs out of order changes the result.
pub fn mix(device: &Device) -> Pipeline {
    pipeline(device, "mix", include_bytes!("../kernels/mix.spv"))
}

/// Spins until the word at its argument is not 0.
pub fn endless(device: &Device) -> Pipeline {
    pipeline(device, "endless", include_bytes!("../kernels/endless.spv"))
}

fn pipeline(device: &Device, name: &str, spirv: &[u8]) -> Pipeline {
    let words: Vec<u32> = spirv.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let request = PipelineRequest { name: name.into(), spirv: Arc::from(words), subgroup_size: None };
    device.pipeline(&request).expect("the test kernels compile")
}

/// One launch of `mix`, on the device and on the host.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    pub src: usize,
    pub dst: usize,
    pub multiply: u32,
    pub add: u32,
}

impl Mix {
    /// The argument block.
    pub fn arguments(&self, buffers: &[Buffer]) -> [u8; 28] {
        let mut block = [0; 28];
        block[..8].copy_from_slice(&buffers[self.src].address().to_ne_bytes());
        block[8..16].copy_from_slice(&buffers[self.dst].address().to_ne_bytes());
        let n = (buffers[self.dst].len() / 4) as u32;
        for (at, word) in [n, self.multiply, self.add].into_iter().enumerate() {
            block[16 + 4 * at..20 + 4 * at].copy_from_slice(&word.to_ne_bytes());
        }
        block
    }

    /// Records the launch on a stream.
    pub fn launch(&self, stream: &Stream, kernel: &Pipeline, buffers: &[Buffer]) -> Result<()> {
        self.with(kernel, buffers, |launch| stream.launch(launch))
    }

    /// Records the launch in a plan.
    pub fn record(&self, recorder: &mut Recorder, kernel: &Pipeline, buffers: &[Buffer]) -> Result<usize> {
        self.with(kernel, buffers, |launch| recorder.launch(launch))
    }

    /// Does the same on the host.
    pub fn apply(&self, buffers: &mut [Vec<u32>]) {
        let src = buffers[self.src].clone();
        for (y, x) in buffers[self.dst].iter_mut().zip(src) {
            *y = y.wrapping_mul(self.multiply).wrapping_add(x).wrapping_add(self.add);
        }
    }

    fn with<R>(&self, kernel: &Pipeline, buffers: &[Buffer], go: impl FnOnce(&Launch<'_>) -> R) -> R {
        let groups = [(buffers[self.dst].len() / 4).div_ceil(32) as u32, 1, 1];
        let (reads, writes) = ([&buffers[self.src]], [&buffers[self.dst]]);
        go(&Launch { pipeline: kernel, groups, arguments: &self.arguments(buffers), reads: &reads, writes: &writes })
    }
}

/// Buffers of `N` words filled with their number.
pub fn buffers(device: &Device, stream: &Stream, count: usize) -> (Vec<Buffer>, Vec<Vec<u32>>) {
    let on_host: Vec<Vec<u32>> = (0..count as u32).map(|number| vec![number; N as usize]).collect();
    let on_device = on_host.iter().map(|words| upload(device, stream, words)).collect();
    (on_device, on_host)
}

/// A new buffer with these words.
pub fn upload(device: &Device, stream: &Stream, words: &[u32]) -> Buffer {
    let buffer = device.allocate(4 * words.len() as u64).expect("small buffers fit");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    stream.upload(&buffer, 0, &bytes).expect("the upload works");
    buffer
}

/// The words of a buffer, after everything the stream was given.
pub fn download(stream: &Stream, buffer: &Buffer) -> Vec<u32> {
    let mut bytes = vec![0; buffer.len() as usize];
    stream.download(buffer, 0, &mut bytes).expect("the download works");
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
}

/// Numbers that are the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) % limit as u64) as usize
    }

    /// A launch on some of `count` buffers.
    pub fn mix(&mut self, count: usize) -> Mix {
        let (multiply, add) = (self.below(7) as u32 + 1, self.below(100) as u32);
        Mix { src: self.below(count), dst: self.below(count), multiply, add }
    }
}
