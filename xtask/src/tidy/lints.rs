//! Every crate inherits the workspace's lints (documented public items, reasons for unsafe) and does not switch them off.
//!
//! One exception: the parts of an enum or a struct may be left to their names.

use super::Finding;
use super::source::{Source, words};
use super::tree::Tree;

/// Lints the root manifest must set for all.
const REQUIRED: [&str; 2] = ["missing_docs", "undocumented_unsafe_blocks"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, manifest) in tree.manifests() {
        if !inherits(&manifest.text) {
            let message =
                format!("{folder} must inherit the workspace's lints ([lints] workspace = true) but does not.");
            findings.push(manifest.finding(1, message));
        }
    }
    for root in tree.files().iter().filter(|file| file.path == "Cargo.toml") {
        for lint in REQUIRED.iter().filter(|lint| !root.text.contains(**lint)) {
            findings.push(root.finding(1, format!("the workspace must set the lint {lint} but does not.")));
        }
    }
    for (file, source) in tree.rust() {
        for (index, code) in source.code.iter().enumerate().filter(|(_, code)| code.contains("allow(")) {
            let silenced = |lint: &&&str| code.contains(**lint) && !is_for_parts(source, index, lint);
            for lint in REQUIRED.iter().filter(silenced) {
                let message = format!("{lint} must hold everywhere but is allowed here.");
                findings.push(file.finding(index + 1, message));
            }
        }
    }
    findings
}

/// Whether an attribute leaves the documentation of an enum's variants or a struct's fields to their names.
fn is_for_parts(source: &Source, attribute: usize, lint: &str) -> bool {
    let is_outer = source.code[attribute].trim_start().starts_with("#[");
    let mut below = source.code[attribute + 1..].iter().map(|line| line.trim());
    let item = below.find(|line| !line.is_empty() && !line.starts_with("#[")).unwrap_or("");
    let has_parts = ["enum", "struct"].iter().any(|word| words(item, word).next().is_some());
    lint == "missing_docs" && is_outer && has_parts
}

fn inherits(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    lines.find(|line| !line.is_empty()) == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_crate_that_does_not_inherit_the_lints_is_found() {
        let found = messages("crates/a/Cargo.toml", "[package]\nname = \"a\"\n");
        let expected = "crates/a/Cargo.toml:1: crates/a must inherit the workspace's lints ([lints] workspace = true) but does not.";
        assert_eq!(found, [expected]);
        assert_eq!(messages("crates/a/Cargo.toml", "[lints]\nworkspace = true\n"), Vec::<String>::new());
    }

    #[test]
    fn a_workspace_without_a_required_lint_is_found() {
        let found = messages("Cargo.toml", "[workspace.lints.rust]\nmissing_docs = \"warn\"\n");
        assert_eq!(found, ["Cargo.toml:1: the workspace must set the lint undocumented_unsafe_blocks but does not."]);
    }

    #[test]
    fn a_silenced_lint_is_found() {
        let found = messages("crates/a/src/lib.rs", "//! A.\n#![allow(missing_docs)]\n");
        assert_eq!(found, ["crates/a/src/lib.rs:2: missing_docs must hold everywhere but is allowed here."]);
    }

    #[test]
    fn the_parts_of_an_enum_may_be_left_to_their_names() {
        let parts = "//! A.\n/// What.\n#[allow(missing_docs)]\n#[derive(Debug)]\npub enum Vote {\n    All,\n}\n";
        assert_eq!(messages("crates/a/src/lib.rs", parts), Vec::<String>::new());
        let function = "//! A.\n#[allow(missing_docs)]\npub fn f() {}\n";
        assert_eq!(messages("crates/a/src/lib.rs", function).len(), 1);
    }
}
