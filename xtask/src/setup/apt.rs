//! Drives apt: lists, candidates, the backports source, installation. All that changes the machine itself is in this file.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::sources;
use crate::command::run_quietly;

const APT_FOLDER: &str = "/etc/apt";
const BACKPORTS_FILE: &str = "/etc/apt/sources.list.d/pumice-backports.sources";

/// The right to install packages, as root or through sudo.
pub struct Apt {
    sudo: bool,
}

impl Apt {
    /// Finds out how packages can be installed, or says that they cannot.
    pub fn new() -> Result<Apt, String> {
        if output_of("id", &["-u"]).is_some_and(|uid| uid.trim() == "0") {
            return Ok(Apt { sudo: false });
        }
        if output_of("sudo", &["-n", "true"]).is_some() {
            return Ok(Apt { sudo: true });
        }
        Err("[setup] installing needs root, or sudo without a password, but neither is there.".into())
    }

    /// Fetches the package lists.
    pub fn update(&self) -> Result<(), String> {
        run_quietly("fetching package lists", self.apt_get(&["update"]))
    }

    /// The version apt would install now, `None` when it knows no such package.
    pub fn candidate(&self, package: &str) -> Option<String> {
        parse_candidate(&output_of("apt-cache", &["policy", package])?)
    }

    /// Makes the backports suite of this release known to apt and returns its name.
    pub fn add_backports(&self) -> Result<String, String> {
        let codename = codename()?;
        let suite = format!("{codename}-backports");
        let known = sources::configured(Path::new(APT_FOLDER));
        if !known.iter().any(|source| source.suite == suite) {
            let entry = entry(&suite)?;
            println!("setup: adding {suite} to apt's sources ({BACKPORTS_FILE}).");
            self.write(BACKPORTS_FILE, &entry)?;
            self.update()?;
        }
        Ok(suite)
    }

    /// Installs packages, the newest the suite or else the machine's own release has.
    pub fn install(&self, packages: &[&str], suite: Option<&str>) -> Result<(), String> {
        let mut arguments = vec!["install", "-y", "--no-install-recommends"];
        if let Some(suite) = suite {
            arguments.extend(["-t", suite]);
        }
        arguments.extend(packages);
        run_quietly(&format!("installing {}", packages.join(", ")), self.apt_get(&arguments))
    }

    fn apt_get(&self, arguments: &[&str]) -> Command {
        let mut command = self.privileged("env");
        // Another apt may be at work on a fresh machine: wait for it instead of failing.
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=300"]);
        command.args(["-o", "Acquire::Retries=3"]).args(arguments);
        command
    }

    fn privileged(&self, program: &str) -> Command {
        if !self.sudo {
            return Command::new(program);
        }
        let mut command = Command::new("sudo");
        command.args(["-n", program]);
        command
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("[setup] {path} must be writable but: {error}.");
        let mut tee = self.privileged("tee");
        let mut child = tee.arg(path).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().map_err(failed)?;
        child.stdin.take().expect("stdin is piped").write_all(text.as_bytes()).map_err(failed)?;
        let status = child.wait().map_err(failed)?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("[setup] {path} must be writable but tee ended with {status}."))
        }
    }
}

/// The text of a source for another suite of the archive this machine uses.
pub fn entry(suite: &str) -> Result<String, String> {
    let (codename, known) = (codename()?, sources::configured(Path::new(APT_FOLDER)));
    sources::entry(&known, &codename, suite)
        .ok_or_else(|| format!("[setup] apt's sources must have the suite {codename} but do not."))
}

/// What this release is called, such as `bookworm`.
fn codename() -> Result<String, String> {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let missing = "[setup] /etc/os-release must name the release (VERSION_CODENAME) but does not.";
    parse_codename(&release).ok_or_else(|| missing.to_string())
}

/// What a program prints, `None` when it cannot be run or fails.
pub fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn parse_candidate(policy: &str) -> Option<String> {
    let version = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate:"))?.trim();
    (version != "(none)").then(|| version.to_string())
}

fn parse_codename(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    let codename = value.trim().trim_matches('"');
    (!codename.is_empty()).then(|| codename.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_candidate_is_read_from_the_policy() {
        let policy = "mesa-vulkan-drivers:\n  Installed: (none)\n  Candidate: 22.3.6-1+deb12u1\n  Version table:\n";
        assert_eq!(parse_candidate(policy).as_deref(), Some("22.3.6-1+deb12u1"));
    }

    #[test]
    fn a_package_without_candidate_has_no_version() {
        assert_eq!(parse_candidate("x:\n  Installed: (none)\n  Candidate: (none)\n"), None);
        assert_eq!(parse_candidate(""), None);
    }

    #[test]
    fn the_codename_is_read_with_or_without_quotes() {
        assert_eq!(parse_codename("ID=debian\nVERSION_CODENAME=bookworm\n").as_deref(), Some("bookworm"));
        assert_eq!(parse_codename("VERSION_CODENAME=\"noble\"\n").as_deref(), Some("noble"));
        assert_eq!(parse_codename("VERSION_CODENAME=\n"), None);
    }
}
