//! Files and functions stay small enough to read in one go; exceptions are named, with a reason.

use super::Finding;
use super::tree::{File, Tree};

const FILE_LIMIT: usize = 800;
const FILE_LOOK: usize = 600;
const FUNCTION_LIMIT: usize = 100;
const FUNCTION_LOOK: usize = 60;

/// Files that may be longer, and why.
const LONG_FILES: [(&str, &str); 0] = [];

/// Functions that may be longer (file, name), and why.
const LONG_FUNCTIONS: [((&str, &str), &str); 0] = [];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let long_files: Vec<&str> = LONG_FILES.iter().map(|(path, _)| *path).collect();
    let long_functions: Vec<(&str, &str)> = LONG_FUNCTIONS.iter().map(|(function, _)| *function).collect();
    check_with(tree, &long_files, &long_functions)
}

/// One sentence about the sizes: what is there, and what is worth a hard look.
pub fn summary(tree: &Tree) -> String {
    let (mut files, mut lines, mut long_files, mut long_functions) = (0, 0, 0, 0);
    for (file, source) in tree.rust() {
        files += 1;
        lines += line_count(file);
        long_files += usize::from(line_count(file) > FILE_LOOK);
        long_functions += source.functions().iter().filter(|f| f.length > FUNCTION_LOOK).count();
    }
    format!(
        "{lines} lines in {files} Rust files; worth a hard look: {long_files} files over {FILE_LOOK} lines, \
         {long_functions} functions over {FUNCTION_LOOK}"
    )
}

fn check_with(tree: &Tree, long_files: &[&str], long_functions: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust() {
        let excepted = long_files.contains(&&*file.path);
        findings.extend(judge(file, 1, "the file", line_count(file), FILE_LIMIT, excepted));
        for function in source.functions() {
            let excepted = long_functions.contains(&(&*file.path, &*function.name));
            let what = format!("fn {}", function.name);
            findings.extend(judge(file, function.line, &what, function.length, FUNCTION_LIMIT, excepted));
        }
    }
    findings
}

fn judge(file: &File, line: usize, what: &str, length: usize, limit: usize, excepted: bool) -> Option<Finding> {
    if length > limit && !excepted {
        let message = format!("{what} must have at most {limit} lines but has {length}.");
        return Some(file.finding(line, message));
    }
    if length <= limit && excepted {
        let message = format!("{what} has only {length} lines: strike it from the exceptions.");
        return Some(file.finding(line, message));
    }
    None
}

fn line_count(file: &File) -> usize {
    file.text.lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
    }

    fn messages(text: &str, long_files: &[&str], long_functions: &[(&str, &str)]) -> Vec<String> {
        let tree = Tree::of(&[("a/x.rs", text)]);
        check_with(&tree, long_files, long_functions).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_long_file_is_found_unless_it_is_excepted() {
        let text = "// x\n".repeat(801);
        assert_eq!(messages(&text, &[], &[]), ["a/x.rs:1: the file must have at most 800 lines but has 801."]);
        assert_eq!(messages(&text, &["a/x.rs"], &[]), Vec::<String>::new());
    }

    #[test]
    fn a_long_function_is_found_unless_it_is_excepted() {
        let text = function_of(101);
        assert_eq!(messages(&text, &[], &[]), ["a/x.rs:1: fn long must have at most 100 lines but has 101."]);
        assert_eq!(messages(&text, &[], &[("a/x.rs", "long")]), Vec::<String>::new());
    }

    #[test]
    fn an_exception_that_is_not_needed_any_more_is_found() {
        let found = messages(&function_of(100), &["a/x.rs"], &[("a/x.rs", "long")]);
        assert_eq!(found.len(), 2);
        assert!(found[0].ends_with("strike it from the exceptions."), "{}", found[0]);
    }

    #[test]
    fn the_summary_counts_what_is_worth_a_look() {
        let tree = Tree::of(&[("a/x.rs", &function_of(61)), ("a/y.rs", &"// y\n".repeat(601))]);
        let expected = "662 lines in 2 Rust files; worth a hard look: 1 files over 600 lines, 1 functions over 60";
        assert_eq!(summary(&tree), expected);
    }
}
