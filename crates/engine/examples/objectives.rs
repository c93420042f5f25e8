//! How near does a method come to the best known of tasks with several objectives or constraints?
//!
//! `cargo run --release -p wimble --example objectives -- "auto" 5 zdt1-6 dtlz2-6-2 g06` prints, for each task, the median and the
//! range over the seeds after 10 quasi-random trials and 9 batches of 10: of several objectives the share of the known front's
//! hypervolume, of one the gap to the least known value in percent; and the mean time of an ask. A word after a comma in the
//! third argument is one more task; `FROM..TO` in place of the number of seeds runs those.
#![allow(clippy::print_stdout, reason = "an example speaks to its user")]

use std::error::Error;
use std::time::{Duration, Instant};

use wimble::pareto::hypervolume;
use wimble::points::Points;
use wimble::prelude::*;
use wimble_problems::task as find;
use wimble_problems::{Answer, Bound as TaskBound, KnownFront, Task, Variable};

const INITIAL: usize = 10;
const BATCHES: usize = 9;
const BATCH: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let method = arguments.next().unwrap_or_else(|| "auto".into());
    let seeds = arguments.next().unwrap_or_else(|| "5".into());
    let (from, to) = match seeds.split_once("..") {
        Some((from, to)) => (from.parse()?, to.parse()?),
        None => (0, seeds.parse::<u64>()?),
    };
    let spec: Spec = method.parse()?;
    for name in arguments {
        let task = find(&name)?;
        let mut scores = Vec::new();
        let mut time = Duration::ZERO;
        for seed in from..to {
            let (score, asked) = run(&*task, &spec, Seed(seed))?;
            scores.push(score);
            time += asked;
        }
        let each = time / (BATCHES as u32 * scores.len().max(1) as u32);
        scores.sort_by(f64::total_cmp);
        let at = |part: f64| scores[((scores.len() - 1) as f64 * part).round() as usize];
        println!("{name:18} {:10.5} ({:.5} .. {:.5})  {each:.1?}", at(0.5), at(0.0), at(1.0));
    }
    Ok(())
}

/// What one search reaches, and the time of its asks.
fn run(task: &dyn Task, spec: &Spec, seed: Seed) -> Result<(f64, Duration), Box<dyn Error>> {
    let variables = task.variables();
    let space = SearchSpace::new(variables.iter().map(dimension))?;
    let mut goal = Goal::new(task.objectives().iter().map(|name| Objective::minimise(&**name)))?;
    for constraint in task.constraints() {
        let bound = match constraint.bound {
            TaskBound::AtMost(bound) => Bound::AtMost(bound),
            TaskBound::AtLeast(bound) => Bound::AtLeast(bound),
        };
        goal = goal.limit(constraint.name, bound)?;
    }
    let measure = |configuration: &Configuration| {
        let x: Vec<f64> = variables.iter().map(|v| value(v, configuration)).collect();
        let measured = task.measure(&x);
        Measurement {
            objectives: measured.objectives.into_iter().map(Into::into).collect(),
            constraints: measured.constraints.into_iter().map(Into::into).collect(),
            fidelity: None,
        }
    };
    let mut start = Session::new(space.clone(), Sobol::default(), goal.clone(), seed)?;
    let mut session = Session::new(space, spec.build(BATCH)?, goal.clone(), seed)?;
    for trial in start.ask(INITIAL)? {
        session.observe(&trial.configuration, measure(&trial.configuration))?;
    }
    let mut time = Duration::ZERO;
    for _ in 0..BATCHES {
        let begun = Instant::now();
        let trials = session.ask(BATCH)?;
        time += begun.elapsed();
        for trial in trials {
            session.tell(trial.id, measure(&trial.configuration))?;
        }
    }
    let limits: Vec<f64> = goal.constraints().iter().map(Constraint::limit).collect();
    let history = session.history();
    let meets = |&i: &usize| {
        let met = |(column, limit): (&wimble::column::Column, &f64)| {
            column.value(i).is_some_and(|c| c <= *limit)
        };
        history.constraints().iter().zip(&limits).all(met)
    };
    let feasible = (0..history.len()).filter(meets);
    let values = |i: usize| -> Vec<f64> {
        history.objectives().iter().filter_map(|column| column.value(i)).collect()
    };
    let score = match task.answer() {
        Answer::Minimum { value, .. } => {
            let best = feasible.map(|i| values(i)[0]).fold(f64::INFINITY, f64::min);
            100.0 * (best - value) / value.abs().max(1e-12)
        }
        Answer::Front(front) => {
            let rows = feasible.map(|i| front.scaled(&values(i)));
            let k = history.objectives().len();
            let rows = Points::from_rows(k, rows);
            let mut rng = seed.stream("hypervolume", 0);
            let reference = vec![KnownFront::REFERENCE; k];
            hypervolume(&rows, &reference, &mut rng)?.value / front.hypervolume
        }
    };
    Ok((score, time))
}

fn dimension(variable: &Variable) -> Dimension {
    let name = variable.name.to_string();
    match variable.step {
        // Steps are counted, since an integer is what a space has for them.
        Some(step) => {
            let steps = ((variable.high - variable.low) / step).round() as i64;
            Dimension::integer(name, 0, steps)
        }
        None => Dimension::real(name, variable.low, variable.high),
    }
}

fn value(variable: &Variable, configuration: &Configuration) -> f64 {
    match configuration.get(&variable.name) {
        Some(Value::Real(x)) => *x,
        Some(Value::Integer(n)) => variable.low + *n as f64 * variable.step.unwrap_or(1.0),
        _ => f64::NAN,
    }
}
