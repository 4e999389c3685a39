//! A spirv-val that knows cooperative matrices and bf16, where the distribution's own does not.
//!
//! Debian's testing suite has one, built against a newer C library. Its packages are unpacked under
//! `target/tools`, with the libraries they need and a script that starts them on those: nothing of
//! the machine changes, and no rights are needed.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::{self, output_of};
use super::packages::has_program;
use crate::command::{run as run_loudly, run_quietly};
use crate::workspace::target;

/// The oldest release that knows every capability we emit (bf16 came last).
const OLDEST: (u32, u32) = (2025, 2);

/// The suite with new tools, and the packages to unpack from it: the tools and all they link to.
const SUITE: &str = "testing";
const PACKAGES: [&str; 4] = ["spirv-tools", "libc6", "libstdc++6", "libgcc-s1"];

/// The tools that get a script.
const TOOLS: [&str; 4] = ["spirv-val", "spirv-as", "spirv-dis", "spirv-opt"];

/// Makes sure that a new enough spirv-val is on the path or under `target/tools`.
pub fn run() -> Result<(), String> {
    if let Some(release) = release_of(Path::new("spirv-val")).filter(|release| *release >= OLDEST) {
        println!("setup: spirv-val {}.{}.", release.0, release.1);
        return Ok(());
    }
    let tools = tools();
    if let Some(release) = release_of(&tools.join("bin/spirv-val")) {
        println!("setup: spirv-val {}.{} ({}).", release.0, release.1, tools.display());
        return Ok(());
    }
    if !has_program("apt-get") || !has_program("dpkg-deb") {
        let (year, number) = OLDEST;
        return Err(format!("[setup] spirv-val must be {year}.{number} or newer to know bf16 but is not."));
    }
    fetch(&tools)
}

/// The search path with the newer tools first, where they were fetched.
pub fn path_with_newer() -> Option<OsString> {
    let folder = tools().join("bin");
    if !folder.join("spirv-val").is_file() {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).ok()
}

fn tools() -> PathBuf {
    target().join("tools/spirv-tools")
}

/// The release (year, number) a spirv-val says it is; `None` where it cannot be run.
fn release_of(program: &Path) -> Option<(u32, u32)> {
    parse_release(&output_of(program.to_str()?, &["--version"])?)
}

/// Reads a line such as `SPIRV-Tools v2025.1 unknown hash, …`.
fn parse_release(version: &str) -> Option<(u32, u32)> {
    let release = version.split_whitespace().find_map(|word| word.strip_prefix('v'))?;
    let (year, rest) = release.split_once('.')?;
    let number = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((year.parse().ok()?, number.parse().ok()?))
}

/// Downloads and unpacks beside the final place, tries the result, then moves it there: an
/// interrupted run leaves nothing that looks finished.
fn fetch(tools: &Path) -> Result<(), String> {
    let scratch = tools.with_file_name(format!("fetch-{}", std::process::id()));
    let fetched = download(&scratch).and_then(|()| unpack(&scratch));
    let moved = fetched.and_then(|release| {
        // Whatever is there did not run, or this function would not have been called.
        let _ = fs::remove_dir_all(tools);
        fs::rename(scratch.join("tools"), tools).map_err(|error| failed(tools, &error))?;
        Ok(release)
    });
    // What cannot be removed lies under target and does no harm.
    let _ = fs::remove_dir_all(&scratch);
    let release = moved?;
    println!("setup: unpacked spirv-val {}.{} ({}).", release.0, release.1, tools.display());
    Ok(())
}

fn download(scratch: &Path) -> Result<(), String> {
    for folder in ["sources", "lists/partial", "cache/archives/partial", "packages"] {
        let folder = scratch.join(folder);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    }
    let source = scratch.join("sources/newer.sources");
    fs::write(&source, apt::entry(SUITE)?).map_err(|error| failed(&source, &error))?;
    run_quietly("fetching the list of newer tools", private_apt(scratch, &["update"]))?;
    let mut download = private_apt(scratch, &["download"]);
    download.args(PACKAGES).current_dir(scratch.join("packages"));
    run_quietly("fetching newer spirv-tools", download)
}

/// An apt-get that keeps its sources and lists in a folder of ours and leaves the machine's alone.
fn private_apt(scratch: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    let folders = [("Etc::sourceparts", "sources"), ("State::lists", "lists"), ("Cache", "cache")];
    for (option, folder) in folders {
        command.arg("-o").arg(format!("Dir::{option}={}", scratch.join(folder).display()));
    }
    let quick = ["Acquire::Languages=none", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false"];
    // Files in our folder cannot be read by apt's own user, which it would try to become as root.
    for option in ["Dir::Etc::sourcelist=/dev/null", "APT::Sandbox::User=root"].iter().chain(&quick) {
        command.args(["-o", option]);
    }
    command.args(arguments);
    command
}

/// Unpacks the packages into `tools`, writes the scripts, and returns the release of the new spirv-val.
fn unpack(scratch: &Path) -> Result<(u32, u32), String> {
    let (tools, packages) = (scratch.join("tools"), scratch.join("packages"));
    let root = tools.join("root");
    fs::create_dir_all(&root).map_err(|error| failed(&root, &error))?;
    for package in entries(&packages)? {
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("-x").arg(&package).arg(&root);
        run_loudly(unpack)?;
    }
    let loader = find_loader(&root)?;
    let script = script(&loader);
    fs::create_dir_all(tools.join("bin")).map_err(|error| failed(&tools, &error))?;
    for tool in TOOLS {
        let path = tools.join("bin").join(tool);
        fs::write(&path, &script).map_err(|error| failed(&path, &error))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(|error| failed(&path, &error))?;
    }
    release_of(&tools.join("bin/spirv-val"))
        .ok_or_else(|| "[setup] the newer spirv-val must run here but does not.".to_string())
}

/// The dynamic loader among the unpacked libraries, relative to their root.
fn find_loader(root: &Path) -> Result<PathBuf, String> {
    for folder in entries(&root.join("usr/lib"))?.into_iter().filter(|path| path.is_dir()) {
        let loader = entries(&folder)?.into_iter().find(|file| file_name(file).starts_with("ld-linux"));
        if let Some(loader) = loader {
            return Ok(loader.strip_prefix(root).expect("found below root").to_path_buf());
        }
    }
    Err("[setup] libc6 must bring a dynamic loader but has none.".into())
}

/// A script that starts the tool of its own name on the unpacked loader and libraries.
fn script(loader: &Path) -> String {
    let libraries = loader.parent().unwrap_or(Path::new("")).display();
    let loader = loader.display();
    format!(
        "#!/bin/sh\n# Written by `cargo xtask setup`.\nroot=\"${{0%/*}}/../root\"\n\
         exec \"$root/{loader}\" --library-path \"$root/{libraries}\" \"$root/usr/bin/${{0##*/}}\" \"$@\"\n"
    )
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let listing = fs::read_dir(folder).map_err(|error| failed(folder, &error))?;
    let mut paths: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("[setup] {} must be usable but: {error}.", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_read_from_what_the_tool_says() {
        assert_eq!(parse_release("SPIRV-Tools v2023.1 unknown hash, 2023-01-17\nTargets:\n"), Some((2023, 1)));
        assert_eq!(parse_release("SPIRV-Tools v2026.4-rc2 v2026.4~rc2-1\n"), Some((2026, 4)));
        assert_eq!(parse_release("no such thing"), None);
    }

    #[test]
    fn the_script_starts_the_tool_of_its_own_name_on_the_loader() {
        let script = script(Path::new("usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"));
        let expected = "exec \"$root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2\" \
                        --library-path \"$root/usr/lib/x86_64-linux-gnu\" \"$root/usr/bin/${0##*/}\" \"$@\"";
        assert_eq!(script.lines().last(), Some(expected));
    }

    #[test]
    fn a_private_apt_uses_none_of_the_machines_lists() {
        let line = crate::command::line(&private_apt(Path::new("/scratch"), &["update"]));
        for option in ["Dir::Etc::sourceparts=/scratch/sources", "Dir::State::lists=/scratch/lists"] {
            assert!(line.contains(option), "{line}");
        }
        assert!(line.ends_with(" update"), "{line}");
    }
}
