//! The estimate or its upper bound as an acquisition: u(x) = π̂_t(x) + β σ_t(x), with β = 0 for the estimate.
//!
//! Cost: O(td) a value and its gradient where β = 0, O(t²) otherwise. Never fails: values are finite.

use super::LeastSquaresClassifier;
use super::draw::{self, Draw};
use crate::acquisition::{Acquisition, SmoothAcquisition};
use crate::classifier::{Classifier, Target};
use crate::error::Result;
use crate::gaussian_process::Prediction;
use crate::points::Points;
use crate::seed::Rng;

/// The bound u(x) = π̂_t(x) + β σ_t(x), or the estimate itself where β = 0, as an acquisition.
///
/// # Design
/// The clip of (20) has no gradient where it acts, and the logarithm no value where u ≤ 0. So u is not
/// clipped, and log u and log u/(1-u) are continued by their tangents from where u comes within 0.025 of
/// the end of its range. The value is then finite, smooth and strictly increasing in u: its maximum is where
/// u is largest, also where the clip would have made many points equal, and a gradient leads there from
/// everywhere. 0.025 is the default ridge: a point with label 1, alone, is fitted by s/(s + λ) ≈ 0.975 for
/// s = 1, so nearer to 0 or 1 than that an estimate says nothing more. log u is not continued above, where
/// it has no end.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'c> {
    classifier: &'c LeastSquaresClassifier,
    width: f64,
    target: Target,
}

impl<'c> Bound<'c> {
    pub(super) fn new(classifier: &'c LeastSquaresClassifier, width: f64, target: Target) -> Self {
        Self { classifier, width, target }
    }

    /// β: how many deviations the bound lies above the estimate.
    pub fn width(&self) -> f64 {
        self.width
    }

    fn combine(&self, prediction: &Prediction) -> f64 {
        prediction.mean + self.width * prediction.deviation
    }
}

impl Acquisition for Bound<'_> {
    fn dim(&self) -> usize {
        self.classifier.dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        let bound = if self.width == 0.0 {
            self.classifier.mean(x)
        } else {
            self.combine(&self.classifier.predict(x))
        };
        value_and_slope(self.target, bound).0
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        if self.width == 0.0 {
            for (x, value) in points.rows().zip(values) {
                *value = self.value(x);
            }
            return;
        }
        for (prediction, value) in self.classifier.predict_all(points).iter().zip(values) {
            *value = value_and_slope(self.target, self.combine(prediction)).0;
        }
    }

    /// On the scale of log π, the log of (20) itself: u clipped to [0, 1], so that draws follow p̂ ∝ π_{t,δ}.
    fn log_densities(&self, points: &Points, densities: &mut [f64]) -> Option<f64> {
        match self.target {
            Target::Logit => self.target.log_densities(self, points, densities),
            Target::LogProbability => {
                let predictions = self.classifier.predict_all(points);
                for (prediction, density) in predictions.iter().zip(densities) {
                    *density = self.combine(prediction).clamp(0.0, 1.0).ln();
                }
                Some(0.0)
            }
        }
    }

    /// A draw from the Gaussian process N(π̂_t, σ_t²), whatever the width.
    fn draw(&self, rng: &mut Rng) -> Result<Option<Box<dyn Acquisition + '_>>> {
        Ok(Some(Box::new(Draw::new(self.classifier, self.target, rng))))
    }

    /// Exact, on the scale of π̂.
    fn joint_draws(&self, points: &Points, count: usize, rng: &mut Rng) -> Result<Option<Points>> {
        draw::jointly(self.classifier, points, count, rng).map(Some)
    }
}

impl SmoothAcquisition for Bound<'_> {
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let LeastSquaresClassifier { posterior, weights } = self.classifier;
        let bound = if self.width == 0.0 {
            posterior.mean_and_gradient(weights, x, gradient)
        } else {
            let mut deviation = vec![0.0; x.len()];
            let prediction = posterior.predict_with_gradients(weights, x, gradient, &mut deviation);
            for (g, d) in gradient.iter_mut().zip(&deviation) {
                *g += self.width * d;
            }
            self.combine(&prediction)
        };
        let (value, slope) = value_and_slope(self.target, bound);
        gradient.iter_mut().for_each(|g| *g *= slope);
        value
    }

    fn values_and_gradients(&self, points: &Points, values: &mut [f64], gradients: &mut Points) {
        if self.width == 0.0 {
            for ((x, value), gradient) in points.rows().zip(values).zip(gradients.rows_mut()) {
                *value = self.value_and_gradient(x, gradient);
            }
            return;
        }
        let LeastSquaresClassifier { posterior, weights } = self.classifier;
        let mut deviations = Points::zeros(points.dim(), points.len());
        let predictions =
            posterior.predict_all_with_gradients(weights, points, gradients, &mut deviations);
        for (p, (prediction, value)) in predictions.iter().zip(values).enumerate() {
            let slope;
            (*value, slope) = value_and_slope(self.target, self.combine(prediction));
            for (g, d) in gradients.row_mut(p).iter_mut().zip(deviations.row(p)) {
                *g = slope * (*g + self.width * d);
            }
        }
    }
}

/// How near to the end of its range an estimate is taken at its word.
const MARGIN: f64 = 0.025;

/// The target's function of u and its derivative, continued by tangents; see [`Bound`].
pub(super) fn value_and_slope(target: Target, u: f64) -> (f64, f64) {
    let (from, value, slope) = match target {
        Target::LogProbability => {
            let from = u.max(MARGIN);
            (from, from.ln(), 1.0 / from)
        }
        Target::Logit => {
            let from = u.clamp(MARGIN, 1.0 - MARGIN);
            (from, (from / (1.0 - from)).ln(), 1.0 / (from * (1.0 - from)))
        }
    };
    (value + slope * (u - from), slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::least_squares::tests::{DIM, TARGETS, fit, fixed, history};
    use crate::classifier::{Confidence, Uncertain};
    use crate::kernel::Profile;
    use crate::kernel::fixtures::profiles;
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    /// The gradient at x by central differences.
    fn numeric_gradient(acquisition: &impl Acquisition, x: &[f64]) -> Vec<f64> {
        let moved = |k: usize, step: f64| {
            let mut x = x.to_vec();
            x[k] += step;
            acquisition.value(&x)
        };
        (0..x.len()).map(|k| (moved(k, 1e-6) - moved(k, -1e-6)) / 2e-6).collect()
    }

    #[test]
    fn densities_are_those_of_equation_20() {
        let history = history(30, 5);
        let classifier = fit(&fixed(Profile::SquaredExponential), &history);
        let mut rng = Seed(6).stream("points", 0);
        let rows = (0..60).map(|_| (0..DIM).map(|_| uniform(&mut rng)).collect::<Vec<f64>>());
        let points = Points::from_rows(DIM, rows);
        let mut found = vec![0.0; points.len()];
        let (mut low, mut high) = (0, 0);
        for width in [0.0, 0.5, 3.0] {
            let bound = Bound::new(&classifier, width, Target::LogProbability);
            assert_eq!(bound.log_densities(&points, &mut found), Some(0.0));
            for (x, found) in points.rows().zip(&found) {
                let u = classifier.mean(x) + width * classifier.predict(x).deviation;
                let expected = u.clamp(0.0, 1.0);
                assert!((found.exp() - expected).abs() < 1e-12, "{found} {expected}");
                low += usize::from(expected == 0.0);
                high += usize::from(expected == 1.0);
            }
        }
        assert!(low > 0 && high > 0, "both clips are met: {low} {high}");
        let logit = Bound::new(&classifier, 1.0, Target::Logit);
        assert_eq!(logit.log_densities(&points, &mut found), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn gradients_are_those_of_finite_differences(
            profile in profiles(),
            len in 1..30_usize,
            seed in 0..1000_u64,
            width in prop_oneof![Just(0.0), 0.1..4.0_f64],
        ) {
            let classifier = fit(&fixed(profile), &history(len, seed));
            let mut rng = Seed(seed).stream("at", 0);
            let at = Points::from_rows(DIM, (0..6).map(|_| [(); DIM].map(|()| uniform(&mut rng))));
            for target in TARGETS {
                let bound = classifier.upper_bound(Confidence::Width(width), target).unwrap();
                let (mut values, mut batched) = (vec![0.0; 6], vec![0.0; 6]);
                let mut gradients = Points::zeros(DIM, 6);
                bound.values(&at, &mut values);
                bound.values_and_gradients(&at, &mut batched, &mut gradients);
                for (p, x) in at.rows().enumerate() {
                    let mut gradient = [0.0; DIM];
                    let value = bound.value_and_gradient(x, &mut gradient);
                    prop_assert_eq!(value, bound.value(x));
                    prop_assert!((value - values[p]).abs() < 1e-9 * (1.0 + value.abs()));
                    prop_assert!((value - batched[p]).abs() < 1e-9 * (1.0 + value.abs()));
                    for (k, numeric) in numeric_gradient(&bound, x).into_iter().enumerate() {
                        let error = (gradient[k] - numeric).abs();
                        prop_assert!(error < 1e-3 * (1.0 + numeric.abs()), "{} {}", gradient[k], numeric);
                        let error = (gradients.row(p)[k] - gradient[k]).abs();
                        prop_assert!(error < 1e-7 * (1.0 + numeric.abs()));
                    }
                }
            }
        }

        #[test]
        fn the_scale_is_finite_smooth_and_increasing(u in -5.0..6.0_f64) {
            for target in TARGETS {
                let (value, slope) = value_and_slope(target, u);
                prop_assert!(value.is_finite() && slope > 0.0);
                let (above, below) = (value_and_slope(target, u + 1e-7), value_and_slope(target, u - 1e-7));
                let numeric = (above.0 - below.0) / 2e-7;
                prop_assert!((slope - numeric).abs() < 1e-3 * slope, "{} {}", slope, numeric);
                prop_assert!(above.0 > value && value > below.0);
            }
        }
    }

    #[test]
    fn the_scale_is_the_logarithm_inside_and_has_no_jump_at_its_margins() {
        assert_eq!(value_and_slope(Target::LogProbability, 0.3).0, 0.3_f64.ln());
        assert_eq!(value_and_slope(Target::LogProbability, 2.5).0, 2.5_f64.ln());
        assert!((value_and_slope(Target::Logit, 0.3).0 - (0.3_f64 / 0.7).ln()).abs() < 1e-15);
        for (target, at) in [
            (Target::LogProbability, MARGIN),
            (Target::Logit, MARGIN),
            (Target::Logit, 1.0 - MARGIN),
        ] {
            let (before, after) =
                (value_and_slope(target, at - 1e-12), value_and_slope(target, at + 1e-12));
            assert!((before.0 - after.0).abs() < 1e-9 && (before.1 - after.1).abs() < 1e-6);
        }
    }

    #[test]
    fn a_saturated_bound_keeps_its_gradient_and_its_order() {
        let classifier = fit(&fixed(Profile::SquaredExponential), &history(3, 1));
        let width = Confidence::Width(3.0);
        for target in TARGETS {
            let bound = classifier.upper_bound(width, target).unwrap();
            let (a, b) = ([0.9, 0.1], [0.1, 0.9]);
            let raw = [a, b].map(|x| classifier.upper(width, &x).unwrap());
            assert!(raw.iter().all(|raw| *raw > 1.0), "{raw:?}");
            assert_eq!(bound.value(&a) > bound.value(&b), raw[0] > raw[1]);
            let mut gradient = [0.0; DIM];
            bound.value_and_gradient(&a, &mut gradient);
            assert!(gradient.iter().any(|g| g.abs() > 1e-3), "{gradient:?}");
        }
    }
}
