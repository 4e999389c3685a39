//! Two processes share the catalogue. A software driver compiles kernels in one thread of a process, which is most of what the check
//! waits for, and two processes have two.

use std::process::Command;

/// Says that this process is the other one.
const OTHER: &str = "PUMICE_CHECK_OTHER";

/// Which of two shares of the ops this process checks; none if it checks them all, as it does when tests or an op are picked.
fn share() -> Option<usize> {
    let picked = std::env::args().skip(1).any(|argument| !argument.starts_with('-'));
    match std::env::var_os(OTHER) {
        Some(_) => Some(1),
        None if picked || std::env::var_os("PUMICE_CHECK").is_some() => None,
        None => Some(0),
    }
}

/// Whether this process checks the op of a number.
pub fn is_mine(number: usize) -> bool {
    share().is_none_or(|share| number % 2 == share)
}

/// Runs the other process, if there is one, and panics with what it says if it fails.
pub fn run_other() {
    if share() != Some(0) {
        return;
    }
    let itself = std::env::current_exe().expect("a test is a program");
    let mut other = Command::new(itself);
    let other = other.args(std::env::args().skip(1)).env(OTHER, "1").output().expect("the program starts again");
    let said = String::from_utf8_lossy(&other.stdout);
    assert!(other.status.success(), "{}:\n{said}", other.status);
}
