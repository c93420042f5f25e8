//! The logarithm of the expected improvement of one point, as an acquisition.
//!
//! ```text
//! EI(x) = E max(0, y* - f(x)) = σ(x) h(u),   u = (y* - μ(x)) / σ(x),   h(u) = φ(u) + u Φ(u)
//! ```
//!
//! ln EI has the same maxima and, unlike EI, values and gradients where improvement is all but impossible (Ament
//! and others 2023). y* is [`Surrogate::incumbent`]; units are those of the process.
//!
//! Cost: O(n²) a value.

use crate::acquisition::{Acquisition, SmoothAcquisition};
use crate::gaussian_process::tail::log_improvement;
use crate::gaussian_process::{Prediction, Surrogate};
use crate::points::Points;

/// ln EI under a surrogate.
#[derive(Debug, Clone)]
pub struct LogExpectedImprovement {
    surrogate: Surrogate,
}

impl LogExpectedImprovement {
    /// ln EI under `surrogate`, measured from its incumbent.
    pub fn new(surrogate: Surrogate) -> Self {
        Self { surrogate }
    }

    fn log_improvement(&self, prediction: Prediction) -> f64 {
        let Prediction { mean, deviation } = prediction;
        let u = (self.surrogate.incumbent() - mean) / deviation;
        deviation.ln() + log_improvement(u).value
    }
}

impl Acquisition for LogExpectedImprovement {
    fn dim(&self) -> usize {
        self.surrogate.posterior().dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.log_improvement(self.surrogate.posterior().predict(self.surrogate.weights(), x))
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        let all = self.surrogate.posterior().predict_all(self.surrogate.weights(), points);
        for (value, prediction) in values.iter_mut().zip(all) {
            *value = self.log_improvement(prediction);
        }
    }
}

impl SmoothAcquisition for LogExpectedImprovement {
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut deviation_gradient = vec![0.0; x.len()];
        let Prediction { mean, deviation } = self.surrogate.posterior().predict_with_gradients(
            self.surrogate.weights(),
            x,
            gradient,
            &mut deviation_gradient,
        );
        let u = (self.surrogate.incumbent() - mean) / deviation;
        let log = log_improvement(u);
        for (g, d) in gradient.iter_mut().zip(&deviation_gradient) {
            // ∇ ln σ + (ln h)'(u) ∇u, with ∇u = -(∇μ + u ∇σ) / σ.
            *g = (d - log.slope * (*g + u * d)) / deviation;
        }
        deviation.ln() + log.value
    }
}
