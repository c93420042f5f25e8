//! Sessions on the functions of `wimble-problems`, for tests and examples.
#![allow(dead_code, reason = "each test uses a part")]

use wimble::prelude::*;
use wimble_problems::Problem;

fn axis(k: usize) -> String {
    format!("x{k}")
}

/// The box of a problem, with the names x0, x1, …
pub fn space(problem: &dyn Problem) -> wimble::Result<SearchSpace> {
    let sides = problem.domain().iter().enumerate();
    SearchSpace::new(sides.map(|(k, &(low, high))| Dimension::real(axis(k), low, high)))
}

/// The coordinates of a configuration of that box.
pub fn coordinates(problem: &dyn Problem, configuration: &Configuration) -> Vec<f64> {
    let coordinate = |k| configuration.get(&axis(k)).and_then(Value::as_real);
    (0..problem.dim()).map(|k| coordinate(k).expect("every dimension is real")).collect()
}

/// A session that minimises a problem.
pub fn session(
    problem: &dyn Problem,
    strategy: impl Strategy + 'static,
    seed: u64,
) -> wimble::Result<Session> {
    Session::new(space(problem)?, strategy, Direction::Minimise, Seed(seed))
}

/// The simple regret after 10 initial points and `rounds` batches.
pub fn regret(
    problem: &dyn Problem,
    strategy: impl Strategy + 'static,
    batch: usize,
    rounds: usize,
    seed: u64,
) -> wimble::Result<f64> {
    let mut session = session(problem, strategy, seed)?;
    for round in 0..=rounds {
        for trial in session.ask(if round == 0 { 10 } else { batch })? {
            let x = coordinates(problem, &trial.configuration);
            session.tell(trial.id, Outcome::from(problem.evaluate(&x)))?;
        }
    }
    Ok(session.best().map_or(f64::INFINITY, |best| best.value) - problem.minimum())
}

/// The median of the simple regrets of several seeds.
pub fn median_regret<S: Strategy + 'static>(
    problem: &dyn Problem,
    strategy: impl Fn() -> S,
    batch: usize,
    rounds: usize,
    seeds: u64,
) -> f64 {
    let run = |seed| regret(problem, strategy(), batch, rounds, seed).expect("a run");
    let mut regrets: Vec<f64> = (0..seeds).map(run).collect();
    regrets.sort_by(f64::total_cmp);
    regrets[regrets.len() / 2]
}
