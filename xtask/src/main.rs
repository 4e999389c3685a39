//! Pumice's development tasks: `cargo xtask` without arguments lists them.
//!
//! Std only, so that the first `cargo xtask test` on a fresh clone starts within seconds.

mod arguments;
mod check;
mod command;
mod python;
mod setup;
mod steps;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use arguments::{Task, Tests};
use steps::Steps;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments::parse(&arguments).and_then(perform) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn perform(task: Task) -> Result<(), String> {
    match task {
        Task::Help => {
            print!("{}", arguments::HELP);
            Ok(())
        }
        Task::Setup => setup::run(),
        Task::Python => python::install(),
        Task::Tidy => tidy::run(&workspace::root()),
        Task::Test(tests) => with_tests(Steps::new(), &tests),
        Task::Check(tests) => {
            let mut steps = Steps::new();
            steps.take("formatting", check::formatting);
            steps.take("clippy", check::lints);
            with_tests(steps, &tests)
        }
    }
}

/// Takes the steps every test run has, then says how all went.
fn with_tests(mut steps: Steps, tests: &Tests) -> Result<(), String> {
    steps.take("tidy", || tidy::run(&workspace::root()));
    if let Err(reason) = setup::run() {
        // A machine may have a Vulkan driver we did not install: the tests that need one will tell.
        eprintln!("{reason}\nGoing on without.");
    }
    let mut counts = test::Counts::default();
    steps.take("tests", || test::run(tests, &mut counts));
    if tests.filters.is_empty() && !tests.no_python {
        steps.take("Python's tests", || python::test(tests));
    }
    steps.close(counts)
}
