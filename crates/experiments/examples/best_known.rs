//! What is the least value of the problems of Figure 3 whose minimum nobody knows?
//!
//! ```sh
//! cargo run --release -p wimble-experiments --example best_known -- DATA 20000
//! ```
//!
//! prints the best of a run of each of several methods, for any one of them may end in a second-best basin. `DATA` is the
//! folder of `wimble-lab paper --data` and the number the evaluations of each. The settings of the figure have these values as
//! optima.

use std::error::Error;

use wimble::goal::Direction;
use wimble::outcome::Outcome;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::strategy::Spec;
use wimble_experiments::data::Folder;
use wimble_experiments::objective::Noise;
use wimble_experiments::paper::Figure;

const METHODS: [&str; 5] =
    ["auto", "bore rule=candidates", "bore classifier=forest rule=candidates", "cma-es", "random"];

#[allow(clippy::print_stdout, reason = "an example's answer")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = Folder::new(arguments.next().ok_or("the folder of the data is missing")?);
    let evaluations: usize = arguments.next().as_deref().unwrap_or("20000").parse()?;
    for subject in Figure::RealData.settings()?.problems {
        if !["racing-ucb", "racing-eth", "mnist", "lcbench"].contains(&subject.name.as_str()) {
            continue;
        }
        let objective = subject.objective(0.0, &folder)?;
        let mut best = f64::INFINITY;
        for (seed, method) in METHODS.into_iter().enumerate() {
            let strategy = method.parse::<Spec>()?.build(20)?;
            let space = objective.space()?;
            let mut session =
                Session::new(space, strategy, Direction::Minimise, Seed(seed as u64))?;
            for _ in 0..evaluations / 20 {
                for trial in session.ask(20)? {
                    let noise = Noise { seed: Seed(0), number: trial.id };
                    let value = objective.observe(&trial.configuration, noise)?.told;
                    best = best.min(value);
                    session.tell(trial.id, Outcome::from(value))?;
                }
            }
        }
        println!("{}: {best}", subject.name);
    }
    Ok(())
}
