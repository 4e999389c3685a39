//! `cargo xtask tidy`: the invariants a program can see, each in a file of its own.
//!
//! A rule is a function from the repository, held in memory, to findings. That makes every rule
//! testable with a planted violation, without files in the tree.

mod architecture;
mod edges;
mod hosts;
mod lints;
mod machine_paths;
mod module_docs;
mod names;
mod purity;
mod sizes;
mod source;
mod test_names;
mod tree;
mod unfinished;
mod unsafe_code;
mod unwraps;

use std::fmt;
use std::path::Path;

use tree::Tree;

/// Something a rule objects to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the root.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// What must hold and what was found.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

type Rule = fn(&Tree) -> Vec<Finding>;

/// Every rule, under the name its findings carry.
const RULES: [(&str, Rule); 13] = [
    ("edges", edges::check),
    ("purity", purity::check),
    ("unsafe", unsafe_code::check),
    ("sizes", sizes::check),
    ("lints", lints::check),
    ("docs", module_docs::check),
    ("names", names::check),
    ("tests", test_names::check),
    ("unfinished", unfinished::check),
    ("unwrap", unwraps::check),
    ("hosts", hosts::check),
    ("paths", machine_paths::check),
    ("architecture", architecture::check),
];

/// Checks the repository at `root`; prints findings and says how many there are.
pub fn run(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root)?;
    let findings = check(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {}.", sizes::summary(&tree));
    match findings.len() {
        0 => Ok(()),
        count => Err(format!("[tidy] the repository must be tidy but has {count} finding(s).")),
    }
}

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, rule) in RULES {
        findings.extend(
            rule(tree)
                .into_iter()
                .map(|finding| Finding { message: format!("[{name}] {}", finding.message), ..finding }),
        );
    }
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_carry_file_line_and_rule() {
        let tree = Tree::of(&[("crates/kernel/src/utils.rs", "//! Doc.\n")]);
        let lines: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
        assert!(lines.iter().any(|line| line.starts_with("crates/kernel/src/utils.rs:1: [names] ")));
    }
}
