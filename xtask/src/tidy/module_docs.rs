//! Every Rust file starts by saying why it exists.

use super::Finding;
use super::tree::Tree;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let has_docs = |text: &str| text.lines().next().is_some_and(|line| line.starts_with("//! "));
    let without = tree.rust().filter(|(file, _)| !has_docs(&file.text));
    let message = "a file must start with //! and say why it exists but does not.";
    without.map(|(file, _)| file.finding(1, message.into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_module_docs_is_found() {
        let tree = Tree::of(&[("a/x.rs", "use std::fmt;\n"), ("a/y.rs", "//! Y.\n"), ("a/z.rs", "")]);
        let found: Vec<String> = check(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(found, ["a/x.rs", "a/z.rs"]);
    }
}
