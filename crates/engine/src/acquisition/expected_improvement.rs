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

use super::{Acquisition, SmoothAcquisition};
use crate::gaussian_process::tail::log_improvement;
use crate::gaussian_process::{Prediction, Surrogate};
use crate::points::Points;

/// ln EI under a surrogate.
#[derive(Debug, Clone)]
pub(crate) struct LogExpectedImprovement {
    surrogate: Surrogate,
}

impl LogExpectedImprovement {
    /// ln EI under `surrogate`, measured from its incumbent.
    pub(crate) fn new(surrogate: Surrogate) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::fixtures::{self, points};
    use crate::gaussian_process::Regression;
    use crate::kernel::{Kernel, Profile};
    use crate::theory::normal::{cumulative, density};
    use proptest::prelude::*;

    fn surrogate(seed: u64) -> Surrogate {
        fixtures::surrogate(20, 9.0, 1e-4, seed)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_value_is_the_textbook_one_and_the_gradient_that_of_differences(seed in 0..1000_u64) {
            let surrogate = surrogate(seed);
            let improvement = LogExpectedImprovement::new(surrogate.clone());
            let at = points(4, seed + 1);
            let mut values = vec![0.0; 4];
            improvement.values(&at, &mut values);
            for (x, batched) in at.rows().zip(values) {
                let mut gradient = [0.0; 2];
                let value = improvement.value_and_gradient(x, &mut gradient);
                prop_assert!((value - improvement.value(x)).abs() < 1e-9 * (1.0 + value.abs()));
                prop_assert!((value - batched).abs() < 1e-6 * (1.0 + value.abs()));
                let Prediction { mean, deviation } =
                    surrogate.posterior().predict(surrogate.weights(), x);
                let gap = surrogate.incumbent() - mean;
                let u = gap / deviation;
                if u > -3.0 {
                    let textbook = gap * cumulative(u) + deviation * density(u);
                    prop_assert!((value - textbook.ln()).abs() < 1e-9, "{} {}", value, textbook.ln());
                }
                for k in 0..2 {
                    let moved = |step: f64| {
                        let mut x = x.to_vec();
                        x[k] += step;
                        improvement.value(&x)
                    };
                    let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    // In the tail the value itself is large, and so is the rounding of a difference.
                    let tolerance = 1e-3 * (1.0 + numeric.abs()) + 1e-9 * value.abs() / 1e-5;
                    prop_assert!((gradient[k] - numeric).abs() < tolerance, "{} {}", gradient[k], numeric);
                }
            }
        }
    }

    #[test]
    fn values_and_gradients_are_finite_where_improvement_is_all_but_impossible() {
        let kernel = Kernel::isotropic(Profile::SquaredExponential, 2, 1.0, 1.0).unwrap();
        let told = points(30, 0);
        let values: Vec<f64> = told.rows().map(|x| 100.0 * x[0]).collect();
        let regression = Regression::Fixed { kernel, noise: 1e-8 };
        let surrogate = regression.fit(&told, &values, None).unwrap();
        let improvement = LogExpectedImprovement::new(surrogate);
        let mut gradient = [0.0; 2];
        let value = improvement.value_and_gradient(&[0.95, 0.5], &mut gradient);
        assert!(value < -1e4 && value.is_finite(), "{value}");
        assert!(gradient.iter().all(|g| g.is_finite()), "{gradient:?}");
    }
}
