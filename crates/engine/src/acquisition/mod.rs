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
pub(crate) use hypervolume_improvement::expected_gain;
pub(crate) use joint_improvement::JointImprovement;
pub(crate) use lower_bound::LowerBound;
pub(crate) use penalised_improvement::PenalisedImprovement;

use crate::points::Points;

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
}
