//! A run of several steps: each is taken even when one before it failed, and the end says how all went.

use std::time::{Duration, Instant};

use crate::test::Counts;

/// The steps taken so far.
pub struct Steps {
    taken: Vec<Step>,
}

struct Step {
    name: &'static str,
    took: Duration,
    failure: Option<String>,
}

impl Steps {
    /// No steps yet.
    pub fn new() -> Steps {
        Steps { taken: Vec::new() }
    }

    /// Takes a step and remembers how it went.
    pub fn take(&mut self, name: &'static str, step: impl FnOnce() -> Result<(), String>) {
        println!("── {name}");
        let started = Instant::now();
        let failure = step().err();
        if let Some(reason) = &failure {
            eprintln!("{reason}");
        }
        self.taken.push(Step { name, took: started.elapsed(), failure });
    }

    /// Prints how every step went and what the tests counted; fails if a step did.
    pub fn close(self, counts: Counts) -> Result<(), String> {
        println!("{}", self.summary(counts));
        let failed: Vec<&str> = self.failed().map(|step| step.name).collect();
        if failed.is_empty() {
            return Ok(());
        }
        Err(format!("[xtask] every step must succeed but these did not: {}.", failed.join(", ")))
    }

    fn failed(&self) -> impl Iterator<Item = &Step> {
        self.taken.iter().filter(|step| step.failure.is_some())
    }

    fn summary(&self, counts: Counts) -> String {
        let mut text = String::from("── summary\n");
        for step in &self.taken {
            let outcome = if step.failure.is_some() { "FAILED" } else { "ok" };
            text.push_str(&format!("{:<12} {outcome:<6} {:>7.1} s\n", step.name, step.took.as_secs_f32()));
        }
        for step in self.failed() {
            text.push_str(&format!("{}\n", step.failure.as_deref().unwrap_or_default()));
        }
        let Counts { passed, failed, ignored } = counts;
        text + &format!("{passed} passed, {failed} failed, {ignored} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = Counts { passed: 3, failed: 1, ignored: 2 };

    #[test]
    fn a_failed_step_fails_the_run_but_not_the_steps_after_it() {
        let mut steps = Steps::new();
        let mut reached = false;
        steps.take("first", || Err("[first] must hold but does not.".into()));
        steps.take("second", || {
            reached = true;
            Ok(())
        });
        assert!(reached);
        let expected = "[xtask] every step must succeed but these did not: first.";
        assert_eq!(steps.close(COUNTS), Err(expected.into()));
    }

    #[test]
    fn the_summary_names_steps_reasons_and_counts() {
        let mut steps = Steps::new();
        steps.take("tidy", || Err("[tidy] reason.".into()));
        let summary = steps.summary(COUNTS);
        assert!(summary.contains("tidy         FAILED"), "{summary}");
        assert!(summary.contains("[tidy] reason."), "{summary}");
        assert_eq!(summary.lines().last(), Some("3 passed, 1 failed, 2 skipped"));
    }

    #[test]
    fn steps_that_succeed_make_a_run_that_succeeds() {
        let mut steps = Steps::new();
        steps.take("tidy", || Ok(()));
        assert_eq!(steps.close(Counts::default()), Ok(()));
    }
}
