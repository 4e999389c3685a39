//! Pumice's development tasks: `cargo xtask` without arguments lists them.
//!
//! Std only, so that the first `cargo xtask test` on a fresh clone starts within seconds.

mod command;
mod setup;

use std::process::ExitCode;

fn main() -> ExitCode {
    match setup::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}
