//! What do several objectives and constraints cost `auto`? Asks in 10 dimensions, each beside `ask(10)` with one objective.
//!
//! The sessions take turns, so that a busy machine slows all alike. Printed are the least and the median time of an ask, and their
//! ratios to `ask(10)` with one objective after 2,000 trials. A name has the size of the batch, the objectives, the constraints and the trials
//! before it. An argument that is no option keeps the cases whose name contains it.
#![allow(clippy::print_stdout, reason = "the output is the benchmark's purpose")]

mod sphere;

use std::time::Instant;

use wimble::goal::{Bound, Goal, Objective};
use wimble::internals::uniform;
use wimble::outcome::Measurement;
use wimble::prelude::*;

const DIM: usize = 10;
const ROUNDS: usize = 15;

/// How large an ask is, and what for.
#[derive(Clone, Copy)]
struct Case {
    batch: usize,
    objectives: usize,
    constraints: usize,
    trials: usize,
    /// The largest ratio to the first case that is meant.
    most: f64,
}

const fn case(
    batch: usize,
    objectives: usize,
    constraints: usize,
    trials: usize,
    most: f64,
) -> Case {
    Case { batch, objectives, constraints, trials, most }
}

/// The first is what the others are compared with.
const CASES: [Case; 8] = [
    case(10, 1, 0, 2_000, 1.0),
    case(10, 2, 0, 2_000, 2.5),
    case(10, 3, 0, 2_000, 8.0),
    case(10, 3, 4, 2_000, 8.0),
    case(10, 3, 4, 1_000_000, 8.0),
    case(10, 1, 4, 2_000, 8.0),
    case(150, 3, 0, 2_000, 20.0),
    case(150, 3, 4, 2_000, 20.0),
];

impl Case {
    fn name(self) -> String {
        let Self { batch, objectives, constraints, trials, .. } = self;
        format!("ask{batch}_auto_{DIM}d_{objectives}objectives_{constraints}constraints_n{trials}")
    }

    fn goal(self) -> Goal {
        let objectives = (0..self.objectives).map(|j| Objective::minimise(format!("f{j}")));
        let goal = Goal::new(objectives).expect("legal objectives");
        (0..self.constraints).fold(goal, |goal, k| {
            goal.limit(format!("c{k}"), Bound::AtMost(1.0)).expect("a legal limit")
        })
    }

    /// Squared distances from points of a diagonal; limits on sums of coordinates, half of which a random point meets.
    fn measure(self, x: &[f64]) -> Measurement {
        let distance = |j: usize| {
            let centre = 0.3 + 0.2 * j as f64;
            x.iter().enumerate().map(|(i, x)| (x - centre - 0.01 * i as f64).powi(2)).sum::<f64>()
        };
        let sum = |k: usize| (0..2).map(|i| x[(2 * k + i) % DIM]).sum::<f64>();
        Measurement {
            objectives: (0..self.objectives).map(|j| distance(j).into()).collect(),
            constraints: (0..self.constraints).map(|k| sum(k).into()).collect(),
            fidelity: None,
        }
    }

    /// A session that has been told random trials.
    fn session(self) -> Session {
        let sides = (0..DIM).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0));
        let space = SearchSpace::new(sides).expect("a legal space");
        let mut session =
            Session::new(space, Auto::default(), self.goal(), Seed(1)).expect("legal settings");
        let mut rng = Seed(2).stream("data", 0);
        for _ in 0..self.trials {
            let x: Vec<f64> = (0..DIM).map(|_| uniform(&mut rng)).collect();
            let configuration: Configuration =
                x.iter().enumerate().map(|(i, x)| (format!("x{i}"), *x)).collect();
            session.observe(&configuration, self.measure(&x)).expect("a legal observation");
        }
        session
    }

    /// Seconds of an ask, whose trials are then told.
    fn ask(self, session: &mut Session) -> f64 {
        let start = Instant::now();
        let trials = session.ask(self.batch).expect("a batch");
        let seconds = start.elapsed().as_secs_f64();
        for trial in trials {
            let x = session.space().encode(&trial.configuration).expect("a legal configuration");
            session.tell(trial.id, self.measure(&x)).expect("an outcome");
        }
        seconds
    }
}

fn main() {
    if !sphere::is_bench() {
        return;
    }
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted =
        |case: &Case| wanted.is_empty() || wanted.iter().any(|word| case.name().contains(word));
    let mut runs: Vec<(Case, Session, Vec<f64>)> = CASES
        .into_iter()
        .enumerate()
        .filter(|(place, case)| *place == 0 || is_wanted(case))
        .map(|(_, case)| {
            let mut session = case.session();
            println!("{}: first ask {:.2} s", case.name(), case.ask(&mut session));
            (case, session, Vec::new())
        })
        .collect();
    for _ in 0..ROUNDS {
        for (case, session, seconds) in &mut runs {
            seconds.push(case.ask(session));
        }
    }
    let mut first = [1.0, 1.0];
    for (place, (case, _, seconds)) in runs.iter_mut().enumerate() {
        seconds.sort_by(f64::total_cmp);
        let [least, median] = [seconds[0], seconds[ROUNDS / 2]];
        if place == 0 {
            first = [least, median];
        }
        println!(
            "{}: least {:.2} ms, median {:.2} ms; ratio {:.2}, {:.2} (meant: at most {})",
            case.name(),
            1e3 * least,
            1e3 * median,
            least / first[0],
            median / first[1],
            case.most
        );
    }
}
