//! Where trials fail: a second classifier, whose probability of success multiplies the acquisition.
//!
//! Kernel least squares on labels, 1 for a trial without a value and 0 for one with: far from any failure the estimate
//! is 0, so that unknown ground counts as safe, and without failures there is no classifier at all. The kernel is that of the
//! model with shorter length scales, for failures often end at a sharp edge where values go on smoothly.
//!
//! Cost: O(n³/3) to fit, O(nd) a probability.

use crate::error::Result;
use crate::gaussian_process::Posterior;
use crate::kernel::{Kernel, Profile};
use crate::points::Points;

/// The length scales, in those of the model.
const SHORTER: f64 = 0.5;
/// λ, the ridge of the classifier of failures: more of it smooths more, and is surer of nothing.
const RIDGE: f64 = 0.05;
/// The least probability of success: even what has only failed may be tried again.
const LEAST: f64 = 0.01;

/// The probability that a trial has a value.
#[derive(Debug, Clone)]
pub(super) struct Feasibility(Option<Fitted>);

#[derive(Debug, Clone)]
struct Fitted {
    posterior: Posterior,
    weights: Vec<f64>,
}

impl Feasibility {
    /// From trials without and with a value, in the coordinates and with the kernel of a model.
    pub(super) fn fit(failed: &Points, fine: &Points, kernel: &Kernel) -> Result<Self> {
        if failed.is_empty() {
            return Ok(Self(None));
        }
        let scales = kernel.length_scales().iter().map(|scale| SHORTER * scale).collect();
        let kernel = Kernel::new(Profile::Matern52, scales, 1.0)?;
        let posterior = Posterior::fit(kernel, RIDGE, failed.rows().chain(fine.rows()))?;
        let label = |i: usize| f64::from(u8::from(i < failed.len()));
        let labels: Vec<f64> = (0..posterior.len()).map(label).collect();
        let weights = posterior.weights(&labels);
        Ok(Self(Some(Fitted { posterior, weights })))
    }

    /// Whether no trial has failed: every probability is 1.
    pub(super) fn is_certain(&self) -> bool {
        self.0.is_none()
    }

    /// The probability of a value at x.
    pub(super) fn probability(&self, x: &[f64]) -> f64 {
        let Some(Fitted { posterior, weights }) = &self.0 else { return 1.0 };
        (1.0 - posterior.mean(weights, x)).clamp(LEAST, 1.0)
    }

    /// The probability of a value at x; its gradient goes to `gradient`.
    pub(super) fn probability_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some(Fitted { posterior, weights }) = &self.0 else { return 1.0 };
        let probability = 1.0 - posterior.mean_and_gradient(weights, x, gradient);
        let inside = probability > LEAST && probability < 1.0;
        gradient.iter_mut().for_each(|g| *g = if inside { -*g } else { 0.0 });
        probability.clamp(LEAST, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half_failed() -> Feasibility {
        let points = |from: f64| Points::from_rows(1, (0..8).map(|i| [from + 0.05 * f64::from(i)]));
        let kernel = Kernel::isotropic(Profile::Matern52, 1, 0.2, 1.0).unwrap();
        Feasibility::fit(&points(0.6), &points(0.0), &kernel).unwrap()
    }

    #[test]
    fn what_failed_is_unlikely_and_unknown_ground_is_safe() {
        let feasibility = half_failed();
        assert!(feasibility.probability(&[0.8]) < 0.1);
        assert!(feasibility.probability(&[0.1]) > 0.9);
        assert!(feasibility.probability(&[5.0]) > 0.99);
        let kernel = Kernel::isotropic(Profile::Matern52, 1, 0.2, 1.0).unwrap();
        let none = Points::new(1);
        let certain = Feasibility::fit(&none, &none, &kernel).unwrap();
        assert_eq!(certain.probability(&[0.3]), 1.0);
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let feasibility = half_failed();
        let mut gradient = [0.0];
        for x in [0.42, 0.47, 0.53] {
            let value = feasibility.probability_and_gradient(&[x], &mut gradient);
            assert_eq!(value, feasibility.probability(&[x]));
            let numeric = (feasibility.probability(&[x + 1e-6])
                - feasibility.probability(&[x - 1e-6]))
                / 2e-6;
            assert!((gradient[0] - numeric).abs() < 1e-5, "{} {numeric}", gradient[0]);
        }
    }
}
