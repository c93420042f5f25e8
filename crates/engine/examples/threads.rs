//! How do threads share one search? Each asks for a trial when it is free and tells its result; the session waits for nobody.
#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::sync::Mutex;
use std::thread;

use wimble::prelude::*;

/// Slow in real life: here it is the Rosenbrock valley.
fn evaluate(configuration: &Configuration) -> wimble::Result<f64> {
    let (x, y) = (configuration.real("x")?, configuration.real("y")?);
    Ok((1.0 - x).powi(2) + 100.0 * (y - x * x).powi(2))
}

/// Runs the search.
pub fn main() -> wimble::Result<()> {
    let space =
        SearchSpace::new([Dimension::real("x", -2.0, 2.0), Dimension::real("y", -1.0, 3.0)])?;
    let session = Session::new(space, Auto::default(), Direction::Minimise, Seed(1))?;
    let session = Mutex::new(session);
    let lock = || session.lock().expect("no thread panicked while it held the session");
    thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| -> wimble::Result<()> {
                    // The lock is held while asking and telling, never while evaluating.
                    for _ in 0..20 {
                        let trial = lock().ask(1)?.remove(0);
                        let value = evaluate(&trial.configuration)?;
                        lock().tell(trial.id, value)?;
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no thread panicked"))
    })?;
    let session = lock();
    if let Some(best) = session.best() {
        println!("{} at {} after {} trials", best.value, best.configuration, session.issued());
    }
    Ok(())
}
