//! Independent tasks on the cores at hand, with the same result on any number of them.

use std::thread;

/// Work for which another thread pays: starting one costs about as much as 20,000 steps of growing a tree.
const STEPS_A_WORKER: usize = 200_000;

/// How many threads are worth having for work of about `steps` steps of growing a tree.
pub(crate) fn workers_for(steps: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    cores.min(steps / STEPS_A_WORKER).max(1)
}

/// The results of `task` for 0..`count`, in this order, by `workers` threads.
///
/// Every task depends on its index alone, so that nothing depends on the number of threads. Where the system
/// gives no further thread, the caller's own does the work.
pub(crate) fn in_parallel<T: Send>(
    count: usize,
    workers: usize,
    task: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let workers = workers.clamp(1, count.max(1));
    let task = &task;
    let share = move |worker: usize| {
        (count * worker / workers..count * (worker + 1) / workers).map(task).collect::<Vec<T>>()
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..workers)
            .map(|worker| thread::Builder::new().spawn_scoped(scope, move || share(worker)))
            .collect();
        let mut results = share(0);
        for (worker, other) in (1..workers).zip(others) {
            results.extend(match other.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(part)) => part,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(_) => share(worker),
            });
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_from_any_number_of_workers() {
        for count in [0, 1, 7, 100] {
            let expected: Vec<usize> = (0..count).map(|i| i * i).collect();
            for workers in [0, 1, 2, 4, 200] {
                assert_eq!(in_parallel(count, workers, |i| i * i), expected);
            }
        }
        assert_eq!(workers_for(0), 1);
    }
}
