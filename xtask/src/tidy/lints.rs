//! Every crate inherits the workspace's lints (documented public items, reasons for unsafe) and none switches them off.

use super::Finding;
use super::tree::Tree;

/// Lints the root manifest must set for all.
const REQUIRED: [&str; 2] = ["missing_docs", "undocumented_unsafe_blocks"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, manifest) in tree.manifests() {
        if !inherits(&manifest.text) {
            let message = format!(
                "{folder} must inherit the workspace's lints ([lints] workspace = true) but does not."
            );
            findings.push(manifest.finding(1, message));
        }
    }
    for root in tree.files().iter().filter(|file| file.path == "Cargo.toml") {
        for lint in REQUIRED.iter().filter(|lint| !root.text.contains(**lint)) {
            findings.push(root.finding(
                1,
                format!("the workspace must set the lint {lint} but does not."),
            ));
        }
    }
    for (file, source) in tree.rust() {
        for (index, code) in source.code.iter().enumerate() {
            let silenced = |lint: &&&str| code.contains("allow(") && code.contains(**lint);
            for lint in REQUIRED.iter().filter(silenced) {
                findings.push(file.finding(
                    index + 1,
                    format!("{lint} must hold everywhere but is allowed here."),
                ));
            }
        }
    }
    findings
}

fn inherits(manifest: &str) -> bool {
    let mut lines = manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[lints]")
        .skip(1);
    lines.find(|line| !line.is_empty()) == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)]))
            .iter()
            .map(Finding::to_string)
            .collect()
    }

    #[test]
    fn a_crate_that_does_not_inherit_the_lints_is_found() {
        let found = messages("crates/a/Cargo.toml", "[package]\nname = \"a\"\n");
        let expected = "crates/a/Cargo.toml:1: crates/a must inherit the workspace's lints ([lints] workspace = true) but does not.";
        assert_eq!(found, [expected]);
        assert_eq!(
            messages("crates/a/Cargo.toml", "[lints]\nworkspace = true\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_workspace_without_a_required_lint_is_found() {
        let found = messages(
            "Cargo.toml",
            "[workspace.lints.rust]\nmissing_docs = \"warn\"\n",
        );
        assert_eq!(
            found,
            [
                "Cargo.toml:1: the workspace must set the lint undocumented_unsafe_blocks but does not."
            ]
        );
    }

    #[test]
    fn a_silenced_lint_is_found() {
        let found = messages("crates/a/src/lib.rs", "//! A.\n#![allow(missing_docs)]\n");
        assert_eq!(
            found,
            ["crates/a/src/lib.rs:2: missing_docs must hold everywhere but is allowed here."]
        );
    }
}
