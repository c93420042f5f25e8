//! `wimble trials`: the trials of a study, filtered and sorted.

use std::collections::BTreeSet;
use std::io::Write as _;

use anyhow::Result;
use clap::{Args, ValueEnum};
use wimble::goal::Goal;
use wimble::internals::nearest;
use wimble::space::{Kind, Value};
use wimble_study::exchange::{Row, row};
use wimble_study::store::OutcomeKind;
use wimble_study::view::filter::Sieve;
use wimble_study::{Attributes, Filter, Outcome, Settings, Stage, Study, Trial};

use crate::columns::Columns;
use crate::exit::usage;
use crate::storage::Which;
use crate::table;

/// The rows of a table.
const BLOCK: usize = 2_000;

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
    /// Show only trials that this holds for, such as "rate < 0.01 and optimiser = sgd". Columns are trial, state, worker,
    /// origin, lost, seconds, objectives, constraints and parameters; `~` finds a part of a text
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// Show these columns of the table, such as trial,value,rate: trial, state, value, worker, origin, attempts, seconds,
    /// started, finished, objectives, constraints, parameters and attributes
    #[arg(long, value_name = "NAMES", conflicts_with = "json")]
    columns: Option<String>,
    /// Show at most this many trials
    #[arg(long)]
    limit: Option<usize>,
    /// The order: number, time (latest first), value (best first), the name of an objective or of a constraint (best
    /// first), or that of a parameter (lowest first). Violating trials come after those that meet all constraints
    #[arg(long, default_value = "number", value_name = "number|time|value|NAME")]
    sort: String,
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
    /// It has its values, and they meet all constraints
    Complete,
    /// It has its values, and misses a constraint
    Violating,
    /// Its evaluation ended before the highest fidelity
    Stopped,
    /// It was evaluated in part, and may be continued
    Paused,
    Failed,
    Infeasible,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Number,
    Time,
    /// By an objective, from 0.
    Objective(usize),
    /// By a constraint, from 0.
    Constraint(usize),
    /// By a parameter, from 0.
    Parameter(usize),
}

impl Order {
    /// The order of this name in a study.
    fn of(name: &str, settings: &Settings) -> Result<Self> {
        let goal = &settings.goal;
        let parameters = || settings.space.parameters().map(|parameter| parameter.name);
        let objectives = || goal.objectives().iter().map(|objective| objective.name.as_str());
        let constraints = || goal.constraints().iter().map(|constraint| constraint.name.as_str());
        let place =
            |mut names: Box<dyn Iterator<Item = &str> + '_>| names.position(|known| known == name);
        Ok(match (name, goal.objectives().len()) {
            ("number", _) => Self::Number,
            ("time", _) => Self::Time,
            ("value", 1) => Self::Objective(0),
            _ => match (place(Box::new(objectives())), place(Box::new(constraints()))) {
                (Some(objective), _) => Self::Objective(objective),
                (None, Some(constraint)) => Self::Constraint(constraint),
                (None, None) => {
                    if let Some(parameter) = parameters().position(|known| known == name) {
                        return Ok(Self::Parameter(parameter));
                    }
                    let value = Some("value").filter(|_| goal.objectives().len() == 1);
                    let mut known: Vec<&str> =
                        ["number", "time"].into_iter().chain(value).collect();
                    known.extend(
                        objectives().filter(|name| !known.contains(name)).collect::<Vec<_>>(),
                    );
                    known.extend(goal.other_quantities());
                    known.extend(parameters());
                    let near = nearest(name, known.iter().copied())
                        .map_or_else(String::new, |near| format!("; the nearest is `{near}`"));
                    let known = known.join(", ");
                    let message = format!("--sort is {name:?}, but must be one of {known}{near}");
                    return Err(usage(message));
                }
            },
        })
    }
}

/// Prints the trials.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.look()?;
    let goal = &study.settings().goal;
    let order = Order::of(&arguments.sort, study.settings())?;
    let limit = arguments.limit.unwrap_or(usize::MAX);
    let mut trials = match &arguments.condition {
        None => select(arguments, arguments.limit, order, &study)?,
        Some(condition) => {
            let record = study.store().study(&study.settings().name)?;
            let mut sieve = Sieve::parse(condition, record)
                .map_err(|mistake| usage(format!("--where: {mistake}")))?;
            let is_met = move |trial: &wimble_study::Result<Trial>| match trial {
                Ok(trial) => sieve.lets_through(trial),
                Err(_) => true,
            };
            Box::new(select(arguments, None, order, &study)?.filter(is_met))
        }
    };
    let mut out = crate::terminal::out();
    if arguments.json {
        for trial in trials.take(limit) {
            writeln!(out, "{}", serde_json::to_string(&Row::new(&trial?, goal))?)?;
        }
        return Ok(());
    }
    // A table knows all of its rows, to know how wide they are: a long list is several.
    let mut shown = 0;
    let mut hidden: Vec<String> = Vec::new();
    loop {
        let block: Vec<Trial> =
            trials.by_ref().take(BLOCK.min(limit - shown)).collect::<Result<_, _>>()?;
        if block.is_empty() && shown > 0 {
            break;
        }
        match &arguments.columns {
            None => {
                let fitted = table::trials(study.settings(), &block);
                write!(out, "{}", fitted.text)?;
                hidden.extend(
                    fitted
                        .hidden
                        .into_iter()
                        .filter(|name| !hidden.contains(name))
                        .collect::<Vec<_>>(),
                );
            }
            Some(names) => {
                let columns = Columns::parse(names, study.settings(), &attributes(&block))?;
                let cells = columns.cells(study.settings(), &block);
                write!(out, "{}", table::of_columns(&cells, None))?;
            }
        }
        shown += block.len();
        if block.len() < BLOCK {
            break;
        }
    }
    // Without a condition, trials beyond the limit are not read.
    let mut matching = shown as u64;
    for trial in trials {
        trial?;
        matching += 1;
    }
    let all = study.counts()?.total();
    if shown == 0 {
        let (name, place) = (&study.settings().name, arguments.which.storage.address()?);
        writeln!(out, "\nNo trial of `{name}` in the storage {place} matches; it has {all}")?;
    } else if arguments.condition.is_some() && matching < all {
        writeln!(out, "\n{shown} of {matching} trials that match; the study has {all}")?;
    } else if (shown as u64) < all {
        writeln!(out, "\n{shown} of {all} trials")?;
    }
    if !hidden.is_empty() {
        writeln!(
            out,
            "\nNot shown: {}. --columns shows what you name, `wimble show` and --json all of it",
            hidden.join(", ")
        )?;
    }
    Ok(())
}

/// The names of all attributes of some trials.
fn attributes(trials: &[Trial]) -> Vec<String> {
    let names = trials.iter().filter_map(Trial::attributes).flat_map(Attributes::iter);
    let names: BTreeSet<String> = names.map(|(name, _)| name.to_owned()).collect();
    names.into_iter().collect()
}

/// Trials, one after the other.
type Selected<'s> = Box<dyn Iterator<Item = wimble_study::Result<Trial>> + 's>;

/// The trials to print. In the order of their numbers they are read as they are printed; to sort them takes all of them.
fn select<'s>(
    arguments: &Arguments,
    limit: Option<usize>,
    order: Order,
    study: &'s Study,
) -> Result<Selected<'s>> {
    let goal = &study.settings().goal;
    let (stage, outcome) = match arguments.state {
        None => (None, None),
        Some(StateName::Queued) => (Some(Stage::Queued), None),
        Some(StateName::Running) => (Some(Stage::Running), None),
        Some(StateName::Paused) => (Some(Stage::Paused), None),
        Some(StateName::Complete | StateName::Violating | StateName::Stopped) => {
            (Some(Stage::Finished), Some(OutcomeKind::Value))
        }
        Some(StateName::Failed) => (Some(Stage::Finished), Some(OutcomeKind::Failed)),
        Some(StateName::Infeasible) => (Some(Stage::Finished), Some(OutcomeKind::Infeasible)),
    };
    let plain = arguments.worker.is_none() && !arguments.reverse;
    // The store keeps the best in order: no need to read a million trials for ten.
    if let (Order::Objective(0), true, None | Some(StateName::Complete), Some(limit)) =
        (order, plain && goal.is_single(), arguments.state, limit)
    {
        let best = study.best_trials(limit)?;
        if best.len() == limit || arguments.state.is_some() {
            return Ok(Box::new(best.into_iter().map(Ok)));
        }
    }
    // The storage knows which trials have values, and not which of them are violating or were stopped.
    let state = match arguments.state {
        Some(StateName::Complete) if !goal.is_single() => Some("complete"),
        Some(StateName::Violating) => Some("violating"),
        Some(StateName::Stopped) => Some("stopped"),
        _ => None,
    };
    let in_order = order == Order::Number && !arguments.reverse && state.is_none();
    let filter = Filter {
        stage,
        outcome,
        worker: arguments.worker.clone(),
        limit: limit.filter(|_| in_order),
        ..Filter::default()
    };
    if in_order {
        return Ok(Box::new(study.each_trial(&filter)));
    }
    // Only what orders them is kept: a million trials are a few gigabytes. Each is read again when its turn comes.
    let mut keys = Vec::new();
    for trial in study.each_trial(&filter) {
        let trial = trial?;
        if state.is_none_or(|wanted| row::state(&trial, goal) == wanted) {
            keys.push((key(study.settings(), order, &trial), trial.id));
        }
    }
    keys.sort_by(|((class_a, value_a), _), ((class_b, value_b), _)| {
        class_a.total_cmp(class_b).then(value_a.total_cmp(value_b))
    });
    if arguments.reverse {
        keys.reverse();
    }
    keys.truncate(limit.unwrap_or(usize::MAX));
    Ok(Box::new(keys.into_iter().map(|(_, trial)| study.trial(trial))))
}

/// What orders trials, low first; those that are alike stay in the order of their numbers.
fn key(settings: &Settings, order: Order, trial: &Trial) -> (f64, f64) {
    match order {
        Order::Number => (0.0, 0.0),
        // Milliseconds since 1970 are exact in a float. What has no time yet comes last.
        Order::Time => {
            trial.finished().or(trial.started()).map_or((1.0, 0.0), |at| (0.0, -(at.0 as f64)))
        }
        Order::Objective(_) | Order::Constraint(_) => rank(&settings.goal, order, trial),
        Order::Parameter(place) => {
            settings.space.parameters().nth(place).map_or((1.0, 0.0), |parameter| {
                let value = trial.configuration.get(parameter.name);
                value
                    .and_then(|value| position(parameter.kind, value))
                    .map_or((1.0, 0.0), |at| (0.0, at))
            })
        }
    }
}

/// A value as a number: a choice or a level by its place in the list, as the study file has it.
fn position(kind: &Kind, value: &Value) -> Option<f64> {
    match (kind, value) {
        (Kind::Categorical { choices: all } | Kind::Ordinal { levels: all }, value) => {
            all.iter().position(|one| one == value).map(|place| place as f64)
        }
        (_, Value::Boolean(value)) => Some(f64::from(u8::from(*value))),
        (_, value) => value.as_real(),
    }
}

/// Low for good trials: those that meet all constraints come first, then violating ones, then stopped ones, the furthest first,
/// then those without values.
fn rank(goal: &Goal, order: Order, trial: &Trial) -> (f64, f64) {
    let measurement = trial.outcome().and_then(Outcome::measurement);
    let Some(turned) = measurement.map(|measurement| goal.turn(measurement)) else {
        return (f64::INFINITY, 0.0);
    };
    let measured = match order {
        Order::Constraint(place) => turned.constraints.get(place),
        Order::Objective(place) => turned.objectives.get(place),
        Order::Number | Order::Time | Order::Parameter(_) => None,
    };
    let value = measured.map_or(f64::INFINITY, |measured| measured.value);
    let class = match (turned.fidelity, goal.partial()) {
        // From 2 to 3, by what is left of the evaluation.
        (Some(at), Some(range)) => 3.0 - at / range.high,
        _ => f64::from(u8::from(trial.is_violating(goal))),
    };
    (class, value)
}
