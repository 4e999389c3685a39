//! `cargo xtask check`: formatting and lints, which need two components of the toolchain.

use std::process::{Command, Stdio};

use crate::command::run;
use crate::workspace::cargo;

/// Checks that every file is formatted.
pub fn formatting() -> Result<(), String> {
    require("fmt", "rustfmt")?;
    let advice = "[check] every file must be formatted but some are not: run cargo fmt --all.";
    run(cargo(&["fmt", "--all", "--check"])).map_err(|_| advice.to_string())
}

/// Checks that clippy and rustc have nothing to say.
pub fn lints() -> Result<(), String> {
    require("clippy", "clippy")?;
    let all = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run(cargo(&all)).map_err(|_| "[check] clippy must have nothing to say but does.".to_string())
}

fn require(subcommand: &str, component: &str) -> Result<(), String> {
    if succeeds(cargo(&[subcommand, "--version"])) {
        return Ok(());
    }
    Err(format!("[check] {component} must be installed but is not: run rustup component add {component}."))
}

fn succeeds(mut command: Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_component_is_named_with_the_command_that_installs_it() {
        let error = require("no-such-subcommand", "clippy").expect_err("there is no such subcommand");
        assert_eq!(error, "[check] clippy must be installed but is not: run rustup component add clippy.");
    }
}
