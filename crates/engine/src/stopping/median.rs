//! The median rule (Golovin et al., *Google Vizier*, 2017, section 3.1.1).
//!
//! A trial is stopped at fidelity t if its best value up to t is worse than the median of the running averages, up to t,
//! of the finished trials that reached t. With several objectives or constraints, best and average are taken column by
//! column, and compared by merit.

use super::{Matter, order};
use crate::curves::Curve;
use crate::error::Result;
use crate::history::History;

/// Trials to compare with, below which nothing is stopped.
const LEAST: usize = 5;

pub(super) fn stops(matter: &Matter<'_>) -> Result<bool> {
    let Matter { history, curve, .. } = matter;
    let (reached, last) = (curve.reached(), curve.len() - 1);
    let mut best = curve.row(0).to_vec();
    for row in curve.rows_to(last) {
        best.iter_mut().zip(row).for_each(|(best, value)| *best = best.min(*value));
    }
    let finished = history.curves().iter().filter(|(_, other)| other.place().is_some());
    let averages: Vec<Vec<f64>> = finished
        .filter_map(|(_, other)| Some((other, other.at(reached)?)))
        .map(|(other, step)| (0..best.len()).map(|column| running(other, step, column)).collect())
        .collect();
    if averages.len() < LEAST {
        return Ok(false);
    }
    let rows = std::iter::once(&best).chain(&averages).map(|row| &row[..]);
    let order = order(history.goal(), rows)?;
    let (own, mut others) = (order[0], order[1..].to_vec());
    others.sort_by(f64::total_cmp);
    Ok(own > middle_of(&others))
}

/// The average of a column up to a step.
fn running(curve: &Curve, step: usize, column: usize) -> f64 {
    curve.rows_to(step).fold(0.0, |sum, row| sum + row[column] / (step + 1) as f64)
}

/// The median of an ascending list, which is not empty.
fn middle_of(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => sorted[middle],
        _ => 0.5 * sorted[middle - 1] + 0.5 * sorted[middle],
    }
}

/// The running average of one objective up to a fidelity, if the trial reached it.
pub(super) fn average(curve: &Curve, fidelity: f64) -> Option<f64> {
    curve.at(fidelity).map(|step| running(curve, step, 0))
}

/// Those of all finished trials, ascending.
pub(super) fn averages(history: &History, fidelity: f64) -> Vec<f64> {
    let finished = history.curves().iter().filter(|(_, other)| other.place().is_some());
    let mut all: Vec<f64> = finished.filter_map(|(_, other)| average(other, fidelity)).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// Whether the best value of one objective is worse than the median of averages, which are in ascending order.
pub(super) fn is_worse(curve: &Curve, averages: &[f64]) -> bool {
    let best = curve.rows_to(curve.len() - 1).map(|row| row[0]).fold(f64::INFINITY, f64::min);
    averages.len() >= LEAST && best > middle_of(averages)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{epochs, step, verdict};
    use super::super::{Rule, Verdict};
    use crate::outcome::Measurement;

    #[test]
    fn the_best_value_so_far_is_compared_with_the_median_of_running_averages() {
        let mut history = epochs();
        // Running averages at 2 epochs: 1.5, 2.5, 3.5, 4.5, 5.5 of the trials 0 to 4.
        for trial in 0..5 {
            let base = trial as f64;
            step(&mut history, trial, 1.0, base + 2.0);
            step(&mut history, trial, 2.0, base + 1.0);
        }
        step(&mut history, 8, 1.0, 3.25);
        step(&mut history, 8, 2.0, 9.0);
        step(&mut history, 9, 1.0, 9.0);
        step(&mut history, 9, 2.0, 3.75);
        assert_eq!(verdict(&history, 9, Rule::Median), Verdict::GoOn, "no trial has finished");
        for trial in 0..5 {
            let end = Measurement { fidelity: Some(2.0), ..Measurement::from(trial as f64 + 1.0) };
            history.push_trial(trial, &[0.5], end).unwrap();
        }
        assert_eq!(verdict(&history, 8, Rule::Median), Verdict::GoOn, "its best is 3.25");
        assert_eq!(verdict(&history, 9, Rule::Median), Verdict::Stop, "its best is 3.75");
        // Nobody else has reached 3 epochs.
        step(&mut history, 9, 3.0, 9.0);
        assert_eq!(verdict(&history, 9, Rule::Median), Verdict::GoOn);
    }
}
