//! The records of a folder as shares of targets reached.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use wimble_problems::bbob::Name;

use super::{BUDGETS, figure};
use crate::error::Result;
use crate::record::{End, Records, Trial};

/// Targets: gaps of 10², 10^1.8, …, 10^-8.
const TARGETS: i32 = 51;

/// A run, the same for every method: the problem's name, what it says, and the seed.
pub(super) type Key = (String, Name, usize);

/// The runs with batches of one size.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs {
    by_method: BTreeMap<String, BTreeMap<Key, Trial>>,
}

impl Runs {
    /// The records that have ended, with batches of this size.
    pub fn read(dir: &Path, batch_size: usize) -> Result<Self> {
        let mut runs = Self::default();
        let ended = Records::read(dir, &figure(batch_size))?.trials.into_iter();
        for (key, trial) in ended.filter(|(_, trial)| trial.end.is_some()) {
            let base = key.problem.split('+').next().unwrap_or_default();
            let Some(name) = Name::read(base) else { continue };
            let of_method = runs.by_method.entry(key.method).or_default();
            of_method.insert((key.problem, name, key.trial), trial);
        }
        Ok(runs)
    }

    /// The batch sizes that a folder has records of.
    pub fn batch_sizes(dir: &Path) -> Vec<usize> {
        let folders = fs::read_dir(dir.join("records")).into_iter().flatten().flatten();
        let names = folders.filter_map(|folder| folder.file_name().into_string().ok());
        let mut sizes: Vec<usize> =
            names.filter_map(|name| name.strip_prefix("coco-")?.parse().ok()).collect();
        sizes.sort_unstable();
        sizes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_method.is_empty()
    }

    /// The methods that have runs.
    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.by_method.keys().map(String::as_str)
    }

    /// The runs of a method.
    pub fn of(&self, method: &str) -> impl Iterator<Item = (&Key, &Trial)> {
        self.by_method.get(method).into_iter().flatten()
    }

    /// The run of a method.
    pub fn get(&self, method: &str, key: &Key) -> Option<&Trial> {
        self.by_method.get(method)?.get(key)
    }

    /// What a method's records say that was run; more than one if they differ.
    pub fn settings(&self, method: &str) -> BTreeSet<&str> {
        self.of(method).map(|(_, trial)| trial.start.settings.as_str()).collect()
    }

    /// The budgets that at least one run of a method came to.
    pub fn budgets(&self, method: &str) -> Vec<usize> {
        let reached = |&budget: &usize| {
            self.of(method).any(|(key, trial)| share(trial, budget * key.1.dim).is_some())
        };
        BUDGETS.into_iter().filter(reached).collect()
    }
}

/// The share of the targets that a run reached within so many evaluations; `None` if it was not meant to go so far.
///
/// What counts is the best trial, and under noise the one that the method recommends or, where it does not say, the one with the
/// best value told.
pub(super) fn share(trial: &Trial, evaluations: usize) -> Option<f64> {
    // One that was stopped is judged as far as it was meant to go.
    let meant = trial.rounds.last().map_or(0, |last| match trial.end {
        Some(End::Aborted) => trial.start.rounds * (last.evaluations / last.round),
        _ => last.evaluations,
    });
    if evaluations > meant {
        return None;
    }
    let metrics: &[&str] = match trial.start.key.problem.contains("+noise") {
        true => &["recommended_regret", "incumbent_regret"],
        false => &["simple_regret"],
    };
    let round = trial.rounds.iter().rev().find(|round| round.evaluations <= evaluations);
    let gap = round.and_then(|round| metrics.iter().find_map(|metric| round.metrics.get(*metric)));
    Some(gap.map_or(0.0, |&gap| reached(gap)))
}

/// The share of the targets that a gap to the least value reaches.
fn reached(gap: f64) -> f64 {
    let target = |t: &i32| gap <= 10.0_f64.powf(2.0 - 0.2 * f64::from(*t));
    (0..TARGETS).filter(target).count() as f64 / f64::from(TARGETS)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::record::{Key as RecordKey, Round, Start};

    /// A run with a gap after each so many evaluations.
    pub fn trial(problem: &str, gaps: &[(usize, f64)], end: End) -> Trial {
        let key = RecordKey {
            figure: "coco-1".into(),
            problem: problem.into(),
            method: "auto".into(),
            trial: 0,
        };
        let round = |(i, &(evaluations, gap)): (usize, &(usize, f64))| Round {
            round: i + 1,
            evaluations,
            metrics: BTreeMap::from([("simple_regret".to_owned(), gap)]),
        };
        let start = Start { key, seed: 0, rounds: gaps.len(), settings: "made".into() };
        Trial { start, rounds: gaps.iter().enumerate().map(round).collect(), end: Some(end) }
    }

    #[test]
    fn targets_by_hand() {
        assert_eq!(reached(101.0), 0.0);
        assert_eq!(reached(100.0), 1.0 / 51.0);
        assert_eq!(reached(1.0), 11.0 / 51.0);
        assert_eq!(reached(0.0), 1.0);
    }

    #[test]
    fn a_batch_counts_once_it_is_told_and_a_run_that_ends_early_is_not_there() {
        let gaps = [(10, 100.0), (20, 1.0)];
        let run = trial("bbob-f1-i1-2", &gaps, End::Finished);
        assert_eq!(share(&run, 9), Some(0.0));
        assert_eq!(share(&run, 19), Some(1.0 / 51.0));
        assert_eq!(share(&run, 20), Some(11.0 / 51.0));
        assert_eq!(share(&run, 21), None);
        // One that was stopped keeps what it had, as far as it was meant to go.
        let mut stopped = trial("bbob-f1-i1-2", &gaps, End::Aborted);
        stopped.start.rounds = 4;
        assert_eq!(share(&stopped, 40), Some(11.0 / 51.0));
        assert_eq!(share(&stopped, 41), None);
    }

    #[test]
    fn under_noise_what_is_recommended_counts() {
        let mut run = trial("bbob-f1-i1-2+noise-10", &[(10, 1e-9)], End::Finished);
        run.rounds[0].metrics.insert("incumbent_regret".into(), 100.0);
        assert_eq!(share(&run, 10), Some(1.0 / 51.0));
        run.rounds[0].metrics.insert("recommended_regret".into(), 1.0);
        assert_eq!(share(&run, 10), Some(11.0 / 51.0));
    }
}
