//! `wimble minimize`: a method on a built-in problem, with its regret and the time it takes to ask.

use std::io::Write as _;
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::Args;
use comfy_table::CellAlignment;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use wimble::goal::Direction;
use wimble::ledger::Best;
use wimble::outcome::Outcome;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};
use wimble_problems::Problem;

use crate::method::Method;
use crate::table;

/// Arguments of `wimble minimize`.
#[derive(Args)]
pub struct Arguments {
    /// The problem, as listed by `wimble problems`: branin, hartmann6, rosenbrock-4, …
    problem: String,
    #[command(flatten)]
    method: Method,
    /// Number of points in a batch
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch_size: u32,
    /// Number of batches, after the initial points of a method that has them
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The seed: the same seed gives the same run
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    problem: String,
    method: String,
    seed: u64,
    evaluations: u64,
    best_value: f64,
    best_point: Vec<f64>,
    simple_regret: f64,
    regret_by_round: Vec<f64>,
    ask_seconds_by_round: Vec<f64>,
}

/// Runs the method and reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    let problem = wimble_problems::problem(&arguments.problem)?;
    let batch_size = arguments.batch_size as usize;
    let spec = arguments.method.spec()?;
    let strategy = spec.build(batch_size)?;
    let mut session = Session::new(
        space(problem.as_ref())?,
        strategy,
        Direction::Minimise,
        Seed(arguments.seed),
    )?;

    let bar = ProgressBar::with_draw_target(
        Some(u64::from(arguments.rounds)),
        ProgressDrawTarget::stderr(),
    );
    bar.set_style(ProgressStyle::with_template(
        "{bar:30} round {pos}/{len}  best {msg}  {eta} left",
    )?);
    if spec.initial() > 0 {
        evaluate(&mut session, problem.as_ref(), spec.initial(), arguments.seed)?;
    }
    let (mut regret_by_round, mut ask_seconds_by_round) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds {
        let seconds = evaluate(&mut session, problem.as_ref(), batch_size, arguments.seed)?;
        ask_seconds_by_round.push(seconds);
        if let Some(best) = session.best() {
            // The regret is of the function itself, also where observations are noisy.
            let x = coordinates(&best.configuration, problem.dim())?;
            regret_by_round.push(problem.evaluate(&x) - problem.minimum());
            bar.set_message(format!("{:.6}", best.value));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();

    let leaders: Vec<Best> = session.leaders().collect();
    let Some(best) = leaders.first() else { anyhow::bail!("no evaluation gave a value") };
    let report = Report {
        problem: problem.name(),
        method: spec.to_string(),
        seed: arguments.seed,
        evaluations: session.issued(),
        best_value: best.value,
        best_point: coordinates(&best.configuration, problem.dim())?,
        simple_regret: regret_by_round.last().copied().unwrap_or(f64::INFINITY),
        regret_by_round,
        ask_seconds_by_round,
    };
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    } else {
        writeln!(out, "{}", describe(&report, problem.as_ref(), &leaders)?)?;
    }
    Ok(())
}

/// Asks for `count` points, evaluates and tells them. Returns how long the asking took, in seconds.
fn evaluate(session: &mut Session, problem: &dyn Problem, count: usize, seed: u64) -> Result<f64> {
    let before = Instant::now();
    let trials = session.ask(count)?;
    let seconds = before.elapsed().as_secs_f64();
    for trial in trials {
        let x = coordinates(&trial.configuration, problem.dim())?;
        let value = problem.observe(&x, seed, trial.id);
        session.tell(trial.id, Outcome::from(value))?;
    }
    Ok(seconds)
}

fn space(problem: &dyn Problem) -> Result<SearchSpace> {
    let dimensions = problem.domain().iter().enumerate();
    Ok(SearchSpace::new(
        dimensions.map(|(k, &(low, high))| Dimension::real(coordinate_name(k), low, high)),
    )?)
}

fn coordinate_name(k: usize) -> String {
    format!("x{}", k + 1)
}

fn coordinates(configuration: &Configuration, dim: usize) -> Result<Vec<f64>> {
    let coordinate = |k| {
        let value = configuration.get(&coordinate_name(k)).and_then(Value::as_real);
        value.with_context(|| format!("{} is no number", coordinate_name(k)))
    };
    (0..dim).map(coordinate).collect()
}

/// More columns than this do not fit a terminal of 80.
const COLUMNS: usize = 5;

fn describe(report: &Report, problem: &dyn Problem, leaders: &[Best]) -> Result<String> {
    let shown = problem.dim().min(COLUMNS);
    let mut header = vec!["trial".to_owned(), "value".to_owned(), "regret".to_owned()];
    header.extend((0..shown).map(coordinate_name));
    if shown < problem.dim() {
        header.push("…".to_owned());
    }
    let mut table = table::plain(header);
    for best in leaders.iter().take(5) {
        let mut row = vec![
            best.trial.to_string(),
            format!("{:.6}", best.value),
            format!("{:.1e}", best.value - problem.minimum()),
        ];
        let x = coordinates(&best.configuration, shown)?;
        row.extend(x.iter().map(|x| format!("{x:.4}")));
        table.add_row(row);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut seconds = report.ask_seconds_by_round.clone();
    seconds.sort_by(f64::total_cmp);
    Ok(format!(
        "{table}\n\n{}, {} (seed {}): simple regret {:.2e} after {} evaluations; \
         median ask {:.1} ms.\nThe known minimum is {}.",
        problem.title(),
        report.method,
        report.seed,
        report.simple_regret,
        report.evaluations,
        1e3 * seconds[seconds.len() / 2],
        problem.minimum(),
    ))
}
