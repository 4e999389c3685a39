//! `unsafe` only where it is allowed, and every block says why it is sound.

use super::Finding;
use super::source::{Source, words};
use super::tree::Tree;

/// Where `unsafe` may be, and why there.
const ALLOWED: [(&str, &str); 4] = [
    ("crates/gpu/", "Vulkan is a C interface"),
    ("crates/array/src/cpu/simd.rs", "what the processor has is asked at run time"),
    ("crates/python/src/dlpack.rs", "so is DLPack"),
    ("crates/python/src/export.rs", "so are Python's buffers"),
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust() {
        let allowed = ALLOWED.iter().any(|(folder, _)| file.path.starts_with(folder));
        for (index, code) in source.code.iter().enumerate() {
            for column in words(code, "unsafe") {
                if !allowed {
                    let places = ALLOWED.map(|(folder, why)| format!("{folder} ({why})")).join(", ");
                    findings.push(file.finding(index + 1, format!("unsafe must stay in {places} but is here.")));
                } else if needs_reason(source, index, column) && !has_reason(source, index) {
                    let message = "an unsafe block must be preceded by a // SAFETY: comment but is not.";
                    findings.push(file.finding(index + 1, message.into()));
                }
            }
        }
    }
    findings
}

/// Blocks and implementations promise something; `unsafe fn` only asks for it.
fn needs_reason(source: &Source, index: usize, column: usize) -> bool {
    let rest_of_line = source.code[index][column + "unsafe".len()..].trim();
    let next_line = source.code.get(index + 1).map_or("", |line| line.trim());
    let after = if rest_of_line.is_empty() { next_line } else { rest_of_line };
    after.starts_with('{') || after.starts_with("impl")
}

/// Looks for the comment on the line, within the statement around it, and right above that statement.
fn has_reason(source: &Source, index: usize) -> bool {
    if source.comments[index].contains("SAFETY:") {
        return true;
    }
    let mut in_statement = true;
    for above in (0..index).rev() {
        let (code, comment) = (source.code[above].trim(), source.comments[above].trim());
        if comment.contains("SAFETY:") && code.is_empty() {
            return true;
        }
        let is_attribute = code.starts_with("#[");
        if code.is_empty() && !comment.is_empty() || is_attribute {
            in_statement = false;
        } else if !in_statement || code.is_empty() || code.ends_with([';', '{', '}']) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn unsafe_outside_the_allowed_places_is_found_also_in_tests() {
        let found = messages("crates/array/src/x.rs", "//! X.\n// SAFETY: none.\nlet a = unsafe { f() };\n");
        assert_eq!(
            found,
            ["crates/array/src/x.rs:3: unsafe must stay in crates/gpu/ (Vulkan is a C interface), \
              crates/array/src/cpu/simd.rs (what the processor has is asked at run time), \
              crates/python/src/dlpack.rs (so is DLPack), crates/python/src/export.rs (so are Python's buffers) but is here."]
        );
        assert_eq!(messages("crates/kernel/tests/x.rs", "unsafe { f() }\n").len(), 1);
    }

    #[test]
    fn a_block_without_reason_is_found() {
        let found = messages("crates/gpu/src/x.rs", "fn f() {\n    // quick\n    unsafe { g() }\n}\n");
        assert_eq!(
            found,
            ["crates/gpu/src/x.rs:3: an unsafe block must be preceded by a // SAFETY: comment but is not."]
        );
        assert_eq!(messages("crates/gpu/src/x.rs", "unsafe impl Send for A {}\n").len(), 1);
    }

    #[test]
    fn the_reason_of_one_block_does_not_serve_the_next() {
        let text = "fn f() {\n    // SAFETY: g is sound.\n    unsafe { g() };\n    unsafe { h() };\n}\n";
        assert_eq!(messages("crates/gpu/src/x.rs", text).len(), 1);
    }

    #[test]
    fn a_reason_above_the_statement_or_the_block_is_accepted() {
        let above = "fn f() {\n    // SAFETY: g is sound,\n    // for a long reason.\n    let x = call(\n        unsafe { g() },\n    );\n}\n";
        let inside = "fn f() {\n    let x = loop_of(|i| {\n        // SAFETY: i is in range.\n        unsafe { g(i) }\n    });\n}\n";
        let attribute = "// SAFETY: the pointer is never shared.\n#[cfg(unix)]\nunsafe impl Send for A {}\n";
        for text in [above, inside, attribute] {
            assert_eq!(messages("crates/gpu/src/x.rs", text), Vec::<String>::new());
        }
    }

    #[test]
    fn declarations_and_words_in_texts_need_no_reason() {
        let text = "/// unsafe to call\npub unsafe fn f(callback: unsafe extern \"system\" fn()) {}\nlet s = \"unsafe { }\";\n";
        assert_eq!(messages("crates/gpu/src/x.rs", text), Vec::<String>::new());
    }
}
