//! The expected improvement of a whole batch, by samples (q-EI; Ginsbourger, Le Riche and Carraro 2010; Wilson,
//! Hutter and Deisenroth 2018).
//!
//! ```text
//! qEI(X) = E max(0, y* - min f(X)) ≈ 1/S Σₛ max(0, maxⱼ (y* - mⱼ - Lⱼεₛ)),   f(X) ~ N(m, LLᵀ)
//! ```
//!
//! The samples εₛ stay the same while X moves, so that the mean is a function with a gradient: that of the largest
//! improvement in each sample, and zero in samples without one. Pending points are members of X that do not move.
//!
//! Cost for q moving and p pending points, n told: O(n²(q + p) + (q + p)³ + S(q + p)²), gradients the same.

use super::halton::normal_samples;
use crate::error::Result;
use crate::gaussian_process::Surrogate;
use crate::gaussian_process::joint::{Joint, Slopes, Square};
use crate::points::Points;
use crate::seed::Rng;

/// qEI of batches of one size, under a surrogate and with fixed samples; units are those of the process.
#[derive(Debug, Clone)]
pub(crate) struct JointImprovement<'s> {
    surrogate: &'s Surrogate,
    pending: &'s Points,
    batch_size: usize,
    samples: Points,
}

impl<'s> JointImprovement<'s> {
    pub fn new(
        surrogate: &'s Surrogate,
        pending: &'s Points,
        batch_size: usize,
        samples: usize,
        rng: &mut Rng,
    ) -> Self {
        let samples = normal_samples(pending.len() + batch_size, samples, rng);
        Self { surrogate, pending, batch_size, samples }
    }

    /// qEI of `batch`, not negative.
    pub fn value(&self, batch: &Points) -> Result<f64> {
        let joint = self.joint(batch)?;
        let incumbent = self.surrogate.incumbent();
        let total: f64 = self
            .samples
            .rows()
            .map(|sample| lowest(joint.mean(), joint.lower(), sample).1)
            .map(|lowest| (incumbent - lowest).max(0.0))
            .sum();
        Ok(total / self.samples.len() as f64)
    }

    /// qEI of the points in `batch`, row after row; its gradient in their coordinates goes to `gradient`.
    pub fn value_and_gradient(&self, batch: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let joint = self.joint(&Points::from_rows(
            self.pending.dim(),
            batch.chunks_exact(self.pending.dim()),
        ))?;
        let m = joint.mean().len();
        let share = 1.0 / self.samples.len() as f64;
        let mut slopes = Slopes { mean: vec![0.0; m], lower: Square::zeros(m) };
        let mut value = 0.0;
        for sample in self.samples.rows() {
            let (j, lowest) = lowest(joint.mean(), joint.lower(), sample);
            let improvement = self.surrogate.incumbent() - lowest;
            if improvement > 0.0 {
                value += share * improvement;
                slopes.mean[j] -= share;
                for (k, e) in sample[..=j].iter().enumerate() {
                    *slopes.lower.at_mut(j, k) -= share * e;
                }
            }
        }
        let all = joint.pull_back(&slopes);
        gradient.copy_from_slice(&all.as_slice()[self.pending.as_slice().len()..]);
        Ok(value)
    }

    /// The joint posterior of pending points and batch, in this order.
    fn joint(&self, batch: &Points) -> Result<Joint<'_>> {
        assert_eq!(batch.len(), self.batch_size, "the batch must have the size given");
        let mut all = self.pending.clone();
        all.extend(batch);
        Joint::at(self.surrogate.posterior(), self.surrogate.weights(), all)
    }
}

/// The lowest of the values m + Lε, with its index.
fn lowest(mean: &[f64], lower: &Square, sample: &[f64]) -> (usize, f64) {
    let mut lowest = (0, f64::INFINITY);
    for (j, mean) in mean.iter().enumerate() {
        let products = lower.row(j)[..=j].iter().zip(sample);
        let value = mean + products.map(|(l, e)| l * e).sum::<f64>();
        if value < lowest.1 {
            lowest = (j, value);
        }
    }
    lowest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::fixtures::{self, points};
    use crate::gaussian_process::tail::log_improvement;
    use crate::seed::Seed;
    use proptest::prelude::*;

    fn surrogate(seed: u64) -> Surrogate {
        fixtures::surrogate(8, 1.0, 0.01, seed)
    }

    /// The point that improves most in each sample, if any does.
    fn improving(joint: &JointImprovement<'_>, batch: &Points) -> Vec<Option<usize>> {
        let posterior = joint.joint(batch).unwrap();
        let found = |sample: &[f64]| lowest(posterior.mean(), posterior.lower(), sample);
        let incumbent = joint.surrogate.incumbent();
        joint.samples.rows().map(found).map(|(j, y)| (y < incumbent).then_some(j)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_gradient_is_that_of_finite_differences(seed in 0..1000_u64, pending in 0..3_usize) {
            let (surrogate, pending, batch) =
                (surrogate(seed), points(pending, seed + 1), points(3, seed + 2));
            let mut rng = Seed(seed).stream("samples", 0);
            let joint = JointImprovement::new(&surrogate, &pending, 3, 256, &mut rng);
            let mut gradient = vec![0.0; 6];
            let value = joint.value_and_gradient(batch.as_slice(), &mut gradient).unwrap();
            prop_assert!((value - joint.value(&batch).unwrap()).abs() < 1e-12);
            for (k, exact) in gradient.iter().enumerate() {
                let moved = |step: f64| {
                    let mut batch = batch.clone();
                    batch.as_mut_slice()[k] += step;
                    batch
                };
                let (after, before) = (moved(1e-6), moved(-1e-6));
                // The mean bends where another point becomes the lowest of a sample: no difference there.
                if improving(&joint, &after) != improving(&joint, &before) {
                    continue;
                }
                let numeric = (joint.value(&after).unwrap() - joint.value(&before).unwrap()) / 2e-6;
                prop_assert!(
                    (exact - numeric).abs() < 1e-4 * (1.0 + numeric.abs()),
                    "{}: {} {}", k, exact, numeric
                );
            }
        }

        #[test]
        fn of_one_point_it_is_the_closed_form(seed in 0..1000_u64) {
            let (surrogate, none, batch) = (surrogate(seed), Points::new(2), points(1, seed + 2));
            let mut rng = Seed(seed).stream("samples", 0);
            let joint = JointImprovement::new(&surrogate, &none, 1, 4096, &mut rng);
            let got = surrogate.posterior().predict(surrogate.weights(), batch.row(0));
            let u = (surrogate.incumbent() - got.mean) / got.deviation;
            let exact = got.deviation * log_improvement(u).value.exp();
            let sampled = joint.value(&batch).unwrap();
            prop_assert!((sampled - exact).abs() < 2e-3 * got.deviation, "{} {}", sampled, exact);
        }
    }

    /// The quadratures of `tests/golden/improvement.json`.
    #[test]
    fn of_two_dependent_points_it_is_that_of_quadrature() {
        let text = include_str!("../../tests/golden/improvement.json");
        let golden: serde_json::Value = serde_json::from_str(text).unwrap();
        for pair in golden["pairs"].as_array().unwrap() {
            let number = |value: &serde_json::Value| value.as_f64().unwrap();
            let mean = [number(&pair["mean"][0]), number(&pair["mean"][1])];
            let mut covariance = Square::zeros(2);
            for i in 0..2 {
                for j in 0..2 {
                    *covariance.at_mut(i, j) = number(&pair["covariance"][i][j]);
                }
            }
            let lower = covariance.cholesky(1.0).unwrap();
            let samples = normal_samples(2, 16_384, &mut Seed(4).stream("samples", 0));
            let incumbent = number(&pair["incumbent"]);
            let gain = |e: &[f64]| (incumbent - lowest(&mean, &lower, e).1).max(0.0);
            let moment = |power: i32| {
                samples.rows().map(|e| gain(e).powi(power)).sum::<f64>() / samples.len() as f64
            };
            let (sampled, exact) = (moment(1), number(&pair["improvement"]));
            // Half the standard error of as many independent samples.
            let error = ((moment(2) - sampled * sampled) / samples.len() as f64).sqrt();
            assert!((sampled - exact).abs() < 0.5 * error, "{sampled} {exact} {error}");
        }
    }

    #[test]
    fn a_pending_point_adds_what_it_promises_and_a_copy_of_it_adds_nothing() {
        let (surrogate, batch) = (surrogate(5), points(1, 9));
        let mut rng = Seed(0).stream("samples", 0);
        let none = Points::new(2);
        let alone = JointImprovement::new(&surrogate, &none, 1, 16_384, &mut rng);
        let pending = JointImprovement::new(&surrogate, &batch, 1, 16_384, &mut rng);
        let (one, both) = (alone.value(&batch).unwrap(), pending.value(&batch).unwrap());
        assert!((one - both).abs() < 0.02 * one, "{one} {both}");
        let others = (0..20).map(|seed| pending.value(&points(1, 100 + seed)).unwrap());
        let (least, most) = others.fold((both, both), |(a, b), v| (a.min(v), b.max(v)));
        assert!(least > 0.99 * both && most > 1.5 * both, "{least} {both} {most}");
    }
}
