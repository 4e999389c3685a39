//! Reads the machine's own apt sources, so that another suite can be derived from them and no host is named here.
//!
//! Both formats apt knows are read: deb822 stanzas (`*.sources`) and one-line entries (`*.list`).

use std::path::Path;

/// One archive a machine gets packages from, in one suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where the archive is.
    pub uri: String,
    /// The suite, such as `bookworm` or `bookworm-updates`.
    pub suite: String,
    /// The components, such as `main`.
    pub components: Vec<String>,
    /// The keyring (a path) the archive is signed by, where the entry names one.
    pub signed_by: Option<String>,
}

/// All sources configured under an apt folder such as `/etc/apt`.
pub fn configured(apt: &Path) -> Vec<Source> {
    let mut files = vec![apt.join("sources.list")];
    if let Ok(folder) = std::fs::read_dir(apt.join("sources.list.d")) {
        files.extend(folder.flatten().map(|entry| entry.path()));
    }
    files.sort();
    let mut sources = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("sources") => sources.extend(parse_deb822(&text)),
            Some("list") => sources.extend(parse_one_line(&text)),
            _ => {}
        }
    }
    sources
}

/// The text of a deb822 file that adds a suite, from the archive that has the main suite of `codename`;
/// `None` when no configured source has that suite.
pub fn entry(sources: &[Source], codename: &str, suite: &str) -> Option<String> {
    let main = sources.iter().find(|source| source.suite == codename)?;
    let Source { uri, components, signed_by, .. } = main;
    let components = components.join(" ");
    let mut text = String::from("# Written by `cargo xtask setup`.\nTypes: deb\n");
    text.push_str(&format!("URIs: {uri}\nSuites: {suite}\nComponents: {components}\n"));
    if let Some(keyring) = signed_by {
        text.push_str(&format!("Signed-By: {keyring}\n"));
    }
    Some(text)
}

/// The sources of a deb822 file: stanzas of `Field: values`, separated by empty lines.
pub fn parse_deb822(text: &str) -> Vec<Source> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.split(|line| line.trim().is_empty()).flat_map(parse_stanza).collect()
}

fn parse_stanza(lines: &[&str]) -> Vec<Source> {
    let values = |name: &str| -> Vec<String> { field(lines, name).split_whitespace().map(String::from).collect() };
    if field(lines, "Enabled").trim().eq_ignore_ascii_case("no") || !values("Types").iter().any(|kind| kind == "deb") {
        return Vec::new();
    }
    // A keyring may be embedded as a block of text; only a path can be written on one line again.
    let signed_by = Some(field(lines, "Signed-By").trim().to_string()).filter(|value| value.starts_with('/'));
    let mut sources = Vec::new();
    for uri in values("URIs") {
        for suite in values("Suites") {
            let (uri, components) = (uri.clone(), values("Components"));
            sources.push(Source { uri, suite, components, signed_by: signed_by.clone() });
        }
    }
    sources
}

/// A field's text, with its continuation lines (those that start with a blank), or nothing.
fn field(lines: &[&str], name: &str) -> String {
    let is_start = |line: &&str| line.split_once(':').is_some_and(|(key, _)| key.eq_ignore_ascii_case(name));
    let Some(start) = lines.iter().position(is_start) else {
        return String::new();
    };
    let mut text = lines[start].split_once(':').map_or("", |(_, value)| value).to_string();
    for line in lines[start + 1..].iter().take_while(|line| line.starts_with([' ', '\t'])) {
        text.push('\n');
        text.push_str(line);
    }
    text
}

/// The sources of a one-line file: `deb [options] uri suite components…`.
pub fn parse_one_line(text: &str) -> Vec<Source> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Source> {
    let entry = line.split('#').next().unwrap_or("").trim();
    let rest = entry.strip_prefix("deb")?;
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let (options, rest) = match rest.trim_start().strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?,
        None => ("", rest),
    };
    let signed_by = options.split_whitespace().find_map(|option| option.strip_prefix("signed-by="));
    let mut words = rest.split_whitespace().map(String::from);
    Some(Source {
        uri: words.next()?,
        suite: words.next()?,
        components: words.collect(),
        signed_by: signed_by.map(String::from),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEB822: &str = "\
Types: deb
# a snapshot of the day
URIs: http://archive.example.org/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/example.gpg

Types: deb
URIs: http://archive.example.org/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/example.gpg
";

    fn source(uri: &str, suite: &str, components: &[&str], signed_by: Option<&str>) -> Source {
        Source {
            uri: uri.into(),
            suite: suite.into(),
            components: components.iter().map(|name| name.to_string()).collect(),
            signed_by: signed_by.map(String::from),
        }
    }

    #[test]
    fn a_deb822_stanza_gives_one_source_per_suite() {
        let keyring = Some("/usr/share/keyrings/example.gpg");
        let archive = "http://archive.example.org/debian";
        let security = "http://archive.example.org/debian-security";
        let expected = vec![
            source(archive, "bookworm", &["main"], keyring),
            source(archive, "bookworm-updates", &["main"], keyring),
            source(security, "bookworm-security", &["main"], keyring),
        ];
        assert_eq!(parse_deb822(DEB822), expected);
    }

    #[test]
    fn disabled_and_source_only_stanzas_are_left_out() {
        let disabled = "Enabled: no\nTypes: deb\nURIs: http://example.org\nSuites: bookworm\nComponents: main\n";
        let source_only = "Types: deb-src\nURIs: http://example.org\nSuites: bookworm\nComponents: main\n";
        assert_eq!(parse_deb822(disabled), Vec::new());
        assert_eq!(parse_deb822(source_only), Vec::new());
    }

    #[test]
    fn values_may_continue_on_the_next_line() {
        let text = "Types: deb\nURIs: http://example.org/debian\nSuites: trixie\n trixie-updates\nComponents: main\n";
        let suites: Vec<String> = parse_deb822(text).into_iter().map(|source| source.suite).collect();
        assert_eq!(suites, ["trixie", "trixie-updates"]);
    }

    #[test]
    fn an_embedded_keyring_is_not_taken_for_a_path() {
        let text =
            "Types: deb\nURIs: http://example.org\nSuites: trixie\nComponents: main\nSigned-By:\n -----BEGIN\n .\n";
        assert_eq!(parse_deb822(text)[0].signed_by, None);
    }

    #[test]
    fn one_line_entries_are_read_with_and_without_options() {
        let text = "\
# deb http://example.org/old bullseye main
deb http://example.org/debian bookworm main contrib # the archive
deb [arch=amd64 signed-by=/etc/keys/a.gpg] http://example.org/extra bookworm-updates main
deb-src http://example.org/debian bookworm main
";
        let expected = vec![
            source("http://example.org/debian", "bookworm", &["main", "contrib"], None),
            source("http://example.org/extra", "bookworm-updates", &["main"], Some("/etc/keys/a.gpg")),
        ];
        assert_eq!(parse_one_line(text), expected);
    }

    #[test]
    fn an_entry_comes_from_the_source_of_the_main_suite() {
        let entry = entry(&parse_deb822(DEB822), "bookworm", "bookworm-backports").expect("the main suite is there");
        let keyring = Some("/usr/share/keyrings/example.gpg");
        let expected = source("http://archive.example.org/debian", "bookworm-backports", &["main"], keyring);
        assert_eq!(parse_deb822(&entry), vec![expected]);
    }

    #[test]
    fn without_the_main_suite_there_is_no_entry() {
        assert_eq!(entry(&parse_deb822(DEB822), "trixie", "trixie-backports"), None);
    }
}
