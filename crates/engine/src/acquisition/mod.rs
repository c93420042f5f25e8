//! What a batch rule maximises or samples from: the log density of the batch target p̂_t, up to a constant.
//!
//! The log scale is used end to end: a classifier's probability may be far below the smallest f64.
//!
//! Here are the acquisitions of Gaussian processes: improvement of one point, of a batch, and penalised around a batch;
//! the lower bound; the expected gain in hypervolume of several objectives. Those of classifiers are with the classifiers.

mod expected_improvement;
#[cfg(test)]
pub(crate) mod fixtures;
mod halton;
mod hypervolume_improvement;
mod joint_improvement;
mod lower_bound;
mod penalised_improvement;

pub(crate) use expected_improvement::LogExpectedImprovement;
pub(crate) use hypervolume_improvement::{expected_gain, improvement};
pub(crate) use joint_improvement::JointImprovement;
pub(crate) use lower_bound::LowerBound;
pub(crate) use penalised_improvement::PenalisedImprovement;

use crate::error::Result;
use crate::points::Points;
use crate::seed::Rng;
use crate::theory::{Certificate, SteinDiscrepancy};

/// A function over the unit cube that says how promising a point is.
pub trait Acquisition: Sync {
    /// Coordinates of a point.
    fn dim(&self) -> usize;

    /// log p̂_t(x) up to a constant. Finite for every point of the cube.
    fn value(&self, x: &[f64]) -> f64;

    /// The value at each of `points`.
    fn values(&self, points: &Points, values: &mut [f64]) {
        for (x, value) in points.rows().zip(values) {
            *value = self.value(x);
        }
    }

    /// log p̂_t at each of `points`, up to a constant and exactly, for rules that draw from p̂_t. Returns an upper
    /// bound of it over the cube, if one is known.
    ///
    /// It differs from [`values`](Self::values) where these are continued beyond the end of a probability, so that
    /// they stay finite and gradients lead back; a density of 0 is -∞ here. Default: the values, without a bound.
    fn log_densities(&self, points: &Points, densities: &mut [f64]) -> Option<f64> {
        self.values(points, densities);
        None
    }

    /// A function drawn from the posterior of the model behind the acquisition, as an acquisition: what Thompson sampling maximises. `None` if the
    /// model has no posterior, which is the default.
    fn draw(&self, _rng: &mut Rng) -> Result<Option<Box<dyn Acquisition + '_>>> {
        Ok(None)
    }

    /// `count` such functions at all of `points`, one a row; jointly exact where the model allows it. Default: by [`draw`](Self::draw).
    fn joint_draws(&self, points: &Points, count: usize, rng: &mut Rng) -> Result<Option<Points>> {
        let mut draws = Points::with_capacity(points.len(), count);
        let mut values = vec![0.0; points.len()];
        for _ in 0..count {
            let Some(draw) = self.draw(rng)? else { return Ok(None) };
            draw.values(points, &mut values);
            draws.push(&values);
        }
        Ok(Some(draws))
    }
}

/// An acquisition with a gradient with respect to the point: what SVGD and multi-start ascent need.
pub trait SmoothAcquisition: Acquisition {
    /// The value at x; ∇ₓ log p̂_t(x) goes to `gradient`.
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64;

    /// Values and gradients at each of `points`.
    fn values_and_gradients(&self, points: &Points, values: &mut [f64], gradients: &mut Points) {
        for ((x, value), gradient) in points.rows().zip(values).zip(gradients.rows_mut()) {
            *value = self.value_and_gradient(x, gradient);
        }
    }

    /// How far `points` are from a sample of p̂ ∝ exp(value): their kernel Stein discrepancy, beside that of as many independent draws
    /// ([`Certificate::stein_discrepancy`]). It says how good SVGD's particles are.
    ///
    /// # Errors
    /// If there is no point, or a gradient is not finite.
    fn stein_discrepancy(&self, points: &Points) -> Result<SteinDiscrepancy> {
        let mut values = vec![0.0; points.len()];
        let mut scores = Points::zeros(points.dim(), points.len());
        self.values_and_gradients(points, &mut values, &mut scores);
        Certificate::stein_discrepancy(points, &scores)
    }
}
