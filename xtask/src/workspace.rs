//! Where things are: the workspace, its target folder, cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the workspace's manifest.
pub fn root() -> PathBuf {
    // Cargo tells at run time; the path at build time serves when the binary is run by hand.
    let manifest = std::env::var("CARGO_MANIFEST_DIR");
    let manifest = manifest.unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_string());
    Path::new(&manifest).parent().expect("xtask is a folder of the workspace").to_path_buf()
}

/// The folder builds go to.
pub fn target() -> PathBuf {
    let configured = std::env::var_os("CARGO_TARGET_DIR");
    configured.map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// A cargo command that runs in the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace() {
        let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the root has a manifest");
        assert!(manifest.contains("[workspace]"));
    }
}
