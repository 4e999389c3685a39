//! The repository's files in memory, as the rules see them.

use std::path::Path;
use std::process::Command;

use super::Finding;
use super::source::Source;

/// Every text file git knows or would add, sorted by path.
pub struct Tree {
    files: Vec<File>,
}

/// One text file.
pub struct File {
    /// Its path from the root, with forward slashes.
    pub path: String,
    /// What it holds.
    pub text: String,
    /// The same, taken apart, where it is Rust.
    pub rust: Option<Source>,
    /// Whether it is built only for tests, benchmarks or examples.
    pub is_test: bool,
}

impl Tree {
    /// Reads the work tree at `root`: tracked files and those that are new and not ignored.
    pub fn read(root: &Path) -> Result<Tree, String> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
        let output = git.output().map_err(|error| format!("[tidy] git must be there but: {error}."))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).trim().to_string();
            return Err(format!("[tidy] git must list the repository's files but said: {text}."));
        }
        let paths = String::from_utf8_lossy(&output.stdout).into_owned();
        // Listed but deleted, or not a text: neither is for the rules.
        let read = |path: &str| Some((path.to_string(), std::fs::read_to_string(root.join(path)).ok()?));
        let texts = paths.split('\0').filter(|path| !path.is_empty()).filter_map(read);
        Ok(Tree::new(texts.collect()))
    }

    fn new(mut texts: Vec<(String, String)>) -> Tree {
        texts.sort();
        texts.dedup();
        let mut files: Vec<File> = texts.into_iter().map(|(path, text)| File::new(path, text)).collect();
        let test_files: Vec<String> = files.iter().flat_map(File::test_module_files).collect();
        for file in &mut files {
            file.is_test |= test_files.iter().any(|prefix| file.path.starts_with(prefix));
        }
        Tree { files }
    }

    /// A tree of the given paths and texts.
    #[cfg(test)]
    pub fn of(texts: &[(&str, &str)]) -> Tree {
        Tree::new(texts.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect())
    }

    /// All files.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The Rust files, taken apart.
    pub fn rust(&self) -> impl Iterator<Item = (&File, &Source)> {
        self.files.iter().filter_map(|file| Some((file, file.rust.as_ref()?)))
    }

    /// The manifests of the workspace's crates, with the crates' folders.
    pub fn manifests(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().filter_map(|file| Some((file.path.strip_suffix("/Cargo.toml")?, file)))
    }
}

impl File {
    fn new(path: String, text: String) -> File {
        let rust = path.ends_with(".rs").then(|| Source::parse(&text));
        let is_test_folder = |part: &str| ["tests", "benches", "examples"].contains(&part);
        let is_test = path.ends_with("/tests.rs") || path.split('/').any(is_test_folder);
        File { path, text, rust, is_test }
    }

    /// A finding in this file.
    pub fn finding(&self, line: usize, message: String) -> Finding {
        Finding { path: self.path.clone(), line, message }
    }

    /// The folder of the crate the file belongs to: `crates/NAME` or a top-level folder.
    pub fn crate_folder(&self) -> &str {
        let parts = if self.path.starts_with("crates/") { 2 } else { 1 };
        let end = self.path.match_indices('/').nth(parts - 1).map_or(self.path.len(), |(at, _)| at);
        &self.path[..end]
    }

    /// Path prefixes of the files behind `#[cfg(test)] mod name;` declarations.
    fn test_module_files(&self) -> Vec<String> {
        let Some(source) = &self.rust else {
            return Vec::new();
        };
        let (folder, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let stem = name.trim_end_matches(".rs");
        let owner = match stem {
            "mod" | "lib" | "main" => folder.to_string(),
            _ => format!("{folder}/{stem}"),
        };
        let prefixes = source.test_modules.iter();
        prefixes.flat_map(|name| [format!("{owner}/{name}.rs"), format!("{owner}/{name}/")]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_declared_for_tests_only_is_a_test_file() {
        let tree = Tree::of(&[
            ("crates/a/src/emit.rs", "//! A.\n#[cfg(test)]\nmod golden;\n"),
            ("crates/a/src/emit/golden.rs", "//! B.\n"),
            ("crates/a/src/other.rs", "//! C.\n"),
        ]);
        let tests: Vec<&str> = tree.files().iter().filter(|file| file.is_test).map(|file| &*file.path).collect();
        assert_eq!(tests, ["crates/a/src/emit/golden.rs"]);
    }

    #[test]
    fn integration_tests_and_benches_are_test_files() {
        let tree = Tree::of(&[("crates/a/tests/x.rs", ""), ("crates/a/src/eval/tests.rs", "")]);
        assert!(tree.files().iter().all(|file| file.is_test));
    }

    #[test]
    fn the_crate_folder_is_found_from_any_file() {
        let tree = Tree::of(&[("crates/a/src/x/y.rs", ""), ("xtask/src/main.rs", "")]);
        let folders: Vec<&str> = tree.files().iter().map(File::crate_folder).collect();
        assert_eq!(folders, ["crates/a", "xtask"]);
    }
}
