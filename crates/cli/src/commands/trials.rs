//! `wimble trials`: the trials of a study, filtered and sorted.

use std::io::Write as _;

use anyhow::Result;
use clap::{Args, ValueEnum};
use wimble_study::exchange::Row;
use wimble_study::store::OutcomeKind;
use wimble_study::{Filter, Stage, Study, Trial};

use crate::storage::Which;
use crate::table;

/// Arguments of `wimble trials`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Show only trials in this state
    #[arg(long)]
    state: Option<StateName>,
    /// Show only trials that this worker runs or finished
    #[arg(long)]
    worker: Option<String>,
    /// Show at most this many trials
    #[arg(long)]
    limit: Option<usize>,
    /// The order: number, value (best first) or time (latest first)
    #[arg(long, default_value = "number")]
    sort: Order,
    /// Reverse the order
    #[arg(long)]
    reverse: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateName {
    Queued,
    Running,
    Complete,
    Failed,
    Infeasible,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    Number,
    Value,
    Time,
}

/// Prints the trials.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.open()?;
    let trials = select(arguments, &study)?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        for trial in &trials {
            writeln!(out, "{}", serde_json::to_string(&Row::new(trial))?)?;
        }
        return Ok(());
    }
    write!(out, "{}", table::trials(&study.settings().space, &trials))?;
    let all = study.counts()?.total();
    if (trials.len() as u64) < all {
        writeln!(out, "\n{} of {all} trials", trials.len())?;
    }
    Ok(())
}

fn select(arguments: &Arguments, study: &Study) -> Result<Vec<Trial>> {
    let (stage, outcome) = match arguments.state {
        None => (None, None),
        Some(StateName::Queued) => (Some(Stage::Queued), None),
        Some(StateName::Running) => (Some(Stage::Running), None),
        Some(StateName::Complete) => (Some(Stage::Finished), Some(OutcomeKind::Value)),
        Some(StateName::Failed) => (Some(Stage::Finished), Some(OutcomeKind::Failed)),
        Some(StateName::Infeasible) => (Some(Stage::Finished), Some(OutcomeKind::Infeasible)),
    };
    let plain = arguments.worker.is_none() && !arguments.reverse;
    // The store keeps the best in order: no need to read a million trials for ten.
    if let (Order::Value, true, None | Some(StateName::Complete), Some(limit)) =
        (arguments.sort, plain, arguments.state, arguments.limit)
    {
        let best = study.best_trials(limit)?;
        if best.len() == limit || arguments.state.is_some() {
            return Ok(best);
        }
    }
    let in_order = arguments.sort == Order::Number && !arguments.reverse;
    let filter = Filter {
        stage,
        outcome,
        worker: arguments.worker.clone(),
        limit: arguments.limit.filter(|_| in_order),
        ..Filter::default()
    };
    let mut trials = study.trials(&filter)?;
    match arguments.sort {
        Order::Number => {}
        Order::Value => trials.sort_by(|a, b| rank(study, a).total_cmp(&rank(study, b))),
        Order::Time => {
            trials.sort_by_key(|trial| std::cmp::Reverse(trial.finished().or(trial.started())));
        }
    }
    if arguments.reverse {
        trials.reverse();
    }
    trials.truncate(arguments.limit.unwrap_or(usize::MAX));
    Ok(trials)
}

/// Low for good trials; those without a value come last.
fn rank(study: &Study, trial: &Trial) -> f64 {
    let value = trial.outcome().and_then(wimble_study::Outcome::value);
    value.map_or(f64::INFINITY, |value| study.settings().goal.first_direction().turn(value))
}
