//! One number a trial, lower is better: all that labels, classifiers, kernels and batch rules need to know about it.
//!
//! An objective is a column; so is a scalarisation of several, a non-domination level, or the value of a constraint.
//! Every classifier and every batch rule works on whatever can be written as a column.
//!
//! Memory: 8 bytes a trial for the value and 8 for its rank; 8 more for its deviation, once any trial has a known one.

use crate::ranking::Ranking;

/// How many of the best trials are kept at hand.
const LEADERS: usize = 10;

/// The numbers of all trials, in the order of the trials, and their ranking. A trial may have no number.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// NaN for a trial without a number; the numbers themselves are finite.
    values: Vec<f64>,
    /// NaN where the deviation is unknown; empty until one is known.
    deviations: Vec<f64>,
    ranking: Ranking,
    leaders: Vec<usize>,
}

impl Column {
    /// Appends the number of the next trial, which must be finite, and the standard deviation of its noise if known.
    pub(crate) fn push(&mut self, value: Option<f64>, deviation: Option<f64>) {
        let place = self.values.len();
        if let Some(value) = value {
            debug_assert!(value.is_finite());
            self.ranking.insert(value);
            let rank = self.leaders.partition_point(|&other| self.values[other] <= value);
            self.leaders.insert(rank, place);
            self.leaders.truncate(LEADERS);
        }
        self.values.push(value.unwrap_or(f64::NAN));
        if deviation.is_some() && self.deviations.is_empty() {
            self.deviations.resize(place, f64::NAN);
        }
        if deviation.is_some() || !self.deviations.is_empty() {
            self.deviations.push(deviation.unwrap_or(f64::NAN));
        }
    }

    /// How many trials there are, with or without a number.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no trial.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of the `i`-th trial, if it has one.
    pub fn value(&self, i: usize) -> Option<f64> {
        Some(self.values[i]).filter(|value| !value.is_nan())
    }

    /// The numbers of all trials, in order.
    pub fn values(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        (0..self.len()).map(|i| self.value(i))
    }

    /// The standard deviation of the noise in the number of the `i`-th trial, if it is known.
    pub fn deviation(&self, i: usize) -> Option<f64> {
        self.deviations.get(i).copied().filter(|deviation| !deviation.is_nan())
    }

    /// The numbers in order of size.
    pub fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    /// The trials with the lowest numbers, ten at most: best first, and the earlier of equal ones first.
    pub fn leaders(&self) -> &[usize] {
        &self.leaders
    }

    /// The first trial with the lowest number.
    pub fn best(&self) -> Option<usize> {
        self.leaders.first().copied()
    }

    /// The lowest number.
    pub fn best_value(&self) -> Option<f64> {
        self.best().and_then(|best| self.value(best))
    }
}

impl FromIterator<Option<f64>> for Column {
    /// A column of finite numbers, without deviations.
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(values: I) -> Self {
        let mut column = Self::default();
        values.into_iter().for_each(|value| column.push(value, None));
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_are_the_lowest_numbers_in_order() {
        let values: Vec<f64> = (0..50).map(|i| f64::from((i * 17) % 23)).collect();
        let column: Column = values.iter().copied().map(Some).collect();
        let mut order: Vec<usize> = (0..50).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        assert_eq!(column.leaders(), &order[..10]);
        assert_eq!((column.best(), column.best_value()), (Some(order[0]), Some(0.0)));
    }

    #[test]
    fn a_trial_without_a_number_has_none_and_deviations_belong_to_their_trials() {
        let mut column = Column::default();
        column.push(None, None);
        column.push(Some(2.0), None);
        column.push(Some(1.0), Some(0.5));
        column.push(None, None);
        column.push(Some(3.0), None);
        let values: Vec<Option<f64>> = column.values().collect();
        assert_eq!(values, [None, Some(2.0), Some(1.0), None, Some(3.0)]);
        let deviations: Vec<Option<f64>> = (0..5).map(|i| column.deviation(i)).collect();
        assert_eq!(deviations, [None, None, Some(0.5), None, None]);
        assert_eq!((column.ranking().len(), column.leaders()), (3, &[2, 1, 4][..]));
    }
}
