//! What the device tests share: the device, and one kernel run on it and by the interpreter.
#![allow(dead_code)] // every test file uses its part

use std::sync::OnceLock;

use pumice::gpu::Buffer;
use pumice::kernel::Kernel;
use pumice::kernel::arguments::Argument;
use pumice::kernel::interpret::{self, Launch, Memory};
use pumice::launch::{Build, Gpu};
use pumice::{Device, Result};

/// The device to test on. Without one the test is skipped, or fails where `PUMICE_REQUIRE_VULKAN=1`.
pub fn gpu() -> Option<&'static Gpu> {
    static GPU: OnceLock<Option<Gpu>> = OnceLock::new();
    GPU.get_or_init(|| match Gpu::chosen() {
        Ok(gpu) => Some(gpu),
        Err(error) if std::env::var("PUMICE_REQUIRE_VULKAN").as_deref() != Ok("1") => {
            eprintln!("skipped, no Vulkan device: {error}");
            None
        }
        Err(error) => panic!("PUMICE_REQUIRE_VULKAN=1 asks for a Vulkan device: {error}"),
    })
    .as_ref()
}

/// The devices that arrays are tested on, as for `gpu`.
pub fn devices() -> Vec<Device> {
    [Device::CPU].into_iter().chain(gpu().map(|_| Device::GPU)).collect()
}

/// Whether the slow sweeps are asked for.
pub fn slow() -> bool {
    std::env::var_os("PUMICE_SLOW").is_some()
}

/// A launch of a kernel, with what its buffers hold.
pub struct Job<'a> {
    pub kernel: &'a Kernel,
    pub groups: [u32; 3],
    pub scalars: &'a [Argument],
    pub buffers: Vec<Vec<u8>>,
}

impl Job<'_> {
    /// What the buffers hold after the device has run it; the validation layers must stay silent.
    pub fn on_device(&self, gpu: &Gpu, build: Build) -> Result<Vec<Vec<u8>>> {
        let stream = gpu.stream();
        let compiled = gpu.compile(self.kernel, build)?;
        let buffers: Vec<Buffer> = self
            .buffers
            .iter()
            .map(|bytes| {
                let buffer = gpu.allocate(bytes.len().max(1) as u64)?;
                stream.upload(&buffer, 0, bytes)?;
                Ok(buffer)
            })
            .collect::<Result<_>>()?;
        let handles: Vec<&Buffer> = buffers.iter().collect();
        compiled.launch(stream, self.groups, &handles, self.scalars)?;
        stream.synchronize()?;
        compiled.report(stream)?;
        let results = buffers
            .iter()
            .zip(&self.buffers)
            .map(|(buffer, bytes)| {
                let mut back = vec![0; bytes.len()];
                stream.download(buffer, 0, &mut back)?;
                Ok(back)
            })
            .collect();
        let messages = gpu.device().validation_messages();
        assert!(messages.is_empty(), "the validation layers say: {messages:#?}");
        results
    }

    /// What the buffers hold after the interpreter has run it.
    pub fn interpreted(&self, subgroup_size: u32) -> Result<Vec<Vec<u8>>> {
        let flush_fma = gpu().is_some_and(|gpu| !gpu.target().denormals.fma);
        let mut memories: Vec<Memory<'static>> = self.buffers.iter().map(|bytes| Memory::of(bytes)).collect();
        let launch =
            Launch { groups: self.groups, scalars: self.scalars, subgroup_size, flush_fma, ..Launch::default() };
        interpret::run(self.kernel, &launch, &mut memories)?;
        Ok(memories.iter().map(|memory| memory.bytes().to_vec()).collect())
    }
}

/// The bytes of f32 values.
pub fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// The f32 values of bytes.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four bytes"))).collect()
}

/// A small generator of repeatable numbers.
pub struct Source(pub u64);

impl Source {
    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Between -1 and 1.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}
