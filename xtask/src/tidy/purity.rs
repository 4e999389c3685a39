//! The kernel language is pure: no files, no clock, no processes, no environment, no threads.

use super::Finding;
use super::tree::Tree;

/// Folders that must stay pure.
const PURE: [&str; 1] = ["crates/kernel/src/"];

/// Parts of the standard library that reach outside the program.
const IMPURE: [&str; 7] = ["std::fs", "std::net", "std::process", "std::env", "std::time", "std::thread", "std::io"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust() {
        if file.is_test || !PURE.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
        for (line, code) in source.shipped_code() {
            for path in IMPURE.iter().filter(|path| code.contains(**path)) {
                let message = format!("{} must be pure outside tests but uses {path}.", file.crate_folder());
                findings.push(file.finding(line, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_in_the_kernel_language_is_found() {
        let tree = Tree::of(&[("crates/kernel/src/x.rs", "//! X.\nuse std::time::Instant;\n")]);
        let found: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
        assert_eq!(found, ["crates/kernel/src/x.rs:2: crates/kernel must be pure outside tests but uses std::time."]);
    }

    #[test]
    fn tests_and_other_crates_may_reach_outside() {
        let tree = Tree::of(&[
            ("crates/kernel/src/x.rs", "//! X.\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n"),
            ("crates/kernel/tests/y.rs", "use std::process::Command;\n"),
            ("crates/gpu/src/z.rs", "use std::fs;\n"),
        ]);
        assert_eq!(check(&tree), Vec::new());
    }
}
