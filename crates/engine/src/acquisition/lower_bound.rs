//! The lower confidence bound of a Gaussian process, as an acquisition: βσ(x) - μ(x), to be maximised.
//!
//! Cost: O(n²) a value.

use super::{Acquisition, SmoothAcquisition};
use crate::gaussian_process::{Prediction, Surrogate};
use crate::points::Points;

/// β σ - μ, to be maximised, in the units of the process.
#[derive(Debug, Clone)]
pub(crate) struct LowerBound {
    pub(crate) surrogate: Surrogate,
    /// β: how many deviations the bound lies below the mean.
    pub(crate) width: f64,
}

impl LowerBound {
    fn negated(&self, Prediction { mean, deviation }: Prediction) -> f64 {
        self.width * deviation - mean
    }
}

impl Acquisition for LowerBound {
    fn dim(&self) -> usize {
        self.surrogate.posterior().dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.negated(self.surrogate.posterior().predict(self.surrogate.weights(), x))
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        let all = self.surrogate.posterior().predict_all(self.surrogate.weights(), points);
        for (value, prediction) in values.iter_mut().zip(all) {
            *value = self.negated(prediction);
        }
    }
}

impl SmoothAcquisition for LowerBound {
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut mean_gradient = vec![0.0; x.len()];
        let prediction = self.surrogate.posterior().predict_with_gradients(
            self.surrogate.weights(),
            x,
            &mut mean_gradient,
            gradient,
        );
        for (g, mean) in gradient.iter_mut().zip(&mean_gradient) {
            *g = self.width * *g - mean;
        }
        self.negated(prediction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::fixtures::surrogate;

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let bound = LowerBound { surrogate: surrogate(8, 1.0, 0.01, 3), width: 2.0 };
        for x in [[0.2, 0.3], [0.6, 0.1], [0.9, 0.95]] {
            let mut gradient = [0.0; 2];
            let value = bound.value_and_gradient(&x, &mut gradient);
            assert_eq!(value, bound.value(&x));
            for k in 0..2 {
                let moved = |step: f64| {
                    let mut x = x;
                    x[k] += step;
                    bound.value(&x)
                };
                let numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((gradient[k] - numeric).abs() < 1e-6, "{} {numeric}", gradient[k]);
            }
        }
    }
}
