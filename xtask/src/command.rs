//! Runs other programs: loudly, with their output passed through, or quietly, with one line that shows the time going by.

use std::io::{IsTerminal, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Runs a command whose output is the user's to read; an error names the command.
pub fn run(mut command: Command) -> Result<(), String> {
    let status = command.status().map_err(|error| cannot_start(&command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("[xtask] {} must succeed but ended with {status}.", line(&command)))
    }
}

/// Runs a command whose output matters only when it fails; shows `what` and the seconds meanwhile.
pub fn run_quietly(what: &str, mut command: Command) -> Result<(), String> {
    let started = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| cannot_start(&command, &error))?;
    let output = collect(&mut child);
    let interactive = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
    if !interactive {
        eprintln!("setup: {what} …");
    }
    let text = loop {
        match output.recv_timeout(Duration::from_millis(200)) {
            Ok(text) => break text,
            Err(_) if interactive => show(what, started),
            Err(_) => {}
        }
    };
    if interactive {
        eprint!("\r\x1b[K");
    }
    let status = child.wait().map_err(|error| cannot_start(&command, &error))?;
    if status.success() {
        eprintln!("setup: {what}: done in {:.1} s", started.elapsed().as_secs_f32());
        return Ok(());
    }
    Err(format!("{}\n[xtask] {} must succeed but ended with {status}.", tail(&text, 20), line(&command)))
}

/// The command as a person would type it.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("[xtask] {} must be there to run but: {error}.", command.get_program().to_string_lossy())
}

/// Reads both streams of a child to their ends on threads of their own; the text arrives when both have closed.
fn collect(child: &mut Child) -> mpsc::Receiver<String> {
    let mut stdout = child.stdout.take().expect("stdout is piped");
    let mut stderr = child.stderr.take().expect("stderr is piped");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let errors = thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).map(|_| bytes).unwrap_or_default()
        });
        let mut bytes = Vec::new();
        let read = stdout.read_to_end(&mut bytes);
        let errors = errors.join().unwrap_or_default();
        if read.is_ok() {
            bytes.extend(errors);
        }
        // The receiver waits for exactly this message; it cannot be gone.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

fn show(what: &str, started: Instant) {
    eprint!("\r\x1b[Ksetup: {what} … {} s", started.elapsed().as_secs());
    // A progress line that cannot be shown is no reason to stop.
    let _ = std::io::stderr().flush();
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_quiet_failure_shows_the_last_lines_of_both_streams() {
        let error =
            run_quietly("failing", shell("echo out; echo err >&2; exit 3")).expect_err("the shell exits with 3");
        assert!(error.contains("out") && error.contains("err") && error.contains("exit status: 3"), "{error}");
    }

    #[test]
    fn a_quiet_success_says_nothing_of_its_output() {
        assert_eq!(run_quietly("working", shell("echo ignored")), Ok(()));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run(Command::new("pumice-no-such-program")).expect_err("there is no such program");
        assert!(error.starts_with("[xtask] pumice-no-such-program must be there to run but:"), "{error}");
    }

    #[test]
    fn the_tail_keeps_the_last_lines() {
        assert_eq!(tail("a\nb\nc", 2), "b\nc");
        assert_eq!(tail("a", 2), "a");
    }
}
