//! Draws from the posterior N(m, S) of the weights, for Thompson sampling: a draw w gives the logit wᵀφ(x).
//!
//! Cost for F features: O(F³) a draw, O(F d) a value. Fails with `Error::Diverged` if S is not positive definite.

use rand_distr::{Distribution as _, StandardNormal};

use super::BayesianLogisticClassifier;
use crate::acquisition::Acquisition;
use crate::classifier::logistic::value_and_slope;
use crate::classifier::{Classifier as _, Target};
use crate::error::{Error, Result};
use crate::linalg::definite::Definite;
use crate::points::{Points, dot};
use crate::seed::Rng;

/// A logit drawn from the posterior.
#[derive(Debug)]
pub(super) struct Draw<'c> {
    classifier: &'c BayesianLogisticClassifier,
    weights: Vec<f64>,
    target: Target,
}

impl<'c> Draw<'c> {
    pub(super) fn new(
        classifier: &'c BayesianLogisticClassifier,
        target: Target,
        rng: &mut Rng,
    ) -> Result<Self> {
        let BayesianLogisticClassifier { mean, covariance, .. } = classifier;
        let width = mean.len();
        let factor = Definite::factor(width, |i, j| covariance[i * width + j]);
        let Some(factor) = factor else {
            return Err(Error::Diverged {
                model: "Bayesian logistic regression",
                doing: "drawing from its posterior",
            });
        };
        let noise: Vec<f64> = (0..width).map(|_| StandardNormal.sample(rng)).collect();
        let moved = factor.times_lower(&noise);
        let weights = mean.iter().zip(moved).map(|(mean, moved)| mean + moved).collect();
        Ok(Self { classifier, weights, target })
    }

    /// The logit at x; `row` has room for the features.
    fn at(&self, x: &[f64], row: &mut [f64]) -> f64 {
        self.classifier.features.map(x, row);
        dot(row, &self.weights)
    }
}

impl Acquisition for Draw<'_> {
    fn dim(&self) -> usize {
        self.classifier.dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        value_and_slope(self.target, self.at(x, &mut vec![0.0; self.weights.len()])).0
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        let mut row = vec![0.0; self.weights.len()];
        for (x, value) in points.rows().zip(values) {
            *value = value_and_slope(self.target, self.at(x, &mut row)).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::{BayesianLogistic, Learner as _};
    use crate::history::History;
    use crate::labels::Threshold;
    use crate::outcome::Outcome;
    use crate::seed::Seed;

    #[test]
    fn draws_have_the_moments_of_the_logit() {
        let mut history = History::new(1);
        for i in 0..20 {
            let x = f64::from(i) / 19.0;
            history.push(&[x], Outcome::from((x - 0.4).abs())).unwrap();
        }
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        let learner = BayesianLogistic { features: 30, ..BayesianLogistic::default() };
        let mut rng = Seed(2).stream("draws", 0);
        let fitted = learner.fit(&labels, None, &mut rng).unwrap();
        let (count, mut row) = (4_000, vec![0.0; fitted.features.len()]);
        let (a, b) = ([0.4], [0.45]);
        let draws: Vec<[f64; 2]> = (0..count)
            .map(|_| {
                let draw = Draw::new(&fitted, Target::Logit, &mut rng).unwrap();
                assert_eq!(draw.value(&a), draw.at(&a, &mut row));
                [draw.at(&a, &mut row), draw.at(&b, &mut row)]
            })
            .collect();
        let n = f64::from(count);
        let mut features = [vec![0.0; row.len()], vec![0.0; row.len()]];
        fitted.features.map(&a, &mut features[0]);
        fitted.features.map(&b, &mut features[1]);
        let width = row.len();
        let image: Vec<f64> = (0..width)
            .map(|i| dot(&fitted.covariance[i * width..(i + 1) * width], &features[1]))
            .collect();
        let between = dot(&features[0], &image);
        let moments = [fitted.predict(&a), fitted.predict(&b)];
        for (k, moment) in moments.iter().enumerate() {
            let mean = draws.iter().map(|draw| draw[k]).sum::<f64>() / n;
            let error = moment.deviation / n.sqrt();
            assert!((mean - moment.mean).abs() < 5.0 * error, "{mean} {moment:?}");
            let square = draws.iter().map(|draw| (draw[k] - moment.mean).powi(2)).sum::<f64>() / n;
            let variance = moment.deviation.powi(2);
            assert!(
                (square / variance - 1.0).abs() < 5.0 * (2.0 / n).sqrt(),
                "{square} {variance}"
            );
        }
        let product = |draw: &[f64; 2]| (draw[0] - moments[0].mean) * (draw[1] - moments[1].mean);
        let found = draws.iter().map(product).sum::<f64>() / n;
        let spread = (moments[0].deviation * moments[1].deviation).powi(2) + between.powi(2);
        assert!((found - between).abs() < 5.0 * (spread / n).sqrt(), "{found} {between}");
    }
}
