//! What `wimble minimize` reports: of one objective its regret, under constraints the best trial that meets them, of
//! several objectives the front and its share of the hypervolume of the known front.

use anyhow::Result;
use comfy_table::CellAlignment;
use serde::Serialize;
use wimble::outcome::Measurement;
use wimble::pareto;
use wimble::points::Points;
use wimble::seed::Seed;
use wimble::session::{Best, Session, Trial};
use wimble_problems::{Answer, KnownFront, Task};

use super::coordinates;
use crate::front::spread;
use crate::progress::short;
use crate::{plot, table};

/// More columns than this do not fit a terminal of 80.
const COLUMNS: usize = 5;
/// How many trials are shown.
const SHOWN: usize = 5;
/// How many of a front.
const SHOWN_OF_FRONT: usize = 12;

/// How far the search is after a batch.
pub struct Round {
    ask_seconds: f64,
    /// One objective: of the best that meets all constraints.
    best: Option<f64>,
    regret: Option<f64>,
    /// Several objectives: of the front, with ideal and nadir of the known front scaled to 0 and 1.
    hypervolume: Option<f64>,
    share: Option<f64>,
}

impl Round {
    /// After the trials so far.
    pub fn of(session: &Session, task: &dyn Task, ask_seconds: f64) -> Result<Self> {
        let mut round =
            Self { ask_seconds, best: None, regret: None, hypervolume: None, share: None };
        match task.answer() {
            Answer::Minimum { value: minimum, .. } => {
                if let Some(best) = session.best().filter(|best| !best.violating) {
                    // The regret is of the function itself, also where observations are noisy.
                    let x = coordinates(&best.configuration, task)?;
                    round.best = Some(best.value);
                    round.regret = Some(task.measure(&x).objectives[0] - minimum);
                }
            }
            Answer::Front(known) => {
                let volume = scaled_hypervolume(session, &known)?;
                round.hypervolume = Some(volume);
                round.share = Some(volume / known.hypervolume);
            }
        }
        Ok(round)
    }

    /// For the progress bar.
    pub fn in_short(&self) -> String {
        match (self.best, self.share) {
            (Some(best), _) => format!("best {best:.6}"),
            (None, Some(share)) => format!("{:.1} % of the hypervolume", 100.0 * share),
            (None, None) => "none meets all constraints yet".to_owned(),
        }
    }
}

/// The hypervolume of the front on the scale of the known one.
fn scaled_hypervolume(session: &Session, known: &KnownFront) -> Result<f64> {
    let front = session.front()?;
    let rows = front.trials.iter().map(|(_, told)| {
        let values: Vec<f64> = told.objectives.iter().map(|m| m.value).collect();
        known.scaled(&values)
    });
    let rows = Points::from_rows(known.ideal.len(), rows);
    let reference = vec![KnownFront::REFERENCE; known.ideal.len()];
    let rng = &mut Seed(0).stream("hypervolume of a known front", 0);
    Ok(pareto::hypervolume(&rows, &reference, rng)?.value)
}

/// What `--json` prints; what does not apply to the problem is absent.
#[derive(Serialize)]
pub struct Report {
    problem: String,
    method: String,
    seed: u64,
    evaluations: u64,
    #[serde(flatten)]
    result: Outcome,
    ask_seconds_by_round: Vec<f64>,
    #[serde(skip)]
    leaders: Vec<Best>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome {
    Single {
        best_value: f64,
        best_point: Vec<f64>,
        simple_regret: f64,
        regret_by_round: Vec<f64>,
    },
    Constrained {
        /// The lowest value that meets all constraints; null if none does.
        best_feasible: Option<f64>,
        best_point: Option<Vec<f64>>,
        simple_regret: Option<f64>,
        feasible_trials: u64,
        best_feasible_by_round: Vec<Option<f64>>,
    },
    Several {
        front: Vec<FrontPoint>,
        hypervolume: f64,
        hypervolume_share: f64,
        feasible_trials: u64,
        hypervolume_share_by_round: Vec<f64>,
    },
}

#[derive(Serialize)]
struct FrontPoint {
    trial: u64,
    objectives: Vec<f64>,
    point: Vec<f64>,
}

impl Report {
    /// After the last round.
    pub fn new(
        session: &Session,
        task: &dyn Task,
        method: String,
        rounds: &[Round],
    ) -> Result<Self> {
        let feasible_trials = session.standing().meeting();
        let result = if task.objectives().len() > 1 {
            let point = |(trial, told): (Trial, Measurement)| -> Result<FrontPoint> {
                Ok(FrontPoint {
                    trial: trial.id,
                    objectives: told.objectives.iter().map(|m| m.value).collect(),
                    point: coordinates(&trial.configuration, task)?,
                })
            };
            let last = rounds.last();
            Outcome::Several {
                front: session.front()?.trials.into_iter().map(point).collect::<Result<_>>()?,
                hypervolume: last.and_then(|round| round.hypervolume).unwrap_or(0.0),
                hypervolume_share: last.and_then(|round| round.share).unwrap_or(0.0),
                feasible_trials,
                hypervolume_share_by_round: rounds.iter().filter_map(|round| round.share).collect(),
            }
        } else if task.constraints().is_empty() {
            let Some(best) = session.best() else { anyhow::bail!("no evaluation gave a value") };
            let regret_by_round: Vec<f64> =
                rounds.iter().filter_map(|round| round.regret).collect();
            Outcome::Single {
                best_value: best.value,
                best_point: coordinates(&best.configuration, task)?,
                simple_regret: regret_by_round.last().copied().unwrap_or(f64::INFINITY),
                regret_by_round,
            }
        } else {
            let best = session.best().filter(|best| !best.violating);
            let point = best.as_ref().map(|best| coordinates(&best.configuration, task));
            Outcome::Constrained {
                best_feasible: best.map(|best| best.value),
                best_point: point.transpose()?,
                simple_regret: rounds.last().and_then(|round| round.regret),
                feasible_trials,
                best_feasible_by_round: rounds.iter().map(|round| round.best).collect(),
            }
        };
        Ok(Self {
            problem: task.name(),
            method,
            seed: session.seed().0,
            evaluations: session.issued(),
            result,
            ask_seconds_by_round: rounds.iter().map(|round| round.ask_seconds).collect(),
            leaders: session.leaders().take(SHOWN).collect(),
        })
    }

    /// As JSON.
    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string(self)?)
    }

    /// For a terminal.
    pub fn text(&self, task: &dyn Task) -> Result<String> {
        let (shown, said) = match &self.result {
            Outcome::Several { front, hypervolume_share, .. } => {
                (front_text(front, task), self.of_front(*hypervolume_share, front.len()))
            }
            Outcome::Single { simple_regret, .. } => {
                let minimum = minimum(task);
                let known = format!("The known minimum is {minimum}.");
                let regret = format!("simple regret {simple_regret:.2e}");
                (self.leaders_text(task)?, (regret, known))
            }
            Outcome::Constrained { simple_regret, feasible_trials, .. } => {
                let known =
                    format!("The known optimum under the constraints is {}.", minimum(task));
                let regret = match simple_regret {
                    Some(regret) => format!("{regret:.2e} above the optimum"),
                    None => "no trial meets all constraints".to_owned(),
                };
                let met = format!("{regret}, {feasible_trials} trials that meet all constraints,");
                (self.leaders_text(task)?, (met, known))
            }
        };
        let mut seconds = self.ask_seconds_by_round.clone();
        seconds.sort_by(f64::total_cmp);
        Ok(format!(
            "{shown}\n\n{}, {} (seed {}): {} after {} evaluations; median ask {:.1} ms.\n{}",
            task.title(),
            self.method,
            self.seed,
            said.0,
            self.evaluations,
            1e3 * seconds[seconds.len() / 2],
            said.1,
        ))
    }

    fn of_front(&self, share: f64, size: usize) -> (String, String) {
        let share = format!("{:.2} % of the hypervolume of the known front", 100.0 * share);
        let shown = match size > SHOWN_OF_FRONT {
            true => format!("; the table has {SHOWN_OF_FRONT} of them, spread over it"),
            false => String::new(),
        };
        (share, format!("{size} trials are on the front{shown}."))
    }

    /// The best trials that meet all constraints.
    fn leaders_text(&self, task: &dyn Task) -> Result<String> {
        let variables = task.variables();
        let shown = variables.len().min(COLUMNS);
        let mut header = vec!["trial".to_owned(), "value".to_owned(), "regret".to_owned()];
        header.extend(variables.iter().take(shown).map(|variable| variable.name.to_string()));
        if shown < variables.len() {
            header.push("…".to_owned());
        }
        let mut table = table::plain(header);
        for best in &self.leaders {
            let mut row = vec![
                best.trial.to_string(),
                format!("{:.6}", best.value),
                format!("{:.1e}", best.value - minimum(task)),
            ];
            let x = coordinates(&best.configuration, task)?;
            row.extend(x.iter().take(shown).map(|x| format!("{x:.4}")));
            table.add_row(row);
        }
        for column in table.column_iter_mut() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        Ok(table.to_string())
    }
}

/// The least value, where it is known.
fn minimum(task: &dyn Task) -> f64 {
    match task.answer() {
        Answer::Minimum { value, .. } => value,
        Answer::Front(_) => f64::NAN,
    }
}

/// The front as a table and, of two objectives, as a plot.
fn front_text(front: &[FrontPoint], task: &dyn Task) -> String {
    let shown: Vec<&FrontPoint> =
        spread(front.len(), SHOWN_OF_FRONT).into_iter().map(|place| &front[place]).collect();
    let column = |title: &str, cell: &dyn Fn(&FrontPoint) -> String| -> Vec<String> {
        std::iter::once(title.to_owned()).chain(shown.iter().map(|point| cell(point))).collect()
    };
    let (objectives, variables) = (task.objectives(), task.variables());
    let mut columns = vec![column("trial", &|point| point.trial.to_string())];
    columns.extend(
        objectives.iter().enumerate().map(|(k, name)| column(name, &|p| short(p.objectives[k]))),
    );
    let variables = variables.iter().enumerate();
    let variables = variables.map(|(k, variable)| column(&variable.name, &|p| short(p.point[k])));
    let table = table::fitted(columns, variables, None).text;
    match &objectives[..] {
        [first, second] if front.len() > 1 => {
            let points: Vec<Vec<f64>> =
                front.iter().map(|point| point.objectives.clone()).collect();
            format!("{table}\n{}", plot::scatter(&points, [first, second]).trim_end())
        }
        _ => table.trim_end().to_owned(),
    }
}
