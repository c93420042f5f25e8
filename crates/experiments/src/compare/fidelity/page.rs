//! The page of the comparison on learning curves.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{ARMS, BEST_STOPPED, BUDGETS, SCORE, STARTED, STOPPED};
use crate::data::taskset::{TASKS, TUNING};
use crate::error::{Error, Result};
use crate::record::{Records, Trial};

/// The fewest seeds with which a search is shown.
const FEWEST: usize = 10;
/// Numbers of workers that have a section.
const WORKERS: [usize; 2] = [1, 8];

/// Writes `fidelity.md` into `dir`, from the records there; its path.
pub fn report(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut text = String::from(
        "# Learning curves\n\n\
         TaskSet: 8 text classifiers, 1,000 settings of Adam each, 51 checkpoints a training. A search spends checkpoints. Its score \
         is the lowest validation loss that it has seen, above the lowest of the table, over the distance of the median setting: 0 is \
         the best of the table, 1 an ordinary setting. Means over tasks, then over seeds, ± two standard errors over seeds; lower is better. \
         Searches with fewer than 10 seeds are left out.\n\n\
         Tasks 1 to 4 (",
    );
    let names: Vec<&str> = TASKS.iter().map(|task| task.0).collect();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "{}) were looked at when `auto` was designed; tasks 5 to 8 ({}) are used for this page only. All tasks have the same 1,000 \
         settings, so that they are related: a setting that a search meets early in one task it may meet early in all.\n\n\
         `auto` plans: it pauses trials and continues them. `auto-stopping` is for commands that cannot be continued: `auto` proposes, \
         and the rule `auto` stops. `asha-n` promotes as published, from n checkpoints on; `halving` is its stopping form from 2. \
         `hyperband` and `bohb` (with `tpe`) stop within brackets. `random` carries every training out.\n",
        names[..TUNING].join(", "),
        names[TUNING..].join(", "),
    );
    let mut any = false;
    for workers in WORKERS {
        let records = Records::read(dir, &format!("fidelity-{workers}"))?;
        if records.ended() > 0 {
            any = true;
            section(&mut text, workers, &records);
        }
    }
    if !any {
        return Err(Error::Nothing {
            path: dir.to_owned(),
            missing: "no records of a run that has ended",
            remedy: "run `wimble-lab compare fidelity run` first",
        });
    }
    let path = dir.join("fidelity.md");
    fs::write(&path, text).map_err(Error::file(&path))?;
    Ok(vec![path])
}

/// The searches of an arm, by task.
type Searches<'r> = BTreeMap<usize, Vec<&'r Trial>>;

fn searches<'r>(records: &'r Records, arm: &str) -> Searches<'r> {
    let mut found: Searches<'r> = BTreeMap::new();
    for trial in records.trials.values().filter(|trial| trial.end.is_some()) {
        let task = TASKS.iter().position(|task| task.0 == trial.start.key.problem);
        if let Some(task) = task.filter(|_| trial.start.key.method == arm) {
            found.entry(task).or_default().push(trial);
        }
    }
    found
}

fn at(trial: &Trial, budget: usize, metric: &str) -> Option<f64> {
    let round = trial.rounds.iter().find(|round| round.evaluations == budget)?;
    round.metrics.get(metric).copied()
}

fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The scores of a task after so many checkpoints, by seed.
fn of_task(searches: &Searches<'_>, task: usize, budget: usize) -> BTreeMap<usize, f64> {
    let all = searches.get(&task).into_iter().flatten();
    all.filter_map(|trial| Some((trial.start.key.trial, at(trial, budget, SCORE)?))).collect()
}

/// The means over tasks, by seed; of the seeds that every task has.
fn of_tasks(searches: &Searches<'_>, tasks: Range<usize>, budget: usize) -> BTreeMap<usize, f64> {
    let all: Vec<BTreeMap<usize, f64>> =
        tasks.map(|task| of_task(searches, task, budget)).collect();
    let Some(first) = all.first() else { return BTreeMap::new() };
    let of_seed = |seed: &usize| -> Option<f64> {
        let scores: Option<Vec<f64>> = all.iter().map(|task| task.get(seed).copied()).collect();
        mean(scores?)
    };
    first.keys().filter_map(|seed| Some((*seed, of_seed(seed)?))).collect()
}

/// A mean, and two standard errors.
fn spread(values: &[f64]) -> Option<(f64, f64)> {
    let (mean, n) = (mean(values.iter().copied())?, values.len() as f64);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, 2.0 * (squares / (n - 1.0).max(1.0) / n).sqrt()))
}

/// `0.178 ± 0.040` for each budget; `None` unless there are enough seeds.
fn cells(by_seed: impl Fn(usize) -> BTreeMap<usize, f64>) -> Option<String> {
    let cells: Option<Vec<String>> = BUDGETS
        .iter()
        .map(|budget| {
            let values: Vec<f64> = by_seed(*budget).into_values().collect();
            let (mean, error) = spread(&values).filter(|_| values.len() >= FEWEST)?;
            Some(format!("{mean:.3} ± {error:.3}"))
        })
        .collect();
    Some(cells?.join(" | "))
}

fn section(text: &mut String, workers: usize, records: &Records) {
    let worker = if workers == 1 { "worker" } else { "workers" };
    let _ = write!(text, "\n## {workers} {worker}\n");
    let budgets = BUDGETS.map(|budget| budget.to_string()).join(" | ");
    let rules = "---|".repeat(BUDGETS.len());
    for (title, tasks) in [
        ("All tasks", 0..TASKS.len()),
        ("Tuning tasks", 0..TUNING),
        ("Report tasks", TUNING..TASKS.len()),
    ] {
        let mut rows = String::new();
        for arm in ARMS {
            let searches = searches(records, arm.name);
            let Some(cells) = cells(|budget| of_tasks(&searches, tasks.clone(), budget)) else {
                continue;
            };
            let seeds = of_tasks(&searches, tasks.clone(), BUDGETS[0]).len();
            let _ = writeln!(rows, "| {} | {seeds} | {cells} |", arm.name);
        }
        if !rows.is_empty() {
            let _ =
                write!(text, "\n### {title}\n\n| | seeds | {budgets} |\n|---|---|{rules}\n{rows}");
        }
    }
    for (task, (name, _)) in TASKS.iter().enumerate() {
        let mut rows = String::new();
        for arm in ARMS {
            let searches = searches(records, arm.name);
            if let Some(cells) = cells(|budget| of_task(&searches, task, budget)) {
                let _ = writeln!(rows, "| {} | {cells} |", arm.name);
            }
        }
        if !rows.is_empty() {
            let note = if task < TUNING { "tuning" } else { "report" };
            let _ = write!(text, "\n### {name} ({note})\n\n| | {budgets} |\n|---|{rules}\n{rows}");
        }
    }
    against(text, records);
    stopped(text, records);
}

/// `auto` against the best published rule, and every rule against full trainings, task by task.
fn against(text: &mut String, records: &Records) {
    let budgets = BUDGETS.map(|budget| budget.to_string()).join(" | ");
    let rules = "---|".repeat(BUDGETS.len());
    let (auto, asha) = (searches(records, "auto"), searches(records, "asha-2"));
    let mut rows = String::new();
    for (task, (name, _)) in TASKS.iter().enumerate() {
        let difference = |budget: usize| -> BTreeMap<usize, f64> {
            let other = of_task(&asha, task, budget);
            let own = of_task(&auto, task, budget).into_iter();
            own.filter_map(|(seed, score)| Some((seed, score - other.get(&seed)?))).collect()
        };
        if let Some(cells) = cells(difference) {
            let _ = writeln!(rows, "| {name} | {cells} |");
        }
    }
    if !rows.is_empty() {
        let _ = write!(
            text,
            "\n### `auto` less `asha-2`, seed by seed\n\nBelow 0, `auto` is ahead.\n\n| | {budgets} |\n|---|{rules}\n{rows}"
        );
    }
    let full = searches(records, "random");
    let mut rows = String::new();
    for arm in ARMS.iter().filter(|arm| arm.name != "random") {
        let searches = searches(records, arm.name);
        let behind = |budget: usize| -> Option<usize> {
            let mut count = 0;
            for task in 0..TASKS.len() {
                let median = |all: &Searches<'_>| median(of_task(all, task, budget));
                count += usize::from(median(&searches)? > median(&full)?);
            }
            Some(count)
        };
        let counts: Option<Vec<String>> =
            BUDGETS.iter().map(|budget| behind(*budget).map(|count| count.to_string())).collect();
        if let Some(counts) = counts {
            let _ = writeln!(rows, "| {} | {} |", arm.name, counts.join(" | "));
        }
    }
    if !rows.is_empty() {
        let _ = write!(
            text,
            "\n### Tasks on which full trainings are ahead\n\n\
             Of the {} tasks, those whose median over seeds is worse than that of `random` at the same number of checkpoints.\n\n\
             | | {budgets} |\n|---|{rules}\n{rows}",
            TASKS.len()
        );
    }
}

/// The median over seeds, of enough of them.
fn median(by_seed: BTreeMap<usize, f64>) -> Option<f64> {
    let mut values: Vec<f64> = by_seed.into_values().collect();
    values.sort_by(f64::total_cmp);
    let (middle, enough) = (values.len() / 2, values.len() >= FEWEST);
    enough.then(|| match values.len() % 2 {
        1 => values[middle],
        _ => 0.5 * (values[middle - 1] + values[middle]),
    })
}

/// How often the best trial was stopped, at the end of each search.
fn stopped(text: &mut String, records: &Records) {
    let mut rows = String::new();
    for arm in ARMS {
        let all = searches(records, arm.name);
        let last = |trial: &&&Trial, metric: &str| {
            trial.rounds.last().and_then(|round| round.metrics.get(metric)).copied()
        };
        let of =
            |metric: &str| mean(all.values().flatten().filter_map(|trial| last(&trial, metric)));
        let (Some(started), Some(stopped), Some(wrong)) =
            (of(STARTED), of(STOPPED), of(BEST_STOPPED))
        else {
            continue;
        };
        if stopped > 0.0 {
            let searches: usize = all.values().map(Vec::len).sum();
            let _ = writeln!(
                rows,
                "| {} | {searches} | {started:.0} | {stopped:.0} | {wrong:.3} |",
                arm.name
            );
        }
    }
    if !rows.is_empty() {
        let _ = write!(
            text,
            "\n### What rules stopped, at the end of the searches\n\n\
             The best is the trial that would have ended best of those begun, by the table.\n\n\
             | | searches | trials begun | stopped | share of searches whose best was stopped |\n|---|---|---|---|---|\n{rows}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{End, Key, Round, Start, Writer};

    fn record(dir: &Path, task: &str, trial: usize, scores: [f64; 5]) {
        let key = Key {
            figure: "fidelity-1".to_owned(),
            problem: task.to_owned(),
            method: "random".to_owned(),
            trial,
        };
        let start = Start { key, seed: 0, rounds: 5, settings: String::new() };
        let mut writer = Writer::begin(dir, start).unwrap();
        for (i, (score, budget)) in scores.into_iter().zip(BUDGETS).enumerate() {
            let metrics = BTreeMap::from([(SCORE.to_owned(), score)]);
            writer.round(Round { round: i + 1, evaluations: budget, metrics }).unwrap();
        }
        writer.end(End::Finished).unwrap();
    }

    #[test]
    fn the_page_has_means_over_seeds_then_tasks_and_nothing_where_a_task_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let nothing = report(dir.path()).unwrap_err().to_string();
        assert!(nothing.contains("compare fidelity run"), "{nothing}");
        for (place, (task, _)) in TASKS.iter().take(TUNING).enumerate() {
            for seed in 0..10 {
                let first = if place == 0 && seed < 5 { 0.5 } else { 1.0 };
                record(dir.path(), task, seed, [first, 0.5, 0.25, 0.1, 0.0]);
            }
        }
        // Nine seeds of another task are too few.
        (0..9).for_each(|seed| record(dir.path(), TASKS[TUNING].0, seed, [0.0; 5]));
        let paths = report(dir.path()).unwrap();
        let text = fs::read_to_string(&paths[0]).unwrap();
        assert!(text.contains("### Tuning tasks") && !text.contains("### Report tasks"), "{text}");
        // Five seeds of (0.5 + 3)/4 and five of 1: a variance of 0.0625²·10/9.
        assert!(text.contains("| random | 10 | 0.938 ± 0.042 | 0.500 ± 0.000 |"), "{text}");
        assert!(text.contains("| random | 0.750 ± 0.167 | 0.500 ± 0.000 |"), "{text}");
        assert!(!text.contains("(report)"), "{text}");
    }
}
