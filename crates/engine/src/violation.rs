//! By how much a trial misses the constraints of its goal, as one number.
//!
//! ```text
//! t_k = (c_k - limit_k) / s_k,     violation = Σ_k w_k max(0, t_k)
//! ```
//! s_k is the median of |c_k - limit_k| over the first [`FIRST`] measurements: constraints are measured in units of their own,
//! and a scale that moved with the search would change what earlier trials are worth.
//!
//! w_k = 1 / Σ_l ρ_kl⁸ over the correlations ρ of the same measurements, each with itself included: how many constraints say the same as
//! the k-th. A constraint that is given twice counts half each time, so that it weighs as much as if it were given once. The high
//! power keeps constraints that are merely related, whose weights must not depend on how often another one is given.
//!
//! A trial that misses a constraint is *violating*. *Infeasible* is a configuration that could not be evaluated at all.

use crate::goal::Constraint;
use crate::history::{End, History};

/// Measurements that scales and weights are taken from.
pub const FIRST: usize = 20;

/// The scales and weights of the constraints of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    limits: Vec<f64>,
    scales: Vec<f64>,
    weights: Vec<f64>,
    /// Measurements that they were taken from.
    measured: usize,
}

impl Violation {
    /// As the history suggests. After [`FIRST`] measurements it is always the same.
    pub fn of(history: &History) -> Self {
        let first: Vec<usize> = (0..history.len())
            .filter(|&i| history.ends()[i] == End::Measured)
            .take(FIRST)
            .collect();
        let limits: Vec<f64> = history.goal().constraints().iter().map(Constraint::limit).collect();
        let gaps: Vec<Vec<f64>> = history
            .constraints()
            .iter()
            .zip(&limits)
            .map(|(column, limit)| {
                first.iter().filter_map(|&i| column.value(i)).map(|c| c - limit).collect()
            })
            .collect();
        Self::measured_by(limits, &gaps)
    }

    /// By how much each constraint's limit is exceeded in each of the first [`FIRST`] measurements; negative below it.
    pub fn from_gaps(gaps: &[Vec<f64>]) -> Self {
        Self::measured_by(vec![0.0; gaps.len()], gaps)
    }

    fn measured_by(limits: Vec<f64>, gaps: &[Vec<f64>]) -> Self {
        let measured = gaps.first().map_or(0, Vec::len);
        let scales: Vec<f64> = gaps.iter().map(|gaps| scale(gaps)).collect();
        let targets: Vec<Vec<f64>> = gaps
            .iter()
            .zip(&scales)
            .map(|(gaps, scale)| gaps.iter().map(|gap| compressed(gap / scale)).collect())
            .collect();
        let alike =
            |a: &Vec<f64>| -> f64 { targets.iter().map(|b| shared(a, b)).sum::<f64>().max(1.0) };
        let weights = targets.iter().map(|a| 1.0 / alike(a)).collect();
        Self { limits, scales, weights, measured }
    }

    /// Whether more measurements would leave everything as it is.
    pub fn is_settled(&self) -> bool {
        self.measured == FIRST || self.limits.is_empty()
    }

    /// w_k: how much each constraint counts.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The total of the `i`-th trial: 0 if it meets every constraint; `None` if it has no measurement.
    pub fn total(&self, history: &History, i: usize) -> Option<f64> {
        if history.ends()[i] != End::Measured {
            return None;
        }
        let columns = history.constraints().iter().zip(&self.limits);
        let gaps: Option<Vec<f64>> =
            columns.map(|(column, limit)| Some(column.value(i)? - limit)).collect();
        Some(self.total_of(&gaps?))
    }

    /// The total of a trial that exceeds each limit by this much.
    pub fn total_of(&self, gaps: &[f64]) -> f64 {
        let missed = gaps.iter().zip(&self.scales).map(|(gap, scale)| (gap / scale).max(0.0));
        let total: f64 = missed.zip(&self.weights).map(|(missed, weight)| weight * missed).sum();
        // A sum of huge numbers still has to be compared.
        total.min(f64::MAX)
    }

    /// The k-th constraint of the `i`-th trial as a target for regression: t up to 1 on either side, and 1 + ln t beyond. The limit stays
    /// at 0.
    pub fn target(&self, history: &History, k: usize, i: usize) -> Option<f64> {
        let gap = history.constraints()[k].value(i)? - self.limits[k];
        Some(compressed(gap / self.scales[k]))
    }
}

/// The median of the sizes of the gaps; where that is 0, their mean; where all are 0, 1.
fn scale(gaps: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = gaps.iter().map(|gap| gap.abs().min(f64::MAX)).collect();
    sizes.sort_by(f64::total_cmp);
    let median = sizes.get(sizes.len() / 2).copied().unwrap_or(1.0);
    let mean = || sizes.iter().map(|size| size / sizes.len() as f64).sum::<f64>();
    [median, mean(), 1.0].into_iter().find(|scale| *scale > 0.0).unwrap_or(1.0)
}

fn compressed(t: f64) -> f64 {
    let size = t.abs().min(f64::MAX);
    if size <= 1.0 { t } else { (1.0 + size.ln()).copysign(t) }
}

/// ρ⁸ for the correlation ρ of two lists of the same length; of a list with itself 1, even where it is constant.
fn shared(a: &[f64], b: &[f64]) -> f64 {
    if a == b {
        return 1.0;
    }
    let n = a.len().max(1) as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    let spread = product(a, mean_a, a, mean_a) * product(b, mean_b, b, mean_b);
    // Constraints that oppose each other, such as the two ends of a range, do not say the same.
    let together = product(a, mean_a, b, mean_b).max(0.0);
    if spread > 0.0 { (together.powi(2) / spread).powi(4) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Bound, Goal, Objective};
    use crate::outcome::{Measurement, Outcome};

    fn history(limits: &[(&str, Bound)], rows: impl IntoIterator<Item = Vec<f64>>) -> History {
        let goal = Goal::new([Objective::minimise("f")]).unwrap();
        let goal =
            limits.iter().fold(goal, |goal, (name, bound)| goal.limit(*name, *bound).unwrap());
        let mut history = History::of(1, goal.clone());
        for (i, row) in rows.into_iter().enumerate() {
            let measurement = Measurement {
                objectives: vec![1.0.into()],
                constraints: row.into_iter().map(Into::into).collect(),
                fidelity: None,
            };
            history.push(&[i as f64], goal.turn(&measurement)).unwrap();
        }
        history
    }

    /// The value of the k-th constraint that has this target, on the scale of the history.
    fn value_with(violation: &Violation, k: usize, target: f64) -> f64 {
        let size = target.abs();
        let t = if size <= 1.0 { size } else { (size - 1.0).exp() };
        violation.limits[k] + violation.scales[k] * t.copysign(target)
    }

    #[test]
    fn violations_are_sums_in_units_of_the_constraints_and_zero_on_the_limit() {
        let limits = [("a", Bound::AtMost(10.0)), ("b", Bound::AtLeast(1.0))];
        // Gaps of a: 0, 2, -2, 4; of b: 0, 0.5, -0.5, 0.5. Uncorrelated in signs enough to be checked by hand below.
        let rows = [vec![10.0, 1.0], vec![12.0, 0.5], vec![8.0, 1.5], vec![14.0, 0.5]];
        let mut all = history(&limits, rows);
        all.push(&[9.0], Outcome::failed()).unwrap();
        let violation = Violation::of(&all);
        assert_eq!((violation.scales.as_slice(), violation.measured), (&[2.0, 0.5][..], 4));
        assert_eq!(violation.total(&all, 0), Some(0.0));
        assert_eq!(violation.total(&all, 2), Some(0.0));
        assert_eq!(violation.total(&all, 4), None);
        let w = violation.weights();
        assert!((violation.total(&all, 3).unwrap() - (2.0 * w[0] + w[1])).abs() < 1e-12);
        for i in 0..4 {
            for k in 0..2 {
                let target = violation.target(&all, k, i).unwrap();
                let value = all.constraints()[k].value(i).unwrap();
                assert!((value_with(&violation, k, target) - value).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_two_ends_of_a_range_count_in_full() {
        let limits = [("c", Bound::AtLeast(4.0)), ("d", Bound::AtMost(6.0))];
        let rows = (0..20).map(|i| {
            let c = (i * 7 % 20) as f64 / 2.0;
            vec![c, c]
        });
        let violation = Violation::of(&history(&limits, rows));
        assert_eq!(violation.weights(), [1.0, 1.0]);
    }

    #[test]
    fn a_constraint_given_twice_counts_as_if_it_were_given_once() {
        let pair = |i: usize| ((i * 7 % 20) as f64 - 12.0, (i * 13 % 20) as f64 - 5.0);
        let at_most = |name| (name, Bound::AtMost(0.0));
        let once = history(
            &[at_most("a"), at_most("b")],
            (0..30).map(|i| {
                let (a, b) = pair(i);
                vec![a, b]
            }),
        );
        let twice = history(
            &[at_most("a"), at_most("b"), at_most("c")],
            (0..30).map(|i| {
                let (a, b) = pair(i);
                vec![a, b, 1000.0 * a]
            }),
        );
        let (of_once, of_twice) = (Violation::of(&once), Violation::of(&twice));
        assert!(of_once.is_settled() && of_once == Violation::of(&once));
        for i in 0..30 {
            let (a, b) = (of_once.total(&once, i).unwrap(), of_twice.total(&twice, i).unwrap());
            // Not quite equal: b is a little correlated with both.
            assert!((a - b).abs() < 0.05 * (1.0 + a), "{a} {b}");
        }
        assert!((of_twice.weights()[0] - 0.5 * of_once.weights()[0]).abs() < 0.05);
    }
}
