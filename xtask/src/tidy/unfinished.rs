//! What is committed is finished: no reminders, no placeholders.

use super::Finding;
use super::source::words;
use super::tree::Tree;

/// Words that mark something as unfinished; written in halves, so that this file passes its own rule.
const REMINDERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Macros that stand in for code.
const PLACEHOLDERS: [&str; 2] = [concat!("to", "do!"), concat!("unimple", "mented!")];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        for (index, line) in file.text.lines().enumerate() {
            for word in REMINDERS.iter().filter(|word| words(line, word).next().is_some()) {
                let message = format!("what is committed must be finished but says {word}: do it, or open an issue.");
                findings.push(file.finding(index + 1, message));
            }
        }
    }
    for (file, source) in tree.rust() {
        for (index, code) in source.code.iter().enumerate() {
            for name in PLACEHOLDERS.iter().filter(|name| code.contains(**name)) {
                findings.push(file.finding(index + 1, format!("code must be written but {name} stands in for it.")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn reminders_are_found_in_any_file() {
        for word in REMINDERS {
            let expected =
                format!("a.md:2: what is committed must be finished but says {word}: do it, or open an issue.");
            assert_eq!(messages("a.md", &format!("# A\n{word}: later\n")), [expected]);
        }
    }

    #[test]
    fn placeholders_are_found_in_code() {
        for name in PLACEHOLDERS {
            let text = format!("//! X.\nfn f() {{ {name}() }}\n");
            assert_eq!(messages("x.rs", &text), [format!("x.rs:2: code must be written but {name} stands in for it.")]);
        }
    }

    #[test]
    fn longer_words_pass() {
        let text = format!("mktemp a{0}{0}\n", REMINDERS[2]);
        assert_eq!(messages("a.md", &text), Vec::<String>::new());
    }
}
