//! The evidence D_t: what was tried and what came of it, append only.
//!
//! Points are legal encoded points of the search space; values are minimised. A trial without a value is
//! remembered as what it was, never as a number.
//!
//! Memory: d + 2 numbers a trial for the record, one more for its rank, and two for its fingerprint.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::points::Points;
use crate::ranking::Ranking;
use crate::space::{Fingerprint, Taken};

/// What came of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The objective's value.
    Value(f64),
    /// The trial broke: no value.
    Failed,
    /// The configuration cannot be evaluated: no value, and none to be had by trying again.
    Infeasible,
}

impl Outcome {
    /// The value, if there is one.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(value),
            Self::Failed | Self::Infeasible => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Failed => f.write_str("failed"),
            Self::Infeasible => f.write_str("infeasible"),
        }
    }
}

/// How many of the best trials are kept at hand.
const LEADERS: usize = 10;

/// All finished trials, in the order in which they were told.
#[derive(Debug, Clone)]
pub struct History {
    points: Points,
    outcomes: Vec<Outcome>,
    ranking: Ranking,
    taken: Taken,
    leaders: Vec<usize>,
}

impl History {
    /// No evidence yet, about points of `dim` coordinates.
    pub fn new(dim: usize) -> Self {
        Self {
            points: Points::new(dim),
            outcomes: Vec::new(),
            ranking: Ranking::default(),
            taken: Taken::default(),
            leaders: Vec::new(),
        }
    }

    /// Appends a finished trial at a legal encoded point. A value that is not finite is refused.
    pub fn push(&mut self, x: &[f64], outcome: Outcome) -> Result<()> {
        if let Outcome::Value(value) = outcome {
            if !value.is_finite() {
                return Err(Error::NonFinite { trial: self.len() as u64, value });
            }
            self.ranking.insert(value);
            let ahead =
                |&other: &usize| self.outcomes[other].value().is_some_and(|other| other <= value);
            let place = self.leaders.partition_point(ahead);
            self.leaders.insert(place, self.len());
            self.leaders.truncate(LEADERS);
        }
        self.points.push(x);
        self.outcomes.push(outcome);
        self.taken.insert(Fingerprint::of(x));
        Ok(())
    }

    /// How many trials are finished, with or without a value.
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Whether no trial is finished.
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// The points tried.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// What came of each.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The values in order.
    pub fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    /// The configurations tried.
    pub fn taken(&self) -> &Taken {
        &self.taken
    }

    /// The indices of the trials with the lowest values, best first and equal ones in order, ten at most.
    pub fn leaders(&self) -> &[usize] {
        &self.leaders
    }

    /// The index of the first trial with the lowest value.
    pub fn best(&self) -> Option<usize> {
        self.leaders.first().copied()
    }

    /// The lowest value.
    pub fn best_value(&self) -> Option<f64> {
        self.best().and_then(|best| self.outcomes[best].value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_no_numbers_and_values_must_be_finite() {
        let mut history = History::new(1);
        history.push(&[0.5], Outcome::Failed).unwrap();
        history.push(&[0.25], Outcome::Value(2.0)).unwrap();
        history.push(&[0.75], Outcome::Infeasible).unwrap();
        history.push(&[0.1], Outcome::Value(2.0)).unwrap();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = history.push(&[0.2], Outcome::Value(value)).unwrap_err();
            assert!(error.to_string().starts_with("trial 4 was told the value"), "{error}");
        }
        assert_eq!(history.len(), 4);
        assert_eq!(history.ranking().len(), 2);
        assert_eq!((history.best(), history.best_value()), (Some(1), Some(2.0)));
        assert_eq!(history.taken().len(), 4);
    }

    #[test]
    fn leaders_are_the_lowest_values_in_order() {
        let mut history = History::new(1);
        let values: Vec<f64> = (0..50).map(|i| f64::from((i * 17) % 23)).collect();
        for (i, &value) in values.iter().enumerate() {
            history.push(&[i as f64], Outcome::Value(value)).unwrap();
        }
        let mut order: Vec<usize> = (0..50).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        assert_eq!(history.leaders(), &order[..10]);
    }
}
