//! A kernel compiled for a device, and its launch.

use std::sync::Arc;

use pumice_gpu::{Buffer, Device, Launch, PendingPipeline, Pipeline, PipelineRequest, Stream};
use pumice_kernel::arguments::{Argument, ArgumentLayout, write_arguments};
use pumice_kernel::passes;
use pumice_kernel::spirv::{self, Module};
use pumice_kernel::{Kernel, Target};
use smallvec::SmallVec;

use crate::debug;
use crate::error::{Error, Result};

/// How a kernel is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Build {
    /// Optimised, without checks: a wrong index is undefined behaviour on the device.
    Fast,
    /// Every index is tested; the first violation is reported by [`Compiled::report`], and the device survives.
    Checked,
}

/// A buffer from one of its bytes on.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The buffer.
    pub buffer: &'a Buffer,
    /// Bytes before the part; a multiple of what the kernel says its addresses are.
    pub offset: u64,
}

/// A kernel ready to launch. Clones share everything, a checked build's report too.
#[derive(Clone)]
pub struct Compiled {
    shared: Arc<Shared>,
}

struct Shared {
    /// After the passes.
    kernel: Kernel,
    layout: ArgumentLayout,
    pipeline: Pipeline,
    report: Option<Buffer>,
}

/// Bytes of a checked build's report.
const REPORT: u64 = 4 * passes::REPORT_WORDS as u64;

impl Compiled {
    pub(super) fn new(device: &Device, target: &Target, kernel: &Kernel, build: Build) -> Result<Compiled> {
        let (kernel, request) = emit(target, kernel, build)?;
        let pipeline = device.pipeline(&request)?;
        Compiled::with_pipeline(device, kernel, pipeline)
    }

    fn with_pipeline(device: &Device, kernel: Kernel, pipeline: Pipeline) -> Result<Compiled> {
        let report = match kernel.checked {
            Some(_) => Some(cleared_report(device)?),
            None => None,
        };
        let layout = ArgumentLayout::of(&kernel);
        Ok(Compiled { shared: Arc::new(Shared { kernel, layout, pipeline, report }) })
    }

    /// The kernel as it was emitted.
    pub fn kernel(&self) -> &Kernel {
        &self.shared.kernel
    }

    /// The device's pipeline.
    pub fn pipeline(&self) -> &Pipeline {
        &self.shared.pipeline
    }

    /// Records a launch. Buffers stand in the order of the kernel's, scalars in the order of its arguments, arrays
    /// flattened.
    pub fn launch(&self, stream: &Stream, groups: [u32; 3], buffers: &[&Buffer], scalars: &[Argument]) -> Result<()> {
        self.with_launch(groups, buffers, scalars, |launch| Ok(stream.launch(launch)?))
    }

    /// Hands the launch, its arguments laid out, to the closure: to record it in a plan, say.
    pub fn with_launch<R>(
        &self,
        groups: [u32; 3],
        buffers: &[&Buffer],
        scalars: &[Argument],
        record: impl FnOnce(&Launch<'_>) -> Result<R>,
    ) -> Result<R> {
        let parts: SmallVec<[Part<'_>; 8]> = buffers.iter().map(|&buffer| Part { buffer, offset: 0 }).collect();
        self.with_launch_at(groups, &parts, scalars, record)
    }

    /// The same over parts of buffers.
    pub fn with_launch_at<R>(
        &self,
        groups: [u32; 3],
        parts: &[Part<'_>],
        scalars: &[Argument],
        record: impl FnOnce(&Launch<'_>) -> Result<R>,
    ) -> Result<R> {
        let kernel = &self.shared.kernel;
        let mut all: SmallVec<[Part<'_>; 8]> = SmallVec::from_slice(parts);
        all.extend(self.shared.report.as_ref().map(|buffer| Part { buffer, offset: 0 }));
        if all.len() != kernel.buffers.len() {
            let (name, wanted, given) = (&kernel.name, kernel.buffers.len(), all.len());
            return Err(Error::Value(format!("[{name}] must be given {wanted} buffers but was given {given}.")));
        }
        let addresses: SmallVec<[u64; 8]> = all.iter().map(|part| part.buffer.address() + part.offset).collect();
        let mut values: SmallVec<[Argument; 16]> = SmallVec::from_slice(scalars);
        if let Some(checked) = &kernel.checked {
            // A kernel without buffers still has a place for one bound.
            let wanted = kernel.scalars[checked.bounds as usize].len as usize;
            let bounds = parts.iter().map(|part| (part.buffer.len() - part.offset) as i64).chain(std::iter::repeat(0));
            values.extend(bounds.take(wanted).map(Argument::I64));
        }
        let mut block: SmallVec<[u8; 256]> = SmallVec::from_elem(0, self.shared.layout.size as usize);
        write_arguments(kernel, &self.shared.layout, &addresses, &values, &mut block)?;
        let (mut reads, mut writes) = (SmallVec::<[&Buffer; 8]>::new(), SmallVec::<[&Buffer; 8]>::new());
        for (part, param) in all.iter().zip(&kernel.buffers) {
            if param.access.writes() { writes.push(part.buffer) } else { reads.push(part.buffer) }
        }
        record(&Launch { pipeline: &self.shared.pipeline, groups, arguments: &block, reads: &reads, writes: &writes })
    }

    /// What a checked build found, once the launches are done: the first violation since the last call. Always fine for a
    /// fast build.
    pub fn report(&self, stream: &Stream) -> Result<()> {
        let Some(report) = &self.shared.report else { return Ok(()) };
        let mut bytes = [0u8; REPORT as usize];
        stream.download(report, 0, &mut bytes)?;
        let words: Vec<u32> = bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().expect("four"))).collect();
        let Some(violation) = passes::read_report(&self.shared.kernel, &words) else { return Ok(()) };
        stream.upload(report, 0, &[0; REPORT as usize])?;
        Err(violation.into())
    }
}

/// A kernel that the driver compiles in the background.
pub struct PendingCompiled {
    device: Device,
    kernel: Kernel,
    pipeline: PendingPipeline,
}

impl PendingCompiled {
    pub(super) fn new(device: &Device, target: &Target, kernel: &Kernel, build: Build) -> Result<PendingCompiled> {
        let (kernel, request) = emit(target, kernel, build)?;
        Ok(PendingCompiled { device: device.clone(), kernel, pipeline: device.pipeline_async(&request) })
    }

    /// Whether `wait` would answer at once.
    pub fn ready(&self) -> bool {
        self.pipeline.ready()
    }

    /// The kernel, ready to launch.
    pub fn wait(&self) -> Result<Compiled> {
        Compiled::with_pipeline(&self.device, self.kernel.clone(), self.pipeline.wait()?)
    }
}

/// The kernel after the passes, and what the driver is asked for.
fn emit(target: &Target, kernel: &Kernel, build: Build) -> Result<(Kernel, PipelineRequest)> {
    debug::say(debug::KERNELS, || kernel.to_string());
    let kernel = prepare(kernel, build);
    let Module { words, subgroup_size, .. } = spirv::emit(&kernel, target)?;
    debug::say(debug::SPIRV, || spirv::disassemble(&words));
    let request = PipelineRequest { name: kernel.name.clone(), spirv: words.into(), subgroup_size };
    Ok((kernel, request))
}

/// The passes a build takes.
fn prepare(kernel: &Kernel, build: Build) -> Kernel {
    let mut kernel = kernel.clone();
    if build == Build::Checked {
        passes::checked(&mut kernel);
        debug::say(debug::PASSES, || format!("after checked\n{kernel}"));
    }
    passes::optimize_watched(&mut kernel, |pass, kernel| {
        debug::say(debug::PASSES, || format!("after {pass}\n{kernel}"));
    });
    kernel
}

fn cleared_report(device: &Device) -> Result<Buffer> {
    let report = device.allocate(REPORT)?;
    device.stream()?.upload(&report, 0, &[0; REPORT as usize])?;
    Ok(report)
}
