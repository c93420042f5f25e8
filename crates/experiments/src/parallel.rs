//! Tasks on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::{Error, Result};

/// Computes every task on `jobs` threads; the first error stops what has not begun. `progress` is told how many have
/// ended, counting from `found`.
pub(crate) fn each<T: Sync>(
    tasks: &[T],
    jobs: usize,
    found: usize,
    progress: &(dyn Fn(usize) + Sync),
    compute: impl Fn(&T) -> Result<()> + Sync,
) -> Result<()> {
    if jobs == 0 {
        return Err(Error::Invalid { field: "jobs", value: "0".to_owned(), allowed: "at least 1" });
    }
    progress(found);
    let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(found));
    let stopped = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let work = || {
        while !stopped.load(Ordering::Relaxed) {
            let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            match compute(task) {
                Ok(()) => progress(ended.fetch_add(1, Ordering::Relaxed) + 1),
                Err(error) => {
                    stopped.store(true, Ordering::Relaxed);
                    if let Ok(mut first) = failure.lock() {
                        first.get_or_insert(error);
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(tasks.len()) {
            scope.spawn(work);
        }
    });
    match failure.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => Ok(()),
    }
}
