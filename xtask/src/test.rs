//! `cargo xtask test`: what the tests need, then every test, then one line that says how it went.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

use crate::arguments::Tests;
use crate::setup::{packages, spirv_tools};
use crate::workspace::{cargo, target};

/// How many tests ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that were not run: slow ones, without `--slow`.
    pub ignored: usize,
}

/// Builds and runs the workspace's tests, their output passed through, and counts them.
pub fn run(tests: &Tests, counts: &mut Counts) -> Result<(), String> {
    let mut command = command(tests);
    if !std::io::stderr().is_terminal() {
        command.stderr(Stdio::piped());
    }
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("[test] cargo must be there to run but: {error}."))?;
    let deaths = watch_for_deaths(&mut child);
    let mut failures = Vec::new();
    lines(child.stdout.take().expect("stdout is piped"), |line| {
        println!("{line}");
        counts.add(line);
        failures.extend(failed_test(line));
    });
    let status = child.wait().map_err(|error| format!("[test] cargo must end but: {error}."))?;
    failures.extend(deaths.and_then(|deaths| deaths.join().ok()).unwrap_or_default());
    match (status.success(), counts.passed) {
        (false, _) => Err(format!(
            "[test] every test must pass but {} failed ({status}).\n{}",
            counts.failed,
            failures.join("\n")
        )),
        (true, 0) => Err("[test] at least one test must run but none did.".into()),
        (true, _) => Ok(()),
    }
}

/// Passes cargo's messages through where they are piped; gives the lines that say how a test program died.
fn watch_for_deaths(child: &mut Child) -> Option<JoinHandle<Vec<String>>> {
    let messages = child.stderr.take()?;
    Some(thread::spawn(move || {
        let mut deaths = Vec::new();
        lines(messages, |line| {
            eprintln!("{line}");
            if line.contains("process didn't exit successfully") && line.contains("signal") {
                deaths.push(line.trim().to_string());
            }
        });
        deaths
    }))
}

/// Hands on every line until the stream ends.
fn lines(from: impl Read, mut each: impl FnMut(&str)) {
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        each(&String::from_utf8_lossy(&line));
    }
}

/// The name of the test that a line of libtest's output says has failed.
fn failed_test(line: &str) -> Option<String> {
    line.trim().strip_prefix("test ")?.strip_suffix(" ... FAILED").map(str::to_string)
}

fn command(tests: &Tests) -> Command {
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast", "--"]);
    if std::io::stdout().is_terminal() {
        command.arg("--color=always");
    }
    if tests.slow {
        command.arg("--include-ignored").env("PUMICE_SLOW", "1");
    }
    if !tests.no_vulkan {
        command.env("PUMICE_REQUIRE_VULKAN", "1");
    }
    if packages::has_validation_layers() {
        command.env("PUMICE_VALIDATION", "1");
    }
    // lavapipe compiles at the first dispatch, 16 to 700 ms a kernel: keep what it made for the next run.
    // And a wait lasts as long: where other work keeps the processors busy, longer than a device should need.
    if std::env::var_os("PUMICE_TIMEOUT_MS").is_none() {
        command.env("PUMICE_TIMEOUT_MS", "300000");
    }
    command.env("MESA_SHADER_CACHE_DIR", target().join("mesa-cache"));
    command.env("PUMICE_CACHE_DIR", target().join("pumice-cache"));
    if let Some(path) = spirv_tools::path_with_newer() {
        command.env("PATH", path);
    }
    command.args(&tests.filters);
    command
}

impl Counts {
    /// Adds what a line of libtest's output says, if it is the closing line of a test binary.
    fn add(&mut self, line: &str) {
        let Some(result) = line.trim().strip_prefix("test result: ") else {
            return;
        };
        for part in result.split([';', '.']) {
            let words: Vec<&str> = part.split_whitespace().collect();
            let [count, outcome] = words[..] else {
                continue;
            };
            let Ok(count) = count.parse::<usize>() else {
                continue;
            };
            match outcome {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" => self.ignored += count,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(command: &Command, name: &str) -> Option<String> {
        let (_, value) = command.get_envs().find(|(key, _)| *key == name)?;
        value.map(|value| value.to_string_lossy().into_owned())
    }

    fn arguments(command: &Command) -> Vec<String> {
        command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn closing_lines_of_test_binaries_are_added_up() {
        let mut counts = Counts::default();
        counts.add("test result: ok. 20 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.00s");
        counts.add("test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.5s");
        counts.add("test emit::tests::a_sum ... ok");
        assert_eq!(counts, Counts { passed: 24, failed: 2, ignored: 1 });
    }

    #[test]
    fn failed_tests_are_named() {
        assert_eq!(failed_test("test emit::tests::a_sum ... FAILED").as_deref(), Some("emit::tests::a_sum"));
        assert_eq!(failed_test("test emit::tests::a_sum ... ok"), None);
        assert_eq!(failed_test("test result: FAILED. 4 passed; 2 failed; 0 ignored"), None);
    }

    #[test]
    fn the_signal_that_ended_a_test_program_is_kept() {
        let mut command = Command::new("sh");
        let message = "  process didn't exit successfully: `x` (signal: 11, SIGSEGV)";
        command.args(["-c", "echo building >&2; echo \"$0\" >&2", message]).stderr(Stdio::piped());
        let mut child = command.spawn().expect("a shell is there");
        let deaths = watch_for_deaths(&mut child).expect("stderr is piped").join().expect("the watcher ends");
        child.wait().expect("the shell ends");
        assert_eq!(deaths, [message.trim()]);
    }

    #[test]
    fn a_vulkan_device_is_required_unless_declined() {
        assert_eq!(variable(&command(&Tests::default()), "PUMICE_REQUIRE_VULKAN").as_deref(), Some("1"));
        let declined = Tests { no_vulkan: true, ..Tests::default() };
        assert_eq!(variable(&command(&declined), "PUMICE_REQUIRE_VULKAN"), None);
    }

    #[test]
    fn slow_tests_run_when_asked_for() {
        let slow = command(&Tests { slow: true, ..Tests::default() });
        assert_eq!(variable(&slow, "PUMICE_SLOW").as_deref(), Some("1"));
        assert!(arguments(&slow).contains(&"--include-ignored".to_string()));
        assert!(!arguments(&command(&Tests::default())).contains(&"--include-ignored".to_string()));
    }

    #[test]
    fn filters_come_last() {
        let tests = Tests { filters: vec!["emit".into(), "hazard".into()], ..Tests::default() };
        assert!(arguments(&command(&tests)).ends_with(&["emit".to_string(), "hazard".to_string()]));
    }
}
