//! Expected improvement with a penalty around each point of a batch (González, Dai, Hennig and Lawrence 2016), as an
//! acquisition: a product, on the log scale a sum.
//!
//! ```text
//! ln EI(x) + Σⱼ ln φⱼ(x),   φⱼ(x) = Φ(√2 zⱼ),   √2 zⱼ = (L ‖x - xⱼ‖ + y* - μ(xⱼ)) / σ(xⱼ)
//! ```
//!
//! φⱼ is the probability that x lies outside the ball around xⱼ that cannot hold the minimum of a function of
//! Lipschitz constant L; L is the largest slope of the posterior mean.

use super::{Acquisition, LogExpectedImprovement, SmoothAcquisition};
use crate::descent::lbfgs::{self, minimise_in_box};
use crate::error::Result;
use crate::gaussian_process::tail::log_cumulative;
use crate::gaussian_process::{Prediction, Surrogate};
use crate::points::{Points, squared_distance};
use crate::seed::{Rng, uniform};

/// ln EI with a penalty around each centre; units are those of the process.
#[derive(Debug, Clone)]
pub(crate) struct PenalisedImprovement {
    surrogate: Surrogate,
    improvement: LogExpectedImprovement,
    /// L, the largest slope of the posterior mean.
    steepness: f64,
    centres: Points,
    /// What is expected of each centre.
    expected: Vec<Prediction>,
}

impl PenalisedImprovement {
    pub(crate) fn new(surrogate: Surrogate, centres: &Points, rng: &mut Rng) -> Result<Self> {
        let mut penalised = Self {
            improvement: LogExpectedImprovement::new(surrogate.clone()),
            steepness: steepness(&surrogate, rng)?,
            centres: Points::new(centres.dim()),
            expected: Vec::new(),
            surrogate,
        };
        centres.rows().for_each(|x| penalised.penalise(x));
        Ok(penalised)
    }

    /// Puts a penalty around x.
    pub(crate) fn penalise(&mut self, x: &[f64]) {
        self.centres.push(x);
        self.expected.push(self.surrogate.posterior().predict(self.surrogate.weights(), x));
    }

    /// √2 z at a distance from a centre of which this is expected.
    fn argument(&self, distance: f64, expected: Prediction) -> f64 {
        let Prediction { mean, deviation } = expected;
        (self.steepness * distance + self.surrogate.incumbent() - mean) / deviation
    }

    /// Σⱼ ln φⱼ(x).
    fn penalty(&self, x: &[f64]) -> f64 {
        let centres = self.centres.rows().zip(&self.expected);
        let logs = centres.map(|(centre, &expected)| {
            let distance = squared_distance(x, centre).sqrt();
            log_cumulative(self.argument(distance, expected)).value
        });
        logs.sum()
    }
}

impl Acquisition for PenalisedImprovement {
    fn dim(&self) -> usize {
        self.centres.dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.improvement.value(x) + self.penalty(x)
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        self.improvement.values(points, values);
        for (x, value) in points.rows().zip(values) {
            *value += self.penalty(x);
        }
    }
}

impl SmoothAcquisition for PenalisedImprovement {
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = self.improvement.value_and_gradient(x, gradient);
        for (centre, &expected) in self.centres.rows().zip(&self.expected) {
            let distance = squared_distance(x, centre).sqrt();
            let log = log_cumulative(self.argument(distance, expected));
            value += log.value;
            // At the centre itself every direction leads away; none is taken.
            if distance > 0.0 {
                let factor = log.slope * self.steepness / (expected.deviation * distance);
                for ((g, x), c) in gradient.iter_mut().zip(x).zip(centre) {
                    *g += factor * (x - c);
                }
            }
        }
        value
    }
}

/// Points at which the slope of the mean is compared, those told aside.
const SLOPE_SAMPLES: usize = 512;
/// How many of the steepest are improved.
const SLOPE_RESTARTS: usize = 3;
/// A mean flatter than this says nothing of the slope.
const FLAT: f64 = 1e-7;
/// The slope that is then assumed, in deviations of the values across the cube's side. Both as in the authors'
/// code.
const ASSUMED: f64 = 10.0;

/// L: the largest norm of the gradient of the posterior mean in the unit cube, in the units of the process.
fn steepness(surrogate: &Surrogate, rng: &mut Rng) -> Result<f64> {
    let (posterior, weights) = (surrogate.posterior(), surrogate.weights());
    let dim = posterior.dim();
    let mut samples = posterior.points().clone();
    for _ in 0..SLOPE_SAMPLES {
        samples.push(&std::iter::repeat_with(|| uniform(rng)).take(dim).collect::<Vec<_>>());
    }
    let slope = |x: &[f64], gradient: &mut [f64]| {
        posterior.mean_and_gradient(weights, x, gradient);
        gradient.iter().map(|g| g * g).sum::<f64>().sqrt()
    };
    let mut scratch = vec![0.0; dim];
    let mut steepest: Vec<(f64, &[f64])> =
        samples.rows().map(|x| (slope(x, &mut scratch), x)).collect();
    steepest.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut largest = steepest[0].0;
    if largest < FLAT {
        return Ok(ASSUMED);
    }
    let (low, high) = (vec![0.0; dim], vec![1.0; dim]);
    let settings = lbfgs::Settings { max_evaluations: 50, ..lbfgs::Settings::default() };
    for (_, start) in steepest.iter().take(SLOPE_RESTARTS) {
        let unit = largest;
        let downhill = |x: &[f64], gradient: &mut [f64]| {
            let mut direction = vec![0.0; dim];
            let norm = slope(x, &mut direction);
            // ∇‖g‖ = Hg / ‖g‖, where H is the derivative of g: that along g, by a central difference.
            let step = 1e-5 / norm.max(f64::MIN_POSITIVE);
            let moved = |step: f64| -> Vec<f64> {
                x.iter().zip(&direction).map(|(x, d)| x + step * d).collect()
            };
            let (mut after, mut before) = (vec![0.0; dim], vec![0.0; dim]);
            slope(&moved(step), &mut after);
            slope(&moved(-step), &mut before);
            for ((g, a), b) in gradient.iter_mut().zip(&after).zip(&before) {
                *g = -(a - b) / (2e-5 * unit);
            }
            -norm / unit
        };
        let found = minimise_in_box(downhill, start, &low, &high, settings)?;
        largest = largest.max(-found.value * unit);
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian_process::Regression;
    use crate::kernel::{Kernel, Profile};
    use crate::seed::Seed;
    use crate::theory::normal::cumulative;

    fn surrogate() -> Surrogate {
        let kernel = Kernel::new(Profile::Matern52, vec![0.3, 0.6], 1.4).unwrap();
        let mut rng = Seed(3).stream("points", 0);
        let told = Points::from_rows(2, (0..15).map(|_| [(); 2].map(|()| uniform(&mut rng))));
        let values: Vec<f64> = told.rows().map(|x| (5.0 * x[0]).sin() + x[1]).collect();
        Regression::Fixed { kernel, noise: 1e-4 }.fit(&told, &values, None).unwrap()
    }

    #[test]
    fn the_steepness_is_the_largest_slope_on_a_fine_grid() {
        let surrogate = surrogate();
        let found = steepness(&surrogate, &mut Seed(1).stream("test", 0)).unwrap();
        let mut largest = 0.0_f64;
        let mut gradient = [0.0; 2];
        for i in 0..=200 {
            for j in 0..=200 {
                let x = [f64::from(i) / 200.0, f64::from(j) / 200.0];
                surrogate.posterior().mean_and_gradient(surrogate.weights(), &x, &mut gradient);
                largest = largest.max(gradient[0].hypot(gradient[1]));
            }
        }
        assert!(found > largest * (1.0 - 1e-9) && found < 1.01 * largest, "{found} {largest}");
    }

    #[test]
    fn a_mean_without_slope_has_an_assumed_one() {
        let kernel = Kernel::isotropic(Profile::Matern52, 1, 0.3, 1.0).unwrap();
        let regression = Regression::Fixed { kernel, noise: 1e-4 };
        let flat = regression.fit(&Points::from_rows(1, [[0.5]]), &[0.0], None).unwrap();
        assert_eq!(steepness(&flat, &mut Seed(1).stream("test", 0)).unwrap(), ASSUMED);
    }

    #[test]
    fn the_value_is_the_product_of_its_factors_and_the_gradient_that_of_differences() {
        let (surrogate, mut rng) = (surrogate(), Seed(1).stream("test", 0));
        let centres = Points::from_rows(2, [[0.9, 0.1], [0.4, 0.6]]);
        let penalised = PenalisedImprovement::new(surrogate.clone(), &centres, &mut rng).unwrap();
        let plain = LogExpectedImprovement::new(surrogate.clone());
        for x in [[0.85, 0.12], [0.2, 0.8], [0.41, 0.6]] {
            let factors = centres.rows().map(|centre| {
                let Prediction { mean, deviation } =
                    surrogate.posterior().predict(surrogate.weights(), centre);
                let distance = squared_distance(&x, centre).sqrt();
                let z = (penalised.steepness * distance - (mean - surrogate.incumbent()))
                    / (2.0_f64.sqrt() * deviation);
                cumulative(2.0_f64.sqrt() * z)
            });
            let product = plain.value(&x).exp() * factors.product::<f64>();
            let mut gradient = [0.0; 2];
            let value = penalised.value_and_gradient(&x, &mut gradient);
            assert!((value.exp() - product).abs() < 1e-9 * product, "{value} {}", product.ln());
            assert!((value - penalised.value(&x)).abs() < 1e-9);
            for k in 0..2 {
                let moved = |step: f64| {
                    let mut x = x;
                    x[k] += step;
                    penalised.value(&x)
                };
                let numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                let error = (gradient[k] - numeric).abs();
                assert!(error < 1e-4 * (1.0 + numeric.abs()), "{} {numeric}", gradient[k]);
            }
        }
        // On a centre itself there is a value and a gradient.
        let mut gradient = [0.0; 2];
        assert!(penalised.value_and_gradient(centres.row(0), &mut gradient).is_finite());
        assert!(gradient.iter().all(|g| g.is_finite()));
    }
}
