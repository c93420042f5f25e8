//! The page of the comparison on learning curves.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::bench::{lcbench, mnist};
use super::{ARMS, BEST_STOPPED, SCORE, STARTED, STOPPED, Set};
use crate::data::taskset::{TASKS, TUNING};
use crate::error::{Error, Result};
use crate::record::{Records, Trial};

/// The fewest seeds with which a search is shown.
const FEWEST: usize = 10;
/// Numbers of workers that have a section.
const WORKERS: [usize; 2] = [1, 8];
/// Other tools, by the names of `benches/peers/fidelity.py`.
const TOOLS: [&str; 5] = [
    "optuna-tpe-median",
    "optuna-tpe-asha",
    "optuna-tpe-hyperband",
    "syne-tune-asha",
    "syne-tune-bohb",
];

/// Writes `fidelity.md` into `dir`, from the records there; its path.
pub fn report(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut text = String::from(
        "# Learning curves\n\n\
         Searches spend checkpoints or epochs on simulated workers of equal speed. Means over tasks, then over seeds, ± two standard errors over \
         seeds; lower is better. Searches with fewer than 10 seeds are left out.\n\n\
         `auto` plans: it pauses trials and continues them. `auto-stopping` is for commands that cannot be continued: `auto` proposes, and the \
         rule `auto` stops; `auto-halving` stops by successive halving, and `auto-full` carries every training out. `asha-n` promotes as published, \
         from n checkpoints on; `halving` is its stopping form from 2. `hyperband` and `bohb` (with `tpe`) stop within brackets. `random` carries \
         every training out; the rules without a method in their name stop random trials. `optuna-…` and `syne-tune-…` are those tools with their own \
         defaults (`benches/peers/fidelity.py`).\n",
    );
    let mut any = false;
    for set in Set::ALL {
        let mut begun = false;
        let mut of_workers = Vec::new();
        for workers in WORKERS {
            let records = Records::read(dir, &set.figure(workers))?;
            if records.ended() > 0 {
                if !begun {
                    text += &introduction(set);
                    begun = true;
                }
                section(&mut text, set, workers, &records);
            }
            of_workers.push(records);
        }
        more_workers(&mut text, set, &of_workers);
        any |= begun;
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

/// What is searched, and what the score means.
fn introduction(set: Set) -> String {
    let sample = format!(
        "LCBench: a surrogate of networks trained on {} tables of OpenML, at epochs 1 to 52. None of the tasks was looked at when methods were designed.",
        lcbench::TASKS.len()
    );
    match set {
        Set::TaskSet => {
            let names: Vec<&str> = TASKS.iter().map(|task| task.0).collect();
            format!(
                "\n## TaskSet\n\n8 text classifiers, 1,000 settings of Adam each, 51 checkpoints a training. The score of a search is the lowest \
                 validation loss that it has seen, above the lowest of the table, over the distance of the median setting: 0 is the best of the table, 1 \
                 an ordinary setting.\n\n\
                 Tasks 1 to 4 ({}) were looked at when `auto` was designed; tasks 5 to 8 ({}) are used for this page only. All tasks have the same 1,000 \
                 settings, so that they are related: a setting that a search meets early in one task it may meet early in all.\n",
                names[..TUNING].join(", "),
                names[TUNING..].join(", "),
            )
        }
        Set::Lcbench => format!(
            "\n## LCBench, validation error\n\n{sample} The score is the lowest validation error seen, scaled by {} random settings that were trained to \
             the end: 0 is the best of them, 1 their median. A search may find a better one: its score is then below 0.\n",
            lcbench::SAMPLE
        ),
        Set::LcbenchPair => format!(
            "\n## LCBench, validation error and seconds of training\n\n{sample} The score is the share of the hypervolume that is missing: 1 less \
             that of the trainings which came to the end over that of {} random settings. The lowest error and time of these are scaled to 0, their \
             medians to 1, where the hypervolume ends. Rules compare by non-domination at equal fidelity. A search may find more than these settings: its \
             score is then below 0.\n",
            lcbench::SAMPLE
        ),
        Set::Mnist => format!(
            "\n## MNIST\n\nNetworks that this project's trainer trains as the search goes on: 2,000 images, 1,000 others for validation, {} epochs a \
             training, six hyper-parameters. The score is the lowest validation error seen. This task was not looked at when methods were designed.\n",
            mnist::EPOCHS
        ),
    }
}

/// The searches of an arm, by task.
type Searches<'r> = BTreeMap<usize, Vec<&'r Trial>>;

fn searches<'r>(records: &'r Records, set: Set, arm: &str) -> Searches<'r> {
    let tasks = set.tasks();
    let mut found: Searches<'r> = BTreeMap::new();
    for trial in records.trials.values().filter(|trial| trial.end.is_some()) {
        let task = tasks.iter().position(|task| **task == trial.start.key.problem);
        if let Some(task) = task.filter(|_| trial.start.key.method == arm) {
            found.entry(task).or_default().push(trial);
        }
    }
    found
}

/// All that may have records: our arms, then other tools.
fn names() -> impl Iterator<Item = &'static str> {
    ARMS.iter().map(|arm| arm.name).chain(TOOLS)
}

fn at(trial: &Trial, budget: usize, metric: &str) -> Option<f64> {
    let round = trial.rounds.iter().find(|round| round.evaluations == budget)?;
    round.metrics.get(metric).copied()
}

fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The scores of a task after so many units, by seed.
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
fn cells(set: Set, by_seed: impl Fn(usize) -> BTreeMap<usize, f64>) -> Option<String> {
    let cells: Option<Vec<String>> = set
        .budgets()
        .iter()
        .map(|budget| {
            let values: Vec<f64> = by_seed(*budget).into_values().collect();
            let (mean, error) = spread(&values).filter(|_| values.len() >= FEWEST)?;
            Some(format!("{mean:.3} ± {error:.3}"))
        })
        .collect();
    Some(cells?.join(" | "))
}

/// Scores of one search less those of another, seed by seed.
fn difference(own: BTreeMap<usize, f64>, other: &BTreeMap<usize, f64>) -> BTreeMap<usize, f64> {
    own.into_iter().filter_map(|(seed, score)| Some((seed, score - other.get(&seed)?))).collect()
}

/// A table with a column for each budget, if it has rows.
fn table(text: &mut String, set: Set, title: &str, note: &str, more: &str, rows: &str) {
    if rows.is_empty() {
        return;
    }
    let budgets: Vec<String> = set.budgets().iter().map(ToString::to_string).collect();
    let rules = "---|".repeat(set.budgets().len() + more.matches('|').count() + 1);
    let note = if note.is_empty() { String::new() } else { format!("{note}\n\n") };
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n#### {title}\n\n{note}| |{more} {} |\n|{rules}\n{rows}",
        budgets.join(" | ")
    );
}

fn section(text: &mut String, set: Set, workers: usize, records: &Records) {
    let worker = if workers == 1 { "worker" } else { "workers" };
    let (tasks, tuning) = (set.tasks(), set.tuning());
    let _ = write!(text, "\n### {}, {workers} {worker}\n", set.name());
    let mut groups = vec![(format!("All tasks, after so many {}", set.unit()), 0..tasks.len())];
    if tuning > 0 {
        groups.push(("Tuning tasks".to_owned(), 0..tuning));
        groups.push(("Report tasks".to_owned(), tuning..tasks.len()));
    }
    for (title, range) in groups {
        let mut rows = String::new();
        for name in names() {
            let searches = searches(records, set, name);
            let scores = |budget| of_tasks(&searches, range.clone(), budget);
            if let Some(cells) = cells(set, scores) {
                let _ = writeln!(rows, "| {name} | {} | {cells} |", scores(set.budgets()[0]).len());
            }
        }
        table(text, set, &title, "", " seeds |", &rows);
    }
    for (task, name) in tasks.iter().enumerate().filter(|_| tasks.len() > 1) {
        let mut rows = String::new();
        for name in names() {
            let searches = searches(records, set, name);
            if let Some(cells) = cells(set, |budget| of_task(&searches, task, budget)) {
                let _ = writeln!(rows, "| {name} | {cells} |");
            }
        }
        let title = match tuning {
            0 => (*name).to_owned(),
            _ if task < tuning => format!("{name} (tuning)"),
            _ => format!("{name} (report)"),
        };
        table(text, set, &title, "", "", &rows);
    }
    against(text, set, records);
    stopped(text, set, records);
}

/// `auto` against the best published rule, and what stops against full trainings, task by task.
fn against(text: &mut String, set: Set, records: &Records) {
    let tasks = set.tasks();
    let (auto, asha) = (searches(records, set, "auto"), searches(records, set, "asha-2"));
    let mut rows = String::new();
    for (task, name) in tasks.iter().enumerate() {
        let of = |all: &Searches<'_>, budget| of_task(all, task, budget);
        if let Some(cells) = cells(set, |budget| difference(of(&auto, budget), &of(&asha, budget)))
        {
            let _ = writeln!(rows, "| {name} | {cells} |");
        }
    }
    table(text, set, "`auto` less `asha-2`, seed by seed", "Below 0, `auto` is ahead.", "", &rows);
    let mut rows = String::new();
    for arm in ARMS {
        let Some(full) = arm.full() else { continue };
        let (own, full) = (searches(records, set, arm.name), searches(records, set, full));
        let behind = |budget: usize| -> Option<String> {
            let mut behind = Vec::new();
            for (task, name) in tasks.iter().enumerate() {
                let median = |all: &Searches<'_>| median(of_task(all, task, budget));
                if median(&own)? > median(&full)? {
                    behind.push(*name);
                }
            }
            Some(if behind.is_empty() { "none".to_owned() } else { behind.join(", ") })
        };
        let counts: Option<Vec<String>> =
            set.budgets().iter().map(|budget| behind(*budget)).collect();
        if let (Some(counts), Some(full)) = (counts, arm.full()) {
            let _ = writeln!(rows, "| {} | {full} | {} |", arm.name, counts.join(" | "));
        }
    }
    let note = format!(
        "The tasks on which the median over seeds is worse than that of the same method without stopping, at the same number of {}.",
        set.unit()
    );
    table(text, set, "Where full trainings are ahead", &note, " without stopping |", &rows);
}

/// What several workers lose at equal compute.
fn more_workers(text: &mut String, set: Set, of_workers: &[Records]) {
    let [one, more] = of_workers else { return };
    let tasks = 0..set.tasks().len();
    let mut rows = String::new();
    for name in names() {
        let (one, more) = (searches(one, set, name), searches(more, set, name));
        let lost = |budget| {
            let of = |all: &Searches<'_>| of_tasks(all, tasks.clone(), budget);
            difference(of(&more), &of(&one))
        };
        if let Some(cells) = cells(set, lost) {
            let _ = writeln!(rows, "| {name} | {cells} |");
        }
    }
    let note = "The mean score over all tasks with 8 workers less that with one, seed by seed, at equal compute.";
    table(text, set, "What 8 workers lose", note, "", &rows);
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

/// What was begun and stopped, and how often the best trial was, at the end of each search.
fn stopped(text: &mut String, set: Set, records: &Records) {
    let mut rows = String::new();
    for name in names() {
        let all = searches(records, set, name);
        if all.values().map(Vec::len).min().unwrap_or(0) < FEWEST {
            continue;
        }
        let last = |trial: &&&Trial, metric: &str| {
            trial.rounds.last().and_then(|round| round.metrics.get(metric)).copied()
        };
        let of =
            |metric: &str| mean(all.values().flatten().filter_map(|trial| last(&trial, metric)));
        let (Some(started), Some(stopped)) = (of(STARTED), of(STOPPED)) else { continue };
        if stopped > 0.0 {
            let searches: usize = all.values().map(Vec::len).sum();
            let wrong = of(BEST_STOPPED).map_or("-".to_owned(), |wrong| format!("{wrong:.3}"));
            let _ =
                writeln!(rows, "| {name} | {searches} | {started:.0} | {stopped:.0} | {wrong} |");
        }
    }
    if !rows.is_empty() {
        let _ = write!(
            text,
            "\n#### What rules stopped, at the end of the searches\n\n\
             The best is the trial that would have ended best of those begun. The rule `auto` promises to stop it in at most 0.05 of the searches.\n\n\
             | | searches | trials begun | stopped | share of searches whose best was stopped |\n|---|---|---|---|---|\n{rows}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{End, Key, Round, Start, Writer};

    fn record(
        dir: &Path,
        task: &str,
        (workers, method): (usize, &str),
        trial: usize,
        scores: [f64; 5],
    ) {
        let key = Key {
            figure: Set::TaskSet.figure(workers),
            problem: task.to_owned(),
            method: method.to_owned(),
            trial,
        };
        let start = Start { key, seed: 0, rounds: 5, settings: String::new() };
        let mut writer = Writer::begin(dir, start).unwrap();
        for (i, (score, budget)) in scores.into_iter().zip(Set::TaskSet.budgets()).enumerate() {
            let metrics = BTreeMap::from([
                (SCORE.to_owned(), score),
                (STARTED.to_owned(), 9.0),
                (STOPPED.to_owned(), if method == "random" { 0.0 } else { 4.0 }),
                (BEST_STOPPED.to_owned(), f64::from(u8::from(trial == 0))),
            ]);
            writer.round(Round { round: i + 1, evaluations: *budget, metrics }).unwrap();
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
                record(dir.path(), task, (1, "random"), seed, [first, 0.5, 0.25, 0.1, 0.0]);
            }
        }
        // Nine seeds of another task are too few.
        (0..9).for_each(|seed| record(dir.path(), TASKS[TUNING].0, (1, "random"), seed, [0.0; 5]));
        let paths = report(dir.path()).unwrap();
        let text = fs::read_to_string(&paths[0]).unwrap();
        assert!(text.contains("### Tuning tasks") && !text.contains("### Report tasks"), "{text}");
        // Five seeds of (0.5 + 3)/4 and five of 1: a variance of 0.0625²·10/9.
        assert!(text.contains("| random | 10 | 0.938 ± 0.042 | 0.500 ± 0.000 |"), "{text}");
        assert!(text.contains("| random | 0.750 ± 0.167 | 0.500 ± 0.000 |"), "{text}");
        assert!(!text.contains("(report)"), "{text}");
    }

    #[test]
    fn rules_stand_against_full_trainings_and_eight_workers_against_one() {
        let dir = tempfile::tempdir().unwrap();
        for (place, (task, _)) in TASKS.iter().enumerate() {
            for seed in 0..10 {
                let full = [1.0, 0.5, 0.5, 0.5, 0.5];
                record(dir.path(), task, (1, "random"), seed, full);
                // Behind on the third task, at the second budget; eight workers lose a tenth at the last.
                let second = if place == 2 { 0.6 } else { 0.5 };
                record(dir.path(), task, (1, "random-auto"), seed, [1.0, second, 0.5, 0.25, 0.0]);
                record(dir.path(), task, (8, "random-auto"), seed, [1.0, second, 0.5, 0.25, 0.1]);
                record(dir.path(), task, (1, "optuna-tpe-asha"), seed, full);
            }
        }
        let text = fs::read_to_string(&report(dir.path()).unwrap()[0]).unwrap();
        let row = "| random-auto | random | none | irnn64_avg | none | none | none |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("| random-auto | 80 | 9 | 4 | 0.100 |"), "{text}");
        assert!(text.contains("| optuna-tpe-asha | 10 | 1.000 ± 0.000 |"), "{text}");
        let lost = "### What 8 workers lose";
        let after = &text[text.find(lost).unwrap()..];
        assert!(after.contains("| 0.000 ± 0.000 | 0.100 ± 0.000 |"), "{after}");
        assert!(!after.contains("| random |"), "{after}");
    }
}
