//! The trials that models of several columns see: a bounded choice from a history of any length.
//!
//! Up to [`ALL`] measured trials, all of them. Of more: the best, the latest, and an even sample of all. The best of several
//! objectives are the front of the trials that meet the constraints, spread over it; of one objective, the lowest values among
//! these. Where too few trials meet the constraints, those that miss them least follow.
//!
//! What is kept depends on history alone, so that a process that starts anew keeps the same.
//!
//! Cost: O(front) a trial, with at most `2 * FRONT` trials on it; O(`ALL`) to choose.

use super::super::cloud::{Latest, Thinned};
use super::spread::spread;
use crate::history::History;
use crate::pareto::dominates;
use crate::points::Points;
use crate::violation::Violation;

/// Measured trials up to which all are seen.
const ALL: usize = 200;
/// Of more: the best, the latest, and the sample.
const BEST: usize = 100;
const LATEST: usize = 60;
const SAMPLE: usize = 40;
/// Trials without a value that are kept: the latest.
const FAILED: usize = 60;
/// Trials of the front that stay once there are twice as many.
const FRONT: usize = 512;

/// Indices into history.
#[derive(Debug, Clone)]
pub(super) struct Archive {
    trials: usize,
    violation: Violation,
    /// The first measured trials.
    first: Vec<usize>,
    /// Trials that meet the constraints and that no other such trial dominates; of several objectives only.
    front: Vec<usize>,
    /// The objectives of the trials on the front.
    values: Points,
    /// Violation, value and trial, best first: of one objective, or where trials miss constraints.
    best: Vec<(f64, f64, usize)>,
    latest: Latest,
    sample: Thinned,
    failed: Latest,
    measured: usize,
}

impl Archive {
    pub(super) fn new(history: &History) -> Self {
        Self {
            trials: 0,
            violation: Violation::of(history),
            first: Vec::new(),
            front: Vec::new(),
            values: Points::new(history.objectives().len()),
            best: Vec::new(),
            latest: Latest::new(LATEST),
            sample: Thinned::default(),
            failed: Latest::new(FAILED),
            measured: 0,
        }
    }

    /// How many trials have been read.
    pub(super) fn trials(&self) -> usize {
        self.trials
    }

    /// How many of them have a measurement.
    pub(super) fn measured(&self) -> usize {
        self.measured
    }

    /// Scales of the constraints, as of the trials read.
    pub(super) fn violation(&self) -> &Violation {
        &self.violation
    }

    /// The latest trials without a value.
    pub(super) fn failed(&self) -> impl Iterator<Item = usize> + '_ {
        self.failed.iter()
    }

    /// Reads the next trial.
    pub(super) fn advance(&mut self, history: &History) {
        let trial = self.trials;
        self.trials += 1;
        let Some(total) = self.violation.total(history, trial) else {
            self.failed.push(trial);
            return;
        };
        self.measured += 1;
        if self.first.len() <= ALL {
            self.first.push(trial);
        }
        self.latest.push(trial);
        self.sample.push(trial);
        let single = history.objectives().len() == 1;
        if total == 0.0 && !single {
            self.join_front(history, trial);
        }
        if total > 0.0 || single {
            let value =
                if single { history.objective().value(trial).unwrap_or(f64::MAX) } else { 0.0 };
            let place = self.best.partition_point(|other| (other.0, other.1) <= (total, value));
            if place < BEST {
                self.best.insert(place, (total, value, trial));
                self.best.truncate(BEST);
            }
        }
    }

    fn join_front(&mut self, history: &History, trial: usize) {
        let new = history.row(trial);
        if self.values.rows().any(|row| dominates(row, &new)) {
            return;
        }
        let stays: Vec<usize> =
            (0..self.front.len()).filter(|&i| !dominates(&new, self.values.row(i))).collect();
        if stays.len() < self.front.len() {
            self.keep(&stays);
        }
        self.front.push(trial);
        self.values.push(&new);
        if self.front.len() >= 2 * FRONT {
            let mut kept = spread(&self.values, FRONT);
            kept.sort_unstable();
            self.keep(&kept);
        }
    }

    /// Keeps these places of the front.
    fn keep(&mut self, places: &[usize]) {
        let rows = places.iter().map(|&place| self.values.row(place));
        self.values = Points::from_rows(self.values.dim(), rows);
        self.front = places.iter().map(|&place| self.front[place]).collect();
    }

    /// The trials to see, in the order of history.
    pub(super) fn seen(&self) -> Vec<usize> {
        if self.measured <= ALL {
            return self.first.clone();
        }
        let mut seen: Vec<usize> =
            spread(&self.values, BEST).into_iter().map(|place| self.front[place]).collect();
        let left = BEST - seen.len();
        seen.extend(self.best.iter().take(left).map(|best| best.2));
        seen.extend(self.latest.iter());
        seen.extend(self.sample.cloud().evenly(SAMPLE));
        seen.sort_unstable();
        seen.dedup();
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Bound, Goal, Objective};
    use crate::outcome::{Measurement, Outcome};
    use crate::seed::{Seed, uniform};

    /// Two objectives on a bowl each, and a limit that every third trial misses.
    fn history(len: usize) -> History {
        let goal = Goal::new([Objective::minimise("a"), Objective::minimise("b")])
            .and_then(|goal| goal.limit("c", Bound::AtMost(0.0)))
            .unwrap();
        let mut history = History::of(2, goal);
        let mut rng = Seed(3).stream("archive", 0);
        for i in 0..len {
            let x = [uniform(&mut rng), uniform(&mut rng)];
            if i % 10 == 9 {
                history.push(&x, Outcome::failed()).unwrap();
                continue;
            }
            let value = |centre: f64| x.iter().map(|x| (x - centre).powi(2)).sum::<f64>();
            let missed = if i % 3 == 0 { 1.0 } else { -1.0 };
            let measurement = Measurement {
                objectives: vec![value(0.2).into(), value(0.8).into()],
                constraints: vec![missed.into()],
                fidelity: None,
            };
            history.push(&x, measurement).unwrap();
        }
        history
    }

    fn read(history: &History) -> Archive {
        let mut archive = Archive::new(history);
        (0..history.len()).for_each(|_| archive.advance(history));
        archive
    }

    #[test]
    fn all_are_seen_while_there_are_few_and_the_front_is_always() {
        let few = history(100);
        assert_eq!(read(&few).seen().len(), 90);
        let many = history(5000);
        let archive = read(&many);
        let seen = archive.seen();
        assert!(seen.len() <= BEST + LATEST + SAMPLE && seen.len() > BEST, "{}", seen.len());
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
        let meeting: Vec<usize> = (0..many.len()).filter(|i| i % 3 != 0 && i % 10 != 9).collect();
        let values = Points::from_rows(2, meeting.iter().map(|&i| many.row(i)));
        let naive: Vec<usize> =
            crate::pareto::front(&values).unwrap().into_iter().map(|i| meeting[i]).collect();
        assert_eq!(archive.front, naive);
        // The ends of the front are among what is seen.
        for objective in 0..2 {
            let least = |&&i: &&usize| many.objectives()[objective].value(i).unwrap();
            let end = naive.iter().min_by(|a, b| least(a).total_cmp(&least(b))).unwrap();
            assert!(seen.contains(end));
        }
        assert_eq!(archive.failed().count(), FAILED);
    }
}
