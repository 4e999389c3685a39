//! Nothing depends on where one machine keeps its checkout or its home.

use super::Finding;
use super::tree::Tree;

/// Folders of particular machines; written in halves, so that this file passes its own rule.
const FOLDERS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        for (index, line) in file.text.lines().enumerate() {
            for folder in FOLDERS.iter().filter(|folder| names_absolute(line, folder)) {
                let message = format!("paths must be relative to the repository but {folder} is named.");
                findings.push(file.finding(index + 1, message));
            }
        }
    }
    findings
}

/// Whether the folder starts a path, and is not in the middle of one.
fn names_absolute(line: &str, folder: &str) -> bool {
    let in_path = |c: char| c.is_alphanumeric() || "._-/}$~*".contains(c);
    line.match_indices(folder).any(|(at, _)| !line[..at].chars().next_back().is_some_and(in_path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_path_of_a_machine_is_found() {
        for folder in FOLDERS {
            let text = format!("cd {folder}main\n");
            let tree = Tree::of(&[("a.sh", &text)]);
            let found: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
            assert_eq!(found, [format!("a.sh:1: paths must be relative to the repository but {folder} is named.")]);
        }
    }

    #[test]
    fn folders_of_that_name_inside_a_path_pass() {
        let text = format!("crates/gpu{}x.rs\n", FOLDERS[0]);
        assert_eq!(check(&Tree::of(&[("a.md", &text)])), Vec::new());
    }
}
