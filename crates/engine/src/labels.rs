//! From values to labels: γ → τ → z (Algorithm 1, lines 2 to 4).
//!
//! ```text
//! τ := Φ̂⁻¹(γ),   zᵢ := 𝕀[yᵢ ≤ τ]
//! ```
//!
//! Φ̂⁻¹(γ) is the ⌈γn⌉-th smallest of the n values, so at least one point is good whatever the ties, and
//! all are good when all values are equal. A trial without a value did not reach τ: its label is 0, and it
//! does not count in the quantile.
//!
//! Labels are computed when read, not stored: asking costs nothing that grows with history.

use serde::{Deserialize, Serialize};

use crate::column::Column;
use crate::error::{Error, Result};
use crate::points::Points;
use crate::ranking::Ranking;

/// γ in all of the paper's experiments.
pub(crate) const DEFAULT_FRACTION: f64 = 0.25;

/// How the threshold τ between good and bad is set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// The γ-quantile of the values seen so far.
    Quantile {
        /// γ, strictly between 0 and 1.
        fraction: f64,
    },
    /// The γ-quantile, raised to the next of some values that were fixed before the search: τ follows the data, and the
    /// theory holds for each of the values at once (docs/guide/theory.md, Appendix C).
    Grid {
        /// γ, strictly between 0 and 1.
        fraction: f64,
        /// The values that τ may take: `count` evenly spaced numbers from `low` to `high`, at least 2.
        grid: Grid,
    },
    /// A given τ, as the theory has it.
    Fixed {
        /// τ, on the scale of the minimised values.
        value: f64,
    },
}

/// Evenly spaced numbers, on the scale of the minimised values.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Grid {
    /// The lowest.
    pub low: f64,
    /// The highest, above the lowest.
    pub high: f64,
    /// J, how many there are, at least 2. With more of them τ is nearer to the quantile, and the confidence width grows
    /// with √(ln J).
    pub count: usize,
}

/// More thresholds than any search can tell apart: a guard against a slip of the keyboard.
const MOST_THRESHOLDS: usize = 1_000_000;

impl Grid {
    /// The `i`-th number.
    pub fn value(self, i: usize) -> f64 {
        self.low + (self.high - self.low) * (i as f64 / (self.count - 1) as f64)
    }

    /// The least number that is not below `value`, or the highest.
    fn raise(self, value: f64) -> f64 {
        let last = self.count - 1;
        let part = (value - self.low) / (self.high - self.low) * last as f64;
        // Rounding may be off by one either way.
        let near = (part.ceil().max(1.0) as usize).min(last) - 1;
        let at_least = (near..=last).take(3).map(|i| self.value(i)).find(|found| *found >= value);
        at_least.unwrap_or(self.value(last))
    }
}

impl Default for Threshold {
    /// The paper's γ.
    fn default() -> Self {
        Self::Quantile { fraction: DEFAULT_FRACTION }
    }
}

impl Threshold {
    /// Refuses a fraction outside (0, 1) and a value that is not finite.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Quantile { fraction } if !(fraction > 0.0 && fraction < 1.0) => {
                Err(Error::invalid("threshold fraction", fraction, "strictly between 0 and 1"))
            }
            Self::Grid { fraction, .. } if !(fraction > 0.0 && fraction < 1.0) => {
                Err(Error::invalid("threshold fraction", fraction, "strictly between 0 and 1"))
            }
            Self::Grid { grid: Grid { low, high, count }, .. } => {
                if !(low < high && low.is_finite() && high.is_finite()) {
                    let allowed = format!("finite and above the low end, {low}");
                    return Err(Error::invalid("thresholds high", high, allowed));
                }
                if !(2..=MOST_THRESHOLDS).contains(&count) {
                    let allowed = format!("from 2 to {MOST_THRESHOLDS}");
                    return Err(Error::invalid("thresholds count", count, allowed));
                }
                Ok(())
            }
            Self::Fixed { value } if !value.is_finite() => {
                Err(Error::invalid("threshold value", value, "finite"))
            }
            _ => Ok(()),
        }
    }

    /// τ for the values in `ranking`; `None` if the threshold is a quantile and there are no values.
    pub fn value(self, ranking: &Ranking) -> Option<f64> {
        match self {
            Self::Quantile { fraction } => {
                let rank = (fraction * ranking.len() as f64).ceil() as usize;
                ranking.nth(rank.saturating_sub(1))
            }
            Self::Grid { fraction, grid } => {
                Self::Quantile { fraction }.value(ranking).map(|value| grid.raise(value))
            }
            Self::Fixed { value } => Some(value),
        }
    }

    /// J: how many values τ may take; `None` if that is not known before the search.
    pub fn choices(self) -> Option<usize> {
        match self {
            Self::Fixed { .. } => Some(1),
            Self::Grid { grid, .. } => Some(grid.count),
            Self::Quantile { .. } => None,
        }
    }

    /// Labels of equal weight for all `points`, whose numbers are `column`; `None` if the threshold is a quantile and
    /// there are no numbers.
    pub fn label<'h>(self, points: &'h Points, column: &'h Column) -> Option<Labels<'h>> {
        self.label_weighted(Weights::Uniform, points, column)
    }

    /// The same, with labels weighted by `weights`.
    pub fn label_weighted<'h>(
        self,
        weights: Weights,
        points: &'h Points,
        column: &'h Column,
    ) -> Option<Labels<'h>> {
        self.label_first(weights, points, column, points.len(), column.ranking())
    }

    /// Labels for the first `len` points, whose numbers are those in `ranking`.
    pub fn label_first<'h>(
        self,
        weights: Weights,
        points: &'h Points,
        column: &'h Column,
        len: usize,
        ranking: &Ranking,
    ) -> Option<Labels<'h>> {
        let threshold = self.value(ranking)?;
        let good = ranking.count_at_most(threshold);
        let improvements = match weights {
            Weights::Uniform => Improvements::Unused,
            Weights::Improvement => {
                let mean = threshold - ranking.sum_at_most(threshold) / good.max(1) as f64;
                match mean > 0.0 && mean.is_finite() {
                    true => Improvements::Mean(mean),
                    false => Improvements::Alike,
                }
            }
        };
        Some(Labels { points, column, len, threshold, good, improvements })
    }
}

/// How much each label counts in a classifier's loss.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// All labels count the same: the classifier estimates the probability of improvement.
    #[default]
    Uniform,
    /// Every point is a bad one of weight 1, and a good point is also a good one that counts by how far it lies below
    /// τ, w = (τ - y)₊ over its mean among the good (LFBO; Song, Yu, Neiswanger and Ermon 2022). The loss
    ///
    /// ```text
    /// Σᵢ wᵢ log π(xᵢ) + log(1 - π(xᵢ))
    /// ```
    ///
    /// is largest at π/(1 - π) = E[w | x], which is expected improvement up to a factor. If only bad points were in
    /// class 0, π would be near 1 wherever nearly all points are good, whatever their improvement.
    Improvement,
}

/// Points with labels: what a classifier is fitted to.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'h> {
    points: &'h Points,
    column: &'h Column,
    len: usize,
    threshold: f64,
    good: usize,
    improvements: Improvements,
}

/// How the good points differ.
#[derive(Debug, Clone, Copy)]
enum Improvements {
    /// That does not matter: all labels count the same.
    Unused,
    /// Not at all: all good values equal τ, and count the same.
    Alike,
    /// By their improvement, whose mean this is.
    Mean(f64),
}

impl<'h> Labels<'h> {
    /// How many labelled points there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Coordinates of a point.
    pub fn dim(&self) -> usize {
        self.points.dim()
    }

    /// The `i`-th point.
    pub fn point(&self, i: usize) -> &'h [f64] {
        debug_assert!(i < self.len);
        self.points.row(i)
    }

    /// The points, in order.
    pub fn points(&self) -> impl Iterator<Item = &'h [f64]> + use<'h> {
        self.points.rows().take(self.len)
    }

    /// zᵢ: whether the `i`-th value is at most τ.
    pub fn is_good(&self, i: usize) -> bool {
        self.column.value(i).is_some_and(|value| value <= self.threshold)
    }

    /// All labels as numbers, 1 for good and 0 for bad.
    pub fn to_vec(&self) -> Vec<f64> {
        (0..self.len).map(|i| f64::from(u8::from(self.is_good(i)))).collect()
    }

    /// The share of the `i`-th point's weight in class 1: its label, 0 or 1, if all labels count the same. Weighted by
    /// improvement, a good point is in both classes, and its share is w/(1 + w).
    pub fn target(&self, i: usize) -> f64 {
        match self.improvement(i) {
            Some(improvement) => improvement / (1.0 + improvement),
            None => f64::from(u8::from(self.is_good(i))),
        }
    }

    /// All [targets](Self::target), in order.
    pub fn targets(&self) -> Vec<f64> {
        (0..self.len).map(|i| self.target(i)).collect()
    }

    /// How much the `i`-th point counts in both classes together: 1 if all labels count the same; weighted by
    /// improvement, 1 + w if it is good.
    pub fn weight(&self, i: usize) -> f64 {
        self.improvement(i).map_or(1.0, |improvement| 1.0 + improvement)
    }

    /// w, the improvement of a good point over the mean of the good; `None` for bad points and for uniform weights.
    fn improvement(&self, i: usize) -> Option<f64> {
        let mean = match self.improvements {
            Improvements::Unused => return None,
            Improvements::Alike => None,
            Improvements::Mean(mean) => Some(mean),
        };
        let value = self.column.value(i).filter(|value| *value <= self.threshold)?;
        Some(mean.map_or(1.0, |mean| (self.threshold - value) / mean))
    }

    /// How many points are good.
    pub fn good(&self) -> usize {
        self.good
    }

    /// τ, the value up to which a trial is good.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::outcome::Outcome;
    use proptest::prelude::*;

    fn history(values: &[f64]) -> History {
        let mut history = History::new(1);
        for (i, &value) in values.iter().enumerate() {
            history.push(&[i as f64], Outcome::from(value)).unwrap();
        }
        history
    }

    #[test]
    fn a_quarter_of_eight_distinct_values_is_good() {
        let history = history(&[5.0, 1.0, 4.0, 2.0, 8.0, 7.0, 6.0, 3.0]);
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        assert_eq!(labels.threshold(), 2.0);
        assert_eq!(labels.to_vec(), [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn constant_values_are_all_good_and_failures_all_bad() {
        let mut history = history(&[3.0, 3.0, 3.0]);
        history.push(&[9.0], Outcome::Infeasible).unwrap();
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        assert_eq!(labels.to_vec(), [1.0, 1.0, 1.0, 0.0]);
        assert_eq!((labels.good(), labels.len(), labels.is_empty()), (3, 4, false));
        let none = History::new(1);
        let labels = Threshold::Fixed { value: 0.0 }.label(none.points(), none.objective());
        assert!(labels.unwrap().is_empty());
    }

    #[test]
    fn improvement_puts_all_points_in_class_0_and_the_good_also_in_class_1() {
        let mut history = history(&[1.0, 2.0, 3.0, 9.0, 9.0, 9.0]);
        history.push(&[9.0], Outcome::failed()).unwrap();
        fn label(history: &History) -> Labels<'_> {
            Threshold::Quantile { fraction: 0.5 }
                .label_weighted(Weights::Improvement, history.points(), history.objective())
                .unwrap()
        }
        let labels = label(&history);
        let weights: Vec<f64> = (0..labels.len()).map(|i| labels.weight(i)).collect();
        assert_eq!(weights, [3.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(labels.targets(), [2.0 / 3.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(labels.to_vec(), [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        // The unit of values has no effect: improvements are relative to their mean.
        let ten_times = self::history(&[10.0, 20.0, 30.0, 90.0, 90.0, 90.0]);
        let weights: Vec<f64> = (0..6).map(|i| label(&ten_times).weight(i)).collect();
        assert_eq!(weights, [3.0, 2.0, 1.0, 1.0, 1.0, 1.0]);
        let ties = self::history(&[1.0, 1.0, 5.0, 6.0]);
        assert_eq!((label(&ties).weight(0), label(&ties).target(0)), (2.0, 0.5));
        let uniform = Threshold::default().label(history.points(), history.objective()).unwrap();
        assert_eq!(uniform.targets(), uniform.to_vec());
        assert!((0..uniform.len()).all(|i| uniform.weight(i) == 1.0));
    }

    #[test]
    fn without_values_only_a_fixed_threshold_labels() {
        let mut history = History::new(1);
        history.push(&[0.0], Outcome::failed()).unwrap();
        assert!(Threshold::default().label(history.points(), history.objective()).is_none());
        assert_eq!(
            Threshold::Fixed { value: 1.0 }
                .label(history.points(), history.objective())
                .unwrap()
                .to_vec(),
            [0.0]
        );
    }

    #[test]
    fn fractions_outside_the_open_interval_are_refused() {
        for fraction in [0.0, 1.0, -0.1, f64::NAN] {
            let error = Threshold::Quantile { fraction }.check().unwrap_err();
            assert!(error.to_string().contains("strictly between 0 and 1"), "{error}");
        }
        assert!(Threshold::Fixed { value: f64::NAN }.check().is_err());
        assert!(Threshold::default().check().is_ok());
        let grid = |count| {
            let grid = Grid { low: 0.0, high: 1.0, count };
            Threshold::Grid { fraction: 0.25, grid }.check().is_ok()
        };
        assert!(grid(2) && grid(MOST_THRESHOLDS));
        assert!(!grid(1) && !grid(MOST_THRESHOLDS + 1));
    }

    #[test]
    fn a_grid_raises_the_quantile_to_its_next_value() {
        let history = history(&[0.31, 0.9, 0.5, 0.7, 5.0, -3.0, 0.2, 0.1]);
        let tau = |fraction, low, high, count| {
            let grid = Grid { low, high, count };
            Threshold::Grid { fraction, grid }.value(history.objective().ranking()).unwrap()
        };
        assert_eq!(tau(0.5, 0.0, 1.0, 11), Grid { low: 0.0, high: 1.0, count: 11 }.value(4));
        // Below the lowest and above the highest.
        assert_eq!(tau(0.1, 0.0, 1.0, 11), 0.0);
        assert_eq!(tau(0.99, 0.0, 1.0, 11), 1.0);
        assert_eq!(Threshold::Fixed { value: 1.0 }.choices(), Some(1));
        assert_eq!(Threshold::default().choices(), None);
        let refused = |low, high, count| {
            let grid = Grid { low, high, count };
            Threshold::Grid { fraction: 0.25, grid }.check().unwrap_err().to_string()
        };
        assert!(refused(1.0, 1.0, 5).contains("thresholds high is 1"), "{}", refused(1.0, 1.0, 5));
        assert!(refused(0.0, 1.0, 1).contains("thresholds count is 1"));
    }

    proptest! {
        #[test]
        fn a_grid_s_threshold_is_one_of_its_values_and_the_next_above(
            value in -2.0..2.0_f64, low in -1.0..0.0_f64, length in 1e-3..3.0_f64, count in 2..40_usize,
        ) {
            let grid = Grid { low, high: low + length, count };
            let found = grid.raise(value);
            let naive = (0..count).map(|i| grid.value(i)).find(|v| *v >= value);
            prop_assert_eq!(found, naive.unwrap_or(grid.value(count - 1)));
            // A value of the grid stays where it is.
            prop_assert_eq!(grid.raise(found), found);
        }

        #[test]
        fn the_quantile_is_the_order_statistic_and_leaves_a_good_point(
            values in prop::collection::vec((-3..3_i8).prop_map(f64::from), 1..60),
            fraction in 0.001..0.999_f64,
        ) {
            let history = history(&values);
            let labels = Threshold::Quantile { fraction }.label(history.points(), history.objective()).unwrap();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let rank = ((fraction * values.len() as f64).ceil() as usize).max(1);
            prop_assert_eq!(labels.threshold(), sorted[rank - 1]);
            prop_assert!(labels.good() >= rank);
            let naive = values.iter().filter(|&&value| value <= sorted[rank - 1]).count();
            prop_assert_eq!(labels.good(), naive);
            prop_assert_eq!(labels.to_vec().iter().sum::<f64>() as usize, naive);
        }
    }
}
