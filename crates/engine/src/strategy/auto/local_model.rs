//! The model of a region: kernel least squares on a few hundred points, with its hyper-parameters.
//!
//! ```text
//! z = m + g(x) + ε,   g ~ GP(0, c k),   ε ~ N(0, c ρ),   k Matérn-5/2 with a length scale for each group of coordinates
//! ```
//!
//! A share of k may be a sum over coordinates (`kernel::additive`).
//!
//! m and c are at their own maxima for every k and ρ; the logarithms of length scales and of ρ climb the posterior of
//! the marginal likelihood under normal priors by resilient steps, a few at a time: they are carried from one fit to the
//! next, and need not arrive in one.
//!
//! Cost for n points of d coordinates: O(n³ + n²d) a gradient, O(n³/3) to fit.
//! Fails with `Error::NotPositiveDefinite` once the jitter policy is exhausted.

use crate::descent::lbfgs::{self, minimise_in_box};
use crate::descent::resilient::Resilient;
use crate::error::Result;
use crate::gaussian_process::Posterior;
use crate::gaussian_process::marginal_likelihood::profiled_log_likelihood;
use crate::kernel::{Kernel, Profile};
use crate::points::Points;

/// What is known of the hyper-parameters beforehand: normal distributions of their logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    /// Mean and deviation of the log length scales.
    pub(super) log_scale: (f64, f64),
    /// Mean and deviation of ln ρ.
    pub(super) log_noise: (f64, f64),
}

/// Where ln ρ may lie: below the first K + ρI is singular to rounding, above the second there is nothing but noise.
const LOG_NOISE: (f64, f64) = (-20.7, 2.3);
/// How far a log length scale may go from the mean of its prior.
const FARTHEST: f64 = 7.0;
/// The first resilient step, and the longest in units of it.
const STEP: (f64, f64) = (0.25, 4.0);

/// What is given of the kernel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    /// The group of each coordinate.
    pub(super) group: Vec<usize>,
    /// The share of the sum over coordinates.
    pub(super) additive: f64,
}

/// Hyper-parameters, on their way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HyperParameters {
    /// ln ℓ of each group, then ln ρ.
    logs: Vec<f64>,
    rule: Resilient,
}

impl HyperParameters {
    /// The means of the prior, for so many groups of coordinates.
    pub(super) fn new(groups: usize, prior: Prior) -> Self {
        let mut logs = vec![prior.log_scale.0; groups];
        logs.push(prior.log_noise.0);
        Self { rule: Resilient::new(vec![STEP.0; logs.len()], STEP.1), logs }
    }

    /// ℓ of each group.
    pub(super) fn scales(&self) -> impl Iterator<Item = f64> + '_ {
        self.logs[..self.logs.len() - 1].iter().map(|log| log.exp())
    }

    /// Gives all groups the same length scale, their geometric mean, and forgets the steps.
    pub(super) fn level(&mut self) {
        let groups = self.logs.len() - 1;
        let mean = self.logs[..groups].iter().sum::<f64>() / groups as f64;
        self.logs[..groups].fill(mean);
        self.rule = Resilient::new(vec![STEP.0; self.logs.len()], STEP.1);
    }

    /// ρ, the variance of the noise as a part of that of the function.
    pub(super) fn noise(&self) -> f64 {
        self.logs[self.logs.len() - 1].exp()
    }

    /// Takes so many resilient steps, and returns the highest log posterior that it met on the way, up to a constant.
    pub(super) fn improve(
        &mut self,
        shape: &Shape,
        points: &Points,
        targets: &[f64],
        prior: Prior,
        steps: usize,
    ) -> Result<f64> {
        let noise_at = self.logs.len() - 1;
        let mut highest = f64::NEG_INFINITY;
        for _ in 0..steps {
            let mut gradient = vec![0.0; self.logs.len()];
            let Some(log_posterior) =
                log_posterior(&self.logs, shape, points, targets, prior, &mut gradient)?
            else {
                // Singular to rounding: more noise makes it less so.
                self.logs[noise_at] += 1.0;
                continue;
            };
            highest = highest.max(log_posterior);
            self.rule.ascend(&mut self.logs, &gradient);
            let middle = prior.log_scale.0;
            for log in &mut self.logs[..noise_at] {
                *log = log.clamp(middle - FARTHEST, middle + FARTHEST);
            }
            self.logs[noise_at] = self.logs[noise_at].clamp(LOG_NOISE.0, LOG_NOISE.1);
        }
        Ok(highest)
    }

    /// Goes to the nearest maximum of the log posterior by L-BFGS, with so many evaluations at most, within these ranges of ℓ and ρ.
    /// Returns the log posterior there, up to a constant; `None` where it could not be computed, and the hyper-parameters are as before.
    pub(super) fn maximise(
        &mut self,
        shape: &Shape,
        points: &Points,
        targets: &[f64],
        prior: Prior,
        (scales, noise): ((f64, f64), (f64, f64)),
        evaluations: usize,
    ) -> Option<f64> {
        let groups = self.logs.len() - 1;
        let bounds = |end: fn((f64, f64)) -> f64| {
            let mut bounds = vec![end(scales).ln(); groups];
            bounds.push(end(noise).ln());
            bounds
        };
        let settings = lbfgs::Settings {
            max_evaluations: evaluations,
            gradient_tolerance: 1e-2,
            value_tolerance: 1e-6,
            ..Default::default()
        };
        let negative = |logs: &[f64], gradient: &mut [f64]| {
            let value = log_posterior(logs, shape, points, targets, prior, gradient);
            gradient.iter_mut().for_each(|slope| *slope = -*slope);
            value.ok().flatten().map_or(f64::INFINITY, |value| -value)
        };
        let (low, high) = (bounds(|range| range.0), bounds(|range| range.1));
        // Where even the start is singular to rounding, more noise makes it less so.
        while self.logs[groups] < high[groups]
            && !negative(&self.logs, &mut vec![0.0; groups + 1]).is_finite()
        {
            self.logs[groups] += 1.0;
        }
        // Where no noise makes it regular, they stay; the posterior has a policy of its own for that.
        let found = minimise_in_box(negative, &self.logs, &low, &high, settings).ok()?;
        self.logs = found.point;
        Some(-found.value)
    }

    fn kernel(&self, shape: &Shape) -> Result<Kernel> {
        kernel(&self.logs, shape)
    }
}

fn kernel(logs: &[f64], shape: &Shape) -> Result<Kernel> {
    let scales = shape.group.iter().map(|&group| logs[group].exp()).collect();
    Kernel::new(Profile::Matern52, scales, 1.0)?.with_additive(shape.additive)
}

/// The log posterior of hyper-parameters, up to a constant; its gradient goes to `gradient`. `None` where the kernel matrix is
/// singular to rounding.
fn log_posterior(
    logs: &[f64],
    shape: &Shape,
    points: &Points,
    targets: &[f64],
    prior: Prior,
    gradient: &mut [f64],
) -> Result<Option<f64>> {
    let noise_at = logs.len() - 1;
    let kernel = kernel(logs, shape)?;
    let Some(likelihood) = profiled_log_likelihood(&kernel, logs[noise_at].exp(), points, targets)
    else {
        return Ok(None);
    };
    gradient.fill(0.0);
    for (slope, &group) in likelihood.in_length_scales.iter().zip(&shape.group) {
        gradient[group] += slope;
    }
    gradient[noise_at] = likelihood.in_noise;
    let mut log_posterior = likelihood.value;
    for (i, (slope, log)) in gradient.iter_mut().zip(logs).enumerate() {
        let (mean, deviation) = if i < noise_at { prior.log_scale } else { prior.log_noise };
        *slope -= (log - mean) / (deviation * deviation);
        log_posterior -= 0.5 * ((log - mean) / deviation).powi(2);
    }
    Ok(Some(log_posterior))
}

/// Least squares on some points. Its posterior has output scale 1: deviations count `scale` times.
#[derive(Debug, Clone)]
pub(super) struct LocalModel {
    pub(super) posterior: Posterior,
    pub(super) weights: Vec<f64>,
    /// m, the constant mean, in units of the targets.
    pub(super) mean: f64,
    /// √c: deviations of the posterior times this are deviations of the targets.
    pub(super) scale: f64,
    /// ρ, the variance of the noise over that of the function.
    pub(super) noise: f64,
}

impl LocalModel {
    pub(super) fn fit(
        hyper_parameters: &HyperParameters,
        shape: &Shape,
        points: &Points,
        targets: &[f64],
    ) -> Result<Self> {
        let kernel = hyper_parameters.kernel(shape)?;
        let posterior = Posterior::fit(kernel, hyper_parameters.noise(), points.rows())?;
        let ones = posterior.weights(&vec![1.0; targets.len()]);
        let mut weights = posterior.weights(targets);
        let mean = weights.iter().sum::<f64>() / ones.iter().sum::<f64>();
        weights.iter_mut().zip(&ones).for_each(|(weight, one)| *weight -= mean * one);
        let fit: f64 = weights.iter().zip(targets).map(|(weight, target)| weight * target).sum();
        let scale = (fit / targets.len() as f64).max(1e-12).sqrt();
        Ok(Self { posterior, weights, mean, scale, noise: hyper_parameters.noise() })
    }

    /// The variance of the noise, cρ, in that of the targets, 1.
    pub(super) fn noise_share(&self) -> f64 {
        self.scale * self.scale * self.noise
    }

    /// The place of the highest lower bound, one deviation below the mean: a lucky value far from others is not believed.
    /// The first of equals.
    pub(super) fn best_of(&self, points: &Points) -> Option<usize> {
        let predictions = self.posterior.predict_all(&self.weights, points);
        let bounds = predictions.iter().map(|at| at.mean - self.scale * at.deviation).enumerate();
        bounds.reduce(|best, other| if other.1 > best.1 { other } else { best }).map(|best| best.0)
    }

    /// The mean of ∇m ∇mᵀ over the model's own points, row by row.
    pub(super) fn gradient_outer(&self) -> Vec<f64> {
        let points = self.posterior.points();
        let dim = points.dim();
        let mut outer = vec![0.0; dim * dim];
        let mut gradient = vec![0.0; dim];
        for x in points.rows() {
            self.posterior.mean_and_gradient(&self.weights, x, &mut gradient);
            for (row, g) in outer.chunks_exact_mut(dim).zip(&gradient) {
                row.iter_mut().zip(&gradient).for_each(|(entry, h)| *entry += g * h);
            }
        }
        outer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, uniform};

    const PRIOR: Prior = Prior { log_scale: (0.0, 1.0), log_noise: (-9.0, 4.0) };

    fn shape(group: [usize; 2]) -> Shape {
        Shape { group: group.to_vec(), additive: 0.0 }
    }

    /// A function of the first coordinate alone.
    fn data() -> (Points, Vec<f64>) {
        let mut rng = Seed(5).stream("data", 0);
        let points = Points::from_rows(2, (0..60).map(|_| [uniform(&mut rng), uniform(&mut rng)]));
        let targets = points.rows().map(|x| (6.0 * x[0]).sin() + 3.0).collect();
        (points, targets)
    }

    #[test]
    fn steps_find_out_which_coordinate_matters() {
        let (points, targets) = data();
        let mut hyper_parameters = HyperParameters::new(2, PRIOR);
        hyper_parameters.improve(&shape([0, 1]), &points, &targets, PRIOR, 30).unwrap();
        let scales: Vec<f64> = hyper_parameters.scales().collect();
        assert!(scales[1] > 3.0 * scales[0], "{scales:?}");
        assert!(hyper_parameters.noise() < 1e-4);
        let model = LocalModel::fit(&hyper_parameters, &shape([0, 1]), &points, &targets).unwrap();
        let at = |x: &[f64]| model.mean + model.posterior.mean(&model.weights, x);
        assert!((at(&[0.4, 0.5]) - (2.4_f64.sin() + 3.0)).abs() < 0.01);
        // The function changes along the first coordinate alone.
        let outer = model.gradient_outer();
        assert!(outer[0] > 1e3 * outer[3].abs(), "{outer:?}");
    }

    #[test]
    fn the_slopes_are_those_of_finite_differences_and_the_maximum_is_above_the_steps() {
        let (points, targets) = data();
        let shape = shape([0, 1]);
        let at = |logs: &[f64], gradient: &mut [f64]| {
            log_posterior(logs, &shape, &points, &targets, PRIOR, gradient).unwrap().unwrap()
        };
        let logs = [-0.7, 0.4, -8.0];
        let (mut gradient, mut ignored) = ([0.0; 3], [0.0; 3]);
        at(&logs, &mut gradient);
        for k in 0..3 {
            let mut moved = |step: f64| {
                let mut logs = logs;
                logs[k] += step;
                at(&logs, &mut ignored)
            };
            let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((gradient[k] - numeric).abs() < 1e-4 * (1.0 + numeric.abs()), "{k} {numeric}");
        }
        let mut steps = HyperParameters::new(2, PRIOR);
        steps.improve(&shape, &points, &targets, PRIOR, 10).unwrap();
        let mut search = HyperParameters::new(2, PRIOR);
        let ranges = ((0.03, 30.0), (1e-8, 0.1));
        let highest = search.maximise(&shape, &points, &targets, PRIOR, ranges, 30).unwrap();
        assert!((highest - at(&search.logs, &mut ignored)).abs() < 1e-9);
        assert!(highest > at(&steps.logs, &mut ignored));
        assert!(search.noise() >= 1e-8 * (1.0 - 1e-9));
    }

    #[test]
    fn coordinates_of_a_group_share_a_scale() {
        let (points, targets) = data();
        let mut hyper_parameters = HyperParameters::new(1, PRIOR);
        hyper_parameters.improve(&shape([0, 0]), &points, &targets, PRIOR, 5).unwrap();
        let model = LocalModel::fit(&hyper_parameters, &shape([0, 0]), &points, &targets).unwrap();
        let scales = model.posterior.kernel().length_scales();
        assert_eq!(scales[0], scales[1]);
        hyper_parameters.level();
        assert_eq!(hyper_parameters.scales().next(), Some(scales[0]));
    }

    #[test]
    fn what_is_recommended_does_not_depend_on_the_units_of_the_targets() {
        let mut rng = Seed(6).stream("data", 0);
        let points = Points::from_rows(2, (0..40).map(|_| [uniform(&mut rng), uniform(&mut rng)]));
        let targets: Vec<f64> =
            points.rows().map(|x| (6.0 * x[0]).sin() + uniform(&mut rng)).collect();
        let best = |unit: f64| {
            let targets: Vec<f64> = targets.iter().map(|target| unit * target).collect();
            let mut hyper_parameters = HyperParameters::new(2, PRIOR);
            hyper_parameters.improve(&shape([0, 1]), &points, &targets, PRIOR, 20).unwrap();
            let model = LocalModel::fit(&hyper_parameters, &shape([0, 1]), &points, &targets);
            model.unwrap().best_of(&points)
        };
        assert_eq!(best(1.0), best(1e4));
        assert_eq!(best(1.0), best(1e-4));
    }
}
