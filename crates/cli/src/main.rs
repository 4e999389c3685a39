//! The `pumice` command: glue between the terminal and the crates.

mod bench;
mod devices;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// MLX for every GPU.
#[derive(Parser)]
#[command(name = "pumice", version, about, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the Vulkan devices of this machine, which one is used, and why.
    Devices(devices::Args),
    /// Time the built-in kernels on the chosen device, against what the device can do.
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Devices(args) => devices::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pumice: {error}");
            ExitCode::FAILURE
        }
    }
}
