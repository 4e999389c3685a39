//! A module is named after the one thing it holds: no names that could hold anything.

use super::Finding;
use super::source::words;
use super::tree::Tree;

const VAGUE: [&str; 14] = [
    "base",
    "common",
    "helper",
    "helpers",
    "lib2",
    "misc",
    "miscellaneous",
    "new",
    "old",
    "stuff",
    "temp",
    "types2",
    "util",
    "utils",
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust() {
        let path = file.path.trim_end_matches(".rs");
        for name in path.split('/').filter(|part| VAGUE.contains(part)) {
            findings.push(file.finding(1, refusal(name)));
        }
        for (index, code) in source.code.iter().enumerate() {
            // Modules written inline; the others have a file that is looked at above.
            for column in words(code, "mod") {
                let name = code[column + 3..].trim();
                let name = name.strip_suffix('{').map(str::trim).filter(|name| VAGUE.contains(name));
                findings.extend(name.map(|name| file.finding(index + 1, refusal(name))));
            }
        }
    }
    findings
}

fn refusal(name: &str) -> String {
    format!("a module must be named after what it holds but is called {name}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_vague_file_or_folder_is_found() {
        let found = messages("crates/a/src/utils.rs", "//! X.\n");
        assert_eq!(found, ["crates/a/src/utils.rs:1: a module must be named after what it holds but is called utils."]);
        assert_eq!(messages("crates/a/src/common/order.rs", "//! X.\n").len(), 1);
    }

    #[test]
    fn a_vague_inline_module_is_found() {
        let found = messages("crates/a/src/x.rs", "//! X.\npub mod helpers {\n}\n");
        assert_eq!(found, ["crates/a/src/x.rs:2: a module must be named after what it holds but is called helpers."]);
    }

    #[test]
    fn names_that_only_contain_a_vague_word_pass() {
        assert_eq!(messages("crates/a/src/base_address.rs", "mod renewal {\n}\n"), Vec::<String>::new());
    }
}
