//! How near the minimum does GP-EI come in 100 evaluations, ten of them random, and what does a proposal cost?
//!
//! `cargo run --release --example gp_ei_regret -- branin hartmann6`

use std::time::Instant;

use wimble::goal::Direction;
use wimble::outcome::Outcome;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::space::{Dimension, SearchSpace};
use wimble::strategy::GpEi;
use wimble_problems::{Problem, problem};

const EVALUATIONS: usize = 100;
const SEEDS: u64 = 10;

/// The simple regret of one run.
fn regret(problem: &dyn Problem, seed: u64) -> Result<f64, wimble::Error> {
    let sides = problem.domain().iter().enumerate();
    let space = SearchSpace::new(
        sides.map(|(k, &(low, high))| Dimension::real(format!("x{k}"), low, high)),
    )?;
    let mut session = Session::new(space, GpEi::default(), Direction::Minimise, Seed(seed))?;
    let mut best = f64::INFINITY;
    for _ in 0..EVALUATIONS {
        for trial in session.ask(1)? {
            let x: Vec<f64> = (0..problem.dim())
                .filter_map(|k| trial.configuration.get(&format!("x{k}"))?.as_real())
                .collect();
            let value = problem.evaluate(&x);
            best = best.min(value);
            session.tell(trial.id, Outcome::from(value))?;
        }
    }
    Ok(best - problem.minimum())
}

#[allow(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        names = vec!["branin".into(), "hartmann6".into()];
    }
    for name in names {
        let problem = problem(&name)?;
        let begun = Instant::now();
        let mut regrets = Vec::new();
        for seed in 0..SEEDS {
            regrets.push(regret(problem.as_ref(), seed)?);
        }
        let seconds = begun.elapsed().as_secs_f64() / SEEDS as f64;
        regrets.sort_by(f64::total_cmp);
        let median = 0.5 * (regrets[4] + regrets[5]);
        println!("{name}: median regret {median:.2e}, {seconds:.1} s a run");
        println!("  {}", regrets.iter().map(|r| format!("{r:.1e}")).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
