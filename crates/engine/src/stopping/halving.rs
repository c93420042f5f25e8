//! Asynchronous successive halving, the stopping form (Li et al., *A system for massively parallel hyperparameter
//! tuning*, 2020).
//!
//! Rungs lie at low, 3 low, 9 low, …. A trial that comes to a rung as the n-th goes on if it is among the best
//! max(1, ⌊n/3⌋) of these n, by their values when they came there. It never waits, so that the first always goes on.

use super::{Matter, better, rungs};
use crate::error::Result;

/// η: one trial in so many goes on from a rung.
pub(super) const FACTOR: usize = 3;

pub(super) fn stops(matter: &Matter<'_>) -> Result<bool> {
    stops_at(matter, rungs(matter.range.low, FACTOR as f64, matter.range.high), |_| true)
}

/// How many go on from a rung, of one trial and so many that came there before it.
pub(super) fn kept(others: usize) -> usize {
    ((others + 1) / FACTOR).max(1)
}

/// Whether a trial is not good enough at one of the rungs among the trials that `compete`.
pub(super) fn stops_at(
    matter: &Matter<'_>,
    rungs: impl Iterator<Item = f64>,
    compete: impl Fn(u64) -> bool,
) -> Result<bool> {
    let Matter { history, curve, trial, .. } = matter;
    for rung in rungs {
        // A result without a curve says nothing about the way to it.
        let around = rung..(rung * FACTOR as f64).min(matter.range.high);
        let Some(step) = curve.first_in(around.clone()) else { continue };
        let before = |other: u64| other != *trial && compete(other);
        let others: Vec<&[f64]> = history
            .curves()
            .iter()
            .filter(|(other, _)| before(*other))
            .filter_map(|(_, other)| Some((other, other.first_in(around.clone())?)))
            .filter(|(other, at)| other.arrival(*at) < curve.arrival(step))
            .map(|(other, at)| other.row(at))
            .collect();
        let kept = kept(others.len());
        if better(history.goal(), curve.row(step), others.into_iter())? >= kept {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{epochs, step, verdict};
    use super::super::{Rule, Stopping, Verdict};
    use super::*;
    use crate::goal::{Goal, Objective};
    use crate::history::History;
    use crate::outcome::Measurement;
    use crate::seed::Seed;

    #[test]
    fn the_best_third_of_those_that_came_before_goes_on() {
        let mut history = epochs();
        // By hand: the first goes on; of two to five the best one; of six the best two.
        let values = [5.0, 6.0, 4.0, 4.5, 9.0, 4.25];
        let expected = [true, false, true, false, false, true];
        for (trial, (value, goes_on)) in (0..).zip(values.into_iter().zip(expected)) {
            step(&mut history, trial, 1.0, value);
            let found = verdict(&history, trial, Rule::Halving);
            assert_eq!(found == Verdict::GoOn, goes_on, "trial {trial}");
        }
        // What came later changes no verdict: trial 0 was alone.
        assert_eq!(verdict(&history, 0, Rule::Halving), Verdict::GoOn);
        // Between rungs nothing is decided, and 2 epochs are no rung.
        step(&mut history, 2, 2.0, 100.0);
        assert_eq!(verdict(&history, 2, Rule::Halving), Verdict::GoOn);
        // A report that skips the rung at 3 counts there with the first step beyond it.
        step(&mut history, 0, 4.0, 2.0);
        step(&mut history, 2, 3.0, 2.5);
        assert_eq!(verdict(&history, 2, Rule::Halving), Verdict::Stop);
        step(&mut history, 5, 3.0, 1.5);
        assert_eq!(verdict(&history, 5, Rule::Halving), Verdict::GoOn);
        // Once stopped, it stays so, whatever is reported after.
        step(&mut history, 2, 5.0, 0.0);
        assert_eq!(verdict(&history, 2, Rule::Halving), Verdict::Stop);
    }

    #[test]
    fn results_without_curves_say_nothing_about_the_way_to_them() {
        let mut history = epochs();
        for trial in 0..38 {
            history.push_trial(trial, &[0.5], 0.01 * trial as f64).unwrap();
        }
        step(&mut history, 41, 1.0, 2.0);
        for rule in [Rule::Halving, Rule::Hyperband, Rule::Auto, Rule::Median] {
            assert_eq!(verdict(&history, 41, rule), Verdict::GoOn, "{rule:?}");
        }
    }

    #[test]
    fn rungs_are_powers_below_the_end() {
        assert_eq!(rungs(1.0, 3.0, 81.0).collect::<Vec<_>>(), [1.0, 3.0, 9.0, 27.0]);
        assert_eq!(rungs(2.0, 3.0, 51.0).collect::<Vec<_>>(), [2.0, 6.0, 18.0]);
    }

    #[test]
    fn of_several_objectives_the_front_goes_on() {
        let goal = Goal::new([Objective::minimise("a"), Objective::minimise("b")])
            .and_then(|goal| goal.fidelity("epochs", 1.0, 9.0))
            .unwrap();
        let mut history = History::of(1, goal);
        let mut report = |trial: u64, a: f64, b: f64| {
            let objectives = vec![a.into(), b.into()];
            let step = Measurement { objectives, constraints: vec![], fidelity: Some(1.0) };
            history.report(trial, &[0.5], &step).unwrap();
            Stopping::from(Rule::Halving).verdict(&history, trial, Seed(1)).unwrap()
        };
        assert_eq!(report(0, 5.0, 5.0), Verdict::GoOn);
        assert_eq!(report(1, 6.0, 6.0), Verdict::Stop, "dominated");
        assert_eq!(report(2, 6.0, 7.0), Verdict::Stop, "dominated");
        assert_eq!(report(3, 7.0, 8.0), Verdict::Stop);
        assert_eq!(report(4, 8.0, 8.0), Verdict::Stop);
        // Neither of the two on the front dominates the other, and two of six go on.
        assert_eq!(report(5, 4.0, 9.0), Verdict::GoOn);
    }
}
