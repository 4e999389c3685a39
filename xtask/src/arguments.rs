//! What `cargo xtask` was asked to do.

/// Shown for `--help` and when nothing was asked for.
pub const HELP: &str = "\
Pumice's development tasks.

  cargo xtask test [filter…]   install what the tests need, check tidiness, run every test
      --slow                   the slow tests as well (long sweeps, soak tests)
      --no-vulkan              without a Vulkan device: its tests may skip themselves
      --no-python              without the Python package's tests, which need python3 with venv, and NumPy
  cargo xtask check            formatting, clippy, then all that `test` does: run it before a change lands
  cargo xtask python           build the Python wheel, install it into ./venv, run ten lines of MLX with it
  cargo xtask tidy             only the invariants a program can see, file:line for each finding
  cargo xtask setup            only install what the tests need (lavapipe, validation layers, spirv-tools)

A filter keeps the tests whose names contain it; several keep those of any.
";

/// A task, with all it needs to know.
#[derive(Debug, PartialEq, Eq)]
pub enum Task {
    /// Print the help.
    Help,
    /// Install what the tests need.
    Setup,
    /// Build and install the Python package.
    Python,
    /// Check the invariants a program can see.
    Tidy,
    /// Run the tests.
    Test(Tests),
    /// Formatting, lints, tidiness, tests.
    Check(Tests),
}

/// Which tests to run, and how.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Whether slow tests run too.
    pub slow: bool,
    /// Whether a missing Vulkan device only skips tests.
    pub no_vulkan: bool,
    /// Whether the Python package's tests are left out.
    pub no_python: bool,
    /// Parts of test names; none keeps all.
    pub filters: Vec<String>,
}

/// Reads the arguments that follow the program's name.
pub fn parse(arguments: &[String]) -> Result<Task, String> {
    let Some((task, rest)) = arguments.split_first() else {
        return Ok(Task::Help);
    };
    if rest.iter().any(|argument| is_help(argument)) {
        return Ok(Task::Help);
    }
    match task.as_str() {
        "test" => Ok(Task::Test(parse_tests(rest)?)),
        "check" => Ok(Task::Check(parse_tests(rest)?)),
        "setup" => without_arguments(task, rest, Task::Setup),
        "python" => without_arguments(task, rest, Task::Python),
        "tidy" => without_arguments(task, rest, Task::Tidy),
        _ if is_help(task) || task == "help" => Ok(Task::Help),
        _ => Err(format!("[xtask] the task must be one of test, check, python, tidy, setup but is {task}.")),
    }
}

fn is_help(argument: &str) -> bool {
    argument == "--help" || argument == "-h"
}

fn without_arguments(name: &str, rest: &[String], task: Task) -> Result<Task, String> {
    match rest.first() {
        None => Ok(task),
        Some(argument) => Err(format!("[xtask] {name} must have no arguments but has {argument}.")),
    }
}

fn parse_tests(arguments: &[String]) -> Result<Tests, String> {
    let mut tests = Tests::default();
    for argument in arguments {
        match argument.as_str() {
            "--slow" => tests.slow = true,
            "--no-vulkan" => tests.no_vulkan = true,
            "--no-python" => tests.no_python = true,
            option if option.starts_with('-') => {
                return Err(format!("[xtask] an option must be --slow, --no-vulkan or --no-python but is {option}."));
            }
            filter => tests.filters.push(filter.to_string()),
        }
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Task, String> {
        parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn nothing_and_help_in_any_place_teach() {
        for line in ["", "--help", "-h", "help", "test --help", "tidy -h"] {
            assert_eq!(parsed(line), Ok(Task::Help), "{line}");
        }
    }

    #[test]
    fn options_and_filters_of_test_are_kept() {
        let expected =
            Tests { slow: true, no_vulkan: true, no_python: false, filters: vec!["emit".into(), "hazard".into()] };
        assert_eq!(parsed("test --slow emit --no-vulkan hazard"), Ok(Task::Test(expected)));
    }

    #[test]
    fn what_is_not_known_is_named() {
        let unknown = "[xtask] the task must be one of test, check, python, tidy, setup but is tets.";
        assert_eq!(parsed("tets"), Err(unknown.into()));
        let option = "[xtask] an option must be --slow, --no-vulkan or --no-python but is --fast.";
        assert_eq!(parsed("test --fast"), Err(option.into()));
        assert_eq!(parsed("tidy src"), Err("[xtask] tidy must have no arguments but has src.".into()));
    }

    #[test]
    fn the_help_names_every_task() {
        for task in ["test", "check", "python", "tidy", "setup"] {
            assert!(HELP.contains(&format!("cargo xtask {task}")), "{task}");
        }
    }
}
