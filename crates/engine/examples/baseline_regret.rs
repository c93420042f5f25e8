//! How well do the baselines do from given initial points? Reads problems with their initial points as JSON
//! from standard input, and prints the simple regret of every run after each evaluation count asked for.
//! `benches/reference/optuna_compare` runs it beside Optuna.
#![allow(clippy::print_stdout, reason = "the output is the example's purpose")]

#[path = "../tests/on_problem/mod.rs"]
mod on_problem;

use serde::Deserialize;
use serde_json::json;
use wimble::prelude::*;
use wimble::strategy::{Bandwidth, CmaEs, Sobol, Tpe};
use wimble_problems::{Problem, problem};

#[derive(Deserialize)]
struct Work {
    /// Evaluations, initial ones included, after which regret is read.
    checkpoints: Vec<usize>,
    problems: Vec<Start>,
}

#[derive(Deserialize)]
struct Start {
    problem: String,
    /// For each seed, the initial points in the unit cube.
    initial: Vec<Vec<Vec<f64>>>,
}

/// A name, the batch size, and the strategy.
type Method = (&'static str, usize, fn() -> Box<dyn Strategy>);

const METHODS: [Method; 5] = [
    ("tpe", 1, || Box::new(Tpe::default())),
    ("tpe, scott", 1, || Box::new(Tpe { bandwidth: Bandwidth::Scott, ..Tpe::default() })),
    ("cma-es", 10, || Box::new(CmaEs::default())),
    ("cma-es, initial injected", 10, || {
        Box::new(CmaEs { inject_initial: true, ..CmaEs::default() })
    }),
    ("sobol", 10, || Box::new(Sobol {})),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let work: Work = serde_json::from_reader(std::io::stdin())?;
    for start in &work.problems {
        let problem = problem(&start.problem)?;
        for (name, batch_size, strategy) in METHODS {
            for (seed, initial) in start.initial.iter().enumerate() {
                let seed = Seed(seed as u64);
                let best =
                    run(&*problem, strategy(), batch_size, seed, initial, &work.checkpoints)?;
                println!("{}", json!({ "problem": start.problem, "method": name, "regret": best }));
            }
        }
    }
    Ok(())
}

/// The simple regret at each checkpoint.
fn run(
    problem: &dyn Problem,
    strategy: Box<dyn Strategy>,
    batch_size: usize,
    seed: Seed,
    initial: &[Vec<f64>],
    checkpoints: &[usize],
) -> Result<Vec<f64>, wimble::Error> {
    let mut session = on_problem::session(problem, strategy, seed.0)?;
    let evaluate = |configuration: &Configuration| {
        Outcome::from(problem.evaluate(&on_problem::coordinates(problem, configuration)))
    };
    for u in initial {
        let configuration = session.space().decode(u);
        session.observe(&configuration, evaluate(&configuration))?;
    }
    let mut regrets = Vec::with_capacity(checkpoints.len());
    for &checkpoint in checkpoints {
        while session.history().len() < checkpoint {
            let size = batch_size.min(checkpoint - session.history().len());
            for trial in session.ask(size)? {
                session.tell(trial.id, evaluate(&trial.configuration))?;
            }
        }
        let best = session.best().map_or(f64::INFINITY, |best| best.value);
        regrets.push(best - problem.minimum());
    }
    Ok(regrets)
}
