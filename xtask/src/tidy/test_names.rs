//! A test's name is a sentence that says what holds.

use super::Finding;
use super::source::Source;
use super::tree::Tree;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust() {
        for function in source.functions() {
            if is_test(source, function.line) && !is_sentence(&function.name) {
                let name = &function.name;
                let message = format!(
                    "a test must be named as a sentence (weight_must_match_the_last_axis) but is called {name}."
                );
                findings.push(file.finding(function.line, message));
            }
        }
    }
    findings
}

/// Whether the attributes above a function make it a test.
fn is_test(source: &Source, line: usize) -> bool {
    let above = source.code[..line - 1].iter().rev().map(|code| code.trim());
    let mut attributes = above.take_while(|code| code.is_empty() || code.starts_with("#["));
    attributes.any(|code| code.contains("#[test]"))
}

fn is_sentence(name: &str) -> bool {
    let words: Vec<&str> = name.split('_').collect();
    words.len() >= 3 && words[0] != "test"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        check(&Tree::of(&[("a/x.rs", text)])).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_numbered_test_is_found() {
        let expected = "a/x.rs:3: a test must be named as a sentence (weight_must_match_the_last_axis) but is called test_rms_norm_3.";
        assert_eq!(messages("#[test]\n#[ignore = \"slow\"]\nfn test_rms_norm_3() {\n}\n"), [expected]);
        assert_eq!(messages("#[test]\nfn basic() {}\n").len(), 1);
    }

    #[test]
    fn sentences_and_other_functions_pass() {
        let text = "#[test]\nfn a_sum_of_nothing_is_zero() {}\n\nfn test_device() {}\n";
        assert_eq!(messages(text), Vec::<String>::new());
    }
}
