//! What a launch costs: a thousand dependent or independent tiny launches, recorded and submitted, or replayed. Medians.
//!
//! `cargo run --release -p pumice-gpu --example launches`

use std::sync::Arc;
use std::time::{Duration, Instant};

use pumice_gpu::{Buffer, Device, Launch, Pipeline, PipelineRequest, Result};

const LAUNCHES: usize = 1000;
const ROUNDS: usize = 101;
const WARM_UP: usize = 20;

fn main() -> Result<()> {
    let device = Device::chosen()?;
    println!("{} ({})", device.info().name, device.info().driver);
    let kernel = mix(&device)?;
    let buffers: Vec<Buffer> = (0..8).map(|_| device.allocate(4096)).collect::<Result<_>>()?;
    let stream = device.stream()?;
    for (name, spread) in [("dependent", 1), ("four side by side", 4), ("eight side by side", 8)] {
        let each = |at: usize| Work { buffer: &buffers[at % spread], kernel: &kernel };
        let recorded = median(|| {
            let start = Instant::now();
            (0..LAUNCHES).try_for_each(|at| each(at).with(|launch| stream.launch(launch)))?;
            let event = stream.commit()?;
            let host = start.elapsed();
            event.wait()?;
            Ok([start.elapsed(), host])
        })?;
        let mut recorder = device.recorder()?;
        for at in 0..LAUNCHES {
            each(at).with(|launch| recorder.launch(launch))?;
        }
        let plan = recorder.finish()?;
        let replayed = median(|| {
            let start = Instant::now();
            let event = stream.replay(&plan)?;
            let host = start.elapsed();
            event.wait()?;
            Ok([start.elapsed(), host])
        })?;
        let on_device = median(|| Ok([stream.time(|stream| stream.replay(&plan).map(drop))?; 2]))?;
        println!("{name}: µs per launch");
        println!(
            "  recorded, submitted, waited for  {:.3} (host {:.3})",
            per_launch(recorded[0]),
            per_launch(recorded[1])
        );
        println!(
            "  replayed and waited for          {:.3} (host {:.3})",
            per_launch(replayed[0]),
            per_launch(replayed[1])
        );
        println!("  replayed, by GPU timestamps      {:.3}", per_launch(on_device[0]));
    }
    let one = median(|| {
        let start = Instant::now();
        Work { buffer: &buffers[0], kernel: &kernel }.with(|launch| stream.launch(launch))?;
        stream.synchronize()?;
        Ok([start.elapsed(); 2])
    })?;
    println!("one launch, submitted and waited for: {:.1} µs", one[0].as_secs_f64() * 1e6);
    Ok(())
}

struct Work<'a> {
    buffer: &'a Buffer,
    kernel: &'a Pipeline,
}

impl Work<'_> {
    fn with<R>(&self, go: impl FnOnce(&Launch<'_>) -> R) -> R {
        let mut arguments = [0; 28];
        arguments[..8].copy_from_slice(&self.buffer.address().to_ne_bytes());
        arguments[8..16].copy_from_slice(&self.buffer.address().to_ne_bytes());
        arguments[16] = 32;
        let both = [self.buffer];
        go(&Launch { pipeline: self.kernel, groups: [1, 1, 1], arguments: &arguments, reads: &both, writes: &both })
    }
}

fn mix(device: &Device) -> Result<Pipeline> {
    let words = include_bytes!("../tests/kernels/mix.spv").chunks_exact(4);
    let spirv: Arc<[u32]> = words.map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    device.pipeline(&PipelineRequest { name: "mix".into(), spirv, subgroup_size: None })
}

/// The medians of both times that a round returns, after a few rounds to warm up.
fn median(mut round: impl FnMut() -> Result<[Duration; 2]>) -> Result<[Duration; 2]> {
    for _ in 0..WARM_UP {
        round()?;
    }
    let rounds = (0..ROUNDS).map(|_| round()).collect::<Result<Vec<_>>>()?;
    Ok([0, 1].map(|which| {
        let mut times: Vec<Duration> = rounds.iter().map(|round| round[which]).collect();
        times.sort_unstable();
        times[ROUNDS / 2]
    }))
}

fn per_launch(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6 / LAUNCHES as f64
}
