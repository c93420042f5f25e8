//! The model of one column: an objective or a constraint.
//!
//! `auto`'s own least squares (local_model.rs) on all trials that are seen, with a length scale for each dimension, fitted to a
//! target that rises with the value:
//!
//! - Of an objective, [`Softened`]: the value itself over the range of the front, and its logarithm above it.
//! - Of a constraint, that of [`Violation::target`]: its limit is at 0.
//!
//! [`Violation::target`]: crate::violation::Violation::target

use super::super::local_model::{HyperParameters, LocalModel, Prior, Shape};
use crate::error::Result;
use crate::gaussian_process::{Field, Posterior, Prediction};
use crate::points::{Points, dot};

/// Evaluations of the likelihood in the first fit, and in those that follow: from what was learnt before, and from the means of the prior.
const EVALUATIONS: (usize, usize, usize) = (50, 10, 20);
/// Trials that hyper-parameters are fitted to; of more, an even part. They are few numbers, and the cost grows with the cube of the trials.
const FITTED: usize = 120;
/// Where length scales and ρ are sought.
const RANGES: ((f64, f64), (f64, f64)) = ((0.03, 30.0), (1e-8, 1.0));
/// Deviations of the logarithms of length scales and of ρ under the prior: √2 and 2√2.
const DEVIATIONS: (f64, f64) = (std::f64::consts::SQRT_2, 2.0 * std::f64::consts::SQRT_2);
/// ln 10⁻⁵, where ρ is expected.
const LOG_NOISE: f64 = -11.512_925_464_970_229;

/// ln ℓ ~ N(ln(√d / 2), 2), ln ρ ~ N(ln 10⁻⁵, 8) for d dimensions.
fn prior(dimensions: usize) -> Prior {
    let log_scale = (0.5 * (dimensions as f64).sqrt()).ln();
    Prior { log_scale: (log_scale, DEVIATIONS.0), log_noise: (LOG_NOISE, DEVIATIONS.1) }
}

/// Hyper-parameters of one column, from what was learnt before.
///
/// The likelihood often has several maxima: a function with ripples, and a flat one under noise. What was learnt from ten trials may sit at
/// the wrong one for ever, so that every fit also begins anew, and the higher posterior counts.
pub(super) fn learn(
    previous: Option<&HyperParameters>,
    shape: &Shape,
    points: &Points,
    targets: &[f64],
) -> HyperParameters {
    if points.len() > FITTED {
        let part: Vec<usize> = (0..FITTED).map(|i| i * points.len() / FITTED).collect();
        let some = Points::from_rows(points.dim(), part.iter().map(|&i| points.row(i)));
        let targets: Vec<f64> = part.iter().map(|&i| targets[i]).collect();
        return learn(previous, shape, &some, &targets);
    }
    let dimensions = shape.group.last().map_or(0, |last| last + 1);
    let prior = prior(dimensions);
    let fitted = |mut start: HyperParameters, evaluations: usize| {
        let height = start.maximise(shape, points, targets, prior, RANGES, evaluations);
        (height, start)
    };
    let anew = |evaluations| fitted(HyperParameters::new(dimensions, prior), evaluations);
    let Some(previous) = previous else {
        return anew(EVALUATIONS.0).1;
    };
    let (continued, anew) = (fitted(previous.clone(), EVALUATIONS.1), anew(EVALUATIONS.2));
    if anew.0 > continued.0 { anew.1 } else { continued.1 }
}

/// A model of one column, in units of its targets.
#[derive(Debug, Clone)]
pub(super) struct Surrogate {
    model: LocalModel,
}

impl Surrogate {
    pub(super) fn fit(
        learnt: &HyperParameters,
        shape: &Shape,
        points: &Points,
        targets: &[f64],
    ) -> Result<Self> {
        Ok(Self { model: LocalModel::fit(learnt, shape, points, targets)? })
    }

    /// The posterior, without the constant mean and in units of [`Self::scale`].
    pub(super) fn posterior(&self) -> &Posterior {
        &self.model.posterior
    }

    /// Deviations of the posterior times this are deviations of the targets.
    pub(super) fn scale(&self) -> f64 {
        self.model.scale
    }

    /// The variance of the noise in that of the targets.
    pub(super) fn noise_share(&self) -> f64 {
        self.model.noise_share()
    }

    /// Mean and deviation at x.
    pub(super) fn predict(&self, x: &[f64]) -> Prediction {
        self.turn(self.model.posterior.predict(&self.model.weights, x))
    }

    /// The means at some points.
    pub(super) fn means(&self, at: &Points) -> Vec<f64> {
        let LocalModel { posterior, weights, mean, .. } = &self.model;
        let mut row = vec![0.0; posterior.len()];
        let one = |x: &[f64]| {
            posterior.fill_row(x, &mut row);
            mean + dot(weights, &row)
        };
        at.rows().map(one).collect()
    }

    /// Mean and deviation at x, with their gradients.
    pub(super) fn predict_with_gradients(
        &self,
        x: &[f64],
        mean: &mut [f64],
        deviation: &mut [f64],
    ) -> Prediction {
        let LocalModel { posterior, weights, scale, .. } = &self.model;
        let prediction = posterior.predict_with_gradients(weights, x, mean, deviation);
        deviation.iter_mut().for_each(|slope| *slope *= scale);
        self.turn(prediction)
    }

    /// The mean at x with its gradient.
    pub(super) fn mean_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let LocalModel { posterior, weights, mean, .. } = &self.model;
        mean + posterior.mean_and_gradient(weights, x, gradient)
    }

    /// Mean and deviation at each of `at` under a posterior that was extended by points without a value.
    pub(super) fn predict_all(&self, extended: &Posterior, at: &Points) -> Vec<Prediction> {
        let predictions = extended.predict_all(&self.padded(extended), at);
        predictions.into_iter().map(|prediction| self.turn(prediction)).collect()
    }

    /// A field over points, under such a posterior. Its predictions have to be [turned](Self::turn).
    pub(super) fn field(&self, extended: &Posterior, points: Points) -> Field {
        Field::new(extended, &self.padded(extended), points)
    }

    /// A prediction of the posterior in units of the targets.
    pub(super) fn turn(&self, prediction: Prediction) -> Prediction {
        Prediction {
            mean: self.model.mean + prediction.mean,
            deviation: self.model.scale * prediction.deviation,
        }
    }

    fn padded(&self, extended: &Posterior) -> Vec<f64> {
        let mut weights = self.model.weights.clone();
        weights.resize(extended.len(), 0.0);
        weights
    }
}

/// A rising transformation of an objective: the value itself up to h, and h + s ln(1 + (y - h)/s) above; then standardised.
///
/// lo and hi are the least and the greatest value on the front; h = max(hi, median of all), s = h - lo. How bad a bad trial is says
/// little about the front, and values of several orders of magnitude would leave nothing to be seen of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Softened {
    /// What values are divided by first, so that squares of extreme values stay finite.
    unit: f64,
    high: f64,
    width: f64,
    mean: f64,
    deviation: f64,
}

impl Softened {
    /// From all values seen, of which there must be one, and the range of the front.
    pub(super) fn new(values: &[f64], front: (f64, f64)) -> Self {
        let largest = values.iter().fold(0.0_f64, |most, y| most.max(y.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let mut sorted: Vec<f64> = values.iter().map(|y| y / unit).collect();
        sorted.sort_by(f64::total_cmp);
        let median = 0.5 * (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]);
        let high = median.max(front.1 / unit);
        let width = (high - front.0 / unit).max(1e-12 * high.abs()).max(1e-15);
        let plain = Self { unit, high, width, mean: 0.0, deviation: 1.0 };
        let targets: Vec<f64> = values.iter().map(|&y| plain.target(y)).collect();
        let n = targets.len() as f64;
        let mean = targets.iter().sum::<f64>() / n;
        let deviation = (targets.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / n).sqrt();
        Self { mean, deviation: if deviation > 1e-14 { deviation } else { 1.0 }, ..plain }
    }

    /// The target of a value.
    pub(super) fn target(&self, value: f64) -> f64 {
        let above = (value / self.unit - self.high) / self.width;
        let soft = if above > 0.0 { above.ln_1p() } else { above };
        (self.high + self.width * soft - self.mean) / self.deviation
    }

    /// The value of a target.
    pub(super) fn value(&self, target: f64) -> f64 {
        let soft = (self.mean + self.deviation * target - self.high) / self.width;
        let above = if soft > 0.0 { soft.min(700.0).exp_m1() } else { soft };
        (self.unit * (self.high + self.width * above)).clamp(f64::MIN, f64::MAX)
    }

    /// How fast the value rises with the target.
    pub(super) fn slope(&self, target: f64) -> f64 {
        let soft = (self.mean + self.deviation * target - self.high) / self.width;
        let rise = if soft > 0.0 { soft.min(700.0).exp() } else { 1.0 };
        (self.unit * self.deviation * rise).min(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn targets_rise_are_standardised_and_come_back(
            values in prop::collection::vec(prop_oneof![-5.0..5.0_f64, -1e300..1e300_f64], 1..40),
            front in 1..4_usize,
        ) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let soft = Softened::new(&values, (sorted[0], sorted[front.min(sorted.len()) - 1]));
            let targets: Vec<f64> = values.iter().map(|&y| soft.target(y)).collect();
            prop_assert!(targets.iter().all(|t| t.is_finite()));
            let n = values.len() as f64;
            prop_assert!((targets.iter().sum::<f64>() / n).abs() < 1e-6);
            let square = targets.iter().map(|t| t * t).sum::<f64>() / n;
            prop_assert!(square < 1.0 + 1e-6, "{}", square);
            let largest = values.iter().fold(0.0_f64, |most, y| most.max(y.abs()));
            for (a, s) in values.iter().zip(&targets) {
                prop_assert!((soft.value(*s) - a).abs() <= 1e-9 * largest, "{} {}", a, soft.value(*s));
                for (b, t) in values.iter().zip(&targets) {
                    prop_assert!(a > b || s <= t);
                }
                if soft.width < 1e-3 * soft.deviation {
                    continue;
                }
                let step = 1e-6;
                let numeric = (soft.value(s + step) - soft.value(s - step)) / (2.0 * step);
                prop_assert!((soft.slope(*s) - numeric).abs() <= 1e-4 * numeric.abs().max(1e-6 * largest));
            }
        }
    }
}
