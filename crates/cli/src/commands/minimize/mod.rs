//! `wimble minimize`: a method on a built-in problem, with its regret or hypervolume and the time it takes to ask.

mod report;

use std::io::Write as _;
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wimble::goal::{Bound, Goal, Objective};
use wimble::outcome::Measurement;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};
use wimble_problems::{Task, Variable};

use crate::exit::usage;
use crate::format::Print;
use crate::given;
use crate::method::Method;
use report::{Report, Round};

/// Arguments of `wimble minimize`.
#[derive(Args)]
pub struct Arguments {
    /// The problem, as listed by `wimble problems`: branin, hartmann6, rosenbrock-4, zdt1-6, pressure-vessel, …
    problem: String,
    #[command(flatten)]
    method: Method,
    /// Number of points in a batch
    #[arg(long, default_value_t = 10, allow_negative_numbers = true, value_parser = given::whole::<u32>(1, 100_000))]
    batch_size: u32,
    /// Number of batches, after the initial points of a method that has them
    #[arg(long, default_value_t = 20, allow_negative_numbers = true, value_parser = given::whole::<u32>(1, u64::from(u32::MAX)))]
    rounds: u32,
    /// The seed: the same seed gives the same run
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    print: Print,
}

/// Runs the method and reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    let task =
        wimble_problems::task(&arguments.problem).map_err(|error| usage(error.to_string()))?;
    let task = task.as_ref();
    let batch_size = arguments.batch_size as usize;
    let spec = arguments.method.spec()?;
    let strategy = spec.build(batch_size).map_err(|error| usage(error.to_string()))?;
    let mut session = Session::new(space(task)?, strategy, goal(task)?, Seed(arguments.seed))?;

    let bar = ProgressBar::with_draw_target(
        Some(u64::from(arguments.rounds)),
        ProgressDrawTarget::stderr(),
    );
    bar.set_style(ProgressStyle::with_template("{bar:30} round {pos}/{len}  {msg}  {eta} left")?);
    if spec.initial() > 0 {
        evaluate(&mut session, task, spec.initial(), arguments.seed)?;
    }
    let mut rounds = Vec::new();
    for _ in 0..arguments.rounds {
        let ask_seconds = evaluate(&mut session, task, batch_size, arguments.seed)?;
        let round = Round::of(&session, task, ask_seconds)?;
        bar.set_message(round.in_short());
        rounds.push(round);
        bar.inc(1);
    }
    bar.finish_and_clear();

    let report = Report::new(&session, task, spec.to_string(), &rounds)?;
    let mut out = crate::terminal::out();
    if arguments.print.json {
        writeln!(out, "{}", report.json()?)?;
    } else {
        writeln!(out, "{}", report.text(task)?)?;
    }
    Ok(())
}

/// Asks for `count` points, evaluates and tells them. Returns how long the asking took, in seconds.
fn evaluate(session: &mut Session, task: &dyn Task, count: usize, seed: u64) -> Result<f64> {
    let before = Instant::now();
    let trials = session.ask(count)?;
    let seconds = before.elapsed().as_secs_f64();
    for trial in trials {
        let x = coordinates(&trial.configuration, task)?;
        let measured = task.observe(&x, seed, trial.id);
        let told = |values: Vec<f64>| values.into_iter().map(Into::into).collect();
        let measurement = Measurement {
            objectives: told(measured.objectives),
            constraints: told(measured.constraints),
            fidelity: None,
        };
        session.tell(trial.id, measurement)?;
    }
    Ok(seconds)
}

/// The goal of a task: all objectives are minimised.
fn goal(task: &dyn Task) -> Result<Goal> {
    let mut goal = Goal::new(task.objectives().into_iter().map(Objective::minimise))?;
    for constraint in task.constraints() {
        let bound = constraint.bound.map(Bound::AtMost, Bound::AtLeast);
        goal = goal.limit(constraint.name, bound)?;
    }
    Ok(goal)
}

fn space(task: &dyn Task) -> Result<SearchSpace> {
    Ok(SearchSpace::new(task.variables().iter().map(dimension))?)
}

/// A variable in steps is a whole number of them.
fn dimension(variable: &Variable) -> Dimension {
    match variable.steps() {
        None => Dimension::real(variable.name.as_ref(), variable.low, variable.high),
        Some((first, last)) => Dimension::integer(variable.name.as_ref(), first, last),
    }
}

/// The values of a task's variables.
fn coordinates(configuration: &Configuration, task: &dyn Task) -> Result<Vec<f64>> {
    let coordinate = |variable: &Variable| {
        let value = configuration.get(&variable.name).and_then(Value::as_real);
        let value = value.with_context(|| format!("{} is no number", variable.name))?;
        Ok(variable.value(value))
    };
    task.variables().iter().map(coordinate).collect()
}
