//! How good is `auto`, and what does each of its ingredients bring? Runs methods on problems and prints the median
//! simple regret of each after some numbers of evaluations, and the mean of its logarithm over all problems.
//!
//! `cargo run --release --example auto_regret -- --problems branin,hartmann6 --seeds 5 --batch 10 auto "auto without=explorer"`
//!
//! With `--failing` trials fail on one side of a plane near a minimiser, and the share of those that failed is printed too.
#![allow(clippy::print_stdout, reason = "the output is the example's purpose")]

mod method;
#[path = "../tests/on_problem/mod.rs"]
mod on_problem;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use wimble::prelude::*;
use wimble_problems::{Problem, problem};

use on_problem::coordinates;

/// The problems that `auto` was tuned on.
const TUNING: &str = "branin,rosenbrock-4,hartmann6,ackley-5,levy-10,rastrigin-4";

struct Plan {
    problems: Vec<String>,
    seeds: u64,
    batch: usize,
    checkpoints: Vec<usize>,
    failing: bool,
    methods: Vec<String>,
}

impl Plan {
    fn from_arguments() -> Result<Self, Box<dyn std::error::Error>> {
        let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut plan = Self {
            problems: list(TUNING),
            seeds: 3,
            batch: 10,
            checkpoints: vec![60, 210, 510],
            failing: false,
            methods: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--problems" => plan.problems = list(&value()?),
                "--seeds" => plan.seeds = value()?.parse()?,
                "--batch" => plan.batch = value()?.parse()?,
                "--at" => {
                    plan.checkpoints =
                        list(&value()?).iter().map(|at| at.parse()).collect::<Result<_, _>>()?;
                }
                "--failing" => plan.failing = true,
                _ => plan.methods.push(argument),
            }
        }
        if plan.methods.is_empty() {
            plan.methods.push("auto".to_owned());
        }
        Ok(plan)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::from_arguments()?;
    for method in &plan.methods {
        let spec = method::ablated(method)?;
        let jobs: Vec<(usize, u64)> = (0..plan.problems.len())
            .flat_map(|p| (0..plan.seeds).map(move |seed| (p, seed)))
            .collect();
        let next = AtomicUsize::new(0);
        let regrets = Mutex::new(vec![Vec::new(); plan.problems.len()]);
        let failures = Mutex::new(Vec::new());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let start = std::time::Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..cores {
                scope.spawn(|| {
                    while let Some(&(p, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let problem = problem(&plan.problems[p]).expect("a known problem");
                        let (regret, failed) =
                            run(&*problem, &spec, &plan, Seed(seed)).expect("a run");
                        failures.lock().expect("no panic").push(failed);
                        regrets.lock().expect("no panic")[p].push(regret);
                    }
                });
            }
        });
        println!("{method}   ({:.0} s)", start.elapsed().as_secs_f64());
        let regrets = regrets.into_inner()?;
        let mut logs = vec![0.0; plan.checkpoints.len()];
        for (name, runs) in plan.problems.iter().zip(&regrets) {
            let medians: Vec<f64> = (0..plan.checkpoints.len())
                .map(|at| {
                    let mut values: Vec<f64> = runs.iter().map(|run| run[at]).collect();
                    values.sort_by(f64::total_cmp);
                    for value in &values {
                        logs[at] += value.max(1e-13).log10() / values.len() as f64;
                    }
                    values[values.len() / 2]
                })
                .collect();
            let shown: Vec<String> =
                medians.iter().map(|regret| format!("{regret:9.2e}")).collect();
            println!("  {name:24} {}", shown.join("  "));
        }
        let shown: Vec<String> =
            logs.iter().map(|sum| format!("{:9.2}", sum / regrets.len() as f64)).collect();
        println!("  {:24} {}", "mean log10", shown.join("  "));
        if plan.failing {
            let failures = failures.into_inner()?;
            let share = failures.iter().sum::<f64>() / failures.len() as f64;
            println!("  {:24} {share:9.2}", "failed");
        }
    }
    Ok(())
}

/// How far beyond the minimiser's first coordinate, in that of the box, trials begin to fail.
const FAILS: f64 = 0.1;

/// Whether x is on the side of the plane where trials fail: the longer one.
fn fails(problem: &dyn Problem, x: &[f64]) -> bool {
    let (low, high) = problem.domain()[0];
    let unit = |x: f64| (x - low) / (high - low);
    let minimiser = unit(problem.minimisers()[0][0]);
    match minimiser < 0.5 {
        true => unit(x[0]) > minimiser + FAILS,
        false => unit(x[0]) < minimiser - FAILS,
    }
}

/// The simple regret at each checkpoint, and the share of trials that failed.
fn run(
    problem: &dyn Problem,
    spec: &method::Ablated,
    plan: &Plan,
    seed: Seed,
) -> Result<(Vec<f64>, f64), wimble::Error> {
    let mut session = on_problem::session(problem, spec.build(plan.batch)?, seed.0)?;
    let observe = |configuration: &Configuration, evaluation: usize| {
        let x = coordinates(problem, configuration);
        match plan.failing && fails(problem, &x) {
            true => Outcome::failed(),
            false => Outcome::from(problem.observe(&x, seed.0, evaluation as u64)),
        }
    };
    let mut rng = seed.stream("initial", 0);
    for _ in 0..10 {
        let configuration = session.space().decode(&session.space().sample(&mut rng));
        let outcome = observe(&configuration, session.history().len());
        session.observe(&configuration, outcome)?;
    }
    let mut regrets = Vec::with_capacity(plan.checkpoints.len());
    for &checkpoint in &plan.checkpoints {
        while session.history().len() < checkpoint {
            let size = plan.batch.min(checkpoint - session.history().len());
            for trial in session.ask(size)? {
                session.tell(trial.id, observe(&trial.configuration, trial.id as usize))?;
            }
        }
        // The true value of what a user would keep.
        let kept = session
            .recommend()?
            .map(|best| problem.evaluate(&coordinates(problem, &best.configuration)));
        regrets.push(kept.unwrap_or(f64::INFINITY) - problem.minimum());
    }
    let values = session.history().objective().values();
    let failed = values.filter(Option::is_none).count();
    Ok((regrets, failed as f64 / session.history().len() as f64))
}
