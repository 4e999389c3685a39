//! Sharing work among the processors.

use std::sync::{Mutex, PoisonError};

use crate::error::Result;

/// Runs tasks on all processors, this thread among them: it begins at once, while the others wake up. Gives the first error.
pub(crate) fn share<T: Send>(tasks: Vec<T>, run: impl Fn(T) -> Result<()> + Sync) -> Result<()> {
    let helpers = (rayon::current_num_threads() - 1).min(tasks.len().saturating_sub(1));
    let (tasks, failed) = (Mutex::new(tasks.into_iter()), Mutex::new(None));
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(task) = next() {
            if let Err(error) = run(task) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    };
    rayon::in_place_scope(|scope| {
        (0..helpers).for_each(|_| scope.spawn(|_| work()));
        work();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::Error;

    #[test]
    fn every_task_is_run_once_and_an_error_is_told() {
        for count in [0, 1, 2, 1000] {
            let sum = AtomicUsize::new(0);
            let add = |task: usize| {
                sum.fetch_add(task, Ordering::Relaxed);
                if task == 1 { Err(Error::Value("one".into())) } else { Ok(()) }
            };
            let found = share((0..count).collect(), add);
            assert_eq!(sum.into_inner(), count * count.saturating_sub(1) / 2);
            assert_eq!(found.is_err(), count > 1);
        }
    }
}
