//! Edges between crates are only those drawn in ARCHITECTURE.md.

use super::Finding;
use super::source::words;
use super::tree::{File, Tree};

/// A crate of the workspace, and the packages of ours it may know.
struct Node {
    folder: &'static str,
    package: &'static str,
    may_use: &'static [&'static str],
}

const KERNEL: &str = "pumice-kernel";
const GPU: &str = "pumice-gpu";
const ARRAY: &str = "pumice";
const LM: &str = "pumice-lm";

/// The whole graph. A new crate is drawn here and in ARCHITECTURE.md.
const GRAPH: [Node; 7] = [
    Node { folder: "crates/kernel", package: KERNEL, may_use: &[] },
    Node { folder: "crates/gpu", package: GPU, may_use: &[] },
    Node { folder: "crates/array", package: ARRAY, may_use: &[KERNEL, GPU] },
    Node { folder: "crates/lm", package: LM, may_use: &[ARRAY] },
    Node { folder: "crates/python", package: "pumice-python", may_use: &[ARRAY, LM] },
    Node { folder: "crates/cli", package: "pumice-cli", may_use: &[ARRAY, LM] },
    Node { folder: "xtask", package: "xtask", may_use: &[] },
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, manifest) in tree.manifests() {
        match GRAPH.iter().find(|node| node.folder == folder) {
            Some(node) => findings.extend(check_manifest(node, manifest)),
            None => {
                let message = format!("every crate must be drawn in the graph of edges but {folder} is not.");
                findings.push(manifest.finding(1, message));
            }
        }
    }
    for (file, source) in tree.rust() {
        let Some(node) = GRAPH.iter().find(|node| node.folder == file.crate_folder()) else {
            continue;
        };
        for (index, code) in source.code.iter().enumerate() {
            findings.extend(check_code(node, file, index + 1, code));
        }
    }
    findings
}

fn check_manifest(node: &Node, manifest: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_dependencies = false;
    for (index, line) in manifest.text.lines().map(str::trim).enumerate() {
        // `[dependencies]`, `[dev-dependencies]`, `[target.….dependencies]` and `[dependencies.name]`.
        let mut name = line.split(['.', '=', ' ']).next().unwrap_or("");
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            in_dependencies = section.ends_with("dependencies");
            name = section.split_once("dependencies.").map_or("", |(_, name)| name);
        } else if !in_dependencies {
            continue;
        }
        if is_ours(name) && name != node.package && !node.may_use.contains(&name) {
            findings.push(manifest.finding(index + 1, refusal(node, name)));
        }
    }
    findings
}

fn check_code(node: &Node, file: &File, line: usize, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for other in GRAPH.iter().filter(|other| other.package != node.package && other.package != "xtask") {
        let module = other.package.replace('-', "_");
        // `pumice` is also a word of its own: only a path or an import names the crate.
        let names_crate = |column: usize| {
            let (before, after) = (&code[..column], &code[column + module.len()..]);
            after.starts_with("::") || before.trim_end().ends_with("use") || before.trim_end().ends_with("crate")
        };
        let used = words(code, &module).any(names_crate);
        if used && !node.may_use.contains(&other.package) {
            findings.push(file.finding(line, refusal(node, other.package)));
        }
    }
    findings
}

fn is_ours(name: &str) -> bool {
    GRAPH.iter().any(|node| node.package == name)
}

fn refusal(node: &Node, other: &str) -> String {
    let allowed = if node.may_use.is_empty() { "none of ours".to_string() } else { node.may_use.join(", ") };
    format!("{} may know {allowed} but uses {other}.", node.package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_forbidden_dependency_in_a_manifest_is_found() {
        let found = messages(
            "crates/kernel/Cargo.toml",
            "[package]\nname = \"x\"\n[dev-dependencies]\npumice-gpu.workspace = true\n",
        );
        assert_eq!(found, ["crates/kernel/Cargo.toml:4: pumice-kernel may know none of ours but uses pumice-gpu."]);
    }

    #[test]
    fn a_forbidden_dependency_in_a_table_of_its_own_is_found() {
        let found = messages("crates/cli/Cargo.toml", "[dependencies.pumice-gpu]\nworkspace = true\n");
        assert_eq!(found, ["crates/cli/Cargo.toml:1: pumice-cli may know pumice, pumice-lm but uses pumice-gpu."]);
    }

    #[test]
    fn a_forbidden_use_in_code_is_found() {
        let found = messages("crates/gpu/src/x.rs", "//! X.\nuse pumice_kernel::ir;\n");
        assert_eq!(found, ["crates/gpu/src/x.rs:2: pumice-gpu may know none of ours but uses pumice-kernel."]);
        assert_eq!(messages("crates/kernel/src/x.rs", "use pumice as mx;\n").len(), 1);
    }

    #[test]
    fn drawn_edges_and_the_word_itself_pass() {
        let array = "[package]\nname = \"pumice\"\n[dependencies]\npumice-kernel.workspace = true\npumice-gpu.workspace = true\n";
        assert_eq!(messages("crates/array/Cargo.toml", array), Vec::<String>::new());
        assert_eq!(messages("crates/array/src/x.rs", "use pumice_gpu::Device;\n"), Vec::<String>::new());
        assert_eq!(messages("crates/gpu/src/x.rs", "let pumice = 1; // pumice_kernel::x\n"), Vec::<String>::new());
    }

    #[test]
    fn a_crate_that_is_not_drawn_is_found() {
        assert_eq!(messages("crates/surprise/Cargo.toml", "[package]\n").len(), 1);
    }
}
