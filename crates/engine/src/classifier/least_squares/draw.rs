//! Draws from the posterior of kernel least squares, N(π̂_t, σ_t²) as a Gaussian process: for Thompson sampling.
//!
//! At a few points they are exact: π̂ + Lε, with LLᵀ the joint posterior covariance (`gaussian_process::joint`). Anywhere, by random Fourier features φ of the
//! kernel and an exact update (Wilson and others 2020):
//!
//! ```text
//! g(x) = φ(x)ᵀw + k_t(x)ᵀ (K_t + λI)⁻¹ (z - Φ_t w - e),      w ~ N(0, s I),   e ~ N(0, λ I)
//! ```
//!
//! φ(x)ᵀw is nearly a draw from the prior; the second term makes it one from the posterior, which is exact wherever data decide.
//!
//! Cost for n labels, F features: O(n² + n F d) a draw, O(F d + n d) a value; m points jointly O(n² m + m³).

use rand_distr::{Distribution as _, StandardNormal};

use super::LeastSquaresClassifier;
use super::bound::value_and_slope;
use crate::acquisition::Acquisition;
use crate::classifier::fourier_features::FourierFeatures;
use crate::classifier::{Classifier as _, Target};
use crate::error::Result;
use crate::gaussian_process::joint::Joint;
use crate::points::{Points, dot};
use crate::seed::Rng;

/// Features of a draw: entries of the kernel have a standard deviation of √(2/1024), about 0.04.
const FEATURES: usize = 1024;

/// A function drawn from the posterior.
#[derive(Debug)]
pub(super) struct Draw<'c> {
    classifier: &'c LeastSquaresClassifier,
    features: FourierFeatures,
    /// w.
    prior: Vec<f64>,
    /// (K_t + λI)⁻¹ (z - Φ_t w - e).
    weights: Vec<f64>,
    target: Target,
}

impl<'c> Draw<'c> {
    pub(super) fn new(
        classifier: &'c LeastSquaresClassifier,
        target: Target,
        rng: &mut Rng,
    ) -> Self {
        let LeastSquaresClassifier { posterior, weights } = classifier;
        let kernel = posterior.kernel();
        let features = FourierFeatures::of(kernel, FEATURES, rng);
        let (scale, noise) = (kernel.output_scale().sqrt(), posterior.ridge().sqrt());
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let prior: Vec<f64> = (0..FEATURES).map(|_| scale * normal()).collect();
        let mut row = vec![0.0; FEATURES];
        let told: Vec<f64> = posterior
            .points()
            .rows()
            .map(|x| {
                features.map(x, &mut row);
                dot(&row, &prior) + noise * normal()
            })
            .collect();
        let update = posterior.weights(&told);
        let weights = weights.iter().zip(&update).map(|(weight, update)| weight - update).collect();
        Self { classifier, features, prior, weights, target }
    }

    /// g(x), not clipped.
    fn at(&self, x: &[f64], row: &mut [f64]) -> f64 {
        self.features.map(x, row);
        dot(row, &self.prior) + self.classifier.posterior.mean(&self.weights, x)
    }
}

impl Acquisition for Draw<'_> {
    fn dim(&self) -> usize {
        self.classifier.dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        value_and_slope(self.target, self.at(x, &mut vec![0.0; FEATURES])).0
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        let mut row = vec![0.0; FEATURES];
        for (x, value) in points.rows().zip(values) {
            *value = value_and_slope(self.target, self.at(x, &mut row)).0;
        }
    }
}

/// `count` joint draws at `points`, one a row.
pub(super) fn jointly(
    classifier: &LeastSquaresClassifier,
    points: &Points,
    count: usize,
    rng: &mut Rng,
) -> Result<Points> {
    let LeastSquaresClassifier { posterior, weights } = classifier;
    let joint = Joint::at(posterior, weights, points.clone())?;
    let mut draws = Points::with_capacity(points.len(), count);
    for _ in 0..count {
        let noise: Vec<f64> = (0..points.len()).map(|_| StandardNormal.sample(rng)).collect();
        let entry =
            |(i, mean): (usize, &f64)| mean + dot(&joint.lower().row(i)[..=i], &noise[..=i]);
        draws.push(&joint.mean().iter().enumerate().map(entry).collect::<Vec<f64>>());
    }
    Ok(draws)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fit, fixed, history};
    use super::*;
    use crate::kernel::Profile;
    use crate::seed::Seed;

    /// Mean and covariance of many draws against the posterior's own, within five standard errors.
    #[test]
    fn draws_have_the_moments_of_the_posterior() {
        let profiles = [
            Profile::SquaredExponential,
            Profile::Matern32,
            Profile::Matern52,
            Profile::RationalQuadratic { alpha: 0.7 },
        ];
        for profile in profiles {
            let classifier = fit(&fixed(profile), &history(12, 3));
            let points = Points::from_rows(2, [[0.3, 0.3], [0.35, 0.3], [0.9, 0.1], [0.5, 0.95]]);
            let joint =
                Joint::at(&classifier.posterior, &classifier.weights, points.clone()).unwrap();
            let covariance = |i: usize, j: usize| dot(joint.lower().row(i), joint.lower().row(j));
            let mut rng = Seed(9).stream("draws", 0);
            let count = 3_000;
            let exact = jointly(&classifier, &points, count, &mut rng).unwrap();
            let mut by_features = Points::with_capacity(4, count);
            let mut row = vec![0.0; FEATURES];
            for _ in 0..count {
                let draw = Draw::new(&classifier, Target::LogProbability, &mut rng);
                by_features
                    .push(&points.rows().map(|x| draw.at(x, &mut row)).collect::<Vec<f64>>());
            }
            for draws in [exact, by_features] {
                let n = count as f64;
                let mean = |i: usize| draws.rows().map(|draw| draw[i]).sum::<f64>() / n;
                for i in 0..4 {
                    let error = (covariance(i, i) / n).sqrt();
                    let gap = mean(i) - joint.mean()[i];
                    assert!(gap.abs() < 5.0 * error, "{profile:?} {i}: {gap} {error}");
                    for j in 0..=i {
                        let product = |draw: &[f64]| {
                            (draw[i] - joint.mean()[i]) * (draw[j] - joint.mean()[j])
                        };
                        let found = draws.rows().map(product).sum::<f64>() / n;
                        let spread = covariance(i, i) * covariance(j, j) + covariance(i, j).powi(2);
                        // The features' own error falls with their number and is independent from draw to draw.
                        let gap = found - covariance(i, j);
                        let error = (spread / n).sqrt();
                        assert!(gap.abs() < 5.0 * error, "{profile:?} {i} {j}: {gap} {error}");
                    }
                }
            }
        }
    }
}
