//! What a hundred more trials are expected to gain, so that a user knows when to stop.
//!
//! A study of n trials that gets m more grows by the factor r = (n + m)/n. It did so before: from n/r to n, from n/r² to n/r, and so
//! on. What it gained then, the latest counting twice as much as the one before, is what it is expected to gain now; the largest of
//! the last three is the upper end. Progress of searches is close to even on a logarithmic scale of trials, or slows down, so that this
//! errs on the high side. No model is needed.

use serde::Serialize;
use wimble::outcome::Outcome;

use super::{Advice, Evidence, Topic, short};
use crate::error::Result;
use crate::settings::Settings;
use crate::store::Reader;
use crate::trial::Trial;

/// How many more trials are meant.
const MORE: usize = 100;
/// The fewest trials with a value.
const FEWEST: usize = 30;
/// The shortest study that counts as a past one, and how many of them are looked at.
const SHORTEST: f64 = 8.0;
const PAST: usize = 8;
/// How many past ones give the upper end.
const RECENT: usize = 3;

/// What more trials are expected to gain, in the unit of the value and never negative.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gain {
    /// How many more trials.
    pub trials: usize,
    /// The expected improvement of the best value.
    pub expected: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Changes read at a time.
const PAGE: usize = 1_000;

/// The values of a study in the order in which they were told, low being good, kept in step with a store: what a run that ends by its
/// gain looks at before each ask. A look costs what is new.
pub struct Gains {
    settings: Settings,
    sequence: u64,
    values: Vec<f64>,
}

impl Gains {
    /// At the beginning of a study.
    pub fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), sequence: 0, values: Vec::new() }
    }

    /// Reads what changed since it last looked.
    pub fn catch_up(&mut self, store: &dyn Reader) -> Result<()> {
        loop {
            let changes = store.changes_since(&self.settings.name, self.sequence, PAGE)?;
            for change in &changes {
                self.sequence = change.sequence();
                self.values.extend(value(&change.trial, &self.settings));
            }
            if changes.len() < PAGE {
                return Ok(());
            }
        }
    }

    /// What 100 more trials are expected to gain; `None` while there are too few values to say.
    pub fn gain(&self) -> Option<Gain> {
        if self.values.len() < FEWEST || self.settings.goal.objectives().len() != 1 {
            return None;
        }
        expect(&self.values)
    }

    /// What the study gained so far over its median: the best value's distance from the middle one.
    pub fn gained(&self) -> f64 {
        spread(&self.values)
    }
}

/// The value of a whole evaluation that meets the constraints, turned so that low is good.
fn value(trial: &Trial, settings: &Settings) -> Option<f64> {
    let goal = &settings.goal;
    let told = trial.outcome().and_then(Outcome::measurement)?;
    if goal.part(told).is_some() || trial.is_violating(goal) {
        return None;
    }
    Some(goal.first_direction().turn(told.objectives.first()?.value))
}

/// By how much the best of some values is better than their median.
fn spread(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.first() {
        Some(best) => sorted[sorted.len() / 2] - best,
        None => 0.0,
    }
}

pub(super) fn look(evidence: &Evidence<'_>) -> Vec<Advice> {
    let values: Vec<f64> = evidence.points.iter().filter_map(|point| point.value).collect();
    if values.len() < FEWEST || !evidence.whole {
        return Vec::new();
    }
    let Some(gain) = expect(&values) else { return Vec::new() };
    let verdict = if gain.high <= 0.01 * spread(&values) {
        " That is below 1 % of what the study gained so far over its median: it may be time to stop."
    } else {
        ""
    };
    let message = format!(
        "{MORE} more trials are expected to improve the best value by about {} (up to {}), judged by its progress so far.{verdict}",
        short(gain.expected),
        short(gain.high),
    );
    vec![Advice { gain: Some(gain), ..Advice::new(Topic::Gain, None, message) }]
}

/// The gain of more trials after these values, in their order, low being good. `None` if there is no past to judge by.
fn expect(values: &[f64]) -> Option<Gain> {
    let best: Vec<f64> = values
        .iter()
        .scan(f64::INFINITY, |least, value| {
            *least = least.min(*value);
            Some(*least)
        })
        .collect();
    let n = best.len() as f64;
    let factor = (n + MORE as f64) / n;
    let at = |length: f64| best[(length.round() as usize).clamp(1, best.len()) - 1];
    let mut gains = Vec::new();
    let mut length = n;
    while gains.len() < PAST && length / factor >= SHORTEST {
        gains.push(at(length / factor) - at(length));
        length /= factor;
    }
    if gains.is_empty() {
        return None;
    }
    let weights = (0..gains.len()).map(|age| 0.5_f64.powi(age as i32));
    let total: f64 = weights.clone().sum();
    let expected =
        gains.iter().zip(weights).map(|(gain, weight)| gain * weight).sum::<f64>() / total;
    let recent = gains.iter().take(RECENT).copied();
    Some(Gain { trials: MORE, expected, low: 0.0, high: recent.fold(expected, f64::max) })
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{noise, of, study};
    use super::*;

    #[test]
    fn a_study_that_stands_still_is_told_to_stop_and_one_that_improves_is_not() {
        let still =
            of(&study(400, 1, |x, _, _| if x < 0.5 { 0.0.into() } else { x.into() }), Topic::Gain);
        assert_eq!(still[0].gain.unwrap().expected, 0.0);
        assert!(still[0].message.contains("time to stop"), "{}", still[0].message);
        let values: Vec<f64> = (1..=200).map(|i| -f64::from(i)).collect();
        let moving = expect(&values).unwrap();
        assert!(moving.expected > 20.0 && moving.high >= 60.0, "{moving:?}");
        assert!(expect(&[1.0; 20]).is_none_or(|gain| gain.expected == 0.0));
    }

    #[test]
    fn the_interval_holds_what_random_search_gains() {
        let (mut held, mut runs) = (0, 0);
        for run in 0..200 {
            let all: Vec<f64> = (0..300)
                .map(|i| {
                    let at = |k: i32| noise(f64::from(run * 1_000 + i) + f64::from(k) * 0.37);
                    (0..3).map(|k| at(k).powi(2)).sum()
                })
                .collect();
            let Some(gain) = expect(&all[..200]) else { continue };
            let best = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
            let real = best(&all[..200]) - best(&all);
            runs += 1;
            held += usize::from(gain.low <= real && real <= gain.high);
        }
        assert!(runs == 200 && held >= 160, "{held} of {runs}");
    }
}
