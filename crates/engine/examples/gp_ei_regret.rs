//! How near the minimum does GP-EI come in 100 evaluations, ten of them random, and what does a proposal cost?
//!
//! `cargo run --release --example gp_ei_regret -- branin hartmann6`

#[path = "../tests/on_problem/mod.rs"]
mod on_problem;

use std::time::Instant;

use wimble::strategy::GpEi;
use wimble_problems::problem;

const EVALUATIONS: usize = 100;
const SEEDS: u64 = 10;

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
            // The first ask is for the ten random points.
            let rounds = EVALUATIONS - 10;
            regrets.push(on_problem::regret(problem.as_ref(), GpEi::default(), 1, rounds, seed)?);
        }
        let seconds = begun.elapsed().as_secs_f64() / SEEDS as f64;
        regrets.sort_by(f64::total_cmp);
        let median = 0.5 * (regrets[4] + regrets[5]);
        println!("{name}: median regret {median:.2e}, {seconds:.1} s a run");
        println!("  {}", regrets.iter().map(|r| format!("{r:.1e}")).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
