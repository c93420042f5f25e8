//! One number from the members of an ensemble: their mean, or a bound above it.
//! ```text
//! mean + β · deviation,   or the empirical (1 - δ)-quantile
//! ```
//! Neither is the bound of Theorem 1, which is about kernel least squares: the members of an ensemble differ by
//! how they were drawn, which is a measure of doubt without a guarantee.

use crate::classifier::Confidence;
use crate::error::{Error, Result};

/// How an ensemble is read at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Summary {
    /// The mean.
    Mean,
    /// The mean and β times the standard deviation.
    Width(f64),
    /// The member at this rank, from the lowest.
    Rank(usize),
}

impl Summary {
    /// The reading for a bound over `members` members; `field` is the setting that says how many there are.
    ///
    /// One member has no spread, so that it has no bound but the width 0.
    pub(crate) fn bound(confidence: Confidence, members: usize, field: &str) -> Result<Self> {
        confidence.check()?;
        match confidence {
            Confidence::Width(0.0) => Ok(Self::Mean),
            _ if members < 2 => {
                Err(Error::invalid(field, members, "at least 2 for an upper bound"))
            }
            Confidence::Width(width) => Ok(Self::Width(width)),
            Confidence::Level { failure_probability, .. } => {
                // (1 - 0.05) · 100 is 95, also where its rounding is a little more.
                let share = (1.0 - failure_probability) * members as f64 - 1e-9;
                let rank = share.ceil() as usize;
                Ok(Self::Rank(rank.clamp(1, members) - 1))
            }
        }
    }

    /// The reading of the members' values, whose order may change.
    pub(crate) fn of(self, values: &mut [f64]) -> f64 {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        match self {
            Self::Mean => mean(values),
            Self::Width(width) => {
                let mean = mean(values);
                let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
                mean + width * (squares / (values.len() - 1) as f64).sqrt()
            }
            Self::Rank(rank) => *values.select_nth_unstable_by(rank, f64::total_cmp).1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(failure_probability: f64) -> Confidence {
        Confidence::Level { failure_probability, norm_bound: 1.0 }
    }

    fn read(confidence: Confidence, values: &[f64]) -> f64 {
        Summary::bound(confidence, values.len(), "trees").unwrap().of(&mut values.to_vec())
    }

    #[test]
    fn widths_and_levels_are_read_as_they_are_written() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(read(Confidence::Width(0.0), &values), 2.5);
        let deviation = (5.0_f64 / 3.0).sqrt();
        assert!((read(Confidence::Width(2.0), &values) - (2.5 + 2.0 * deviation)).abs() < 1e-15);
        for (delta, expected) in [(0.01, 4.0), (0.25, 3.0), (0.5, 2.0), (0.8, 1.0), (0.999, 1.0)] {
            assert_eq!(read(level(delta), &values), expected, "{delta}");
        }
    }

    #[test]
    fn one_member_has_no_bound_and_wrong_confidences_are_refused() {
        assert_eq!(read(Confidence::Width(0.0), &[7.0]), 7.0);
        for confidence in [Confidence::Width(1.0), level(0.1)] {
            let error = Summary::bound(confidence, 1, "forest trees").unwrap_err();
            assert_eq!(
                error.to_string(),
                "forest trees is 1, but must be at least 2 for an upper bound"
            );
        }
        assert!(Summary::bound(Confidence::Width(-1.0), 5, "trees").is_err());
        assert!(Summary::bound(level(1.0), 5, "trees").is_err());
    }
}
