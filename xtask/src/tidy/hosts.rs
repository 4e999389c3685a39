//! No package registry or mirror is named: what is installed comes from what the machine is set up with.

use super::Finding;
use super::tree::Tree;

/// Registry hosts; written in halves, so that this file passes its own rule.
const HOSTS: [&str; 14] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("npm", "js.org"),
    concat!("npm", "js.com"),
    concat!("yarn", "pkg.com"),
    concat!("debian", ".org"),
    concat!("ubuntu", ".com"),
    concat!("docker", ".io"),
    concat!("ghcr", ".io"),
    concat!("quay", ".io"),
    concat!("anaconda", ".org"),
    concat!("ruby", "gems.org"),
    concat!("maven", ".org"),
];

/// Written by cargo, not by us.
const GENERATED: &str = "Cargo.lock";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| file.path != GENERATED) {
        for (index, line) in file.text.lines().enumerate() {
            let line = line.to_ascii_lowercase();
            for host in HOSTS.iter().filter(|host| line.contains(**host)) {
                findings.push(file.finding(index + 1, format!("no registry host may be named but {host} is.")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_registry_is_found_in_any_file() {
        for host in HOSTS {
            let text = format!("a\nfetch https://Mirror.{host}/x\n");
            let tree = Tree::of(&[(".ci/run", &text)]);
            let found: Vec<String> = check(&tree).iter().map(Finding::to_string).collect();
            assert_eq!(found, [format!(".ci/run:2: no registry host may be named but {host} is.")]);
        }
    }

    #[test]
    fn the_lock_file_and_example_hosts_pass() {
        let lock = format!("source = \"registry+https://{}\"\n", HOSTS[0]);
        let tree = Tree::of(&[("Cargo.lock", &lock), ("a.md", "http://example.org/debian\n")]);
        assert_eq!(check(&tree), Vec::new());
    }
}
