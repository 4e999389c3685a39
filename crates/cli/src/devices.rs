//! `pumice devices`: what there is, what is used, and why.

use pumice::Error;
use pumice::gpu::{self, DeviceInfo, DeviceKind, Limits};

/// Lists Vulkan devices. `PUMICE_DEVICE` picks one by its number or a part of its name.
#[derive(clap::Args)]
#[command(after_help = "PUMICE_DEVICE=1 or PUMICE_DEVICE=radeon picks a device by its number or a part of its name.")]
pub struct Args {
    /// Print every limit and feature as well.
    #[arg(long)]
    verbose: bool,
}

/// Prints the list. A machine without Vulkan is not an error: it says what is missing.
pub fn run(args: &Args) -> Result<(), Error> {
    match gpu::devices() {
        Ok(devices) => devices.iter().for_each(|device| print_device(device, args.verbose)),
        Err(error) => {
            println!("No Vulkan device: {error}");
            println!("Kernels run in the interpreter only until there is one.");
        }
    }
    Ok(())
}

fn print_device(device: &DeviceInfo, verbose: bool) {
    let mark = if device.chosen { "*" } else { " " };
    let (major, minor, patch) = device.api_version;
    println!("{mark} [{}] {}", device.index, device.name);
    println!("      kind      {}", kind(device.kind));
    println!("      driver    {} (Vulkan {major}.{minor}.{patch})", device.driver);
    println!(
        "      memory    {}{}",
        size(device.memory_bytes),
        if device.unified { ", shared with the host" } else { "" }
    );
    println!("      features  {}", features(&device.limits).join(", "));
    println!("      {}    {}", if device.chosen { "chosen" } else { "unused" }, device.reason);
    if verbose {
        println!("{:#?}", device.limits);
    }
}

fn kind(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Discrete => "discrete GPU",
        DeviceKind::Integrated => "integrated GPU",
        DeviceKind::Virtual => "virtual GPU",
        DeviceKind::Software => "software, on the CPU",
        DeviceKind::Other => "other",
    }
}

fn features(limits: &Limits) -> Vec<String> {
    let flags = [
        (limits.float16, "f16"),
        (limits.float64, "f64"),
        (limits.bfloat16_matrix, "bf16 matrices"),
        (limits.integer_dot_accelerated, "integer dot product"),
        (limits.atomic_float32_add, "f32 atomics"),
        (!limits.cooperative_matrix.is_empty(), "cooperative matrices"),
        (limits.cooperative_matrix2.is_some(), "workgroup matrices"),
        (limits.has_timestamps, "timestamps"),
    ];
    let mut list = vec![
        format!("subgroups of {}", limits.subgroup_size),
        format!("{} KiB shared memory", limits.shared_memory_bytes >> 10),
    ];
    list.extend((limits.multiprocessors > 0).then(|| format!("{} multiprocessors", limits.multiprocessors)));
    list.extend(flags.iter().filter(|(has, _)| *has).map(|(_, name)| (*name).to_owned()));
    list
}

fn size(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}
