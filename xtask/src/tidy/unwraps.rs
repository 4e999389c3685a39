//! A broken invariant panics with its reason: `.expect("…")`, not `.unwrap()`, outside tests.

use super::Finding;
use super::tree::Tree;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust().filter(|(file, _)| !file.is_test) {
        for (line, _) in source.shipped_code().filter(|(_, code)| code.contains(".unwrap()")) {
            let message = "a panic must say which invariant broke: .expect(\"why it holds\") but .unwrap() was found.";
            findings.push(file.finding(line, message.into()));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwrap_outside_tests_is_found() {
        let text = "//! X.\nfn f() { g().unwrap(); }\n#[cfg(test)]\nmod tests {\n    fn h() { g().unwrap(); }\n}\n";
        let tree = Tree::of(&[("a/x.rs", text), ("a/tests/y.rs", "fn f() { g().unwrap(); }\n")]);
        let found: Vec<(String, usize)> = check(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        assert_eq!(found, [("a/x.rs".to_string(), 2)]);
    }

    #[test]
    fn examples_in_documentation_and_relatives_pass() {
        let tree = Tree::of(&[("a/x.rs", "//! X.\n/// `f().unwrap()`\nfn f() { g().unwrap_or(1); }\n")]);
        assert_eq!(check(&tree), Vec::new());
    }
}
