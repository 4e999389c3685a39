//! `pumice bench`: the built-in kernels against what the device can do.
//!
//! Times are the GPU's own (timestamps), but for launches, which are timed end to end. The clocks are warmed for 300 ms before
//! the first case; each figure is the median of several samples; ceilings are measured on this device in the same run.

mod arrays;
mod case;
mod ceilings;
mod host;
mod last_wave;
mod launches;
mod matmul;
mod memory;
mod report;

use indicatif::{ProgressBar, ProgressStyle};
use pumice::Error;
use pumice::gpu::DeviceKind;
use pumice::launch::Gpu;

use case::Session;

/// Times the built-in kernels on the chosen device.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  pumice bench                   every case\n  pumice bench matmul --json     the cases with 'matmul' in their name, as JSON"
)]
pub struct Args {
    /// Only cases whose name contains this text.
    filter: Option<String>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// List the cases and do not run them.
    #[arg(long)]
    list: bool,
    /// Try every candidate of kernels that have a search space, and print each.
    #[arg(long)]
    sweep: bool,
}

/// Runs the cases and prints the table.
pub fn run(args: &Args) -> Result<(), Error> {
    let cases: Vec<case::Case> =
        [memory::cases(), launches::cases(), matmul::cases(args.sweep), arrays::cases(), host::cases()]
            .into_iter()
            .flatten()
            .filter(|case| args.filter.as_ref().is_none_or(|text| case.name.contains(text.as_str())))
            .collect();
    if args.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return Ok(());
    }
    let gpu = Gpu::chosen()?;
    let small = gpu.device().info().kind == DeviceKind::Software;
    let session = Session { gpu, small };
    let progress = ProgressBar::new(cases.len() as u64 + 1);
    progress.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("the template is right"));
    progress.set_message("measuring the device");
    let ceilings = ceilings::measure(&session)?;
    let mut rows = Vec::new();
    for case in &cases {
        progress.inc(1);
        progress.set_message(case.name.clone());
        rows.push((case, (case.run)(&session)));
    }
    progress.finish_and_clear();
    report::print(&session, &ceilings, &rows, args.json);
    Ok(())
}
