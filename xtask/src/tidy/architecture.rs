//! ARCHITECTURE.md names every crate: the map is never older than the land.

use super::Finding;
use super::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let map = tree.files().iter().find(|file| file.path == MAP);
    let text = map.map_or("", |file| &file.text);
    let mut findings = Vec::new();
    for (folder, manifest) in tree.manifests().filter(|(folder, _)| !text.contains(folder)) {
        findings.push(manifest.finding(1, format!("{MAP} must name every crate but does not name {folder}.")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_the_map_does_not_name_is_found() {
        let tree = Tree::of(&[
            ("ARCHITECTURE.md", "crates/a holds the arrays.\n"),
            ("crates/a/Cargo.toml", ""),
            ("crates/b/Cargo.toml", ""),
        ]);
        let found: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
        assert_eq!(found, ["crates/b/Cargo.toml:1: ARCHITECTURE.md must name every crate but does not name crates/b."]);
    }

    #[test]
    fn without_a_map_every_crate_is_found() {
        assert_eq!(check(&Tree::of(&[("xtask/Cargo.toml", "")])).len(), 1);
    }
}
